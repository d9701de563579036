"""Caching by RFC 9111: freshness, conditional requests, one request for many."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from email.utils import formatdate

import httpx

from fragments_kit import SECOND, T0, Crank
from weir.linked.http.cache import HttpCache
from weir.linked.http.client import HttpClient, RequestLimits

URL = "http://plain.test/d"
LIMITS = RequestLimits(timeout=5.0, max_bytes=1000)


def page(**headers: str) -> httpx.Response:
    return httpx.Response(200, text="text", headers={k.replace("_", "-"): v for k, v in headers.items()})


def cache(http: httpx.AsyncClient, clock: Crank, most: int = 4096, storing: bool = True) -> HttpCache[bytes]:
    client = HttpClient(http, LIMITS, clock=clock)
    return HttpCache(client, lambda response: response.body, "text/plain", most=most, storing=storing)


def gets(
    handler: Callable[[httpx.Request], httpx.Response], steps: list[int], *, storing: bool = True
) -> list[httpx.Request]:
    """The requests that getting the same address at several times (seconds) makes."""
    made: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        made.append(request)
        return handler(request)

    async def run() -> None:
        clock = Crank()
        async with httpx.AsyncClient(transport=httpx.MockTransport(handle)) as http:
            pages = cache(http, clock, storing=storing)
            for second in steps:
                clock.time = T0 + second * SECOND
                pages.look_again()
                assert (await pages.get(URL)).value == b"text"
            await pages.close()

    asyncio.run(run())
    return made


def test_a_fresh_page_is_not_asked_for_again() -> None:
    assert len(gets(lambda _: page(cache_control="max-age=10"), [0, 5, 9])) == 1
    assert len(gets(lambda _: page(cache_control="max-age=10"), [0, 10])) == 2
    assert len(gets(lambda _: page(cache_control="max-age=10", age="7"), [0, 2, 4])) == 2
    assert len(gets(lambda _: page(cache_control="max-age=10"), [0, 5], storing=False)) == 2


def test_the_time_in_a_cache_that_does_not_tell_counts_too() -> None:
    """RFC 9111, section 4.2.3: the apparent age. The first request tells the server's time."""

    def handler(request: httpx.Request) -> httpx.Response:
        made = T0 / SECOND if "stale" not in request.url.path else T0 / SECOND - 8
        return page(cache_control="max-age=10", date=formatdate(made, usegmt=True))

    made: list[str] = []

    async def run() -> None:
        clock = Crank()
        transport = httpx.MockTransport(lambda request: made.append(str(request.url)) or handler(request))
        async with httpx.AsyncClient(transport=transport) as http:
            pages = cache(http, clock)
            for second, path in ((0, "new"), (0, "stale"), (2, "stale"), (4, "stale")):
                clock.time = T0 + second * SECOND
                pages.look_again()
                await pages.get(f"http://plain.test/{path}")
            await pages.close()

    asyncio.run(run())
    assert [url.rpartition("/")[2] for url in made] == ["new", "stale", "stale"]


def test_a_stale_page_is_asked_for_with_its_tag() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if request.headers.get("if-none-match") == '"tag"':
            return httpx.Response(304, headers={"cache-control": "max-age=10"})
        return page(etag='"tag"', cache_control="no-cache")

    made = gets(handler, [0, 1, 5, 12])
    assert [r.headers.get("if-none-match") for r in made] == [None, '"tag"', '"tag"']


def test_a_stale_page_without_a_tag_is_asked_for_with_its_date() -> None:
    stamp = formatdate(T0 / SECOND, usegmt=True)
    made = gets(lambda _: page(last_modified=stamp, cache_control="max-age=0"), [0, 1])
    assert [r.headers.get("if-modified-since") for r in made] == [None, stamp]


def test_what_must_not_be_stored_is_not() -> None:
    made = gets(lambda _: page(etag='"tag"', cache_control="no-store"), [0, 1])
    assert [r.headers.get("if-none-match") for r in made] == [None, None]


def test_one_look_sees_a_page_once_and_one_request_serves_many() -> None:
    made: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        made.append(str(request.url))
        return page(cache_control="no-store")

    async def run() -> None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(handle)) as http:
            pages = cache(http, Crank())
            assert pages.seen(URL) is None
            await asyncio.gather(*(pages.get(URL) for _ in range(5)))
            assert pages.seen(URL) is not None and len(made) == 1
            pages.look_again()
            await pages.get(URL)
            assert len(made) == 2

    asyncio.run(run())


def test_the_least_recently_used_is_dropped() -> None:
    async def run() -> None:
        answer = page(cache_control="max-age=10")
        async with httpx.AsyncClient(transport=httpx.MockTransport(lambda _: answer)) as http:
            pages = cache(http, Crank(), most=2)
            for name in ("a", "b", "a", "c"):
                await pages.get(f"{URL}/{name}")
            pages.look_again()
            assert [name for name in "abc" if pages.seen(f"{URL}/{name}") is not None] == ["a", "c"]

    asyncio.run(run())
