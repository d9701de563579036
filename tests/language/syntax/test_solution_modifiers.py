"""SELECT clauses and solution modifiers as algebra, and the checks that need no data."""

from __future__ import annotations

import pytest

from language.algebra_kit import ONE, X, Y, bgp
from weir.errors import SyntaxError
from weir.language import parse
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.query import Select
from weir.language.syntax.lexer import Source, Tokens
from weir.language.syntax.patterns import PatternParser
from weir.language.syntax.solution_modifiers import has_aggregate
from weir.rdf.terms import Variable


def test_groups_and_aggregates() -> None:
    query = parse(
        "SELECT ?k (COUNT(*) AS ?n) (SUM(?y) / COUNT(*) AS ?m) { ?x ?p ?y } "
        "GROUP BY (STR(?x) AS ?k) ?p (?y + 1) HAVING (MAX(?y) > 1) ORDER BY DESC(?n) ?y"
    )
    count, total, top, sample = (Variable(f".a{n}") for n in range(4))
    assert isinstance(query.pattern, a.Project) and isinstance(query.pattern.pattern, a.OrderBy)
    order = query.pattern.pattern
    assert order.keys == (a.OrderKey(Variable("n"), True), a.OrderKey(sample))
    computed = order.pattern
    assert isinstance(computed, a.Extend)
    (name, counted), (_, mean) = computed.bindings
    assert (name, counted) == (Variable("n"), count)
    assert mean == e.Calculate(e.Arithmetic.DIVIDE, total, count)
    having = computed.pattern
    assert isinstance(having, a.Filter) and having.condition == e.Compare(e.Comparison.GT, top, ONE)
    group = having.pattern
    assert isinstance(group, a.Group)
    assert group.keys == (Variable("k"), Variable("p"), Variable(".k0"))
    assert group.aggregates == (
        (count, e.Aggregate(e.Aggregation.COUNT)),
        (total, e.Aggregate(e.Aggregation.SUM, Y)),
        (top, e.Aggregate(e.Aggregation.MAX, Y)),
        (sample, e.Aggregate(e.Aggregation.SAMPLE, Y)),
    )


def test_equal_aggregates_are_one() -> None:
    query = parse("SELECT (COUNT(*) AS ?a) (COUNT(*) + 1 AS ?b) { ?x ?p ?y }")
    assert isinstance(query.pattern, a.Project)
    computed = query.pattern.pattern
    assert isinstance(computed, a.Extend) and len(computed.bindings) == 2
    inner = computed.pattern
    assert isinstance(inner, a.Group) and len(inner.aggregates) == 1


def test_modifiers_in_their_order() -> None:
    query = parse("SELECT DISTINCT ?x { ?x ?p ?y } ORDER BY ?y LIMIT 5 OFFSET 2")
    assert query.pattern == a.Slice(
        a.Distinct(a.Project(a.OrderBy(bgp((X, Variable("p"), Y)), (a.OrderKey(Y),)), (X,))), 2, 5
    )


def test_trailing_values_are_joined_and_seen_by_star() -> None:
    query = parse("SELECT * { ?x ?p 1 } VALUES ?y { 1 }")
    assert query.form == Select((X, Variable("p"), Y))


def test_blank_nodes_are_not_selected() -> None:
    assert parse("SELECT * { [] ?p ?x }").form == Select((Variable("p"), X))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?x ?p ?y BIND (1 AS ?x) }",
        "SELECT (1 AS ?x) { ?x ?p ?y }",
        "SELECT (1 AS ?z) (2 AS ?z) { ?x ?p ?y }",
        "SELECT (COUNT(?x) AS ?x) { ?x ?p ?y } GROUP BY ?x",
        "SELECT (?y AS ?z) (COUNT(*) AS ?n) { ?x ?p ?y }",
        "SELECT ?x { ?x ?p ?y } GROUP BY (1 AS ?y)",
        "SELECT * { ?x ?p ?y } ORDER BY COUNT(*)",
        "SELECT ?x { ?x ?p ?y } GROUP BY (COUNT(*) AS ?n)",
        "SELECT * { VALUES (?x ?x) { (1 2) } }",
        "SELECT * { VALUES (?x ?y) { (1) } }",
        "SELECT * { VALUES ?x { _:a } }",
        "CONSTRUCT { ?x <p>/<q> ?y } {}",
        "CONSTRUCT WHERE { ?x ?p ?y FILTER (1) }",
        "SELECT * { ?x ?p ?y } LIMIT 1 LIMIT 2",
        "SELECT * { ?x ?p ?y } LIMIT 99999999999999999999",
        "SELECT * { SELECT * {} ?x ?p ?y }",
        "ASK {} SELECT * {}",
    ],
)
def test_static_checks(text: str) -> None:
    with pytest.raises(SyntaxError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "found"), [("1 + MAX(?x)", True), ("IF(?x, COUNT(*), 1)", True), ("STR(?x) IN (1)", False)]
)
def test_which_expressions_hold_an_aggregate(text: str, found: bool) -> None:
    parser = PatternParser(Tokens(Source(text)), None, None)
    parser.aggregating = True
    assert has_aggregate(parser.expression()) is found
