"""The access log: a line for each request that was answered, on standard error.

A line has the time, the client's address, method, path, status, bytes and milliseconds. What stands behind
the question mark of an address is left out: it may hold a secret.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import UTC, datetime
from typing import IO

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class AccessLog:
    """An application whose requests are logged as JSON lines, to ``out`` or to standard error."""

    def __init__(self, app: ASGIApp, out: IO[str] | None = None) -> None:
        self.app, self.out = app, out

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        began, status, sent = time.perf_counter(), 0, 0

        async def counted(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "websocket.accept":
                status = 101
            sent += len(message.get("body", b"") or message.get("text") or "")
            await send(message)

        try:
            await self.app(scope, receive, counted)
        finally:
            line = {
                "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "client": (scope.get("client") or ("",))[0],
                "method": scope.get("method", "WEBSOCKET"),
                "path": scope["path"],
                "status": status,
                "bytes": sent,
                "ms": round((time.perf_counter() - began) * 1000, 1),
            }
            print(json.dumps(line), file=self.out or sys.stderr, flush=True)
