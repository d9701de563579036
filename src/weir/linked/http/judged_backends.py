"""What connects for the HTTP client: to addresses that were judged, and not to names."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import httpcore

from weir.linked.http.allowed_hosts import Allowed


class JudgedBackend(httpcore.SyncBackend):
    """Connects to addresses that were judged, instead of names: to the first that answers."""

    def __init__(self, allowed: Allowed) -> None:
        self.allowed = allowed

    def connect_tcp(self, host: str, port: int, *args: Any, **options: Any) -> httpcore.NetworkStream:
        *others, last = self.allowed.addresses(host, port)
        for address in others:
            with suppress(httpcore.ConnectError):
                return super().connect_tcp(address, port, *args, **options)
        return super().connect_tcp(last, port, *args, **options)


class JudgedAsyncBackend(httpcore.AnyIOBackend):
    """The same for an event loop; names are resolved in a thread."""

    def __init__(self, allowed: Allowed) -> None:
        self.allowed = allowed

    async def connect_tcp(
        self, host: str, port: int, *args: Any, **options: Any
    ) -> httpcore.AsyncNetworkStream:
        *others, last = await asyncio.to_thread(self.allowed.addresses, host, port)
        for address in others:
            with suppress(httpcore.ConnectError):
                return await super().connect_tcp(address, port, *args, **options)
        return await super().connect_tcp(last, port, *args, **options)
