"""Results to whoever is watching: Server-Sent Events and WebSockets from a small server of the driver.

    GET /results?query=NAME    events (text/event-stream), or messages where a WebSocket is asked for

A subscriber sees what comes while it is there: at most once. It has a buffer of its own; one that is slower
than the results loses the oldest of them and is told how many, and the job is never held up.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from weir.errors import UsageError
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.sinks.push import lines_of

_MOST = 1000
_ALIVE = 15.0
"""Seconds between comments on a connection that has nothing else to say."""


@dataclass(slots=True)
class Subscriber:
    """The buffer of one connection, touched by the server's thread only."""

    query: str
    most: int
    waiting: deque[str] = field(default_factory=deque)
    missed: int = 0
    filled: asyncio.Event = field(default_factory=asyncio.Event)

    def offer(self, lines: Sequence[str]) -> None:
        """Put lines into the buffer; what has no room pushes out the oldest."""
        self.waiting.extend(lines)
        while len(self.waiting) > self.most:
            self.waiting.popleft()
            self.missed += 1
        self.filled.set()

    async def take(self) -> tuple[int, list[str]]:
        """How many were missed, and what is there; nothing after a while of silence."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.filled.wait(), _ALIVE)
        self.filled.clear()
        missed, lines = self.missed, list(self.waiting)
        self.missed = 0
        self.waiting.clear()
        return missed, lines


class LiveSink:
    """Serves on ``host`` and ``port`` (0: a free one, in ``address`` once open); no more than
    ``subscribers`` at a time, each with a buffer of ``buffer`` results."""

    form = "jsonl"
    promise = "at most once: a subscriber sees what comes while it watches, and is told what it missed"

    def __init__(
        self, port: int = 0, host: str = "127.0.0.1", *, buffer: int = _MOST, subscribers: int = 100
    ) -> None:
        self.host, self.port, self.buffer, self.most = host, port, buffer, subscribers
        self.subscribers: list[Subscriber] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    def open(self) -> None:
        routes = [Route("/results", self._events), WebSocketRoute("/results", self._messages)]
        config = uvicorn.Config(
            Starlette(routes=routes),
            host=self.host,
            port=self.port,
            log_level="critical",
            lifespan="off",
            ws="websockets-sansio",
            timeout_graceful_shutdown=1,
        )
        socket = config.bind_socket()
        self.port = socket.getsockname()[1]
        self._server = uvicorn.Server(config)
        server = self._server

        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            await server.serve([socket])
            socket.close()

        self._thread = threading.Thread(target=lambda: asyncio.run(serve()), name="live results", daemon=True)
        self._thread.start()
        while not server.started:
            self._thread.join(0.01)
            if not self._thread.is_alive():
                raise UsageError(f"the server of results did not start on {self.address}")

    def write(self, batch: int, results: Sequence[Results]) -> None:
        """Hand the lines to the server's thread and go on."""
        lines = {
            result.name: [line.decode() for line in lines_of(result)] for result in results if len(result)
        }
        if lines and self._loop is not None:
            self._loop.call_soon_threadsafe(self._publish, lines)

    def close(self) -> None:
        if self._server is not None and self._thread is not None and self._loop is not None:
            self._server.should_exit = True
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._wake)
            self._thread.join(10)
            self._server = self._thread = self._loop = None

    def _publish(self, lines: dict[str, list[str]]) -> None:
        for subscriber in self.subscribers:
            mine = lines.get(subscriber.query)
            if mine:
                subscriber.offer(mine)

    def _wake(self) -> None:
        for subscriber in self.subscribers:
            subscriber.filled.set()

    def _subscribed(self, query: str) -> Subscriber | None:
        if len(self.subscribers) >= self.most:
            return None
        subscriber = Subscriber(query, self.buffer)
        self.subscribers.append(subscriber)
        return subscriber

    @property
    def _over(self) -> bool:
        return self._server is None or self._server.should_exit

    async def _events(self, request: Request) -> Response:
        query = request.query_params.get("query")
        if not query:
            return PlainTextResponse("which query? /results?query=NAME\n", 400)
        subscriber = self._subscribed(query)
        if subscriber is None:
            return PlainTextResponse("too many subscribers\n", 503)

        async def body() -> AsyncIterator[str]:
            try:
                yield ": ready\n\n"
                while not self._over:
                    missed, lines = await subscriber.take()
                    told = f'event: missed\ndata: {{"missed":{missed}}}\n\n' if missed else ""
                    yield told + "".join(f"data: {line}\n\n" for line in lines) or ": alive\n\n"
            finally:
                self.subscribers.remove(subscriber)

        headers = {"Cache-Control": "no-store"}
        return StreamingResponse(body(), media_type="text/event-stream", headers=headers)

    async def _messages(self, socket: WebSocket) -> None:
        query = socket.query_params.get("query")
        subscriber = self._subscribed(query) if query else None
        if subscriber is None:
            await socket.close(1008 if not query else 1013)
            return
        await socket.accept()
        listening = asyncio.create_task(_until_gone(socket, subscriber))
        try:
            while not self._over and not listening.done():
                missed, lines = await subscriber.take()
                for line in [json.dumps({"missed": missed})] * bool(missed) + lines:
                    await socket.send_text(line)
            if not listening.done():
                await socket.close(1001)
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            listening.cancel()
            self.subscribers.remove(subscriber)


async def _until_gone(socket: WebSocket, subscriber: Subscriber) -> None:
    """Notice that the peer has closed; what it sends is not looked at."""
    try:
        while True:
            await socket.receive_text()
    except (WebSocketDisconnect, RuntimeError, KeyError):
        subscriber.filled.set()
