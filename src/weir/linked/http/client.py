"""Requests to one server from an event loop: bounded in size, time and number, and tried again.

A request either gives what ``read`` makes of its response or raises: ``RemoteError`` for all that a server
or the network can do wrong, else what ``read`` raises. It never reads more than ``max_bytes``, and never
lasts longer than time-out × attempts and the waits between. Tried again are failures that may pass: no
connection, a time-out, a connection lost in the middle, a status such as 429 or 503, and whatever ``read``
calls ``Transient``. A server that keeps failing is left alone for a while (``Breaker``). ``open_document``
is for ordinary code: one document, as it comes.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from weir.errors import RemoteError
from weir.extras import lazily
from weir.linked.http.allowed_hosts import Allowed, plain_session
from weir.linked.http.headers import SECOND, Skew, media_type, retry_after

if TYPE_CHECKING:
    import httpx
else:
    httpx = lazily("httpx")


class Clock(Protocol):
    """Microseconds since 1970, and waiting for them."""

    def now(self) -> int: ...

    async def sleep_until(self, instant: int) -> None: ...


class WallClock:
    """The machine's clock."""

    @staticmethod
    def now() -> int:
        return time.time_ns() // 1000

    async def sleep_until(self, instant: int) -> None:
        while (left := instant - self.now()) > 0:
            await asyncio.sleep(min(left / SECOND, 3600.0))


