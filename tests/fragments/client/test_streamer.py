"""Servers that are broken or lie: clear errors, bounded work, and right answers wherever there are any."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable
from email.utils import formatdate

import httpx
import pytest

from fragments_kit import EX, SECOND, T0, Crank, annotate, texts
from fragments_naive import NaiveServer
from weir.errors import RemoteError, UsageError
from weir.fragments.client import ClientLimits, Options, Update, follow, follow_async
from weir.fragments.protocol.annotation import Annotation, Fact, Quad, time_text

QUADS: list[Quad] = [(f"<{EX}s{n}>", f"<{EX}p>", f'"{n}"', "") for n in range(10)]
QUERY = f"SELECT ?s ?o {{ ?s <{EX}p> ?o }}"
URL = "http://plain.test/d"


def answer(
    server: NaiveServer, query: str = QUERY, *, most: int = 1, clock: Crank | None = None, **limits: float
) -> list[Update]:
    """The first updates of a query over a server."""
    options = Options(jitter=0.0, limits=ClientLimits(**limits))  # type: ignore[arg-type]

    async def run() -> list[Update]:
        found: list[Update] = []
        async with httpx.AsyncClient(transport=httpx.ASGITransport(server)) as client:
            updates = follow_async(query, URL, client=client, clock=clock or Crank(), options=options)
            async for update in updates:
                found.append(update)
                if len(found) == most:
                    break
            await updates.aclose()
        return found

    return asyncio.run(run())


def naive(**changes: object) -> NaiveServer:
    server = NaiveServer(lambda: QUADS)
    for name, value in changes.items():
        setattr(server, name, value)
    return server


MALFORMED: list[tuple[str, NaiveServer]] = [
    ("is malformed", naive(body=lambda text: text[: len(text) // 2])),
    ("is malformed", naive(body=lambda text: text + "<a> <b> \n")),
    ("is malformed", naive(count=lambda n: "many")),
    ("is malformed", naive(count=lambda n: "-1")),
    ("is no RDF", naive(media_type="text/html")),
    ("is no RDF", naive(media_type="")),
    ("has no search form", naive(form=False)),
    ("refused", naive(status=lambda n: 404)),
    ("failed", naive(status=lambda n: 503)),
    ("is malformed", naive(body=lambda text: "\x00\xff")),
]


@pytest.mark.parametrize(("message", "server"), MALFORMED)
def test_what_cannot_be_read_is_a_clear_error(message: str, server: NaiveServer) -> None:
    with pytest.raises(RemoteError, match=message) as caught:
        answer(server)
    assert "plain.test" in str(caught.value)
    assert len(server.requests) <= 8


@pytest.mark.parametrize("lie", [lambda n: "0", lambda n: "1", lambda n: str(10**17), lambda n: str(n * 7)])
def test_lies_about_counts_do_not_change_answers(lie: Callable[[int], str]) -> None:
    (update,) = answer(naive(count=lie))
    assert len(update.added) == 10


def test_a_lying_count_cannot_make_a_join_endless() -> None:
    quads = QUADS + [(f"<{EX}s{n}>", f"<{EX}q>", f'"{n}"', "") for n in range(0, 200, 2)]
    server = NaiveServer(lambda: quads, page_size=10)
    server.count = lambda n: "1" if n > 50 else "100000"
    (update,) = answer(server, f"SELECT ?s {{ ?s <{EX}p> ?o ; <{EX}q> ?x }}")
    assert len(update.added) == 5
    assert len(server.requests) < 40


def test_pages_that_go_in_circles() -> None:
    with pytest.raises(RemoteError, match="go in circles"):
        answer(naive(following=lambda page, more: 1 + page % 2))


def test_pages_that_never_bring_anything_new() -> None:
    server = naive(following=lambda page, more: page + 1)
    with pytest.raises(RemoteError, match="do not end"):
        answer(server)
    assert len(server.requests) < 40


def test_pages_without_end_that_always_bring_something_new() -> None:
    numbers = iter(range(10**9))
    server = NaiveServer(lambda: [(f"<{EX}s{next(numbers)}>", f"<{EX}p>", '"x"', "") for _ in range(4000)])
    server.following = lambda page, more: page + 1
    with pytest.raises(RemoteError, match="more than 50 pages"):
        answer(server, pages=50)
    with pytest.raises(RemoteError, match="more than 100 quads"):
        answer(server, quads=100)
    with pytest.raises(RemoteError, match="more than 30 requests"):
        answer(server, requests=30)


def test_a_page_without_end() -> None:
    server = naive(body=lambda text: text + f"<{EX}s> <{EX}p> <{EX}o> .\n" * 20_000)
    with pytest.raises(RemoteError, match="more than 100000 bytes"):
        answer(server, page_bytes=100_000)
    with pytest.raises(RemoteError, match="more than 1000 quads"):
        answer(server, page_quads=1000)


def test_a_join_without_bound() -> None:
    with pytest.raises(RemoteError, match="more than 50 rows"):
        answer(naive(), f"SELECT * {{ ?a <{EX}p> ?b . ?c <{EX}p> ?d }}", rows=50)


def test_a_redirect_loop() -> None:
    server = naive(status=lambda n: 307, headers={"location": URL})

    async def run() -> None:
        transport = httpx.ASGITransport(server)
        async with httpx.AsyncClient(transport=transport, follow_redirects=True, max_redirects=5) as client:
            async for _ in follow_async(QUERY, URL, client=client, clock=Crank()):
                pass

    with pytest.raises(RemoteError, match="moved too often"):
        asyncio.run(run())


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(RemoteError, match="failed"):
        list(follow(QUERY, "http://127.0.0.1:9/d", options=Options(limits=ClientLimits(attempts=2))))


def test_a_server_that_never_answers() -> None:
    class Silent(NaiveServer):
        async def __call__(self, scope, receive, send) -> None:  # type: ignore[no-untyped-def]
            await asyncio.sleep(60)

    began = time.monotonic()
    with pytest.raises(RemoteError, match="no answer in"):
        answer(Silent(lambda: []), timeout=0.05, attempts=2)
    assert time.monotonic() - began < 10


def test_a_failure_that_passes_is_retried() -> None:
    server = naive(status=lambda n: 503 if n % 2 else 200, headers={"retry-after": "1"})
    (update,) = answer(server)
    assert len(update.added) == 10


def test_data_that_were_not_asked_for_are_ignored() -> None:
    server = naive(extra=[f'<{EX}other> <{EX}unasked> "x" .', f'<{EX}s0> <{EX}p> "0" <{EX}graph> .'])
    (update,) = answer(server)
    assert len(update.added) == 10


def labelled(end: str, number: int = 0) -> list[Quad]:
    fact = Fact(f"<{EX}s>", f"<{EX}delay>", f'"{number}"', 0, T0)
    quads = annotate(fact, Annotation(), f"<{EX}g{number}>")
    return [(s, p, end if o.endswith("dateTime>") else o, g) for s, p, o, g in quads]


DELAY = f"SELECT ?x {{ ?s <{EX}delay> ?x }}"


def test_expirations_in_the_past_show_nothing_and_are_asked_for_less_and_less() -> None:
    clock = Crank()
    server = NaiveServer(lambda: labelled(time_text(T0 - SECOND)))
    found = answer(server, DELAY, most=6, clock=clock)
    assert not any(update.added for update in found)
    waits = [later.at - sooner.at for sooner, later in itertools.pairwise(found)]
    assert waits == sorted(waits) and waits[-1] > 4 * waits[0] and clock.now() < T0 + 60 * SECOND


def test_a_last_minute_fact_is_not_taken_for_a_gap() -> None:
    """The new version comes 50 ms after the old one expired: nothing is removed in between."""
    clock = Crank()
    end = T0 + 10 * SECOND

    def quads() -> list[Quad]:
        if clock.now() < end + 50_000:
            return labelled(time_text(end), 1)
        return labelled(time_text(end + 10 * SECOND), 2)

    first, second = answer(NaiveServer(quads), DELAY, most=2, clock=clock)
    assert texts(first.added) == ['x="1"'] and texts(second.added) == ['x="2"']
    assert texts(second.removed) == ['x="1"']


@pytest.mark.parametrize(
    "far", ['"9999-12-31T23:59:59Z"', '"12345-01-01T00:00:00Z"', '"2999-01-01T00:00:00Z"']
)
def test_expirations_in_the_far_future_are_polled_at_the_greatest_interval(far: str) -> None:
    server = NaiveServer(lambda: labelled(f"{far}^^<http://www.w3.org/2001/XMLSchema#dateTime>"))
    first, second = answer(server, DELAY, most=2)
    assert texts(first.added) == ['x="0"'] and not second.added
    assert second.at - first.at == 60 * SECOND


@pytest.mark.parametrize("bad", ['"tomorrow"', f"<{EX}never>", '"2015-13-01T00:00:00Z"', '"1"'])
def test_a_label_that_is_no_time(bad: str) -> None:
    with pytest.raises(RemoteError, match=r"time label of .* is malformed"):
        answer(NaiveServer(lambda: labelled(bad)), DELAY)


def test_a_failure_in_the_middle_is_survived_and_a_lasting_one_ends_it() -> None:
    clock = Crank()
    broken = False
    server = NaiveServer(
        lambda: labelled(time_text(clock.now() // (10 * SECOND) * 10 * SECOND + 10 * SECOND))
    )
    server.status = lambda n: 500 if broken else 200

    async def run() -> list[Update]:
        nonlocal broken
        found = []
        async with httpx.AsyncClient(transport=httpx.ASGITransport(server)) as client:
            options = Options(failures=2, limits=ClientLimits(attempts=1))
            async for update in follow_async(DELAY, URL, client=client, clock=clock, options=options):
                found.append(update)
                broken = len(found) == 2
        return found

    with pytest.raises(RemoteError, match="status 500"):
        asyncio.run(run())


@pytest.mark.parametrize("ahead", [100, -100])
def test_the_servers_clock_is_wrong(ahead: int) -> None:
    """Its facts expire by its own clock, which its Date header tells."""
    clock = Crank()
    server = NaiveServer(lambda: labelled(time_text(clock.now() + (ahead + 10) * SECOND)))
    server.headers["date"] = formatdate(T0 / SECOND + ahead, usegmt=True)
    first, second = answer(server, DELAY, most=2, clock=clock)
    assert texts(first.added) == ['x="0"']
    assert abs(first.statistics["skew"] - ahead) <= 1
    assert abs((second.at - first.at) / SECOND - 10) <= 1


def test_polling_intervals_are_kept() -> None:
    clock = Crank()
    server = NaiveServer(lambda: labelled(time_text(clock.now() + SECOND)))

    def gaps(options: Options) -> list[int]:
        async def run() -> list[int]:
            times: list[int] = []
            async with httpx.AsyncClient(transport=httpx.ASGITransport(server)) as client:
                async for update in follow_async(DELAY, URL, client=client, clock=clock, options=options):
                    times.append(update.at)
                    if len(times) == 3:
                        break
            return [(b - a) // 1000 for a, b in itertools.pairwise(times)]

        return asyncio.run(run())

    assert gaps(Options(jitter=0.0)) == [1000, 1000]
    assert gaps(Options(jitter=0.0, min_interval=5.0)) == [5000, 5000]
    assert gaps(Options(jitter=0.0, max_interval=0.25)) == [250, 250]
    with pytest.raises(UsageError, match="must not exceed"):
        Options(min_interval=2.0, max_interval=1.0)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"SELECT * FROM <{EX}g> {{ ?s ?p ?o }}", "has no FROM"),
        (f"SELECT * {{ SERVICE <{EX}e> {{ ?s ?p ?o }} }}", "SERVICE is not followed"),
    ],
)
def test_queries_that_make_no_sense_here(query: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        answer(naive(), query)


def test_clients_do_not_all_come_at_the_instant_of_expiry() -> None:
    end = T0 + 10 * SECOND

    def second(_: int) -> int:
        clock = Crank()
        server = NaiveServer(lambda: labelled(time_text(end if clock.now() < end else end + 10 * SECOND)))

        async def run() -> int:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(server)) as client:
                updates = follow_async(DELAY, URL, client=client, clock=clock)
                await anext(updates)
                at = (await anext(updates)).at
                await updates.aclose()
                return at

        return asyncio.run(run())

    times = [second(n) for n in range(12)]
    assert len(set(times)) > 6 and all(end <= time <= end + SECOND // 2 for time in times)
