"""Variables that can never be bound where they are used."""

from __future__ import annotations

import pytest

import weir


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("SELECT ?x ?y WHERE { ?x ?p ?o }", {"y": "SELECT"}),
        ("SELECT ?x WHERE { ?x ?p ?o FILTER(?z > 1) }", {"z": "FILTER"}),
        ("SELECT ?x WHERE { ?x ?p ?o { ?x ?q ?r FILTER(?o > 1) } }", {"o": "FILTER"}),
        ("SELECT ?x WHERE { ?x ?p ?o OPTIONAL { ?x ?q ?r FILTER(?o > ?k) } }", {"k": "FILTER in OPTIONAL"}),
        ("SELECT (?o + ?no AS ?n) WHERE { ?x ?p ?o }", {"no": "the value of ?n"}),
        ("SELECT (SUM(?q) AS ?n) WHERE { ?x ?p ?o } GROUP BY ?g", {"q": "SUM", "g": "GROUP BY"}),
        ("SELECT ?x WHERE { ?x ?p ?o } ORDER BY ?k", {"k": "ORDER BY"}),
        ("SELECT ?x { ?x ?p ?o FILTER EXISTS { ?x ?a ?b FILTER(?o = ?b || ?m) } }", {"m": "FILTER"}),
        ("CONSTRUCT { ?a <http://e/p> _:b } WHERE { ?x ?p ?o }", {"a": "CONSTRUCT's template"}),
        ("DESCRIBE ?d WHERE { ?x ?p ?o }", {"d": "DESCRIBE"}),
    ],
)
def test_a_variable_that_nothing_binds(text: str, variables: dict[str, str]) -> None:
    told = {f"?{name} can never be bound where {place} uses it" for name, place in variables.items()}
    assert set(weir.parse(text).warnings) == told


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?s ?x WHERE { STREAM ?s [NOW] { ?x ?p ?y } }",
        "SELECT ?g ?v (?v + 1 AS ?n) (?n + 1 AS ?m) WHERE { GRAPH ?g { ?x ?p ?o } VALUES ?v { 1 } }",
        "SELECT ?x (COUNT(*) AS ?n) WHERE { ?x ?p ?o } GROUP BY ?x HAVING (COUNT(?o) > 1) ORDER BY ?n",
        "SELECT ?x WHERE { ?x ?p ?o FILTER NOT EXISTS { ?x ?q ?r FILTER(?o = ?r) } }",
        "SELECT * WHERE { { ?x ?p ?o } UNION { ?y ?p ?o } FILTER(BOUND(?y)) }",
        "SELECT ?x WHERE { ?x ?p [ ?q ?r ] }",
    ],
)
def test_no_warning_where_something_may_bind_it(text: str) -> None:
    assert weir.parse(text).warnings == ()
