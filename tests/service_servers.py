"""Servers that misbehave on demand, for the tests of the SERVICE client: a proxy with moods."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum

HEADER_END = b"\r\n\r\n"

EMPTY = b'{"head":{"vars":[]},"results":{"bindings":[]}}'


class Mood(Enum):
    """How the server treats the next requests."""

    PASS = "hand on to the real server, or give the canned answer"
    SLOW = "answer after `delay` seconds"
    GARBAGE = "status 200 and a body that is no result"
    CUT = "close the connection in the middle of the body"
    BUSY = "`status` (503) with the headers `busy` (Retry-After: 0)"
    REFUSE = "status 400"
    HUGE = "a body without end"
    DRIP = "a body that comes a character at a time"
    DEAF = "close the connection without an answer"


class MoodyServer:
    """Listens on the loopback; counts requests; ``mood`` may be changed at any time from any thread."""

    def __init__(self, target: int | None = None) -> None:
        self.mood = Mood.PASS
        self.delay = 5.0
        self.requests = 0
        self.unchanged = 0
        self.open = 0
        self.most_open = 0
        self.body = EMPTY
        self.headers: dict[str, str] = {}
        self.status = 503
        self.busy = {"Retry-After": "0"}
        self.most: int | None = None
        self.bodies: list[bytes] = []
        self.port = 0
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(10)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}/query"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)

        async def serve() -> None:
            self._server = await asyncio.start_server(self._handle, "127.0.0.1", 0)
            self.port = self._server.sockets[0].getsockname()[1]
            self._ready.set()

        self._loop.run_until_complete(serve())
        self._loop.run_forever()
        self._loop.close()

    def close(self) -> None:
        async def stop() -> None:
            self._server.close()
            running = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            await asyncio.sleep(0)
            self._loop.stop()

        asyncio.run_coroutine_threadsafe(stop(), self._loop)
        self._thread.join(5)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._one(reader, writer):
                    pass
        finally:
            self.open -= 1
            writer.transport.abort()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(HEADER_END)
        length = 0
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        body = await reader.readexactly(length)
        self.requests += 1
        self.bodies.append(body)
        mood = self.mood
        if mood is Mood.DEAF:
            return False
        if mood is Mood.SLOW:
            await asyncio.sleep(self.delay)
        if mood in (Mood.PASS, Mood.SLOW):
            extra = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
            if self._still(head):
                self.unchanged += 1
                self._reply(writer, 304, b"", extra)
            else:
                answer = self.body if self._target is None else await self._forward(head, body)
                if self.most is not None:
                    answer, extra = _cut(answer, self.most), f"{extra}X-SPARQL-MaxRows: {self.most}\r\n"
                self._reply(writer, 200, answer, extra)
        elif mood is Mood.GARBAGE:
            self._reply(writer, 200, b"\x00\xff<html>not { a result")
        elif mood is Mood.BUSY:
            asked = "".join(f"{name}: {value}\r\n" for name, value in self.busy.items())
            self._reply(writer, self.status, b"", asked)
        elif mood is Mood.REFUSE:
            self._reply(writer, 400, b"")
        elif mood is Mood.CUT:
            writer.write(self._head(200, 1000) + b'{"head":{"vars":["x"]},"resu')
            await writer.drain()
            return False
        elif mood is Mood.DRIP:
            writer.write(self._head(200, 1000))
            for _ in range(1000):
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.02)
        elif mood is Mood.HUGE:
            writer.write(self._head(200, 1 << 40))
            while True:
                writer.write(b" " * 65536)
                await writer.drain()
        await writer.drain()
        return True

    def _still(self, head: bytes) -> bool:
        """Whether a GET asks for what has not changed since, by its tag or its time (RFC 9110, section
        13)."""
        if not head.startswith(b"GET "):
            return False
        conditions = (("If-None-Match", "ETag"), ("If-Modified-Since", "Last-Modified"))
        told = [f"{asked}: {self.headers[name]}" for asked, name in conditions if name in self.headers]
        return any(each.lower().encode() in head.lower() for each in told)

    @staticmethod
    def _head(status: int, length: int, extra: str = "") -> bytes:
        kind = "Content-Type: application/sparql-results+json\r\n"
        return f"HTTP/1.1 {status} Mood\r\n{kind}{extra}Content-Length: {length}\r\n\r\n".encode()

    def _reply(self, writer: asyncio.StreamWriter, status: int, body: bytes, extra: str = "") -> None:
        writer.write(self._head(status, len(body), extra) + body)

    async def _forward(self, head: bytes, body: bytes) -> bytes:
        """The body of the real server's answer; a server that is not there closes the connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._target)
        try:
            lines = [x for x in head.rstrip().split(b"\r\n") if not x.lower().startswith(b"connection:")]
            writer.write(b"\r\n".join([*lines, b"Connection: close"]) + HEADER_END + body)
            await writer.drain()
            raw = await reader.read()
        finally:
            writer.close()
        got, _, rest = raw.partition(HEADER_END)
        return _dechunked(rest) if b"chunked" in got.lower() else rest


def _cut(answer: bytes, most: int) -> bytes:
    """The first rows of a result, as servers give them that give no more."""
    document = json.loads(answer)
    document["results"]["bindings"] = document["results"]["bindings"][:most]
    return json.dumps(document).encode()


def _dechunked(data: bytes) -> bytes:
    parts = []
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        if length == 0:
            break
        parts.append(data[:length])
        data = data[length + 2 :]
    return b"".join(parts)


@contextmanager
def moody(target: int | None = None) -> Iterator[MoodyServer]:
    server = MoodyServer(target)
    try:
        yield server
    finally:
        server.close()
