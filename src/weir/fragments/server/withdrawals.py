"""Server-Sent Events of a data set: which facts were taken back before their time, as soon as they are.

A client that does not listen notices within its greatest polling interval. ``/NAME/withdrawals`` sends an
event with the predicates of what was withdrawn, and with its id: the version of the facts from then on. Asked
for with ``version=ID``, a page is one that no cache has kept from before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from starlette.types import Receive, Send

from weir.fragments.server.dataset import Dataset

WITHDRAWALS = "withdrawals"
"""What follows the name of a data set in the address of its events."""
_HEADERS = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
_QUIET = 15.0
"""Seconds after which a connection is shown to be alive."""
_NAMED = 64
"""Predicates that an event names; more are all."""


class Listener:
    """What a client has not been told yet; written by other threads."""

    def __init__(self, dataset: Dataset, loop: asyncio.AbstractEventLoop) -> None:
        self._dataset = dataset
        self._loop = loop
        self._waiting: set[str] = set()
        self._some = asyncio.Event()

    def hear(self, predicates: frozenset[str]) -> None:
        """Take note from any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._note, predicates)

    def _note(self, predicates: frozenset[str]) -> None:
        self._waiting |= predicates
        self._some.set()

    async def next(self, quiet: float = _QUIET) -> bytes:
        """The next event, or after some time a comment."""
        try:
            async with asyncio.timeout(quiet):
                await self._some.wait()
        except TimeoutError:
            return b":\n\n"
        return self.event()

    def event(self) -> bytes:
        """An event of all that waits."""
        self._some.clear()
        named, self._waiting = sorted(self._waiting), set()
        said = " ".join(named) if len(named) <= _NAMED else "*"
        return f"id: {self._dataset.store.version}\ndata: {said}\n\n".encode()


async def send_withdrawals(
    dataset: Dataset, receive: Receive, send: Send, extra: Sequence[tuple[bytes, bytes]]
) -> None:
    """Tell one client until it leaves."""
    listener = Listener(dataset, asyncio.get_running_loop())
    stop = dataset.on_withdrawal(listener.hear)
    gone = asyncio.ensure_future(_left(receive))
    try:
        await send({"type": "http.response.start", "status": 200, "headers": [*_HEADERS, *extra]})
        event = listener.event()
        while not gone.done():
            await send({"type": "http.response.body", "body": event, "more_body": True})
            coming = asyncio.ensure_future(listener.next())
            await asyncio.wait({coming, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                coming.cancel()
                break
            event = coming.result()
    finally:
        stop()
        gone.cancel()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
