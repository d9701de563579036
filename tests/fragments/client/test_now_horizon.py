"""When NOW() changes an answer: at the times in the data that it is compared with."""

from __future__ import annotations

import asyncio

import pytest

from fragments_kit import EX, SECOND, T0, Crank, texts, updates
from weir.fragments.client import Options
from weir.fragments.client.now_horizon import now_horizon
from weir.fragments.protocol.annotation import FOREVER, Quad, time_text
from weir.fragments.server import Dataset, FragmentsApp
from weir.language import parse

STATIC: list[Quad] = [
    (f"<{EX}t{n}>", f"<{EX}leaves>", time_text(T0 + n * 10 * SECOND), "") for n in range(4)
] + [(f"<{EX}t1>", f"<{EX}built>", time_text(T0 + SECOND), "")]
LEAVES = f"SELECT ?t {{ ?t <{EX}leaves> ?d FILTER(?d > NOW()) }}"


def horizon(pattern: str, at: int = T0, quads: list[Quad] = STATIC, form: str = "SELECT ?t ?x") -> int:
    return now_horizon(parse(f"{form} {{ {pattern} }}", dialect="sparql"), quads, at)


LEAVING = f"?t <{EX}leaves> ?d"


@pytest.mark.parametrize(
    "pattern",
    [
        f"{LEAVING} FILTER(?d > NOW())",
        f"{LEAVING} FILTER(NOW() <= ?d)",
        f"{LEAVING} BIND(NOW() AS ?now) FILTER(?d > ?now)",
        f"{LEAVING} FILTER NOT EXISTS {{ {LEAVING} FILTER(?d < NOW()) }}",
        f"?t <{EX}name> ?n OPTIONAL {{ {LEAVING} FILTER(?d > NOW()) }}",
    ],
)
def test_the_next_time_that_the_present_passes(pattern: str) -> None:
    assert horizon(pattern, T0 + SECOND) == T0 + 10 * SECOND
    assert horizon(pattern, T0 + 10 * SECOND) == T0 + 10 * SECOND + 1
    assert horizon(pattern, T0 + 31 * SECOND) == FOREVER


def test_a_constant_time_is_passed_too() -> None:
    assert horizon(f"?t ?p ?o FILTER(NOW() > {time_text(T0 + 7 * SECOND)})") == T0 + 7 * SECOND


def test_a_time_without_a_zone_cannot_be_compared_for_half_a_day() -> None:
    zone = 14 * 3600 * SECOND
    leaves = T0 + 2 * zone
    zoneless = [(f"<{EX}t>", f"<{EX}leaves>", time_text(leaves).replace("Z", ""), "")]
    pattern = f"{LEAVING} FILTER(?d > NOW())"
    assert horizon(pattern, T0, zoneless) == leaves - zone
    assert horizon(pattern, leaves, zoneless) == leaves + zone


@pytest.mark.parametrize(
    "pattern",
    [
        f"{LEAVING} FILTER(YEAR(?d) > YEAR(NOW()))",
        f"{LEAVING} BIND(NOW() AS ?x)",
        f'{LEAVING} BIND(STRDT("2030-01-01T00:00:00Z", ?x) AS ?e) FILTER(?e > NOW())',
    ],
)
def test_other_uses_may_change_at_any_time(pattern: str) -> None:
    assert horizon(pattern) == T0


def test_a_query_without_now_never_changes() -> None:
    assert horizon(f"{LEAVING} FILTER(?d > {time_text(T0)})") == FOREVER


def test_a_filter_over_static_facts_goes_on_until_the_last_has_passed() -> None:
    clock = Crank()
    app = FragmentsApp([Dataset("d", STATIC)], clock=clock.now)
    found = asyncio.run(updates(LEAVES, app, clock, until=T0 + 1000 * SECOND))
    assert [(u.at - T0) // SECOND for u in found if u.added or u.removed] == [0, 10, 20, 30]
    assert [len(u.removed) for u in found if u.removed] == [1, 1, 1] and found[-1].next is None
    assert texts(found[0].added) == [f"t=<{EX}t{n}>" for n in (1, 2, 3)]


def test_what_may_change_at_any_time_is_looked_at_in_the_greatest_interval() -> None:
    clock = Crank()
    app = FragmentsApp([Dataset("d", STATIC)], clock=clock.now)
    query = f"SELECT ?t {{ {LEAVING} FILTER(STR(?d) > STR(NOW())) }}"
    found = asyncio.run(updates(query, app, clock, until=T0 + 30 * SECOND, options=Options(max_interval=10)))
    assert [len(u.removed) for u in found] == [0, 1, 1, 1]
