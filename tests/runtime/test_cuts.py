"""Within the lateness, results depend neither on batch cuts nor on order, workers or restarts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuts_kit import Message, answers, cut_and_shuffled, line
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


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
@given(script=cut_and_shuffled(), workers=st.integers(0, 3))
def test_results_do_not_depend_on_cuts_order_or_workers(
    evaluator: str, script: tuple[list[Message], list[list[Message]]], workers: int
) -> None:
    ordered, batches = script
    whole = answers(QUERIES, "reference", [ordered])
    assert answers(QUERIES, evaluator, batches, restarts=not workers, workers=workers or 1) == whole


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
def test_triples_that_a_query_makes_are_counted_in_the_order_of_their_text(evaluator: str) -> None:
    queries = {name: QUERIES[name] for name in ("first", "third")}
    arriving = "".join(line((time, subject, "p", "x")) for time, subject in enumerate("fcahbged"))
    found = Scenario(queries, evaluator=evaluator).run([arriving], "s")
    shown = [each["bindings"]["x"]["value"] for each in found if each["query"] == "third"]
    assert sorted(shown) == ["http://e/g", "http://e/h"]
