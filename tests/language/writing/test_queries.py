"""Query forms and solution modifiers as text."""

from __future__ import annotations

import pytest

from weir.language import parse
from weir.language.writing.queries import QueryWriter
from weir.language.writing.terms import Terms


def text_of(text: str) -> str:
    writer = QueryWriter(Terms({}))
    writer.body(parse(text), "")
    return "\n".join(writer.lines)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT REDUCED * { ?x ?p ?y } ORDER BY DESC(?x) (?y + 1) LIMIT 5 OFFSET 2",
        "SELECT ?k (COUNT(*) AS ?n) { ?x ?p ?y } GROUP BY (STR(?x) AS ?k) (?y + 1) HAVING (MAX(?y) > 1)",
        "SELECT (?x AS ?z) { ?x ?p ?y } VALUES ?y { 1 }",
        "CONSTRUCT { ?x ?p [] } WHERE { ?x ?p ?y } LIMIT 3",
        "ASK { ?x ?p ?y }",
        "DESCRIBE ?x <a> { ?x ?p ?y }",
        "SELECT * { { SELECT DISTINCT ?x { ?x ?p ?y } } }",
    ],
)
def test_a_query_comes_back_as_it_was(text: str) -> None:
    assert parse(text_of(text)) == parse(text)


def test_the_clauses_stand_in_the_order_of_the_grammar() -> None:
    text = "SELECT ?x (SUM(?y) AS ?n) { ?x ?p ?y } GROUP BY ?x HAVING (SUM(?y) > 1) ORDER BY ?n LIMIT 1"
    words = [line.split()[0] for line in text_of(text).splitlines() if line[0] not in " }"]
    assert words == ["SELECT", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT"]
