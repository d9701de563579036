"""Streams over HTTP: Server-Sent Events, and a query that is followed at a fragments server.

Events are as in WHATWG HTML, "Server-sent events": the data of an event is a message. The id of an event is
logged with it; the next connection sends it as ``Last-Event-ID``, also after a restart.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import aclosing, suppress
from dataclasses import dataclass, field

import httpx

from weir.errors import RemoteError
from weir.fragments.client import follow_async, stream_lines
from weir.linked.http.allowed_hosts import session
from weir.runtime.ingest.receivers.receiver import Client, S
from weir.runtime.ingest.sources.log_writer import LogWriter
from weir.runtime.ingest.sources.push_sources import FragmentsSource, SseSource

NOTE = "last-event-id"
_MEDIA = "text/event-stream"
_LONGEST_RETRY = 60.0


class HttpReceiver(Client[S]):
    """A session is the task of an event loop, which is cancelled to end it."""

    def session(self) -> None:
        with asyncio.Runner() as runner, suppress(asyncio.CancelledError):
            runner.run(self._task())

    async def _task(self) -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        self.hang_up = lambda: loop.call_soon_threadsafe(task.cancel)
        await self.follow()

    @abstractmethod
    async def follow(self) -> None:
        """Connect and take messages until the connection ends or ``stopping`` is set."""


class FragmentsReceiver(HttpReceiver[FragmentsSource]):
    """Follows a query until the server fails for good: the client's work is done in the driver, its additions
    go into the log."""

    async def follow(self) -> None:
        updates = follow_async(self.source.query, self.source.url, options=self.source.options())
        async with aclosing(updates):
            async for update in updates:
                if not self.state.connected:
                    self.opened()
                lines = "".join(stream_lines(update))
                if lines:
                    self.put(lines.encode())
                else:
                    self.writer.heartbeat(update.at)
                if self.stopping.is_set():
                    return


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


class SseReceiver(HttpReceiver[SseSource]):
    """Reads one response for as long as it lasts; redirections are not followed."""

    def __init__(self, source: SseSource, writer: LogWriter) -> None:
        super().__init__(source, writer)
        self._last: Future[int] | None = None
        self._epoch = writer.epoch

    async def follow(self) -> None:
        headers = {"Accept": _MEDIA, "Cache-Control": "no-store"}
        if self._last is not None:
            wait([self._last])
        self._epoch = self.writer.epoch
        last = self.writer.notes.get(NOTE)
        if last:
            headers["Last-Event-ID"] = last
        url, timeout = self.source.url, self.source.timeout
        limits = (timeout, self.source.silence, timeout, timeout)
        try:
            async with (
                session(1, timeout, headers, verify=url.startswith("https:")) as http,
                http.stream("GET", url, timeout=limits) as response,
            ):
                await self._read(response)
        except httpx.HTTPError as error:
            raise RemoteError(f"{url}: {error or type(error).__name__}") from None

    async def _read(self, response: httpx.Response) -> None:
        if response.status_code == 204:
            self.stopping.set()
            return
        media = response.headers.get("content-type", "").partition(";")[0].strip()
        if response.status_code != 200 or media != _MEDIA:
            raise RemoteError(
                f"{self.source.url} answered {response.status_code} {media}, not a stream of events"
            )
        self.opened()
        reader = EventReader(self.source.max_message)
        async for chunk in response.aiter_bytes():
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
