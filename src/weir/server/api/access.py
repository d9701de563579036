"""Who may do what: bearer tokens with scopes, and no requests from other web pages.

Without tokens the service is open, to this machine only: it then takes no request whose Host is another name
(a page that makes its own name lead here) and never one that changes something on behalf of another page.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fastapi.requests import HTTPConnection
from starlette.datastructures import Headers

from weir.errors import UsageError
from weir.server.problems import Problem

SCOPES = ("read", "write", "admin")
"""Read results and ask; push messages and update graphs; create, register, drop. Each has those before it."""

_SAFE = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True)
class Token:
    """``name`` is what the holder is called in limits and logs; ``scope`` the most it allows."""

    secret: str
    scope: str = "read"
    name: str = "token"

    def __post_init__(self) -> None:
        if self.scope not in SCOPES:
            raise UsageError(f"unknown scope {self.scope!r}", hint=f"one of {', '.join(SCOPES)}")
        if len(self.secret) < 16:
            raise UsageError(f"the token {self.name!r} is shorter than 16 characters")

    @staticmethod
    def of(values: Mapping[str, Any], number: int) -> Token:
        """A token of a configuration: ``token``, ``scope``, ``name``."""
        unknown = set(values) - {"token", "scope", "name"}
        if unknown or "token" not in values:
            raise UsageError("a token has the keys token, scope and name")
        return Token(str(values["token"]), str(values.get("scope", "read")), str(values.get("name", number)))


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
