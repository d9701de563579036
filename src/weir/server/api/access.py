"""Who may do what: tokens, rates and sizes, which every request passes before a route sees it; and what
routes ask of a request: the service, the address that it was called by, its scope and its types.

Without tokens the service is open, to this machine only: it then takes no request whose Host is another name
(a page that makes its own name lead here) and never one that changes something on behalf of another page.
"""

from __future__ import annotations

import hmac
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any
from urllib.parse import parse_qs, urlsplit

from fastapi import Depends, Request
from fastapi.requests import HTTPConnection
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weir.errors import UsageError
from weir.linked.http.headers import negotiate
from weir.server.problems import Problem
from weir.server.service import Service
from weir.server.settings import SCOPES, Limits, Token

_SAFE = ("GET", "HEAD", "OPTIONS")
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


class Access:
    """The tokens of a service; with none, whoever reaches it may do everything."""

    def __init__(
        self, tokens: Iterable[Token] = (), *, host: str = "127.0.0.1", origins: Iterable[str] = ()
    ) -> None:
        self.tokens = tuple(tokens)
        self.origins = tuple(origins)
        if not self.tokens and not is_loopback(host):
            raise UsageError(
                f"the service would be open to everybody at {host}",
                hint="give tokens in the configuration, or listen on 127.0.0.1",
            )

    def admit(self, method: str, headers: Headers, given: str | None = None) -> Token | None:
        """Who asks: None where there are no tokens. ``given`` is a token that came in the address."""
        host = headers.get("host", "")
        if not self.tokens and not is_loopback(_name(host)):
            raise Problem(403, "this service is open to its own machine only", f"it was called {host[:80]!r}")
        origin = headers.get("origin")
        if origin is not None and method not in _SAFE and not self._same(origin, host):
            raise Problem(403, "another page may not change anything here", f"its origin is {origin[:80]}")
        if not self.tokens:
            return None
        kind, _, secret = headers.get("authorization", "").partition(" ")
        secret = secret.strip() if kind.lower() == "bearer" else (given or "")
        if not secret:
            raise Problem(401, "a bearer token is needed", headers={"WWW-Authenticate": "Bearer"})
        for token in self.tokens:
            if hmac.compare_digest(token.secret.encode(), secret.encode()):
                return token
        challenge = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
        raise Problem(401, "the bearer token is wrong", headers=challenge)

    def _same(self, origin: str, host: str) -> bool:
        return origin in self.origins or urlsplit(origin).netloc == host


class Rates:
    """A bucket of requests per client, filled at ``rate`` a second up to ``burst``."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.burst = burst
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> float:
        """Take one request; 0, or how many seconds the client has to wait."""
        now = self._clock()
        left, then = self._left.pop(client, (self.burst, now))
        left = min(self.burst, left + (now - then) * self.rate)
        allowed = left >= 1
        self._left[client] = (left - 1 if allowed else left, now)
        while len(self._left) > 10_000:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self.rate if self.rate else 60.0


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


def is_loopback(host: str) -> bool:
    """Whether a name or address is that of this machine alone."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _name(host: str) -> str:
    """The name in a Host header, without its port."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def service_of(connection: HTTPConnection) -> Service:
    """The service behind the application."""
    service: Service = connection.app.state.service
    return service


Here = Annotated[Service, Depends(service_of)]


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
