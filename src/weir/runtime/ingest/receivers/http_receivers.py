"""Streams over HTTP: Server-Sent Events, a query that is followed at a fragments server, an event stream.

Events are as in WHATWG HTML, "Server-sent events": the data of an event is a message. The id of an event is
logged with it; the next connection sends it as ``Last-Event-ID``, also after a restart.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from concurrent.futures import Future, wait
from contextlib import aclosing, suppress

import httpx

from weir.errors import RemoteError
from weir.fragments.client import Event, EventReader, follow_async, stream_lines
from weir.fragments.ldes import Bookmark, read_members
from weir.linked.http.allowed_hosts import session
from weir.linked.http.headers import media_type
from weir.runtime.ingest.receivers.receiver import Client, S
from weir.runtime.ingest.sources.log_writer import LogWriter
from weir.runtime.ingest.sources.push_sources import FragmentsSource, LdesSource, SseSource

NOTE = "last-event-id"
BOOKMARK = "last-member"
_MEDIA = "text/event-stream"


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


class LdesReceiver(HttpReceiver[LdesSource]):
    """Reads members from the last one on that was logged."""

    def __init__(self, source: LdesSource, writer: LogWriter) -> None:
        super().__init__(source, writer)
        self._last: Future[int] | None = None

    async def follow(self) -> None:
        if self._last is not None:
            wait([self._last])
        epoch = self.writer.epoch
        since = max(self.source.start(), Bookmark.of(self.writer.notes.get(BOOKMARK)))
        items = read_members(self.source.url, options=self.source.options(), since=since)
        async with aclosing(items):
            async for item in items:
                if not self.state.connected:
                    self.opened()
                if item is not None:
                    since = max(since, Bookmark.at(item))
                    payload = "".join(f"{s} {p} {o} .\n" for s, p, o in item.triples).encode()
                    note = (BOOKMARK, str(since))
                    self._last = self.put(payload, time=item.time, note=note, epoch=epoch) or self._last
                if self.stopping.is_set():
                    return


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
        media = media_type(response.headers)
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
