"""Results to whoever is watching: Server-Sent Events and WebSockets from a small server of the driver.

    GET /results?query=NAME    events (text/event-stream), or messages where a WebSocket is asked for

A subscriber sees what comes while it is there: at most once. One that falls behind by more than the latest
results that are kept is told how many it missed, and the job is never held up. Who may watch is decided as in
the service: without a token this machine alone, and no page of another site; with one, who has it, in the
``Authorization`` header or as ``?access_token=``.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from weir.errors import UsageError
from weir.linked.serving.admission import Access, Refused
from weir.linked.serving.bounded_protocol import bounded_options
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.sinks.result_files import joined
from weir.runtime.output.subscriptions import (
    PAUSE,
    Channels,
    Chunk,
    RecentLines,
    Sent,
    Wire,
    event,
    event_response,
    send_messages,
)

_MORE = 100
"""Connections beside those of subscribers: somebody has to be told that there are too many."""


def _events(chunk: Chunk) -> bytes:
    told = event(b'{"missed":%d}' % chunk.missed, name=b"missed") if chunk.missed else b""
    return told + b"".join(event(line) for _, line in chunk.lines())


def _messages(chunk: Chunk) -> bytes:
    return (b'{"missed": %d}\n' % chunk.missed if chunk.missed else b"") + chunk.data


EVENTS = Wire(_events, lambda _: b": ready\n\n", lambda _: b": alive\n\n")
MESSAGES = Wire(_messages, lambda _: b"", lambda _: b"")


@dataclass(frozen=True, slots=True)
class Watcher:
    """Whoever has the token of a sink."""

    secret: str = field(repr=False)


class LiveSink:
    """Serves on ``host`` and ``port`` (0: a free one, in ``address`` once open); no more than
    ``subscribers`` at a time, and of each query the latest ``buffer`` results for those who are slow.
    ``token`` is what they have to show, which a host that is not this machine's own needs."""

    form = "jsonl"
    promise = "at most once: a subscriber sees what comes while it watches, and is told what it missed"

    def __init__(
        self,
        port: int = 0,
        host: str = "127.0.0.1",
        *,
        buffer: int = 1000,
        subscribers: int = 100,
        token: str | None = None,
    ) -> None:
        self._access = Access([Watcher(token)] if token else [], host=host)
        self.host, self.port, self.most = host, port, subscribers
        self._recent: dict[str, RecentLines] = {}
        self._channels = Channels(lambda query: self._recent.setdefault(query, RecentLines(buffer)))
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def subscribers(self) -> int:
        """How many there are now."""
        return self._channels.followers

    def open(self) -> None:
        routes = [Route("/results", self._serve_events), WebSocketRoute("/results", self._serve_messages)]
        config = uvicorn.Config(
            Starlette(routes=routes),
            host=self.host,
            port=self.port,
            log_level="critical",
            lifespan="off",
            ws="websockets-sansio",
            timeout_graceful_shutdown=1,
            **bounded_options(self.most + _MORE),
        )
        socket = config.bind_socket()
        self.port = socket.getsockname()[1]
        self._server = uvicorn.Server(config)
        server = self._server

        async def serve() -> None:
            self._channels.attach(asyncio.get_running_loop())
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
        lines = {each.name: joined([each]).splitlines(keepends=True) for each in results if len(each)}
        self._channels.call(self._publish, lines)

    def close(self) -> None:
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._channels.call(self._channels.close)
            self._thread.join(10)
            self._server = self._thread = None

    def _publish(self, lines: dict[str, list[bytes]]) -> None:
        mine = [query for query in lines if query in self._recent]
        for query in mine:
            self._recent[query].append(lines[query])
            self._channels[query].wake()

    async def _follow(self, query: str, wire: Wire) -> AsyncGenerator[Sent]:
        """Results from now on; those of a query that nobody follows are not kept."""
        channel = self._channels[query]
        try:
            async with aclosing(channel.follow(channel.lines.end, wire, PAUSE)) as following:
                async for sent in following:
                    yield sent
        finally:
            if not channel.followers:
                self._channels.drop(query)
                self._recent.pop(query, None)

    async def _serve_events(self, request: Request) -> Response:
        try:
            self._access.admit(request.method, request.headers, request.query_params.get("access_token"))
        except Refused as refused:
            return PlainTextResponse(f"{refused.title}\n", refused.status, refused.headers)
        query = request.query_params.get("query")
        if not query:
            return PlainTextResponse("which query? /results?query=NAME\n", 400)
        if self.subscribers >= self.most:
            return PlainTextResponse("too many subscribers\n", 503)
        return event_response(self._follow(query, EVENTS))

    async def _serve_messages(self, socket: WebSocket) -> None:
        try:
            self._access.admit("WEBSOCKET", socket.headers, socket.query_params.get("access_token"))
        except Refused as refused:
            await socket.close(1008, refused.title[:120])
            return
        query = socket.query_params.get("query")
        if not query or self.subscribers >= self.most:
            await socket.close(1013 if query else 1008)
            return
        await socket.accept()
        await send_messages(socket, self._follow(query, MESSAGES), 1001)
