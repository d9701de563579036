"""Endpoints over HTTP (SPARQL 1.1 Protocol), asked from an event loop in a thread of its own.

The stream never waits for a server longer than it wants to: a request lives until it has an outcome, which
whoever asked takes when it comes. Nothing is lost and nothing is asked twice.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import OrderedDict
from collections.abc import Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from time import monotonic

from weir.errors import DataError, RemoteError
from weir.linked.http import Breaker, Gate, HttpClient, RequestLimits, Response, Transient
from weir.linked.http.allowed_hosts import session
from weir.linked.http.headers import freshness, whole_number
from weir.linked.service.config import ServiceConfig
from weir.linked.service.remote_query import ACCEPT, Solutions, parse_results

_PARTIAL = "S1TAT"
"""Virtuoso's state of a query whose time ran out."""
_TAGGED, _TAGGED_ROWS = 256, 1_000
"""How many answers that their server has named are kept for each endpoint, and of how many rows at most."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Solutions, for how many seconds the server says they hold (None: it does not say), and costs; ``cut``
    where there may be more of them."""

    solutions: Solutions
    valid_for: float | None
    seconds: float
    attempts: int
    cut: bool = False


@dataclass(frozen=True, slots=True)
class _Tagged:
    """An answer that the server has named, by a tag or by when it was changed."""

    etag: str | None
    modified: str | None
    solutions: Solutions

    @property
    def condition(self) -> dict[str, str]:
        if self.etag is not None:
            return {"If-None-Match": self.etag}
        return {} if self.modified is None else {"If-Modified-Since": self.modified}


class SparqlClient:
    """Made and used inside one event loop; connections are kept and shared by its requests.

    Asked by GET, a server that names its answers (``ETag``, ``Last-Modified``) is asked again only whether an
    answer is still that one (RFC 9110, section 13); a POST has no such conditions."""

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
            cool_down=config.cool_down,
        )
        http = session(
            config.connections,
            config.timeout,
            {"Accept": ACCEPT, "User-Agent": "weir", **dict(config.headers)},
            verify=endpoint.startswith("https:"),
            inner=config.inner,
        )
        self._client = HttpClient(http, limits, breaker=self.breaker)
        self._tagged: OrderedDict[str, _Tagged] = OrderedDict()

    async def select(self, query: str, gate: Gate | None = None, attempts: int | None = None) -> Answer:
        """The answer to a SELECT query (``HttpClient.request`` says what ``gate`` and ``attempts`` are)."""
        started = monotonic()

        known = self._tagged.get(query)

        def read(response: Response) -> Answer:
            cut = False
            if response.status == 304 and known is not None:
                solutions = known.solutions
            else:
                try:
                    solutions = parse_results(response.body, response.media_type)
                except DataError as error:
                    raise Transient(str(error)) from None
                cut = self._cut(response, solutions.length)
                if not cut:
                    self._remember(query, response, solutions)
            # A view answers for many queries: it is a shared cache.
            valid_for = freshness(response.headers, shared=True) if self.config.trust_headers else None
            return Answer(solutions, valid_for, monotonic() - started, response.attempt, cut)

        ask = partial(self._client.request, gate=gate, attempts=attempts)
        if self.config.method == "GET":
            condition = {} if known is None else known.condition
            statuses = (200,) if known is None else (200, 304)
            return await ask(
                self.endpoint, read, params={"query": query}, headers=condition, statuses=statuses
            )
        return await ask(self.endpoint, read, method="POST", data={"query": query})

    def _cut(self, response: Response, rows: int) -> bool:
        """Whether there are as many rows as the server gives at most: it says how many, as Virtuoso does, or
        is declared to. Raises where it says that time ran out: nobody knows what is missing then."""
        told = whole_number(response.headers.get("x-sparql-maxrows"))
        most = min((each for each in (told, self.config.row_limit) if each), default=None)
        if response.headers.get("x-sql-state", "").upper() == _PARTIAL:
            raise RemoteError(
                f"{self.endpoint} has cut its answer after {rows:,} rows",
                hint="ask for fewer keys at once (batch), or by variables that are bound beside SERVICE",
            )
        return most is not None and rows >= most

    def _remember(self, query: str, response: Response, solutions: Solutions) -> None:
        tagged = _Tagged(response.headers.get("etag"), response.headers.get("last-modified"), solutions)
        self._tagged.pop(query, None)
        if self.config.method == "GET" and tagged.condition and solutions.length <= _TAGGED_ROWS:
            self._tagged[query] = tagged
        while len(self._tagged) > _TAGGED:
            self._tagged.popitem(last=False)

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

    def submit(
        self,
        endpoint: str,
        config: ServiceConfig,
        query: str,
        gate: Gate | None = None,
        attempts: int | None = None,
    ) -> Future[Answer]:
        """Start a request; cancelling the future ends it."""
        request = self._select(endpoint, config, query, gate, attempts)
        return asyncio.run_coroutine_threadsafe(request, self._loop)

    async def _select(
        self, endpoint: str, config: ServiceConfig, query: str, gate: Gate | None, attempts: int | None
    ) -> Answer:
        client = self._clients.get((endpoint, config))
        if client is None:
            client = self._clients[endpoint, config] = SparqlClient(endpoint, config)
        return await client.select(query, gate, attempts)

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
