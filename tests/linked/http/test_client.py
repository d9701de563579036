"""Retries, waits, limits and the breaker; misbehaving peers are in the tests of the service endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from email.utils import formatdate

import httpx
import pytest

from fragments_kit import SECOND, T0, Crank
from weir.errors import RemoteError, UsageError
from weir.linked.http.client import Breaker, HttpClient, RequestLimits, Response, Transient

URL = "http://plain.test/d"
LIMITS = RequestLimits(timeout=5.0, max_bytes=1000, attempts=4, backoff=0.4)


def ask(
    answers: Iterable[httpx.Response | Exception],
    limits: RequestLimits = LIMITS,
    *,
    clock: Crank | None = None,
    read: Callable[[Response], object] = lambda response: response,
    spend: Callable[[str], None] = lambda url: None,
) -> object:
    coming = iter(answers)

    def handle(request: httpx.Request) -> httpx.Response:
        answer = next(coming)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def run() -> object:
        client = HttpClient(
            httpx.AsyncClient(transport=httpx.MockTransport(handle)),
            limits,
            clock=clock or Crank(),
            spend=spend,
        )
        try:
            return await client.request(URL, read)
        finally:
            await client.close()

    return asyncio.run(run())


def test_the_response_is_whole() -> None:
    got = ask([httpx.Response(200, text="body", headers={"content-type": "Text/Plain; charset=utf-8"})])
    assert isinstance(got, Response)
    assert (got.url, got.status, got.body, got.media_type) == (URL, 200, b"body", "text/plain")
    assert (got.sent, got.attempt) == (T0, 1)


@pytest.mark.parametrize("failure", [httpx.Response(503), httpx.ConnectError("gone"), httpx.Response(429)])
def test_a_failure_that_may_pass_is_tried_again(failure: httpx.Response | Exception) -> None:
    got = ask([failure, failure, httpx.Response(200)])
    assert isinstance(got, Response) and got.attempt == 3


def test_attempts_are_counted() -> None:
    spent: list[str] = []
    with pytest.raises(RemoteError, match="failed") as told:
        ask([httpx.Response(503)] * 5, spend=spent.append)
    assert spent == [URL] * 4 and told.value.detail == "status 503"


def test_what_refuses_to_spend_ends_the_request() -> None:
    def refuse(url: str) -> None:
        raise UsageError("enough")

    with pytest.raises(UsageError, match="enough"):
        ask([], spend=refuse)


def test_a_refusal_is_final() -> None:
    with pytest.raises(RemoteError, match="refused"):
        ask([httpx.Response(404)])


def test_what_the_reader_calls_transient_is_tried_again() -> None:
    def read(response: Response) -> int:
        if response.body != b"good":
            raise Transient("garbage")
        return response.attempt

    assert ask([httpx.Response(200, text=text) for text in ("bad", "good")], read=read) == 2


def test_a_body_is_bounded() -> None:
    with pytest.raises(RemoteError, match="more than 3 bytes"):
        ask([httpx.Response(200, text="four")], replace(LIMITS, max_bytes=3))


def date(second: float) -> str:
    return formatdate(T0 / SECOND + second, usegmt=True)


@pytest.mark.parametrize(("asked", "waited"), [("3", 3), ("99999", 30), (date(7), 7), (date(99), 30)])
def test_retry_after_is_kept_to_up_to_a_limit(asked: str, waited: int) -> None:
    clock = Crank()
    refused = httpx.Response(503, headers={"retry-after": asked, "date": date(0)})
    ask([refused, httpx.Response(200)], clock=clock)
    assert clock.time == T0 + waited * SECOND


def test_the_clock_of_the_server_is_learned() -> None:
    async def run() -> int:
        answer = httpx.Response(200, headers={"date": date(100)})
        http = httpx.AsyncClient(transport=httpx.MockTransport(lambda _: answer))
        client = HttpClient(http, LIMITS, clock=Crank())
        await client.request(URL, lambda response: None)
        await client.close()
        return client.skew.offset

    assert asyncio.run(run()) == 100 * SECOND


def test_requests_under_way_are_bounded() -> None:
    most = now = 0

    async def handle(request: httpx.Request) -> httpx.Response:
        nonlocal most, now
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        return httpx.Response(200)

    async def run() -> None:
        http = httpx.AsyncClient(transport=httpx.MockTransport(handle))
        client = HttpClient(http, replace(LIMITS, concurrency=3))
        await asyncio.gather(*(client.request(f"{URL}?n={n}", lambda response: None) for n in range(20)))
        await client.close()

    asyncio.run(run())
    assert most == 3


class Ticks:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def broken(crank: Ticks) -> Breaker:
    breaker = Breaker(failures=2, cool_down=1.0, longest=3.0, clock=crank)
    breaker.failed()
    assert not breaker.open and breaker.allow()
    breaker.failed()
    return breaker


def test_failures_in_a_row_open_it() -> None:
    crank = Ticks()
    breaker = broken(crank)
    assert breaker.open
    crank.time = 0.9
    assert not breaker.allow()


def test_a_success_between_keeps_it_closed() -> None:
    breaker = Breaker(2, 1.0, 3.0, Ticks())
    for _ in range(5):
        breaker.failed()
        breaker.succeeded()
    assert not breaker.open


def test_one_probe_passes_after_the_cool_down() -> None:
    crank = Ticks()
    breaker = broken(crank)
    crank.time = 1.0
    assert breaker.allow()
    assert not breaker.allow()
    breaker.succeeded()
    assert not breaker.open and breaker.allow()


def test_a_failed_probe_doubles_the_cool_down_up_to_the_longest() -> None:
    crank = Ticks()
    breaker = broken(crank)
    for wait in (1.0, 2.0, 3.0, 3.0):
        crank.time += wait - 0.1
        assert not breaker.allow()
        crank.time += 0.1
        assert breaker.allow()
        breaker.failed()
    breaker_ok = broken(crank)
    crank.time += 1.0
    assert breaker_ok.allow()


def test_recovery_resets_the_cool_down() -> None:
    crank = Ticks()
    breaker = broken(crank)
    crank.time = 1.0
    breaker.allow()
    breaker.failed()
    crank.time = 3.0
    breaker.allow()
    breaker.succeeded()
    breaker.failed()
    breaker.failed()
    crank.time = 4.0
    assert breaker.allow()


def test_stragglers_do_not_lengthen_the_cool_down() -> None:
    crank = Ticks()
    breaker = broken(crank)
    crank.time = 0.5
    breaker.failed()
    crank.time = 1.0
    assert breaker.allow()
