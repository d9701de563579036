"""One endpoint over HTTP: the SPARQL 1.1 Protocol on top of the one HTTP client.

A request either gives an ``Answer`` or raises ``RemoteError``, never anything else. A body that is not a
result is a failure that may pass, and is tried again.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from weir.errors import DataError
from weir.linked.http import HttpClient, RequestLimits, Response, Transient, freshness
from weir.linked.http.addresses import session
from weir.linked.http.breaker import Breaker
from weir.linked.service.config import ServiceConfig
from weir.linked.service.results import ACCEPT, Solutions, parse_results


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
