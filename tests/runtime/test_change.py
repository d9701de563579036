"""What expiry and static updates bring about, through the whole path: both evaluators, however input is cut.

The CQELS preset sends the union over all instants of what is new (``TICK CHANGE``, ``PREVIOUS INSTANT``).
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from weir.testing import Scenario

EVALUATORS = ("reference", "interval")
EX = "http://example.org/"
PREFIX = f"PREFIX : <{EX}>\n"


def line(second: float, subject: str, predicate: str, value: str) -> str:
    target = value if value.isdigit() else f"<{EX}{value}>"
    if value.isdigit():
        target = f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    return f"{round(second * 1000)}\t<{EX}{subject}> <{EX}{predicate}> {target} .\n"


def shown(results: list[dict[str, Any]]) -> list[str]:
    """Results as ``"2.1 max=4"``: seconds and what is bound."""
    found = []
    for each in results:
        second = each["at"][14:16], each["at"][17:].rstrip("Z")
        values = {name: term["value"].removeprefix(EX) for name, term in each["bindings"].items()}
        at = f"{int(second[0]) * 60 + float(second[1]):.6f}".rstrip("0").rstrip(".")
        found.append(f"{at} " + " ".join(f"{name}={value}" for name, value in values.items()))
    return found


def every_cut(lines: list[str]) -> list[list[str]]:
    """The lines as batches, in every way."""
    places = range(1, len(lines))
    cuts = [cut for size in range(len(lines)) for cut in combinations(places, size)]
    return [["".join(lines[a:b]) for a, b in zip((0, *cut), (*cut, len(lines)), strict=True)] for cut in cuts]


def run(query: str, batches: list[str], evaluator: str, **options: Any) -> list[str]:
    return shown(Scenario(PREFIX + query, evaluator=evaluator, **options).run(batches, "s"))


READINGS = [
    line(0.1, "a", "v", "5"),
    line(0.5, "b", "v", "3"),
    line(0.9, "c", "v", "4"),
    line(2.3, "d", "v", "2"),
]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_the_maximum_is_sent_when_the_greatest_value_leaves(evaluator: str) -> None:
    """MAX over RANGE 2s.

    time     0.1  0.5  0.9         2.1  2.3  2.5   2.9       4.3
    comes     5    3    4               2
    leaves                         5          3    4         2
    MAX       5    5    5          4    4     4    2         nothing is there: not evaluated
    """
    query = "SELECT (MAX(?v) AS ?max) WHERE { STREAM <s> [RANGE 2s] { ?x :v ?v } }"
    for batches in every_cut(READINGS):
        assert run(query, batches, evaluator) == ["0.1 max=5", "2.1 max=4", "2.9 max=2"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_a_count_is_sent_when_it_falls(evaluator: str) -> None:
    query = "SELECT (COUNT(*) AS ?n) WHERE { STREAM <s> [RANGE 2s] { ?x :v ?v } }"
    expected = ["0.1 n=1", "0.5 n=2", "0.9 n=3", "2.1 n=2", "2.3 n=3", "2.5 n=2", "2.9 n=1"]
    for batches in every_cut(READINGS):
        assert run(query, batches, evaluator) == expected


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_absence_is_sent_when_it_begins(evaluator: str) -> None:
    """Who has pinged in the last ten seconds but not in the last two.

    time     1    2    3    4    5    6    7
    pings    ann  bob       ann
    silent                  bob       ann
    """
    query = """SELECT ?who WHERE { STREAM <s> [RANGE 10s] { ?who :ping ?x }
    FILTER NOT EXISTS { STREAM <s> [RANGE 2s] { ?who :ping ?y } } }"""
    pings = [line(1, "ann", "ping", "x"), line(2, "bob", "ping", "x"), line(4, "ann", "ping", "x")]
    for batches in every_cut(pings):
        # At 3 ann is silent, too, until she pings again; of her two pings one has gone at 11.
        found = run(query, batches, evaluator)
        assert found == ["3 who=ann", "4 who=bob", "6 who=ann", "6 who=ann"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("window", ["NOW", "RANGE 9s", "TRIPLES 5"])
def test_what_cannot_grow_between_arrivals_is_sent_with_them(window: str, evaluator: str) -> None:
    query = f"SELECT ?x WHERE {{ STREAM <s> [{window}] {{ ?x :v ?v }} FILTER (?v > 2) }}"
    for batches in every_cut(READINGS):
        assert run(query, batches, evaluator) == ["0.1 x=a", "0.5 x=b", "0.9 x=c"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("restarts", [False, True])
def test_a_static_triple_is_sent_when_it_comes(evaluator: str, restarts: bool) -> None:
    """The update counts from 3 s on, between two messages, and from 8 s on, when nothing is in the window."""
    query = "SELECT ?x ?room WHERE { STREAM <s> [RANGE 3s] { ?x :in ?room } GRAPH <g> { ?room :is :hot } }"
    graphs = {"g": f"<{EX}lab> <{EX}is> <{EX}hot> ."}
    scenario = Scenario(PREFIX + query, graphs=graphs, evaluator=evaluator, restarts=restarts)
    lane = scenario.lane("s")
    lane.put(line(1, "a", "in", "lab") + line(2, "b", "in", "hall"))
    found = scenario.batch()
    for second in (3, 8):
        scenario.update(
            f"INSERT DATA {{ GRAPH <g> {{ <{EX}hall> <{EX}is> <{EX}hot> }} }}", second * 1_000_000
        )
        scenario.update(
            f"DELETE DATA {{ GRAPH <g> {{ <{EX}hall> <{EX}is> <{EX}hot> }} }}", second * 1_000_000 + 1
        )
    lane.put(line(4, "c", "in", "hall"))
    found += scenario.batch()
    lane.put(line(9, "d", "in", "lab"))
    found += scenario.batch()
    lane.end()
    assert shown(found + scenario.batch()) == ["1 x=a room=lab", "3 x=b room=hall", "9 x=d room=lab"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_under_a_time_tick_the_instant_before_is_a_tick_ago(evaluator: str) -> None:
    """TICK TIME 1s: looked at at 1, 2, 3, …, each compared with the second before.

    time     0.1  0.5  0.9  1    2    2.3  3
    comes     5    3    4             2
    new                     all           2
    """
    query = """SELECT ISTREAM ?v FROM NAMED WINDOW <w> ON <s> [RANGE 2s STEP MESSAGE TICK TIME 1s]
    PREVIOUS INSTANT WHERE { WINDOW <w> { ?x :v ?v } }"""
    for batches in every_cut(READINGS):
        assert run(query, batches, evaluator) == ["1 v=3", "1 v=4", "1 v=5", "3 v=2"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize(
    ("every", "expected"),
    [
        # [RANGE 4s STEP 2s] closes at 2 (a), 4 (a b), 6 (b), 8 (c), 10 (c)
        ("2s", ["2 x=a", "4 x=a", "4 x=b", "6 x=b", "8 x=c", "10 x=c"]),
        ("3s", ["3 x=a", "6 x=b", "9 x=c"]),
        (
            "1s",
            ["2 x=a", "3 x=a", "4 x=a", "4 x=b", "5 x=a", "5 x=b", "6 x=b", "7 x=b", "8 x=c", "9 x=c",
             "10 x=c", "11 x=c"],
        ),
    ],
)  # fmt: skip
def test_computed_every_sees_the_window_that_closed_last(
    every: str, expected: list[str], evaluator: str
) -> None:
    head = f"REGISTER QUERY q COMPUTED EVERY {every} AS "
    query = "SELECT ?x FROM STREAM <s> [RANGE 4s STEP 2s] WHERE { ?x :v ?v }"
    messages = [line(1, "a", "v", "1"), line(3, "b", "v", "2"), line(7, "c", "v", "3")]
    for batches in every_cut(messages):
        assert run(head + query, batches, evaluator) == expected
        if every == "2s":
            assert run(query, batches, evaluator) == expected


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_a_grid_that_starts_at_the_first_message(evaluator: str) -> None:
    """STARTING AT FIRST: the windows [1.5, 3.5) and [3.5, 5.5)."""
    query = """SELECT ?x FROM NAMED WINDOW <w> ON <s> [RANGE 2s STARTING AT FIRST]
    WHERE { WINDOW <w> { ?x :v ?v } }"""
    messages = [line(1.5, "a", "v", "1"), line(3.4, "b", "v", "2"), line(3.5, "c", "v", "3")]
    for batches in every_cut(messages):
        assert run(query, batches, evaluator) == ["3.5 x=a", "3.5 x=b", "5.5 x=c"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("tick", ["CHANGE", "TIME PT1S"])
def test_a_graph_that_is_read_changes_whether_or_not_a_pattern_matches(evaluator: str, tick: str) -> None:
    """The default graph is read, g is not; what is there already does not come.

    time      1    2    3    4    5          11
    comes     a                              leaves
    default        :x        –
    g                   :y
    """
    query = f"""{PREFIX}SELECT ?x FROM NAMED WINDOW <w> ON <s> [RANGE PT10S STEP MESSAGE TICK {tick}] EMPTY
    WHERE {{ WINDOW <w> {{ ?x :v ?v }} OPTIONAL {{ ?x :name ?n }} }}"""
    scenario = Scenario(query, graphs={None: f"<{EX}u> <{EX}p> <{EX}x> .", f"{EX}g": ""}, evaluator=evaluator)
    scenario.update(f"INSERT DATA {{ <{EX}u> <{EX}q> <{EX}x> }}", 2_000_000)
    scenario.update(f"INSERT DATA {{ GRAPH <{EX}g> {{ <{EX}u> <{EX}q> <{EX}y> }} }}", 3_000_000)
    scenario.update(f"INSERT DATA {{ <{EX}u> <{EX}p> <{EX}x> }}", 4_000_000)
    found = scenario.run([line(1, "a", "v", "1")], "s")
    assert [each["at"][17:19] for each in found] == ["01", "02", "11"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_a_period_shows_the_count_that_closed_with_the_first_message(evaluator: str) -> None:
    """The message of time 5 closes a count; a period falls on that very time."""
    query = """SELECT ?x FROM NAMED WINDOW <w> ON <s> [TRIPLES 2 STEP 2 REPORT PERIODIC PT5S CLOSED]
    WHERE { WINDOW <w> { ?x :v ?v } }"""
    lines = line(5, "a", "v", "1") + line(5, "b", "v", "2")
    for batches in ([lines], [lines, line(7, "c", "v", "3")]):
        assert run(query, batches, evaluator) == ["5 x=a", "5 x=b"]
