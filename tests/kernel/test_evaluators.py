"""What ``interval`` lacks: each lack by a query that needs it, and the documentation's list of them."""

from __future__ import annotations

import re

import pytest

from shared import ROOT
from weir.kernel.contract import Background, Lack
from weir.kernel.evaluators import choose_evaluator
from weir.language import parse
from weir.linked.service.resolver import ServiceResolver
from weir.rdf.ids.dictionary import Dictionary
from weir.testing import Scenario

NEEDING = {
    Lack.DRAWS_IN_EXISTS: "SELECT ?s { ?s ?p ?o FILTER EXISTS { ?s ?q ?o FILTER(RAND() < 2) } }",
    Lack.DRAWS_IN_GRAPH: "SELECT ?s { GRAPH ?g { ?s ?p ?o BIND(RAND() AS ?r) } }",
    Lack.DRAWS_BESIDE_EXISTS: "SELECT * { ?s ?p ?o BIND(RAND() AS ?r) BIND(EXISTS { ?s ?p ?r } AS ?e) }",
    Lack.DRAWS_WITH_EXISTS: "SELECT (SUM(IF(EXISTS { ?s ?q 1 }, RAND(), 0)) AS ?n) { ?s ?p ?o }",
    Lack.NESTED_SERVICE: (
        "SELECT ?s { ?s ?p ?o FILTER EXISTS { SERVICE <http://e> { ?s ?q ?z } FILTER(?z = ?o) } }"
    ),
    Lack.NO_ENDPOINTS: "SELECT ?s { SERVICE <http://e> { ?s ?p ?o } }",
}

COVERED = [
    "SELECT (COUNT(IF(EXISTS { ?s ?q 1 }, 1, ?u)) AS ?n) { ?s ?p ?o }",
    "SELECT ?s { ?s ?p ?o } ORDER BY EXISTS { ?s ?q 1 }",
    "SELECT ?s { ?s ?p ?o FILTER EXISTS { SELECT ?s { ?s ?q ?z } LIMIT 1 } }",
    "SELECT ?s { ?s ?p ?o FILTER EXISTS { GRAPH ?g { ?s ?q ?z FILTER(?z = ?o) } } }",
    "SELECT ?s { ?s ?p ?o FILTER EXISTS { ?s ?q ?z BIND(EXISTS { ?z ?q ?o } AS ?e) FILTER(?e) } }",
    "SELECT ?s { GRAPH ?g { SELECT ?s { ?s ?p ?o } LIMIT 1 } }",
    "SELECT ?s { GRAPH ?g { ?s ?p ?o BIND(EXISTS { ?s ?q ?o } AS ?e) } }",
]


@pytest.mark.parametrize("lack", list(Lack))
def test_each_lack_is_the_reason_of_a_fallback(lack: Lack) -> None:
    dictionary = Dictionary()
    services = None if lack is Lack.NO_ENDPOINTS else ServiceResolver(dictionary)
    choice = choose_evaluator(parse(NEEDING[lack], "sparql"), Background(), dictionary, services=services)
    assert (choice.name, choice.reason) == ("reference", lack.value)


@pytest.mark.parametrize("text", COVERED)
def test_what_looks_exotic_and_is_covered(text: str) -> None:
    assert choose_evaluator(parse(text, "sparql"), Background(), Dictionary()).name == "interval"


def test_the_documentation_lists_exactly_these() -> None:
    page = (ROOT / "docs" / "guide" / "evaluators.md").read_text()
    assert re.findall(r"^- (.+)$", page, re.MULTILINE) == [lack.value for lack in Lack]


def test_many_expressions_of_select_stand_side_by_side() -> None:
    """Each may read those before it; none is a level of nesting."""
    values = " ".join(f"(?x{n - 1} + 1 AS ?x{n})" for n in range(1, 300))
    text = (
        f"SELECT (?v AS ?x0) {values} FROM NAMED WINDOW <w> ON <s> [RANGE PT1S STEP PT1S] "
        "{ WINDOW <w> { ?a <http://e/p> ?v } }"
    )
    seven = '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'
    lines = f"0\t<http://e/a> <http://e/p> {seven} .\n2000\t<http://e/a> <http://e/q> {seven} .\n"
    found = [Scenario(text, evaluator=each).run([lines], "s") for each in ("interval", "reference")]
    assert found[0] == found[1]
    assert found[0][0]["bindings"]["x299"]["value"] == "306"
