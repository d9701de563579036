"""Within the lateness, results depend neither on batch cuts nor on order, workers or restarts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.testing import Scenario

QUERIES = {
    "closes": """SELECT ?x ?y FROM NAMED WINDOW <w> ON <s> [RANGE 20 STEP 10 LATE]
        WHERE { WINDOW <w> { ?x :p ?y } }""",
    "changes": """REGISTER ISTREAM <c> AS SELECT ?x ?z
        FROM NAMED WINDOW <n> ON <s> [NOW LATE]
        FROM NAMED WINDOW <r> ON <s> [RANGE 15 STEP 1 REPORT CONTENT CHANGE, NON EMPTY LATE]
        WHERE { WINDOW <n> { ?x :p ?y } WINDOW <r> { ?z :p ?y } }""",
    "count": """SELECT (COUNT(*) AS ?n) (GROUP_CONCAT(?y) AS ?all)
        FROM NAMED WINDOW <w> ON <s> [TRIPLES 3 REPORT CONTENT CHANGE LATE]
        WHERE { WINDOW <w> { ?x :p ?y } }""",
    "elements": """REGISTER DSTREAM <e> AS SELECT ?x ?y
        FROM NAMED WINDOW <w> ON <s> [ELEMENTS 2 LATE] WHERE { WINDOW <w> { ?x :p ?y } }""",
    "absent": """SELECT ?x FROM NAMED WINDOW <w> ON <s> [RANGE 20 STEP 10 LATE]
        WHERE { WINDOW <w> { ?x :p ?y FILTER NOT EXISTS { ?x :q ?z } } }""",
    "ask": """ASK FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10 LATE] WHERE { WINDOW <w> { :a :p ?y } }""",
    "first": """REGISTER RSTREAM <mid> AS CONSTRUCT { ?x :m ?t }
        FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10 LATE]
        WHERE { WINDOW <w> { ?x :p ?y } BIND(CONCAT("t", STR(?x)) AS ?t) }""",
    "second": """REGISTER RSTREAM <end> AS SELECT ?x ?t FROM NAMED WINDOW <w> ON <mid> [RANGE 30 STEP 10]
        WHERE { WINDOW <w> { ?x :m ?t } }""",
    "third": """REGISTER ISTREAM <last> AS SELECT ?x ?t
        FROM NAMED WINDOW <w> ON <mid> [TRIPLES 2 REPORT CONTENT CHANGE] WHERE { WINDOW <w> { ?x :m ?t } }""",
}
QUERIES = {
    name: "PREFIX : <http://e/>\n" + text.replace("LATE]", "LATENESS PT0.03S]")
    for name, text in QUERIES.items()
}
MESSAGES = st.lists(
    st.tuples(st.integers(0, 60), st.sampled_from("abc"), st.sampled_from("pq"), st.sampled_from("xyz")),
    max_size=14,
)


def line(message: tuple[int, str, str, str]) -> str:
    time, subject, predicate, target = message
    return f"{time}\t<http://e/{subject}> <http://e/{predicate}> <http://e/{target}> .\n"


def answers(
    evaluator: str, batches: list[list[tuple[int, str, str, str]]], **how: Any
) -> dict[str, list[dict[str, Any]]]:
    scenario = Scenario(QUERIES, evaluator=evaluator, **how)
    found = scenario.run(["".join(map(line, batch)) for batch in batches], "s")
    assert all(not step.dropped for step in scenario.steps)
    return {name: [each for each in found if each["query"] == name] for name in QUERIES}


@st.composite
def cut_and_shuffled(draw: st.DrawFn) -> tuple[list[Any], list[list[Any]]]:
    """Messages of distinct times in order, and the same delayed by less than the lateness, in batches."""
    unique = {message[0]: message for message in draw(MESSAGES)}
    ordered = [unique[time] for time in sorted(unique)]
    delays = [draw(st.integers(0, 29)) for _ in ordered]
    arrival = sorted(range(len(ordered)), key=lambda i: ordered[i][0] + delays[i])
    batches: list[list[Any]] = [[]]
    for place in arrival:
        batches[-1].append(ordered[place])
        if draw(st.booleans()):
            batches.append([])
    return ordered, batches


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
@given(script=cut_and_shuffled(), workers=st.integers(0, 3))
def test_results_do_not_depend_on_cuts_order_or_workers(
    evaluator: str, script: tuple[list[Any], list[list[Any]]], workers: int
) -> None:
    ordered, batches = script
    whole = answers("reference", [ordered])
    assert answers(evaluator, batches, restarts=not workers, workers=workers or 1) == whole


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
def test_triples_that_a_query_makes_are_counted_in_the_order_of_their_text(evaluator: str) -> None:
    queries = {name: QUERIES[name] for name in ("first", "third")}
    arriving = "".join(line((time, subject, "p", "x")) for time, subject in enumerate("fcahbged"))
    found = Scenario(queries, evaluator=evaluator).run([arriving], "s")
    shown = [each["bindings"]["x"]["value"] for each in found if each["query"] == "third"]
    assert sorted(shown) == ["http://e/g", "http://e/h"]
