"""Pages over HTTP: caching by RFC 9111, time-outs, retries, bounded bodies, the server's clock."""

from __future__ import annotations

import asyncio
import random
from collections import OrderedDict
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import httpx

from weir.errors import RemoteError
from weir.fragments.client.limits import Budget, ClientLimits
from weir.fragments.client.page import Page, parse_page
from weir.fragments.protocol.documents import FORMATS
from weir.linked.http.clocks import SECOND, Clock, Skew

ACCEPT = (
    "application/n-quads, application/trig;q=0.9, application/ld+json;q=0.6, "
    "text/turtle;q=0.5, application/n-triples;q=0.5, application/rdf+xml;q=0.2"
)
_RETRIED = frozenset((408, 425, 429, 500, 502, 503, 504))
_CACHED_PAGES = 4096


@dataclass(frozen=True, slots=True)
class Stored:
    """A page with what HTTP says about using it again; ``fresh_until`` is on our own clock.

    A response that says nothing about its freshness has ``explicit`` False.
    """

    page: Page
    fresh_until: int
    explicit: bool
    etag: str | None
    modified: str | None


class Fetcher:
    """Gets pages for one source. Requests for the same address at the same time are made once."""

    def __init__(
        self, client: httpx.AsyncClient, clock: Clock, limits: ClientLimits, *, caching: bool = True
    ) -> None:
        self.client = client
        self.clock = clock
        self.limits = limits
        self.caching = caching
        self.skew = Skew()
        self.budget = Budget(limits)
        self._stored: OrderedDict[str, Stored] = OrderedDict()
        self._under_way: dict[str, asyncio.Task[Stored]] = {}
        self._seen: dict[str, Stored] = {}
        self._slots = asyncio.Semaphore(limits.concurrency)

    def begin(self) -> None:
        """Start an evaluation: a new budget."""
        self.budget = Budget(self.limits)
        self.look_again()

    def look_again(self) -> None:
        """From now on ask again for what is not fresh any more; until then one evaluation sees each page
        once, as it was."""
        self._seen.clear()

    def seen(self, url: str) -> Stored | None:
        """A page that can be had without asking."""
        stored = self._seen.get(url) or self._stored.get(url)
        return stored if stored is not None and (url in self._seen or self._fresh(stored)) else None

    def _fresh(self, stored: Stored) -> bool:
        return self.clock.now() < stored.fresh_until

    async def get(self, url: str) -> Stored:
        """The page at an address, from the cache while it is fresh."""
        if url in self._seen:
            return self._seen[url]
        stored = self._stored.get(url)
        if stored is not None and self._fresh(stored):
            self._stored.move_to_end(url)
            return stored
        task = self._under_way.get(url)
        if task is None:
            task = asyncio.ensure_future(self._fetch(url, stored))
            self._under_way[url] = task
            task.add_done_callback(lambda done: self._done(url, done))
        return await asyncio.shield(task)

    def _done(self, url: str, task: asyncio.Task[Stored]) -> None:
        self._under_way.pop(url, None)
        if not task.cancelled():
            task.exception()

    async def close(self) -> None:
        """Give up what is under way."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fetch(self, url: str, stored: Stored | None) -> Stored:
        headers = {"Accept": ACCEPT}
        if stored is not None and stored.etag:
            headers["If-None-Match"] = stored.etag
        elif stored is not None and stored.modified:
            headers["If-Modified-Since"] = stored.modified
        failure = ""
        for attempt in range(self.limits.attempts):
            self.budget.request(url)
            async with self._slots:
                sent = self.clock.now()
                try:
                    async with asyncio.timeout(self.limits.timeout):
                        status, final, answer, body = await self._request(url, headers)
                except (httpx.TooManyRedirects, httpx.DecodingError, httpx.InvalidURL) as error:
                    raise RemoteError(f"cannot get the fragment {url}", detail=str(error)) from None
                except (httpx.TransportError, TimeoutError) as error:
                    failure = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
                    wait = _backoff(attempt)
                else:
                    got = self.clock.now()
                    self.skew.observe(answer.get("date"), sent, got)
                    if status == 304 and stored is not None:
                        return self._keep(url, stored.page, answer, sent, got)
                    if status == 200:
                        media_type = answer.get("content-type", "").partition(";")[0].strip().lower()
                        page = self._parse(final, body, media_type)
                        return self._keep(url, page, answer, sent, got)
                    failure = f"HTTP status {status}"
                    if status not in _RETRIED:
                        break
                    wait = _retry_after(answer, attempt, self.limits.retry_after)
            if attempt + 1 < self.limits.attempts:
                await self.clock.sleep_until(self.clock.now() + int(wait * SECOND))
        raise RemoteError(
            f"cannot get the fragment {url}",
            detail=failure,
            hint="check that the address is that of a fragments server",
        )

    async def _request(self, url: str, headers: dict[str, str]) -> tuple[int, str, httpx.Headers, bytes]:
        async with self.client.stream("GET", url, headers=headers) as response:
            parts: list[bytes] = []
            size = 0
            async for part in response.aiter_bytes():
                parts.append(part)
                size += len(part)
                if size > self.limits.page_bytes:
                    raise RemoteError(
                        f"the fragment {url} is longer than {self.limits.page_bytes} bytes",
                        hint="ask the server for smaller pages, or raise the limit on bytes",
                    )
            return response.status_code, str(response.url), response.headers, b"".join(parts)

    def _parse(self, url: str, body: bytes, media_type: str) -> Page:
        if media_type not in FORMATS:
            raise RemoteError(
                f"the fragment {url} is no RDF",
                detail=f"its media type is {media_type!r}",
                hint="check that the address is that of a fragments server",
            )
        page = parse_page(url, body, media_type, self.limits.page_quads)
        self.budget.read(url, len(page.data), len(body))
        return page

    def _keep(self, url: str, page: Page, answer: httpx.Headers, sent: int, got: int) -> Stored:
        control = answer.get("cache-control", "").lower()
        lifetime, explicit = freshness(control, answer)
        stored = Stored(page, sent + lifetime, explicit, answer.get("etag"), answer.get("last-modified"))
        self._seen[url] = stored
        if self.caching and "no-store" not in control:
            self._stored[url] = stored
            self._stored.move_to_end(url)
            while len(self._stored) > _CACHED_PAGES:
                self._stored.popitem(last=False)
        return stored


def freshness(control: str, answer: httpx.Headers) -> tuple[int, bool]:
    """How long (µs) a response is fresh, and whether it says so itself (RFC 9111, section 4.2)."""
    directives = dict(part.strip().partition("=")[::2] for part in control.split(",") if part.strip())
    if "no-cache" in directives or "no-store" in directives:
        return 0, True
    age = _digits(answer.get("age")) or 0
    seconds = _digits(directives.get("max-age"))
    if seconds is not None:
        return max(0, seconds - age) * SECOND, True
    if "expires" in answer:
        return max(0, int(_after_date(answer, "expires") or 0) - age) * SECOND, True
    return 0, False


def _after_date(answer: httpx.Headers, name: str) -> float | None:
    """The seconds from a response's Date to the time in another of its headers; None where one is no date."""
    try:
        later, date = parsedate_to_datetime(answer[name]), parsedate_to_datetime(answer["date"])
        return (later - date).total_seconds()
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def _digits(text: str | None) -> int | None:
    text = (text or "").strip('" ')
    return min(int(text), 10**9) if text.isdecimal() and len(text) < 20 else None


def _backoff(attempt: int) -> float:
    """Seconds before the next attempt: doubled each time, and never the same for two clients."""
    return float(0.2 * 2**attempt * random.uniform(0.5, 1.5))


def _retry_after(answer: httpx.Headers, attempt: int, most: float) -> float:
    """Seconds that a server asks to wait, as a number or as a date (RFC 9110, section 10.2.3)."""
    seconds = _digits(answer.get("retry-after"))
    wait = _after_date(answer, "retry-after") if seconds is None else float(seconds)
    return _backoff(attempt) if wait is None else min(max(wait, 0.0), most)
