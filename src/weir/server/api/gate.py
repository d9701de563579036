"""The gate: what every request passes before a route sees it. Access, rates, sizes; headers of replies."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weir.server.api.access import Access
from weir.server.limits import Limits, Rates
from weir.server.problems import Problem

_OPEN = ("/health",)
"""Paths that need no token."""

_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
}


class Gate:
    """Static files of the dashboard are open even where there are tokens: the page itself asks for one."""

    def __init__(self, app: ASGIApp, access: Access, limits: Limits) -> None:
        self.app = app
        self.access = access
        self.limits = limits
        self.rates = Rates(limits.requests, limits.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        try:
            self._admit(scope)
            taken = self._measured(scope, receive)
        except Problem as problem:
            await _refuse(problem, scope, receive, send)
            return
        await self.app(scope, taken, _decorated(send) if scope["type"] == "http" else send)

    def _admit(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        path = scope["path"]
        method = scope.get("method", "GET" if scope["type"] == "http" else "WEBSOCKET")
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("access_token", [None])[0]
        streams = path.startswith("/api/queries/") and "/results" in path
        asset = method in ("GET", "HEAD") and not path.startswith(
            ("/api", "/sparql", "/metrics", "/fragments")
        )
        if not (self.access.tokens and (asset or path in _OPEN)):
            scope["weir.token"] = self.access.admit(method, headers, given if streams else None)
        token = scope.get("weir.token")
        client = f"token {token.name}" if token is not None else (scope.get("client") or ("?",))[0]
        wait = self.rates.take(client)
        if wait:
            seconds = str(max(1, round(wait)))
            raise Problem(429, "too many requests", headers={"Retry-After": seconds})

    def _measured(self, scope: Scope, receive: Receive) -> Receive:
        """A ``receive`` that ends a body that is too long; one that says so is refused at once."""
        if scope["type"] != "http":
            return receive
        most = self.limits.body
        declared = Headers(scope=scope).get("content-length", "0")
        if declared.isdigit() and int(declared) > most:
            raise Problem(413, "the body is too long", f"at most {most:,} bytes are taken")
        size = 0

        async def measured() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > most:
                raise HTTPException(413, f"at most {most:,} bytes are taken")
            return message

        return measured


def _decorated(send: Send) -> Send:
    async def decorated(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return decorated


async def _refuse(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        close: dict[str, Any] = {"type": "websocket.close", "code": 1008, "reason": str(problem)[:120]}
        await receive()
        await send(close)
        return
    await problem.response()(scope, receive, _decorated(send))
