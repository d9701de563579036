"""Who may do what: tokens, rates and sizes, which every request passes before a route sees it; and what
routes ask of a request: the service, the address that it was called by, its scope and its types.

Who is admitted at all is decided by ``linked.serving.admission``.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qs

from fastapi import Depends, Request
from fastapi.requests import HTTPConnection
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weir.linked.http.headers import negotiate
from weir.linked.serving.admission import Access, Refused
from weir.server.api.lanes import Lanes
from weir.server.problems import Problem
from weir.server.service import Service
from weir.server.settings import SCOPES, Limits, Token

R = TypeVar("R")
_OPEN = ("/health",)
"""Paths that need no token."""

HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
}


class Rates:
    """A bucket of requests per client, filled at ``rate`` a second up to ``burst``."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.burst = burst
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> float:
        """Take one request; 0, or how many seconds the client has to wait."""
        wait = self.wait(client)
        left, now = self._now(client)
        self._left.pop(client, None)
        self._left[client] = (left if wait else left - 1, now)
        while len(self._left) > 10_000:
            self._left.popitem(last=False)
        return wait

    def wait(self, client: str) -> float:
        """How many seconds a client has to wait for its next request, of which none is taken."""
        left, _ = self._now(client)
        return 0.0 if left >= 1 else (1 - left) / self.rate if self.rate else 60.0

    def _now(self, client: str) -> tuple[float, float]:
        now = self._clock()
        left, then = self._left.get(client, (self.burst, now))
        return min(self.burst, left + (now - then) * self.rate), now


def _hold_back(wait: float, title: str) -> None:
    if wait:
        raise Problem(429, title, headers={"Retry-After": str(max(1, round(wait)))})


class Gate:
    """Static files of the dashboard are open even where there are tokens: the page itself asks for one.

    A client that was refused too often for its tokens is not listened to for a while, and one that has too
    many requests under way gets no more.
    """

    def __init__(self, app: ASGIApp, access: Access[Token], limits: Limits) -> None:
        self.app = app
        self.access = access
        self.limits = limits
        self.rates = Rates(limits.requests, limits.burst)
        self.failures = Rates(limits.failed_logins / 60, limits.failed_logins)
        self.under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        try:
            client = self._admit(scope)
            taken = self._measured(scope, receive)
        except Problem as problem:
            await _refuse(problem, scope, receive, send)
            return
        self.under_way[client] += 1
        try:
            await self.app(scope, taken, _decorated(send) if scope["type"] == "http" else send)
        finally:
            self.under_way[client] -= 1
            if not self.under_way[client]:
                del self.under_way[client]

    def _admit(self, scope: Scope) -> str:
        """Who asks, by the name under which it is counted."""
        headers = Headers(scope=scope)
        path = scope["path"]
        method = scope.get("method", "GET" if scope["type"] == "http" else "WEBSOCKET")
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("access_token", [None])[0]
        streams = path.startswith("/api/queries/") and "/results" in path
        asset = method in ("GET", "HEAD") and not path.startswith(
            ("/api", "/sparql", "/metrics", "/fragments")
        )
        address = (scope.get("client") or ("?",))[0]
        if not (self.access.tokens and (asset or path in _OPEN)):
            scope["weir.token"] = self._token(address, method, headers, given if streams else None)
        token = scope.get("weir.token")
        client = f"token {token.name}" if token is not None else address
        _hold_back(self.rates.take(client), "too many requests")
        if streams:
            return f"subscriber {client}"
        if self.under_way[client] >= self.limits.concurrent:
            raise Problem(429, "too many requests at once", headers={"Retry-After": "1"})
        return client

    def known(self, headers: Mapping[str, str]) -> str | None:
        """As ``fast_path.Doorkeeper``: the name of whoever may read, empty for its address."""
        try:
            token = self.access.admit("GET", headers)
        except Refused:
            return None
        return "" if token is None else f"token {token.name}"

    def takes(self, client: str) -> bool:
        """As ``fast_path.Doorkeeper``: count a request."""
        return not self.rates.take(client)

    def _token(self, address: str, method: str, headers: Headers, given: str | None) -> Token | None:
        _hold_back(self.failures.wait(address), "too many failed log-ins")
        try:
            return self.access.admit(method, headers, given)
        except Refused as refused:
            if refused.status == 401 and ("authorization" in headers or given):
                self.failures.take(address)
            raise Problem(refused.status, refused.title, refused.detail, headers=refused.headers) from None

    def _measured(self, scope: Scope, receive: Receive) -> Receive:
        """A ``receive`` that ends a body that is too long or too slow."""
        if scope["type"] != "http":
            return receive
        most = self.limits.body
        declared = Headers(scope=scope).get("content-length", "0")
        if declared.isdigit() and int(declared) > most:
            raise Problem(413, "the body is too long", f"at most {most:,} bytes are taken")
        size, until = 0, asyncio.get_running_loop().time() + self.limits.receive
        coming = True

        async def measured() -> Message:
            nonlocal size, coming
            try:
                async with asyncio.timeout_at(until if coming else None):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, f"a body comes within {self.limits.receive:g} s") from None
            coming = message.get("more_body", False)
            size += len(message.get("body", b""))
            if size > most:
                raise HTTPException(413, f"at most {most:,} bytes are taken")
            return message

        return measured


def _decorated(send: Send) -> Send:
    async def decorated(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
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


def service_of(connection: HTTPConnection) -> Service:
    """The service behind the application."""
    service: Service = connection.app.state.service
    return service


Here = Annotated[Service, Depends(service_of)]


def lanes_of(connection: HTTPConnection) -> Lanes:
    """The threads of the application."""
    lanes: Lanes = connection.app.state.lanes
    return lanes


Threads = Annotated[Lanes, Depends(lanes_of)]


def changing(route: Callable[..., R]) -> Callable[..., Awaitable[R]]:
    """A route that waits for a batch to be planned: it has the threads for changes."""

    async def run(lanes: Lanes, **values: Any) -> R:
        return await lanes.changes.run(route, **values)

    known = inspect.signature(route, eval_str=True)
    lanes = inspect.Parameter("lanes", inspect.Parameter.KEYWORD_ONLY, annotation=Threads)
    run.__signature__ = known.replace(parameters=[*known.parameters.values(), lanes])  # type: ignore[attr-defined]
    run.__name__, run.__doc__ = route.__name__, route.__doc__
    return run


async def body_of(request: Request) -> bytes:
    """The body as it is."""
    return await request.body()


Body = Annotated[bytes, Depends(body_of)]


def base_of(connection: HTTPConnection) -> str:
    """The address of the service as the client wrote it."""
    return str(connection.base_url).rstrip("/")


class Needs:
    """A dependency of routes: the scope that they need."""

    def __init__(self, scope: str) -> None:
        self.level = SCOPES.index(scope)
        self.scope = scope

    def __call__(self, connection: HTTPConnection) -> None:
        token: Token | None = connection.scope.get("weir.token")
        if token is not None and SCOPES.index(token.scope) < self.level:
            challenge = f'Bearer error="insufficient_scope", scope="{self.scope}"'
            raise Problem(
                403,
                f"the token does not have the scope {self.scope}",
                headers={"WWW-Authenticate": challenge},
            )


READ, WRITE, ADMIN = Needs("read"), Needs("write"), Needs("admin")


def chosen(request: Request, offered: Sequence[str]) -> str:
    """The best of ``offered`` for a request, the first where nothing is asked for; else 406."""
    found = negotiate(request.headers.get("accept", ""), offered)
    if found is None:
        raise Problem(406, "none of these types can be made", f"known are {', '.join(offered)}")
    return found
