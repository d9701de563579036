"""What changes before its time is noticed within the greatest interval, with few requests."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from fragments_kit import ANNOTATIONS, EX, SECOND, T0, Crank, client_of, texts
from weir.fragments.client import Options, Update, follow_async
from weir.fragments.protocol.annotation import Annotation, Fact
from weir.fragments.server import Dataset, FragmentsApp

LONG = 600 * SECOND
QUERY = f"SELECT ?delay {{ ?t <{EX}name> ?n ; <{EX}delay> ?delay }}"
STATIC = [(f"<{EX}t>", f"<{EX}name>", '"Ghent"', "")]


def delay(value: int, start: int = T0) -> Fact:
    return Fact(f"<{EX}t>", f"<{EX}delay>", f'"{value}"', start, start + LONG)


def two_updates(data: Dataset, change: str, query: str = QUERY) -> tuple[list[Update], list[httpx.Request]]:
    """The first two evaluations; in between the fact is superseded, deleted, pushed or left alone."""
    clock = Crank()
    app = FragmentsApp([data], clock=clock.now)
    made: list[httpx.Request] = []

    async def run() -> list[Update]:
        async with client_of(app) as client:
            client.event_hooks = {"request": [note]}
            options = Options(max_interval=30, jitter=0.0, stop_when_static=False)
            url = "http://weir.test/d"
            updates = follow_async(query, url, options=options, clock=clock, client=client)
            found = [await anext(updates)]
            now = clock.now() + SECOND
            if change == "supersede":
                data.push([delay(7, now)], now, supersede=True)
            elif change == "delete":
                data.end([delay(5).triple], now)
            elif change == "push":
                data.push([delay(5)], clock.now())
            made.clear()
            found.append(await anext(updates))
            await updates.aclose()
            return found

    async def note(request: httpx.Request) -> None:
        made.append(request)

    return asyncio.run(run()), made


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
@pytest.mark.parametrize(("change", "after"), [("supersede", ['delay="7"']), ("delete", [])])
def test_a_fact_that_is_taken_back_is_seen_within_the_greatest_interval(
    annotation: Annotation, change: str, after: list[str]
) -> None:
    data = Dataset("d", STATIC, annotation=annotation)
    data.push([delay(5)], T0)
    (first, second), _ = two_updates(data, change)
    assert texts(first.added) == ['delay="5"'] == texts(second.removed)
    assert texts(second.added) == after and second.at <= T0 + 31 * SECOND


def test_a_predicate_that_had_no_facts_is_seen_within_the_greatest_interval() -> None:
    (_, second), _ = two_updates(Dataset("d", STATIC), "push")
    assert texts(second.added) == ['delay="5"']


def test_what_did_not_change_costs_no_bodies_and_static_pages_nothing() -> None:
    data = Dataset("d", STATIC, static_age=3600 * SECOND)
    data.push([delay(5)], T0)
    (_, second), made = two_updates(data, "nothing")
    assert made and all("if-none-match" in request.headers for request in made)
    assert all(request.headers["cache-control"] == "max-age=30" for request in made)
    assert not any("name" in str(request.url) for request in made)
    assert second.statistics["bytes"] == 0


def test_facts_that_come_for_what_was_static_are_seen_within_the_greatest_interval() -> None:
    data = Dataset("d", STATIC)
    data.push([delay(5)], T0)
    clock = Crank()
    query = f"SELECT ?n {{ ?t <{EX}name> ?n ; <{EX}delay> ?delay }}"

    async def run() -> list[Update]:
        async with client_of(FragmentsApp([data], clock=clock.now)) as client:
            options = Options(max_interval=30, jitter=0.0)
            updates = follow_async(query, "http://weir.test/d", options=options, clock=clock, client=client)
            found = [await anext(updates)]
            now = clock.now() + SECOND
            data.push([Fact(f"<{EX}t>", f"<{EX}name>", '"Gent"', now, now + LONG)], now)
            found.append(await anext(updates))
            await updates.aclose()
            return found

    first, second = asyncio.run(run())
    assert texts(first.added) == ['n="Ghent"'] and texts(second.added) == ['n="Gent"']
    assert second.at <= T0 + 31 * SECOND
