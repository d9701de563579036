"""One pattern at one instant: static matches from the cache, dynamic ones while they hold."""

from __future__ import annotations

import asyncio

from fragments_kit import EX, SECOND, T0, Crank, dataset, opened
from weir.fragments.client.detect import Dynamics
from weir.fragments.client.matcher import Matcher, StaticCache
from weir.fragments.client.quad_source import Keys
from weir.fragments.protocol.annotation import FOREVER, Annotation, Fact, Labeling, Method, Quad
from weir.fragments.server import FragmentsApp

STATIC: list[Quad] = [(f"<{EX}s{n}>", f"<{EX}label>", f'"{n}"', "") for n in range(5)]
FACTS = [
    Fact(f"<{EX}s1>", f"<{EX}delay>", '"now"', T0, T0 + 2 * SECOND),
    Fact(f"<{EX}s1>", f"<{EX}delay>", '"later"', T0 + 5 * SECOND, T0 + 9 * SECOND),
]
ANNOTATION = Annotation(Method.GRAPHS, Labeling.INTERVAL)
LABELS = (None, f"<{EX}label>", None, "")
DELAYS = (None, f"<{EX}delay>", None, "")


def test_what_holds_and_when_that_changes() -> None:
    clock = Crank()
    app = FragmentsApp([dataset(STATIC, FACTS, ANNOTATION)], clock=clock.now)

    async def run(at: int) -> tuple[list[str], int, bool]:
        async with opened(app, clock) as source:
            matcher = Matcher(source, Dynamics(source, (ANNOTATION,)), StaticCache(source), at)
            found = await matcher.matching(DELAYS, None)
            return [quad[2] for quad in found], matcher.earliest, matcher.found_dynamic

    assert asyncio.run(run(T0)) == (['"now"'], T0 + 2 * SECOND, True)
    assert asyncio.run(run(T0 + 6 * SECOND)) == (['"later"'], T0 + 9 * SECOND, True)
    assert asyncio.run(run(T0 + 9 * SECOND)) == ([], FOREVER, True)


def test_static_matches_are_fetched_once() -> None:
    app = FragmentsApp([dataset(STATIC, [], ANNOTATION, page_size=2)])

    async def run() -> None:
        async with opened(app) as source:
            cache = StaticCache(source)
            one = Keys((0,), ((f"<{EX}s3>",),))
            assert await cache.matching(LABELS, one) == [STATIC[3]]
            assert await cache.matching(LABELS, None) == STATIC
            asked = source.pages.requests
            source.pages.look_again()
            assert await cache.matching(LABELS, one) == [STATIC[3]] and await cache.count(LABELS) == 5
            assert source.pages.requests == asked

    asyncio.run(run())
