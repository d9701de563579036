"""HTTP as a client should speak it: caching, conditional requests, retries, the server's clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from email.utils import formatdate

import httpx
import pytest

from fragments_kit import EX, SECOND, T0, Crank
from fragments_naive import NaiveServer
from weir.errors import RemoteError
from weir.fragments.client import ClientLimits
from weir.fragments.client.page import Pages, parse_page

URL = "http://plain.test/d"


def fetches(
    handler: Callable[[httpx.Request], httpx.Response], steps: list[int], clock: Crank | None = None
) -> list[httpx.Request]:
    """The requests that fetching the same page at several times (seconds) makes."""
    clock = clock or Crank()
    made: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        made.append(request)
        return handler(request)

    async def run() -> None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(handle)) as client:
            pages = Pages(client, clock, ClientLimits())
            for second in steps:
                clock.time = T0 + second * SECOND
                pages.begin()
                assert (await pages.get(URL)).value.data
            await pages.close()

    asyncio.run(run())
    return made


def page(**headers: str) -> httpx.Response:
    body = f"<{EX}s> <{EX}p> <{EX}o> .\n"
    fields = {"content-type": "application/n-quads", **{k.replace("_", "-"): v for k, v in headers.items()}}
    return httpx.Response(200, text=body, headers=fields)


def test_a_fresh_page_is_not_asked_for_again() -> None:
    assert len(fetches(lambda _: page(cache_control="max-age=10"), [0, 5, 9])) == 1
    assert len(fetches(lambda _: page(cache_control="max-age=10"), [0, 10])) == 2
    assert len(fetches(lambda _: page(cache_control="max-age=10", age="7"), [0, 2, 4])) == 2
    expires = {"expires": formatdate(1000, usegmt=True), "date": formatdate(990, usegmt=True)}
    assert len(fetches(lambda _: page(**expires), [0, 9])) == 1


def test_a_stale_page_is_asked_for_with_its_tag() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if request.headers.get("if-none-match") == '"tag"':
            return httpx.Response(304, headers={"cache-control": "max-age=100"})
        return page(etag='"tag"', cache_control="no-cache")

    made = fetches(handler, [0, 1, 50])
    assert [r.headers.get("if-none-match") for r in made] == [None, '"tag"']
    dated = fetches(
        lambda r: page(last_modified="Sun, 06 Nov 1994 08:49:37 GMT", cache_control="max-age=0"), [0, 1]
    )
    assert dated[1].headers["if-modified-since"].startswith("Sun, 06 Nov")


def test_what_must_not_be_stored_is_not() -> None:
    made = fetches(lambda _: page(etag='"tag"', cache_control="no-store"), [0, 1])
    assert len(made) == 2 and "if-none-match" not in made[1].headers


def test_one_evaluation_sees_a_page_once_and_one_request_serves_many() -> None:
    made: list[str] = []

    async def run() -> None:
        def handle(request: httpx.Request) -> httpx.Response:
            made.append(str(request.url))
            return page(cache_control="no-store")

        async with httpx.AsyncClient(transport=httpx.MockTransport(handle)) as client:
            pages = Pages(client, Crank(), ClientLimits())
            await asyncio.gather(*(pages.get(URL) for _ in range(5)))
            await pages.get(URL)
            assert len(made) == 1
            pages.look_again()
            await pages.get(URL)
            assert len(made) == 2

    asyncio.run(run())


def test_retry_after_is_kept_to_up_to_a_limit() -> None:
    for asked, waited in (("3", 3), ("99999", 30), (date(7), 7), (date(99), 30)):
        clock = Crank()
        refused = httpx.Response(503, headers={"retry-after": asked, "date": date(0)})
        answers = iter([refused, page()])
        fetches(lambda _, answers=answers: next(answers), [0], clock)  # type: ignore[misc]
        assert clock.time == T0 + waited * SECOND


def test_requests_under_way_are_bounded() -> None:
    most = 0
    now = 0

    class Slow(NaiveServer):
        async def __call__(self, scope, receive, send) -> None:  # type: ignore[no-untyped-def]
            nonlocal most, now
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.002)
            now -= 1
            await super().__call__(scope, receive, send)

    async def run() -> None:
        server = Slow(lambda: [(f"<{EX}s>", f"<{EX}p>", '"x"', "")])
        async with httpx.AsyncClient(transport=httpx.ASGITransport(server)) as client:
            pages = Pages(client, Crank(), ClientLimits(concurrency=3))
            await asyncio.gather(*(pages.get(f"{URL}?n={n}") for n in range(20)))

    asyncio.run(run())
    assert most == 3


def test_the_budget_names_the_bound() -> None:
    async def run() -> None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(lambda _: page())) as client:
            pages = Pages(client, Crank(), ClientLimits(requests=2))
            for n in range(3):
                await pages.get(f"{URL}?n={n}")

    with pytest.raises(RemoteError, match="more than 2 requests"):
        asyncio.run(run())


def date(second: float) -> str:
    return formatdate(T0 / SECOND + second, usegmt=True)


def test_relative_links_and_missing_metadata() -> None:
    url = "http://h/d?page=1"
    body = (
        "@prefix hydra: <http://www.w3.org/ns/hydra/core#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> ."
        "<#m> { <#m> foaf:primaryTopic <http://h/d?page=1> . <http://h/d?page=1> hydra:next <?page=2> . }"
        "<a:s> <a:p> <a:o> ."
    )
    page = parse_page(url, body.encode(), "application/trig", 100)
    assert page.next == "http://h/d?page=2" and page.total is None and page.forms == ()
    assert page.data == (("<a:s>", "<a:p>", "<a:o>", ""),) and page.estimate == 2
