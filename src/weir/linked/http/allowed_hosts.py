"""Where requests may go: only to allowed hosts, and never to an address of an inner network by surprise.

A name is resolved once, every address it has is judged, and the connection is made to the very address that
was judged, so that a name that changes its mind in between gains nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx

from weir.errors import RemoteError

_REDIRECTS = 5


class Forbidden(RemoteError):
    """An address that may not be asked."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """``hosts`` by name, ``*.example.org`` for all below; ``private`` those of them that may lead to inner
    addresses (loopback, private, link-local and the like). A host may have a port, and is then bound to it.
    """

    hosts: frozenset[str] = frozenset()
    private: frozenset[str] = frozenset()

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
        if not self._has(self.hosts | self.private, parts.hostname, port):
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


def plain_session(allowed: Allowed | None, timeout: float) -> httpx.Client:
    """Connections for ordinary code, which follow a few redirects; with ``allowed``, only where it permits.

    Proxies of the environment are used only where every address may be asked: they would hide it.
    """
    if allowed is None:
        return httpx.Client(timeout=timeout, follow_redirects=True, max_redirects=_REDIRECTS)
    transport = httpx.HTTPTransport()
    transport._pool._network_backend = _JudgedBackend(allowed)
    return httpx.Client(
        transport=transport,
        timeout=timeout,
        trust_env=False,
        follow_redirects=True,
        max_redirects=_REDIRECTS,
        event_hooks={"request": [lambda request: allowed.check(str(request.url))]},
    )


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


def session(
    connections: int, timeout: float, headers: Mapping[str, str], *, verify: bool = True, inner: bool = True
) -> httpx.AsyncClient:
    """Connections for an event loop, which follow no redirects; without ``inner``, to no inner address.

    ``verify`` False is for plain HTTP: certificates take a fifth of a second to load.
    """
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    transport = httpx.AsyncHTTPTransport(verify=verify, limits=limits, trust_env=False)
    if not inner:
        transport._pool._network_backend = _JudgedAsyncBackend(Allowed())
    return httpx.AsyncClient(transport=transport, timeout=timeout, headers=headers, trust_env=False)
