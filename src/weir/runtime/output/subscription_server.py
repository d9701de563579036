"""Followers served over HTTP: a response of server-sent events, and a WebSocket with a message a line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress

from starlette.responses import StreamingResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

from weir.runtime.output.subscriptions import Sent

EVENT_STREAM = "text/event-stream"
PAUSE = 15.0
"""Seconds of silence after which a follower gets a sign of life."""


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
    sending = asyncio.create_task(_send(socket, following))
    listening = asyncio.create_task(_until_gone(socket))
    try:
        await asyncio.wait((sending, listening), return_when=asyncio.FIRST_COMPLETED)
        if not listening.done():
            with suppress(WebSocketDisconnect, RuntimeError):
                await socket.close(code, reason)
    finally:
        for task in (sending, listening):
            task.cancel()
        await asyncio.gather(sending, listening, return_exceptions=True)


async def _send(socket: WebSocket, following: AsyncGenerator[Sent]) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):
        async with aclosing(following):
            async for sent in following:
                for line in sent.data.splitlines():
                    await socket.send_text(line.decode())


async def _until_gone(socket: WebSocket) -> None:
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass
