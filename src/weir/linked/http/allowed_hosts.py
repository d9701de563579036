"""Where requests may go: only to allowed hosts, and never to an address of an inner network by surprise.

A name is resolved once, every address it has is judged, and the connection is made to the very address that
was judged, so that a name that changes its mind in between gains nothing.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from weir.errors import RemoteError
from weir.extras import lazily, load
from weir.linked.http.bodies import ENCODINGS, judge, judge_async

if TYPE_CHECKING:
    import httpx
else:
    httpx = lazily("httpx")

_REDIRECTS = 5


class Forbidden(RemoteError):
    """An address that may not be asked."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """``hosts`` by name, ``*.example.org`` for all below; ``private`` those of them that may lead to inner
    addresses (loopback, private, link-local and the like). A host may have a port, and is then bound to it.
    With ``anywhere`` every other host may be asked, too, on public addresses.
    """

    hosts: frozenset[str] = frozenset()
    private: frozenset[str] = frozenset()
    anywhere: bool = False

    @staticmethod
    def named(url: str) -> Allowed:
        """What somebody trusted allows who names an address: its host wherever that is, and where that leads
        to, by links and redirects, on public addresses."""
        return Allowed(private=frozenset({(urlsplit(url).hostname or "").lower()}), anywhere=True)

    def check(self, url: str) -> None:
        """Raise ``Forbidden`` where the URL's host is not allowed, ``RemoteError`` where it is no address."""
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1:
            raise RemoteError(f"{url[:200]} is no address of a server", hint="http and https are followed")
        if parts.username is not None or parts.password is not None:
            raise RemoteError("an address with a user name is not followed")
        if not self.anywhere and not self._has(self.hosts | self.private, parts.hostname, port):
            raise Forbidden(
                f"the host {parts.hostname} is not allowed",
                hint="allow it in the configuration, under [allow] hosts",
            )

    def addresses(self, host: str, port: int) -> list[str]:
        """The addresses of a host, none of them inner unless that is allowed."""
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise RemoteError(f"the host {host} is not known", detail=str(error)) from None
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if not self._has(self.private, host, port):
            for address in addresses:
                if is_inner(address):
                    raise Forbidden(
                        f"the host {host} leads to an inner address",
                        hint="allow it in the configuration, under [allow] private",
                    )
        return addresses

    def _has(self, hosts: Iterable[str], host: str, port: int | None) -> bool:
        return any(each in hosts for each in _names(host.lower(), port))


def _names(host: str, port: int | None) -> Iterator[str]:
    yield host
    if port is not None:
        yield f"{host}:{port}"
    labels = host.split(".")
    for cut in range(1, len(labels)):
        yield "*." + ".".join(labels[cut:])


_PUBLIC = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_PROTOCOLS = ipaddress.IPv4Network("192.0.0.0/24")
"""Not all of it is private to Python's older lists."""
_LOW = 2**32 - 1


def is_inner(address: str) -> bool:
    """Whether an address is not one of the public internet, or leads to one that is not: addresses that hold
    another (mapped, NAT64, 6to4, Teredo, ISATAP) are judged by it, too."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv4Address):
        return not parsed.is_global or parsed.is_multicast or parsed in _PROTOCOLS
    held = parsed.ipv4_mapped or (ipaddress.IPv4Address(int(parsed) & _LOW) if parsed in _NAT64 else None)
    if held is not None:
        return is_inner(str(held))
    within = [parsed.sixtofour, *(parsed.teredo or ())]
    if int(parsed) >> 32 & 0xFDFF_FFFF == 0x5EFE:
        within.append(ipaddress.IPv4Address(int(parsed) & _LOW))
    return (
        parsed not in _PUBLIC
        or not parsed.is_global
        or any(is_inner(str(each)) for each in within if each is not None)
    )


def _backends() -> Any:
    """What connects, loaded with the client."""
    return load("weir.linked.http.judged_backends")


def plain_session(allowed: Allowed, timeout: float) -> httpx.Client:
    """Connections for ordinary code, which follow a few redirects, each of them judged.

    Proxies of the environment are used only where any host may be asked: they hide its address.
    """
    options: dict[str, Any] = {}
    if not allowed.anywhere or not getproxies():
        transport = httpx.HTTPTransport()
        transport._pool._network_backend = _backends().JudgedBackend(allowed)
        options = {"transport": transport, "trust_env": False}
    return httpx.Client(
        timeout=timeout,
        headers=ENCODINGS,
        follow_redirects=True,
        max_redirects=_REDIRECTS,
        event_hooks={"request": [lambda request: allowed.check(str(request.url))], "response": [judge]},
        **options,
    )


def following_session(allowed: Allowed, connections: int, timeout: float) -> httpx.AsyncClient:
    """The same for an event loop."""

    async def check(request: httpx.Request) -> None:
        allowed.check(str(request.url))

    limits = httpx.Limits(
        max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=30.0
    )
    options: dict[str, Any] = {"limits": limits}
    if not getproxies():
        transport = httpx.AsyncHTTPTransport(limits=limits, trust_env=False)
        transport._pool._network_backend = _backends().JudgedAsyncBackend(allowed)
        options = {"transport": transport, "trust_env": False}
    return httpx.AsyncClient(
        timeout=timeout,
        headers={"User-Agent": "weir", **ENCODINGS},
        follow_redirects=True,
        max_redirects=_REDIRECTS,
        event_hooks={"request": [check], "response": [judge_async]},
        **options,
    )


def session(
    connections: int, timeout: float, headers: Mapping[str, str], *, verify: bool = True, inner: bool = True
) -> httpx.AsyncClient:
    """Connections for an event loop, which follow no redirects; without ``inner``, to no inner address.

    ``verify`` False is for plain HTTP: certificates take a fifth of a second to load.
    """
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    transport = httpx.AsyncHTTPTransport(verify=verify, limits=limits, trust_env=False)
    if not inner:
        transport._pool._network_backend = _backends().JudgedAsyncBackend(Allowed())
    return httpx.AsyncClient(
        transport=transport,
        timeout=timeout,
        headers={**headers, **ENCODINGS},
        event_hooks={"response": [judge_async]},
        trust_env=False,
    )