class Breaker:
    """A circuit breaker; one event loop owns it.

    Closed: requests pass. After ``failures`` in a row it opens: nothing passes until a cool-down is over.
    Then one probe passes: if it succeeds the breaker closes, else the cool-down doubles.
    """

    def __init__(
        self, failures: int, cool_down: float, longest: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = failures
        self._first = cool_down
        self._longest = longest
        self._clock = clock
        self._failed = 0
        self._wait = cool_down
        self._until = 0.0
        self._probing = False
        self.open = False

    @property
    def blocked(self) -> bool:
        """Whether a request would be turned away now; asking changes nothing."""
        return self._probing or (self.open and self._clock() < self._until)

    def allow(self) -> bool:
        """Whether a request may pass now; a true answer while it is open is the one probe."""
        allowed = not self.blocked
        self._probing = self._probing or (allowed and self.open)
        return allowed

    def succeeded(self) -> None:
        """An answer came: close the breaker."""
        self.open = self._probing = False
        self._failed, self._wait = 0, self._first

    def failed(self) -> None:
        """A request failed; failures of requests sent before the breaker opened change nothing."""
        self._failed += 1
        if self._probing:
            self._wait = min(self._wait * 2, self._longest)
        elif self.open or self._failed < self._limit:
            return
        self.open, self._probing = True, False
        self._until = self._clock() + self._wait


class Gate:
    """Whether a server wants to be asked at all: closed until a time on the wall clock (s). Whoever hears
    that the server wants to be left alone closes it, for all who share it."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self.until = 0.0

    def close(self, seconds: float) -> None:
        """Ask nothing for so long; what it was told before may last longer."""
        self.until = max(self.until, self._clock() + seconds)

    @property
    def left(self) -> float:
        """For how many seconds it stays closed."""
        return max(self.until - self._clock(), 0.0)

    @property
    def closed(self) -> bool:
        return self.left > 0


T = TypeVar("T")

_TRANSIENT = frozenset((408, 425, 429, 500, 502, 503, 504))
_BUSY = frozenset((429, 503))


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What a client spends: ``timeout`` seconds for an attempt, ``max_bytes`` of a body, ``attempts`` in all.

    ``backoff`` (s) is how long it waits at most after the first attempt, twice as long after each more;
    ``longest_wait`` (s) bounds every wait, also one that the server asks for; ``concurrency`` is how many
    requests are under way at once; ``cool_down`` (s) is how long a busy server that names no time is left
    alone.
    """

    timeout: float
    max_bytes: int
    attempts: int = 1
    backoff: float = 0.1
    longest_wait: float = 30.0
    concurrency: int = 4
    cool_down: float = 1.0


@dataclass(frozen=True, slots=True)
class Response:
    """A whole response: ``url`` after redirects, ``sent`` (µs) on our clock, ``attempt`` counted from 1."""

    url: str
    status: int
    headers: httpx.Headers
    body: bytes
    sent: int
    attempt: int

    @property
    def media_type(self) -> str:
        return media_type(self.headers)


class Transient(Exception):
    """A failure that another attempt may not meet; ``wait`` (s) is what the server asked for."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


class HttpClient:
    """Made and used inside one event loop, for one server.

    ``http`` has the connections, and says whether redirects are followed (``session`` makes one).
    ``spend`` is called with the address before every attempt, and may refuse it by raising. The server's
    clock is learned from every response (``skew``).
    """

    def __init__(
        self,
        http: httpx.AsyncClient,
        limits: RequestLimits,
        *,
        clock: Clock | None = None,
        breaker: Breaker | None = None,
        spend: Callable[[str], None] = lambda url: None,
    ) -> None:
        self.limits = limits
        self.clock = clock or WallClock()
        self.skew = Skew()
        self.breaker = breaker
        self._http = http
        self._spend = spend
        self._slots = asyncio.Semaphore(limits.concurrency)

    async def request(
        self,
        url: str,
        read: Callable[[Response], T],
        *,
        method: str = "GET",
        statuses: Collection[int] = (200,),
        gate: Gate | None = None,
        attempts: int | None = None,
        **fields: Any,
    ) -> T:
        """What ``read`` makes of the response; one with a status not in ``statuses`` is a ``RemoteError``.

        Nothing is sent while the ``gate`` is closed, and a busy server (429, 503) closes it. ``attempts`` are
        those of the limits unless fewer are wanted.
        ``fields`` are headers, params, data and the like, as httpx takes them.
        """
        most = self.limits.attempts if attempts is None else attempts
        async with self._slots:
            self._pass(url, gate)
            if self.breaker is not None and not self.breaker.allow():
                raise RemoteError(f"{url} is left alone after failures")
            failed = False
            try:
                for attempt in range(1, most + 1):
                    try:
                        self._spend(url)
                        async with asyncio.timeout(self.limits.timeout):
                            return read(await self._once(url, method, statuses, fields, attempt, gate))
                    except (Transient, TimeoutError) as error:
                        detail = str(error) or f"no answer in {self.limits.timeout:g} s"
                        wait = getattr(error, "wait", 0.0)
                    if gate is not None and gate.left > self.limits.longest_wait:
                        break
                    if attempt < most:
                        await self._pause(attempt, wait if gate is None else max(wait, gate.left))
                        self._pass(url, gate)
                failed = True
                raise RemoteError(f"{url} failed", detail=detail)
            except asyncio.CancelledError:
                failed = True
                raise
            finally:
                if self.breaker is not None:
                    (self.breaker.failed if failed else self.breaker.succeeded)()

    @staticmethod
    def _pass(url: str, gate: Gate | None) -> None:
        if gate is not None and gate.closed:
            raise RemoteError(f"{url} asked to be left alone, for {gate.left:.1f} s more")

    async def _pause(self, attempt: int, least: float) -> None:
        """Exponential back-off with full jitter, so that clients do not come back all at once."""
        wait = max(least, random.uniform(0, self.limits.backoff * 2 ** (attempt - 1)))
        wait = min(wait, self.limits.longest_wait)
        await self.clock.sleep_until(self.clock.now() + int(wait * SECOND))

    async def _once(
        self,
        url: str,
        method: str,
        statuses: Collection[int],
        fields: dict[str, Any],
        attempt: int,
        gate: Gate | None,
    ) -> Response:
        sent = self.clock.now()
        try:
            async with self._http.stream(method, url, **fields) as response:
                status, headers = response.status_code, response.headers
                self.skew.observe(headers, sent, self.clock.now())
                if status in _TRANSIENT:
                    asked = retry_after(headers)
                    if gate is not None and (status in _BUSY or asked is not None):
                        gate.close(self.limits.cool_down if asked is None else asked)
                    raise Transient(f"status {status}", asked or 0.0)
                if status not in statuses:
                    raise RemoteError(f"{url} refused", detail=f"status {status}")
                body = await self._body(url, response)
                return Response(str(response.url), status, headers, body, sent, attempt)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise RemoteError(f"{url} is no HTTP address", detail=str(error)) from None
        except httpx.TooManyRedirects as error:
            raise RemoteError(f"{url} is moved too often", detail=str(error)) from None
        except httpx.HTTPError as error:
            raise Transient(f"{type(error).__name__}: {error}") from None

    async def _body(self, url: str, response: httpx.Response) -> bytes:
        parts: list[bytes] = []
        size = 0
        async for part in response.aiter_bytes():
            size += len(part)
            if size > self.limits.max_bytes:
                raise RemoteError(
                    f"{url} sent more than {self.limits.max_bytes} bytes",
                    hint="raise max_bytes, or ask for less at once",
                )
            parts.append(part)
        return b"".join(parts)

    async def close(self) -> None:
        await self._http.aclose()


@dataclass(frozen=True, slots=True)
class RemoteDocument:
    """A document that is being read: ``url`` after redirects, and its bytes as they come."""

    url: str
    media_type: str
    chunks: Iterator[bytes]


@contextmanager
def open_document(
    url: str, *, accept: str, timeout: float, max_bytes: int, allowed: Allowed | None = None
) -> Iterator[RemoteDocument]:
    """Ask for a document; the time-out is that of the whole reading. Without ``allowed`` the host of the URL
    may be anywhere, and what it leads to is public.

    Every address on the way is checked. Raises ``RemoteError``, also while the chunks are read.
    """
    deadline = time.monotonic() + timeout
    try:
        with (
            plain_session(allowed or Allowed.named(url), timeout) as http,
            http.stream("GET", url, headers={"Accept": accept}) as response,
        ):
            if response.status_code != 200:
                raise RemoteError(f"{url} answered with status {response.status_code}")
            chunks = _bounded(response, url, timeout, deadline, max_bytes)
            yield RemoteDocument(str(response.url), media_type(response.headers), chunks)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise RemoteError(f"cannot fetch {url}", detail=f"{type(error).__name__}: {error}") from None


def _bounded(
    response: httpx.Response, url: str, timeout: float, deadline: float, max_bytes: int
) -> Iterator[bytes]:
    size = 0
    for chunk in response.iter_bytes():
        size += len(chunk)
        if size > max_bytes:
            raise RemoteError(
                f"the document at {url} is larger than {max_bytes:,} bytes",
                hint="fetch it to a file and load that, or raise max_bytes",
            )
        if time.monotonic() > deadline:
            raise RemoteError(f"the document at {url} took longer than {timeout:g} s")
        yield chunk
