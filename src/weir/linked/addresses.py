"""Where requests may go: only to allowed hosts, and never to an address of an inner network by surprise.

A name is resolved once, every address it has is judged, and the connection is made to the very address that
was judged, so that a name that changes its mind in between gains nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpcore
import httpx

from weir.errors import RemoteError

_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class Allowed:
    """``hosts`` by name, ``*.example.org`` for all below; ``private`` those of them that may lead to inner
    addresses (loopback, private, link-local and the like). A host may have a port, and is then bound to it.
    """

    hosts: frozenset[str] = frozenset()
    private: frozenset[str] = frozenset()

    def check(self, url: str) -> None:
        """Raise ``RemoteError`` where the URL's host is not allowed."""
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1:
            raise RemoteError(f"{url[:200]} is no address of a server", hint="http and https are followed")
        if parts.username is not None or parts.password is not None:
            raise RemoteError("an address with a user name is not followed")
        if not self._has(self.hosts | self.private, parts.hostname, port):
            raise RemoteError(
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
                    raise RemoteError(
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


def is_inner(address: str) -> bool:
    """Whether an address is not one of the public internet."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(parsed, "ipv4_mapped", None)
    return not (mapped or parsed).is_global or (mapped or parsed).is_multicast


class _JudgedBackend(httpcore.SyncBackend):
    """Connects to addresses that were judged, instead of names."""

    def __init__(self, allowed: Allowed) -> None:
        self.allowed = allowed

    def connect_tcp(self, host: str, port: int, *args: Any, **options: Any) -> httpcore.NetworkStream:
        address = self.allowed.addresses(host, port)[0]
        return super().connect_tcp(address, port, *args, **options)


def client(allowed: Allowed, timeout: float) -> httpx.Client:
    """An HTTP client that connects only where it may; redirects are followed by ``steps`` alone."""
    transport = httpx.HTTPTransport()
    transport._pool._network_backend = _JudgedBackend(allowed)
    return httpx.Client(transport=transport, timeout=timeout, trust_env=False, follow_redirects=False)


class _JudgedAsyncBackend(httpcore.AsyncNetworkBackend):
    """The same for an event loop; names are resolved in a thread."""

    def __init__(self, allowed: Allowed) -> None:
        self.allowed = allowed
        self._backend = httpcore.AnyIOBackend()

    async def connect_tcp(
        self, host: str, port: int, *args: Any, **options: Any
    ) -> httpcore.AsyncNetworkStream:
        addresses = await asyncio.to_thread(self.allowed.addresses, host, port)
        return await self._backend.connect_tcp(addresses[0], port, *args, **options)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def outer_transport(verify: bool, limits: httpx.Limits) -> httpx.AsyncHTTPTransport:
    """A transport that never connects to an inner address."""
    transport = httpx.AsyncHTTPTransport(verify=verify, limits=limits, trust_env=False)
    transport._pool._network_backend = _JudgedAsyncBackend(Allowed())
    return transport


def steps(url: str, response: httpx.Response, allowed: Allowed) -> str | None:
    """Where a response leads, checked like the first address; None where it leads nowhere."""
    location = response.headers.get("location")
    if response.status_code not in _REDIRECTS or not location:
        return None
    following: str = urljoin(url, location)
    allowed.check(following)
    return following
