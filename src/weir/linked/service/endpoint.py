"""Endpoints over HTTP (SPARQL 1.1 Protocol), asked from an event loop in a thread of its own.

The stream never waits for a server longer than it wants to: a request lives until it has an outcome, which
whoever asked takes when it comes. Nothing is lost and nothing is asked twice.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from time import monotonic

from weir.errors import DataError
from weir.linked.http import Breaker, HttpClient, RequestLimits, Response, Transient
from weir.linked.http.allowed_hosts import session
from weir.linked.http.headers import freshness
from weir.linked.service.config import ServiceConfig
from weir.linked.service.remote_query import ACCEPT, Solutions, parse_results


@dataclass(frozen=True, slots=True)
class Answer:
    """Solutions, for how many seconds the server says they hold (None: it does not say), and costs."""

    solutions: Solutions
    valid_for: float | None
    seconds: float
    attempts: int


class SparqlClient:
    """Made and used inside one event loop; connections are kept and shared by its requests."""

    def __init__(self, endpoint: str, config: ServiceConfig) -> None:
        self.endpoint = endpoint
        self.config = config
        self.breaker = Breaker(config.failures, config.cool_down, config.longest_cool_down)
        limits = RequestLimits(
            timeout=config.timeout,
            max_bytes=config.max_bytes,
            attempts=config.retries + 1,
            backoff=config.backoff,
            longest_wait=config.timeout,
            concurrency=config.connections,
        )
        http = session(
            config.connections,
            config.timeout,
            {"Accept": ACCEPT, "User-Agent": "weir", **dict(config.headers)},
            verify=endpoint.startswith("https:"),
            inner=config.inner,
        )
        self._client = HttpClient(http, limits, breaker=self.breaker)

    async def select(self, query: str) -> Answer:
        """The answer to a SELECT query."""
        started = monotonic()

        def read(response: Response) -> Answer:
            try:
                solutions = parse_results(response.body, response.media_type)
            except DataError as error:
                raise Transient(str(error)) from None
            # A view answers for many queries: it is a shared cache.
            valid_for = freshness(response.headers, shared=True) if self.config.trust_headers else None
            return Answer(solutions, valid_for, monotonic() - started, response.attempt)

        if self.config.method == "GET":
            return await self._client.request(self.endpoint, read, params={"query": query})
        return await self._client.request(self.endpoint, read, method="POST", data={"query": query})

    async def close(self) -> None:
        await self._client.close()


class RemoteLoop:
    """The thread and its event loop, with one client for each endpoint and configuration."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._clients: dict[Hashable, SparqlClient] = {}
        self._thread = threading.Thread(target=self._run, name="weir-service", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def submit(self, endpoint: str, config: ServiceConfig, query: str) -> Future[Answer]:
        """Start a request; cancelling the future ends it."""
        return asyncio.run_coroutine_threadsafe(self._select(endpoint, config, query), self._loop)

    async def _select(self, endpoint: str, config: ServiceConfig, query: str) -> Answer:
        client = self._clients.get((endpoint, config))
        if client is None:
            client = self._clients[endpoint, config] = SparqlClient(endpoint, config)
        return await client.select(query)

    def breaker(self, endpoint: str, config: ServiceConfig) -> Breaker | None:
        """The endpoint's breaker, for a look; None where nothing was asked yet."""
        client = self._clients.get((endpoint, config))
        return None if client is None else client.breaker

    def close(self) -> None:
        """End the thread; requests still running are cancelled."""
        if not self._thread.is_alive():
            return
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    async def _close(self) -> None:
        running = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        for client in self._clients.values():
            await client.close()


_shared: tuple[int, RemoteLoop] | None = None
_lock = threading.Lock()


def shared_loop() -> RemoteLoop:
    """The loop of this process, started at first use: a forked worker gets one of its own."""
    global _shared
    with _lock:
        if _shared is None or _shared[0] != os.getpid():
            _shared = (os.getpid(), RemoteLoop())
        return _shared[1]
