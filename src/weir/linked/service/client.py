"""One endpoint over HTTP: the SPARQL 1.1 Protocol with time-outs, retries, limits and a breaker.

A request either gives an ``Answer`` or raises ``RemoteError``; it never raises anything else, never
reads more than the declared number of bytes, and never lasts longer than time-out × (retries + 1) and
the waits between. Retried are failures that may pass: no connection, a time-out, a connection lost
in the middle, 408, 429 and 5xx, a body that is not a result.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import monotonic

import httpx

from weir.errors import DataError, RemoteError
from weir.linked.addresses import outer_transport
from weir.linked.service.breaker import Breaker
from weir.linked.service.config import ServiceConfig
from weir.linked.service.results import ACCEPT, Solutions, parse_results

_PASSING = frozenset((408, 425, 429, 500, 502, 503, 504))


@dataclass(frozen=True, slots=True)
class Answer:
    """Solutions, for how many seconds the server says they hold (None: it does not say), and costs."""

    solutions: Solutions
    valid_for: float | None
    seconds: float
    attempts: int


class _Passing(Exception):
    """A failure that another attempt may not meet; ``wait`` is what the server asked for."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


class SparqlClient:
    """Made and used inside one event loop; connections are kept and shared by its requests."""

    def __init__(
        self,
        endpoint: str,
        config: ServiceConfig,
        clock: Callable[[], float] = monotonic,
        seed: int | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.config = config
        self.breaker = Breaker(config.failures, config.cool_down, config.longest_cool_down, clock)
        self._clock = clock
        self._chance = random.Random(seed)
        self._gate = asyncio.Semaphore(config.connections)
        limits = httpx.Limits(
            max_connections=config.connections, max_keepalive_connections=config.connections
        )
        headers = {"Accept": ACCEPT, "User-Agent": "weir", **dict(config.headers)}
        # Certificates take a fifth of a second to load; plain HTTP, which never redirects here, needs none.
        verify = endpoint.startswith("https:")
        self._http = httpx.AsyncClient(
            timeout=config.timeout,
            limits=limits,
            headers=headers,
            trust_env=False,
            verify=verify,
            transport=None if config.inner else outer_transport(verify, limits),
        )

    async def select(self, query: str) -> Answer:
        """The answer to a SELECT query."""
        started = self._clock()
        async with self._gate:
            if not self.breaker.allow():
                raise RemoteError(f"{self.endpoint} is left alone after failures")
            try:
                return await self._attempts(query, started)
            except asyncio.CancelledError:
                self.breaker.failed()
                raise

    async def _attempts(self, query: str, started: float) -> Answer:
        for attempt in range(self.config.retries + 1):
            try:
                solutions, valid_for = await asyncio.wait_for(self._once(query), self.config.timeout)
            except (_Passing, TimeoutError) as error:
                failure = str(error) or f"no answer in {self.config.timeout:g} s"
                wait = max(getattr(error, "wait", 0.0), self._pause(attempt))
            except RemoteError:
                self.breaker.succeeded()
                raise
            else:
                self.breaker.succeeded()
                return Answer(solutions, valid_for, self._clock() - started, attempt + 1)
            if attempt < self.config.retries:
                await asyncio.sleep(min(wait, self.config.timeout))
        self.breaker.failed()
        raise RemoteError(f"{self.endpoint} failed", detail=failure)

    def _pause(self, attempt: int) -> float:
        """Exponential back-off with full jitter, so that clients do not come back all at once."""
        return self._chance.uniform(0, self.config.backoff * 2**attempt)

    async def _once(self, query: str) -> tuple[Solutions, float | None]:
        try:
            if self.config.method == "GET":
                request = self._http.build_request("GET", self.endpoint, params={"query": query})
            else:
                request = self._http.build_request("POST", self.endpoint, data={"query": query})
            response = await self._http.send(request, stream=True)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise RemoteError(f"{self.endpoint} is no HTTP address", detail=str(error)) from None
        except httpx.HTTPError as error:
            raise _Passing(f"{type(error).__name__}: {error}") from None
        try:
            if response.status_code in _PASSING:
                raise _Passing(f"status {response.status_code}", _retry_after(response.headers))
            if response.status_code != 200:
                raise RemoteError(f"{self.endpoint} refused", detail=f"status {response.status_code}")
            body = await self._body(response)
        finally:
            await response.aclose()
        try:
            solutions = parse_results(body, response.headers.get("content-type", ""))
        except DataError as error:
            raise _Passing(str(error)) from None
        return solutions, validity(response.headers) if self.config.trust_headers else None

    async def _body(self, response: httpx.Response) -> bytes:
        parts: list[bytes] = []
        size = 0
        try:
            async for part in response.aiter_bytes():
                size += len(part)
                if size > self.config.max_bytes:
                    raise RemoteError(
                        f"{self.endpoint} sent more than {self.config.max_bytes} bytes",
                        hint="raise max_bytes, or ask for fewer keys at once (batch)",
                    )
                parts.append(part)
        except httpx.HTTPError as error:
            raise _Passing(f"{type(error).__name__}: {error}") from None
        return b"".join(parts)

    async def close(self) -> None:
        await self._http.aclose()


def _retry_after(headers: Mapping[str, str]) -> float:
    text = headers.get("retry-after", "").strip()
    return float(text) if text.isdigit() else 0.0


def validity(headers: Mapping[str, str]) -> float | None:
    """For how many seconds a response stays valid by ``Cache-Control`` or ``Expires`` (RFC 9111, 4.2.1).

    None where it does not say; 0 where it must not be reused.
    """
    directives = {
        name.strip().lower(): value.strip().strip('"')
        for name, _, value in (part.partition("=") for part in headers.get("cache-control", "").split(","))
    }
    if "no-store" in directives or "no-cache" in directives:
        return 0.0
    lifetime = directives.get("s-maxage", directives.get("max-age"))
    if lifetime is not None and lifetime.isdigit():
        age = headers.get("age", "0").strip()
        return max(0.0, float(lifetime) - (float(age) if age.isdigit() else 0.0))
    if "expires" not in headers:
        return None
    try:
        expires = parsedate_to_datetime(headers["expires"])
        return max(0.0, (expires - parsedate_to_datetime(headers["date"])).total_seconds())
    except (KeyError, ValueError, TypeError):
        return 0.0
