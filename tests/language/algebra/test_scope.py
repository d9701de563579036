"""What a pattern binds and what an expression reads."""

from __future__ import annotations

import pytest

from weir.language import parse
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.scope import certain, has_exists, mentioned, timely, visible, volatile
from weir.rdf.terms import Variable


def pattern(body: str) -> a.Pattern:
    found = parse(f"SELECT * {{ {body} }}", "sparql").pattern
    assert isinstance(found, a.Project)
    return found.pattern


def condition(text: str) -> e.Expression:
    found = pattern(f"FILTER ({text})")
    assert isinstance(found, a.Filter)
    return found.condition


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("?a <p> ?b", "a b"),
        ("?a <p> ?b OPTIONAL { ?b <q> ?c }", "a b"),
        ("{ ?a <p> ?b } UNION { ?a <q> ?c }", "a"),
        ("?a <p> ?b MINUS { ?b <q> ?c }", "a b"),
        ("GRAPH ?g { ?a <p> ?b }", "a b g"),
        ("VALUES (?a ?b) { (1 2) (3 UNDEF) }", "a"),
        ("?a <p> ?b BIND(?a AS ?c)", "a b c"),
        ("?a <p> ?b BIND(?a + 1 AS ?c)", "a b"),
        ("SERVICE <e> { ?a <p> ?b }", "a b"),
        ("SERVICE SILENT <e> { ?a <p> ?b }", ""),
        ("{ SELECT ?a { ?a <p> ?b } GROUP BY ?a }", "a"),
        ("{ SELECT (COUNT(*) AS ?n) (MAX(?b) AS ?m) { ?a <p> ?b } GROUP BY ?a }", "n"),
    ],
)
def test_the_variables_that_every_solution_binds(body: str, names: str) -> None:
    assert {name for name in certain(pattern(body)) if name[0] != "."} == set(names.split())


def test_visible_variables_in_the_order_of_the_text() -> None:
    found = pattern(
        "?x <p> _:c OPTIONAL { ?y <p> 1 } MINUS { ?m <p> 1 } GRAPH ?g { ?h <p> 1 } FILTER (?f > 1) "
        "{ SELECT ?s { ?s <p> ?hidden } } BIND (1 AS ?b) VALUES ?v { 1 } SERVICE ?r {}"
    )
    names = [variable.name for variable in visible(found) if not variable.internal]
    assert names == ["x", "y", "g", "h", "s", "b", "v", "r"]


def test_a_window_binds_the_variable_of_its_streams() -> None:
    query = parse("SELECT * { STREAM ?s [NOW] { ?x ?p ?y } }")
    assert visible(query.pattern, {".1": Variable("s")})[0] == Variable("s")


def test_an_expression_reads_nothing_through_exists() -> None:
    found = condition("?f > EXISTS { ?e <p> 1 } && IF(BOUND(?g), ?h, ?f) IN (?i)")
    assert [variable.name for variable in mentioned(found)] == ["f", "g", "h", "f", "i"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("RAND() > 0.5", (True, False, False)),
        ("NOW() > ?t", (False, True, False)),
        ("EXISTS { ?x <p> ?y FILTER (RAND() > 0.5) }", (False, False, True)),
        ("?x > 1", (False, False, False)),
    ],
)
def test_what_an_expression_depends_on(text: str, found: tuple[bool, bool, bool]) -> None:
    given = condition(text)
    assert (volatile(given), timely(given), has_exists(given)) == found
