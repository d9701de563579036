"""Queries of kinds that chance rarely draws, over random input, against what they mean: windows of different
reports in one query, GRAPH and sub-selects inside windows, DSTREAM under CHANGE, TIMES DISTINCT, updates
beside messages of the same instant, joins of windows with what other operators make of windows.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from properties.oracle import Oracle
from properties.stories import Story, run, told
from properties.test_whole_path import EXAMPLES, SEED

pytestmark = pytest.mark.hypothesis
"""So that ``make long`` takes it."""

UNIT = 1_000
TIMES = max(2, EXAMPLES // 20)
"""Stories of each query."""

W = "FROM NAMED WINDOW <w{0}> ON <urn:s{1}> [{2}]"
QUERIES = {
    "reports": (
        "SELECT RSTREAM ?x ?y ?z",
        [
            W.format(0, 1, "RANGE 6 STEP 3 REPORT WINDOW CLOSE"),
            W.format(1, 1, "RANGE 4 REPORT CONTENT CHANGE, NON EMPTY"),
            W.format(2, 2, "ELEMENTS 3 STEP 2 REPORT WINDOW CLOSE, PERIODIC PT0.005S CLOSED"),
        ],
        "WINDOW <w0> { ?x :p ?y } OPTIONAL { WINDOW <w1> { ?x :q ?z } } MINUS { WINDOW <w2> { ?x :p ?z } }",
    ),
    "reports compared": (
        "SELECT ISTREAM ?x ?n",
        [
            W.format(0, 1, "RANGE 5 STEP 5 REPORT WINDOW CLOSE, NON EMPTY"),
            W.format(1, 1, "ALL REPORT PERIODIC PT0.003S"),
        ],
        "WINDOW <w0> { ?x ?p ?y } { SELECT ?x (COUNT(*) AS ?n) { WINDOW <w1> { ?x :p ?z } } GROUP BY ?x }",
    ),
    "graphs": (
        "SELECT RSTREAM ?g ?x ?n",
        [W.format(0, 1, "RANGE 6 STEP 3")],
        "WINDOW <w0> { GRAPH ?g { { SELECT ?x (COUNT(?y) AS ?n) { ?x :p ?y } GROUP BY ?x } } }",
    ),
    "graphs without groups": (
        "SELECT ISTREAM ?g ?n",
        [W.format(0, 1, "RANGE 4 TICK CHANGE REPORT CONTENT CHANGE")],
        "WINDOW <w0> { GRAPH ?g { { SELECT (COUNT(*) AS ?n) { ?x :p ?y MINUS { ?x :q ?z } } } } }",
    ),
    "goes": (
        "SELECT DSTREAM ?x ?y ?z",
        [
            W.format(0, 1, "RANGE 4 TICK CHANGE REPORT CONTENT CHANGE CONTENT BAG"),
            W.format(1, 2, "NOW TICK CHANGE REPORT CONTENT CHANGE, NON EMPTY"),
        ],
        "WINDOW <w0> { ?x :p ?y } OPTIONAL { WINDOW <w1> { ?x :q ?z } }",
    ),
    "goes at once": (
        "CONSTRUCT DSTREAM { ?x :r ?y }",
        [
            W.format(0, 1, "TRIPLES 3 TICK CHANGE REPORT CONTENT CHANGE"),
            W.format(
                1, 1, "FROM NOW-PT0.006S TO NOW-PT0.002S STEP PT0.002S TICK CHANGE REPORT CONTENT CHANGE"
            ),
            "PREVIOUS INSTANT",
        ],
        "{ WINDOW <w0> { ?x :p ?y } } UNION { WINDOW <w1> { ?y :q ?x } }",
    ),
    "distinct": (
        "SELECT ISTREAM ?x ?y",
        [
            W.format(0, 1, "RANGE 5 TIMES DISTINCT LATENESS PT0.002S REPORT CONTENT CHANGE"),
            W.format(1, 2, "NOW LATENESS PT0.002S"),
        ],
        "{ WINDOW <w0> { ?x :p ?y } } UNION { WINDOW <w1> { ?x :q ?y } }",
    ),
    "updates": (
        "SELECT ISTREAM ?x ?y",
        [W.format(0, 1, "RANGE 5 TICK CHANGE REPORT CONTENT CHANGE"), "PREVIOUS INSTANT"],
        "WINDOW <w0> { ?x ?p ?y } MINUS { GRAPH <urn:g1> { ?x :p ?z } } FILTER NOT EXISTS { ?y :q ?x }",
    ),
    "updates under a clock": (
        "SELECT RSTREAM ?x ?y ?g",
        [W.format(0, 1, "RANGE 5 STEP 2 TICK TIME PT0.002S REPORT CONTENT CHANGE")],
        "WINDOW <w0> { ?x ?p ?y } OPTIONAL { GRAPH ?g { ?x :p ?z } }",
    ),
    "below": (
        "CONSTRUCT ISTREAM { ?x :r ?z }",
        [W.format(0, 1, "ALL TICK CHANGE REPORT CONTENT CHANGE"), "PREVIOUS INSTANT"],
        "WINDOW <w0> { ?x :p ?z . { SELECT ?x { { ?x :q ?v } UNION { ?v :q ?x } } } }",
    ),
    "below of another": (
        "CONSTRUCT ISTREAM { ?x :r ?z }",
        [
            W.format(0, 1, "RANGE 6 REPORT CONTENT CHANGE CONTENT BAG"),
            W.format(1, 2, "ALL REPORT CONTENT CHANGE"),
            "PREVIOUS INSTANT",
        ],
        "WINDOW <w0> { ?x :p ?z } { SELECT DISTINCT ?x { WINDOW <w1> { ?x :q ?v BIND (STR(?v) AS ?t) } } }",
    ),
}


def text_of(kind: str) -> str:
    head, windows, body = QUERIES[kind]
    return f"PREFIX : <urn:> REGISTER STREAM <urn:out0> AS {head} {' '.join(windows)} WHERE {{ {body} }}"


def drawn(kind: str, number: int) -> Story:
    rng = Random(f"{kind} {SEED} {number}")
    text = text_of(kind)
    streams = [each for each in ("urn:s1", "urn:s2") if f"<{each}>" in text]
    return told(rng, {"q0": text}, streams, (12, 2 if "LATENESS" in text else 0, UNIT))


@pytest.mark.parametrize("kind", QUERIES)
def test_lines_are_what_the_story_means(kind: str) -> None:
    lines = 0
    for number in range(TIMES):
        given = drawn(kind, number)
        expected = Oracle(given, "q0").lines()
        for evaluator in ("interval", "reference"):
            assert run(given, evaluator=evaluator)["q0"] == expected, f"{evaluator}, story {number}:\n{given}"
        assert run(given, slots=2)["q0"] == expected, f"two slots, story {number}:\n{given}"
        lines += len(expected)
    assert lines


def test_changes_come_at_the_instants_of_messages() -> None:
    """Every story of updates again, with its changes at times at which messages are."""
    for number in range(TIMES):
        given = drawn("updates", number)
        times = [each.time for batch in given.batches for sent in batch.sent.values() for each in sent]
        batches = tuple(
            replace(batch, changes=tuple(replace(each, at=times[0]) for each in batch.changes))
            for batch in given.batches
        )
        moved = replace(given, batches=batches)
        assert run(moved)["q0"] == Oracle(moved, "q0").lines(), f"{moved}"
