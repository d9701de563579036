"""Following a fragments server: the client's work is done in the driver, its additions go into the log."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress

from weir.fragments.client import Update, follow_async, stream_lines
from weir.runtime.ingest.receivers.receiver import Client
from weir.runtime.ingest.sources.log_writer import LogWriter
from weir.runtime.ingest.sources.push_sources import FragmentsSource


class FragmentsReceiver(Client):
    """A session follows the query until the server fails for good."""

    def __init__(self, source: FragmentsSource, writer: LogWriter) -> None:
        super().__init__(source, writer)
        self.feed = source
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def session(self) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            try:
                with suppress(asyncio.CancelledError):
                    runner.run(self._follow())
            finally:
                self._loop = None

    def interrupt(self) -> None:
        loop, task = self._loop, self._task
        if loop is not None and task is not None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(task.cancel)

    async def _follow(self) -> None:
        self._task = asyncio.current_task()
        updates = follow_async(self.feed.query, self.feed.url, options=self.feed.options())
        async with aclosing(updates):
            async for update in updates:
                if not self.state.connected:
                    self.opened()
                self._take(update)
                if self.stopping.is_set():
                    return

    def _take(self, update: Update) -> None:
        lines = "".join(stream_lines(update))
        if lines:
            self.put(lines.encode())
        else:
            self.writer.heartbeat(update.at)
