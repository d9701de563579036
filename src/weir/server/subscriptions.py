"""Followers of results: chunks encoded once and shared by all who are at the same position.

A follower holds a position and nothing else. It is woken when something is new, takes the chunk at its
position, and is not given the next before the last has gone out; who is slow reads from the log, and who
is slower than what is kept is told how much was missed.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from starlette.concurrency import run_in_threadpool

from weir.server.result_log import ResultLog
from weir.server.tail import Chunk, Tail

_KEPT = 8 << 20
"""Bytes of encoded chunks kept per query and form."""


@dataclass(frozen=True, slots=True)
class Sent:
    """An encoded chunk, and the position after it."""

    data: bytes
    next: int


Encode = Callable[[Chunk], bytes]
Key = TypeVar("Key")


class Bounded(OrderedDict[Key, Sent], Generic[Key]):
    """Encoded chunks, the oldest dropped when they are too many bytes."""

    held = 0

    def put(self, key: Key, sent: Sent) -> None:
        self[key] = sent
        self.held += len(sent.data)
        while self.held > _KEPT and len(self) > 1:
            self.held -= len(self.popitem(last=False)[1].data)


class Channel:
    """One query's results for any number of followers, in one event loop."""

    def __init__(self, tail: Tail) -> None:
        self.tail = tail
        self.followers = 0
        self.closed = False
        self._news = asyncio.Event()
        self._encoded: dict[Encode, Bounded[int]] = {}

    def wake(self) -> None:
        """Something is new, or all is over."""
        self._news.set()
        self._news = asyncio.Event()

    def close(self) -> None:
        """The query is gone, or the service stops: followers end."""
        self.closed = True
        self.wake()

    async def wait(self, position: int, seconds: float) -> bool:
        """Wait until there is something at ``position``; whether there is."""
        news = self._news
        if self.tail.end > position or self.closed:
            return self.tail.end > position
        try:
            await asyncio.wait_for(news.wait(), seconds)
        except TimeoutError:
            return False
        return self.tail.end > position

    async def sent(self, position: int, encode: Encode) -> Sent:
        """The chunk at a position, encoded; the same bytes for everybody."""
        kept = self._encoded.setdefault(encode, Bounded())
        found = kept.get(position)
        if found is None:
            chunk = await run_in_threadpool(self.tail.read, position)
            found = kept.get(position) or Sent(encode(chunk), chunk.next)
            if chunk.next > chunk.first == position:
                kept.put(position, found)
        return found

    async def follow(self, position: int, encode: Encode, pause: float) -> AsyncGenerator[Sent | None]:
        """Chunks from ``position`` on for as long as the query lives; None after each silent ``pause``."""
        self.followers += 1
        try:
            while not self.closed:
                if await self.wait(position, pause):
                    sent = await self.sent(position, encode)
                    position = sent.next
                    yield sent
                elif not self.closed:
                    yield None
        finally:
            self.followers -= 1


class Channels:
    """The channels of all queries. The sink's thread tells the loop what is new."""

    def __init__(self, log: ResultLog) -> None:
        self.log = log
        self._channels: dict[str, Channel] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        log.listeners.append(self._tell)

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """The loop in which followers live."""
        self._loop = loop

    def __getitem__(self, name: str) -> Channel:
        found = self._channels.get(name)
        if found is None:
            found = self._channels[name] = Channel(self.log.tail(name))
        return found

    @property
    def followers(self) -> int:
        return sum(channel.followers for channel in self._channels.values())

    def drop(self, name: str) -> None:
        """The query is gone."""
        found = self._channels.pop(name, None)
        if found is not None:
            found.close()

    def close(self) -> None:
        """The service stops."""
        for name in list(self._channels):
            self.drop(name)

    def _tell(self, names: Sequence[str]) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake, names)

    def _wake(self, names: Sequence[str]) -> None:
        for name in names:
            channel = self._channels.get(name)
            if channel is not None:
                channel.wake()
