"""Subscriptions to results: chunks of lines, encoded once and shared by all who are at the same position.

A follower holds a position and nothing else. It is woken when there are new lines, takes the chunk at its
position, and gets the next only after the last has gone out. A slow follower reads from what is kept; one
that is slower than that is told how many lines it missed. Nobody holds up the job or another follower. Over
HTTP, followers get a response of server-sent events, or a WebSocket with a message a line.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Protocol

import anyio
from starlette.responses import StreamingResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

EVENT_STREAM = "text/event-stream"
PAUSE = 15.0
"""Seconds of silence after which a follower gets a sign of life."""
_KEPT = 8 << 20
"""Bytes of encoded chunks kept per query and encoding."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole lines ``[first, next)``; ``missed`` lines before them are not kept any more."""

    first: int
    next: int
    data: bytes
    missed: int = 0

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Each line with its position, without its end."""
        return enumerate(self.data.splitlines(), self.first)


class ResultLines(Protocol):
    """The result lines of one query; a line's position is its number since the query's name was first used.
    Lines are appended by one thread and read by any."""

    @property
    def start(self) -> int:
        """The oldest position that is kept."""

    @property
    def end(self) -> int:
        """The position of the next line to come."""

    def read(self, position: int) -> Chunk:
        """Lines from ``position`` on, at least one if there is one."""


class RecentLines:
    """The latest ``most`` result lines, in memory."""

    def __init__(self, most: int) -> None:
        self._lines: deque[bytes] = deque(maxlen=most)
        self._lock = threading.Lock()
        self.end = 0

    @property
    def start(self) -> int:
        return self.end - len(self._lines)

    def append(self, lines: Sequence[bytes]) -> None:
        """Add whole lines, each with its end; those that have no room push out the oldest."""
        with self._lock:
            self._lines.extend(lines)
            self.end += len(lines)

    def read(self, position: int) -> Chunk:
        with self._lock:
            first = min(max(position, self.start), self.end)
            data = b"".join(list(self._lines)[first - self.start :])
            return Chunk(first, self.end, data, max(0, first - max(position, 0)))


Encode = Callable[[Chunk], bytes]


@dataclass(frozen=True, slots=True)
class Wire:
    """What a follower is sent: at first, for a chunk, and after a while of silence (given its position)."""

    encode: Encode
    first: Callable[[int], bytes]
    silent: Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class Sent:
    """Bytes for a follower, and its position after them."""

    data: bytes
    next: int


class _Encoded(OrderedDict[int, Sent]):
    """Encoded chunks by position, the oldest dropped when they are too many bytes."""

    held = 0

    def put(self, position: int, sent: Sent) -> None:
        self[position] = sent
        self.held += len(sent.data)
        while self.held > _KEPT and len(self) > 1:
            self.held -= len(self.popitem(last=False)[1].data)


class Channel:
    """One query's results for any number of followers, in one event loop."""

    def __init__(self, lines: ResultLines) -> None:
        self.lines = lines
        self.followers = 0
        self.closed = False
        self._news = asyncio.Event()
        self._encoded: dict[Encode, _Encoded] = {}

    def wake(self) -> None:
        """Let followers look again: there are new lines, or the channel is closed."""
        self._news.set()
        self._news = asyncio.Event()

    def close(self) -> None:
        """End all followers: the query is gone, or the server stops."""
        self.closed = True
        self.wake()

    async def wait(self, position: int, seconds: float) -> bool:
        """Wait until there is a line at ``position``; whether there is."""
        news = self._news
        if self.lines.end > position or self.closed:
            return self.lines.end > position
        try:
            await asyncio.wait_for(news.wait(), seconds)
        except TimeoutError:
            return False
        return self.lines.end > position

    async def sent(self, position: int, encode: Encode) -> Sent:
        """The chunk at a position, encoded; the same bytes for everybody."""
        kept = self._encoded.setdefault(encode, _Encoded())
        found = kept.get(position)
        if found is None:
            chunk = await asyncio.to_thread(self.lines.read, position)
            found = kept.get(position) or Sent(encode(chunk), chunk.next)
            if chunk.next > chunk.first == position:
                kept.put(position, found)
        return found

    async def follow(self, position: int, wire: Wire, pause: float) -> AsyncGenerator[Sent]:
        """What a follower is sent from ``position`` on, until the channel is closed; it counts as a follower
        from the first step on. ``pause`` is the silence in seconds after which it gets a sign of life."""
        self.followers += 1
        try:
            yield Sent(wire.first(position), position)
            while not self.closed:
                if await self.wait(position, pause):
                    sent = await self.sent(position, wire.encode)
                    position = sent.next
                    yield sent
                elif not self.closed:
                    yield Sent(wire.silent(position), position)
        finally:
            self.followers -= 1


class Channels:
    """The channels of all queries that were asked for; ``lines`` gives the result lines of a query."""

    def __init__(self, lines: Callable[[str], ResultLines]) -> None:
        self._lines = lines
        self._channels: dict[str, Channel] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Name the loop in which followers live."""
        self._loop = loop

    def __getitem__(self, name: str) -> Channel:
        found = self._channels.get(name)
        if found is None:
            found = self._channels[name] = Channel(self._lines(name))
        return found

    @property
    def followers(self) -> int:
        return sum(channel.followers for channel in self._channels.values())

    def drop(self, name: str) -> None:
        """Close the channel of a query and forget it."""
        found = self._channels.pop(name, None)
        if found is not None:
            found.close()

    def close(self) -> None:
        """Close all channels."""
        for name in list(self._channels):
            self.drop(name)

    def tell(self, names: Sequence[str]) -> None:
        """Wake the followers of queries that have new lines; from any thread."""
        self.call(self._wake, names)

    def call(self, function: Callable[..., None], *values: object) -> None:
        """Call a function in the followers' loop, from any thread; nothing where there is no loop."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *values)

    def _wake(self, names: Sequence[str]) -> None:
        for name in names:
            channel = self._channels.get(name)
            if channel is not None:
                channel.wake()


def event(data: bytes, *, name: bytes = b"", id: int | None = None) -> bytes:
    """A server-sent event (HTML standard, 9.2); ``data`` is one line."""
    head = (b"event: %s\n" % name if name else b"") + (b"id: %d\n" % id if id is not None else b"")
    return b"%sdata: %s\n\n" % (head, data)


def event_response(following: AsyncGenerator[Sent], last: bytes = b"") -> StreamingResponse:
    """All that a follower is sent as one response; ``last`` where it comes to its end."""

    async def body() -> AsyncIterator[bytes]:
        async with aclosing(following):
            async for sent in following:
                yield sent.data
        if last:
            yield last

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(body(), media_type=EVENT_STREAM, headers=headers)


async def send_messages(
    socket: WebSocket, following: AsyncGenerator[Sent], code: int = 1000, reason: str = ""
) -> None:
    """Send an accepted socket what a follower is sent, until either side ends; what it sends is not read."""
    async with anyio.create_task_group() as both:

        async def listen() -> None:
            while (await socket.receive())["type"] != "websocket.disconnect":
                pass
            both.cancel_scope.cancel()

        both.start_soon(listen)
        with suppress(WebSocketDisconnect, RuntimeError):
            async with aclosing(following):
                async for sent in following:
                    for line in sent.data.splitlines():
                        await socket.send_text(line.decode())
            await socket.close(code, reason)
        both.cancel_scope.cancel()
