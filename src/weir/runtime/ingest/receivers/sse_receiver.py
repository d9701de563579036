"""Server-Sent Events (WHATWG HTML, "Server-sent events"): the data of an event is a message.

The id of an event is logged with it; the next connection sends it as ``Last-Event-ID``, also after a restart.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field

import httpx

from weir.errors import RemoteError
from weir.runtime.ingest.receivers.receiver import Client
from weir.runtime.ingest.sources.log_writer import LogWriter
from weir.runtime.ingest.sources.push_sources import SseSource

NOTE = "last-event-id"
_MEDIA = "text/event-stream"
_LONGEST_RETRY = 60.0


@dataclass(slots=True)
class Event:
    """What the server sent between two blank lines. ``data`` None: nothing but other fields."""

    data: bytes | None = None
    id: str | None = None
    retry: float | None = None
    large: bool = False


@dataclass(slots=True)
class EventReader:
    """Events from the bytes of a connection; no more than ``limit`` bytes of an event are kept."""

    limit: int
    _rest: bytes = b""
    _lines: list[bytes] = field(default_factory=list)
    _size: int = 0
    _event: Event = field(default_factory=Event)

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The events that end in ``chunk``. Lines end with CR LF, LF or CR."""
        data = self._rest + chunk
        held = b"\r" if data.endswith(b"\r") else b""
        lines = data[: len(data) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = lines.pop() + held
        if len(self._rest) > self.limit:
            self._event.large = True
            self._rest = self._rest[:64]
        for line in lines:
            if line:
                self._field(line)
                continue
            event, self._event = self._event, Event()
            if self._lines or event.large:
                event.data = b"\n".join(self._lines)
            self._lines, self._size = [], 0
            yield event

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._size += len(value) + 1
            if self._size > self.limit + 1:
                self._event.large = True
            else:
                self._lines.append(value)
        elif name == b"id" and b"\0" not in value:
            self._event.id = value.decode(errors="replace")
        elif name == b"retry" and value.isdigit():
            self._event.retry = min(int(value) / 1000, _LONGEST_RETRY)


class SseReceiver(Client):
    """Reads one response for as long as it lasts; redirections are not followed."""

    def __init__(self, source: SseSource, writer: LogWriter) -> None:
        super().__init__(source, writer)
        self.sse = source
        self._socket: socket.socket | None = None
        self._last: Future[int] | None = None
        self._epoch = writer.epoch

    def session(self) -> None:
        headers = {"Accept": _MEDIA, "Cache-Control": "no-store"}
        if self._last is not None:
            wait([self._last])
        self._epoch = self.writer.epoch
        last = self.writer.notes.get(NOTE)
        if last:
            headers["Last-Event-ID"] = last
        timeout = httpx.Timeout(self.sse.timeout, read=self.sse.silence)
        try:
            with (
                httpx.Client(timeout=timeout, follow_redirects=False) as client,
                client.stream("GET", self.sse.url, headers=headers) as response,
            ):
                self._socket = response.extensions["network_stream"].get_extra_info("socket")
                self._read(response)
        except httpx.HTTPError as error:
            raise RemoteError(f"{self.sse.url}: {error or type(error).__name__}") from None
        finally:
            self._socket = None

    def interrupt(self) -> None:
        peer = self._socket
        if peer is not None:
            with suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)

    def _read(self, response: httpx.Response) -> None:
        if response.status_code == 204:
            self.stopping.set()
            return
        media = response.headers.get("content-type", "").partition(";")[0].strip()
        if response.status_code != 200 or media != _MEDIA:
            raise RemoteError(
                f"{self.sse.url} answered {response.status_code} {media}, not a stream of events"
            )
        self.opened()
        reader = EventReader(self.sse.max_message)
        for chunk in response.iter_bytes():
            for event in reader.feed(chunk):
                self._take(event)
            if self.stopping.is_set():
                return

    def _take(self, event: Event) -> None:
        if event.retry is not None:
            self.delay = max(event.retry, 0.01)
        if event.data is None:
            return
        note = None if event.id is None else (NOTE, event.id)
        if event.large:
            self._last = self.refuse(event.data, self.too_large, note=note)
        else:
            self._last = self.put(event.data, note=note, epoch=self._epoch) or self._last
