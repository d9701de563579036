"""Who may ask a server of Weir's, whichever server it is: the API, fragments, live results.

Without tokens a server is open, to this machine only: it takes no request whose Host is another name (a page
that makes its own name lead here), and never one that changes something on behalf of another page. With
tokens it may listen anywhere, and every request needs one.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable, Mapping
from typing import Generic, Protocol, TypeVar
from urllib.parse import urlsplit

from weir.errors import UsageError

_SAFE = ("GET", "HEAD", "OPTIONS")


class Holder(Protocol):
    """Whoever has a token."""

    @property
    def secret(self) -> str: ...


T = TypeVar("T", bound=Holder)


class Refused(Exception):
    """A request that is not admitted: an HTTP status, why, and header fields that go with it."""

    def __init__(
        self, status: int, title: str, detail: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(title)
        self.status, self.title, self.detail = status, title, detail
        self.headers = dict(headers or {})


class Access(Generic[T]):
    """The tokens of a server; with none, whoever is on this machine may do everything."""

    def __init__(
        self, tokens: Iterable[T] = (), *, host: str = "127.0.0.1", origins: Iterable[str] = ()
    ) -> None:
        self.tokens = tuple(tokens)
        self.origins = tuple(origins)
        if not self.tokens and not is_loopback(host):
            raise UsageError(
                f"the service would be open to everybody at {host}",
                hint="give it tokens, or listen on 127.0.0.1",
            )

    def admit(self, method: str, headers: Mapping[str, str], given: str | None = None) -> T | None:
        """Who asks: None where there are no tokens. ``given`` is a token that came in the address."""
        host = headers.get("host", "")
        if not self.tokens and not is_loopback(host_name(host)):
            raise Refused(403, "this service is open to its own machine only", f"it was called {host[:80]!r}")
        self.check_origin(method, headers)
        if not self.tokens:
            return None
        kind, _, secret = headers.get("authorization", "").partition(" ")
        secret = secret.strip() if kind.lower() == "bearer" else (given or "")
        if not secret:
            raise Refused(401, "a bearer token is needed", headers={"WWW-Authenticate": "Bearer"})
        found = [each for each in self.tokens if same_secret(each.secret, secret)]
        if not found:
            challenge = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
            raise Refused(401, "the bearer token is wrong", headers=challenge)
        return found[0]

    def check_origin(self, method: str, headers: Mapping[str, str]) -> None:
        """Refuse what would change something on behalf of another page."""
        origin = headers.get("origin")
        if origin is None or method in _SAFE or origin in self.origins:
            return
        if urlsplit(origin).netloc != headers.get("host", ""):
            raise Refused(403, "another page may not change anything here", f"its origin is {origin[:80]}")


def same_secret(one: str, other: str) -> bool:
    """Whether two texts are the same, in a time that tells nothing of where they differ."""
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


def is_loopback(host: str) -> bool:
    """Whether a name or address is that of this machine alone."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_name(host: str) -> str:
    """The name in a Host header, without its port."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]
