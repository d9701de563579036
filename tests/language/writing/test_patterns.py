"""Patterns as text: what is written means the same when it is read."""

from __future__ import annotations

import pytest

from language.algebra_kit import where
from weir.language.writing.patterns import PatternWriter
from weir.language.writing.terms import Terms

GROUPS = [
    "?x :p ?y . ?x :q ?z",
    "?x :p ?y . { ?x :q ?z }",
    "_:a :p ?y . {} _:b :q ?z",
    "?x :p ?y OPTIONAL { ?x :q ?z FILTER (?z > 1) }",
    "?x :p ?y OPTIONAL { { ?x :q ?z FILTER (?z > 1) } }",
    "{ ?x :p ?y } UNION { ?x :q ?z } UNION {}",
    "?x :p ?y MINUS { ?x :q+ ?z }",
    "GRAPH ?g { SERVICE SILENT :p { ?x ?p ?y } }",
    "BIND (1 AS ?x) VALUES (?y ?z) { (1 UNDEF) }",
    "FILTER NOT EXISTS { ?x :p ?y }",
]


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_comes_back_as_it_was(group: str) -> None:
    pattern = where(group)
    assert where(PatternWriter(Terms({})).inline(pattern)) == pattern


def test_lines_are_indented_by_their_depth() -> None:
    writer = PatternWriter(Terms({"": "http://e/"}))
    writer.braces("WHERE", where("?x :p ?y OPTIONAL { ?x :q ?z }"))
    assert writer.lines == ["WHERE {", "  ?x :p ?y .", "  OPTIONAL {", "    ?x :q ?z .", "  }", "}"]
