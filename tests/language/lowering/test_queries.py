"""Query forms and solution modifiers → algebra, and the checks that need no data."""

from __future__ import annotations

import pytest

from language.algebra_kit import EMPTY, ONE, P, X, Y, b, bgp
from weir.errors import SyntaxError
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.query import Ask, Construct, Describe, Query, Select
from weir.language.frontend import syntax
from weir.language.lowering.queries import lower
from weir.rdf.terms import IRI, Variable


def lowered(text: str, dialect: str = "auto") -> Query:
    unit, source, presets = syntax(text, dialect)
    return lower(unit, source, presets[0])


def test_groups_and_aggregates() -> None:
    query = lowered(
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
    query = lowered("SELECT (COUNT(*) AS ?a) (COUNT(*) + 1 AS ?b) { ?x ?p ?y }")
    assert isinstance(query.pattern, a.Project)
    computed = query.pattern.pattern
    assert isinstance(computed, a.Extend) and len(computed.bindings) == 2
    inner = computed.pattern
    assert isinstance(inner, a.Group) and len(inner.aggregates) == 1


def test_modifiers_in_their_order() -> None:
    query = lowered("SELECT DISTINCT ?x { ?x ?p ?y } ORDER BY ?y LIMIT 5 OFFSET 2")
    assert query.pattern == a.Slice(
        a.Distinct(a.Project(a.OrderBy(bgp((X, Variable("p"), Y)), (a.OrderKey(Y),)), (X,))), 2, 5
    )


def test_trailing_values_are_joined_and_seen_by_star() -> None:
    query = lowered("SELECT * { ?x ?p 1 } VALUES ?y { 1 }")
    assert query.form == Select((X, Variable("p"), Y))


def test_forms() -> None:
    assert lowered("ASK {}").form == Ask()
    assert lowered("DESCRIBE <a> ?x <a> { ?x ?p ?y }").form == Describe((IRI("a"), X))
    assert lowered("DESCRIBE * { ?x ?p ?y }").form == Describe((X, Variable("p"), Y))
    assert lowered("DESCRIBE <a>").pattern == EMPTY
    short = lowered("PREFIX : <http://e/> CONSTRUCT WHERE { ?x :p [] }")
    assert short.form == Construct((a.TriplePattern(X, P, Variable(".t0")),))
    assert short.pattern == bgp((X, P, b(0)))


def test_dataset_clauses() -> None:
    query = lowered("SELECT * FROM <a> FROM NAMED <b> FROM <c> FROM <a> {}")
    assert (query.dataset.default, query.dataset.named) == (("a", "c"), ("b",))


def test_base_and_prefixes() -> None:
    query = lowered("BASE <http://b/d/> PREFIX p: <x#> SELECT * { <../a> p:q\\,r <> }")
    assert query.pattern == a.Project(
        bgp((IRI("http://b/a"), IRI("http://b/d/x#q,r"), IRI("http://b/d/"))), ()
    )


def test_a_stream_of_a_variable_binds_it() -> None:
    query = lowered("SELECT * { STREAM ?s [NOW] { ?x ?p ?y } }")
    assert query.form == Select((Variable("s"), X, Variable("p"), Y))
    assert query.streams == (Variable("s"),)


def test_blank_nodes_are_not_selected() -> None:
    assert lowered("SELECT * { [] ?p ?x }").form == Select((Variable("p"), X))


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
        lowered(text)


def test_the_timestamp_function_of_csparql() -> None:
    query = lowered(
        "PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#> SELECT ?x FROM STREAM <s> [RANGE 5s] "
        "{ ?x ?p ?y FILTER (f:timestamp(?x, ?p, ?y) > 1) }"
    )
    assert isinstance(query.pattern, a.Project) and isinstance(query.pattern.pattern, a.Filter)
    function = IRI("http://larkc.eu/csparql/sparql/jena/ext#timestamp")
    call = e.FunctionCall(function, (X, Variable("p"), Y))
    assert query.pattern.pattern.condition == e.Compare(e.Comparison.GT, call, ONE)


def test_unused_window_is_a_warning() -> None:
    query = lowered("SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] { ?x ?p ?y }")
    assert query.warnings == ("the window <w> is declared but not used",)
    assert not lowered("SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] { WINDOW ?w { ?x ?p ?y } }").warnings
    assert not lowered("SELECT * FROM WINDOW <w> ON <s> [NOW] { ?x ?p ?y }").warnings


@pytest.mark.parametrize(
    ("clause", "body", "primary"),
    [
        ("FROM NAMED WINDOW <w> ON <s> [NOW]", "WINDOW <v> {}", "the window <v> is not declared"),
        ("FROM WINDOW <w> ON <s> [NOW]", "WINDOW <w> {}", "part of the default graph"),
        ("FROM WINDOW <w> ON <s> [NOW]", "WINDOW ?w {}", "no named window"),
        ("FROM NAMED WINDOW <w> ON <s> [NOW] FROM WINDOW <w> ON <t> [ALL]", "", "declared twice"),
        (
            "FROM WINDOW <a> ON <s> [NOW TICK TUPLE] FROM WINDOW <b> ON <s> [ALL TICK BATCH]",
            "",
            "different ticks",
        ),
        (
            "FROM WINDOW <a> ON <s> [NOW TICK TIME 1s] FROM WINDOW <b> ON <s> [ALL TICK TIME 2s]",
            "",
            "different ticks",
        ),
    ],
)
def test_windows_that_do_not_fit_the_query(clause: str, body: str, primary: str) -> None:
    with pytest.raises(SyntaxError) as caught:
        lowered(f"SELECT * {clause} {{ {body} }}")
    assert primary in caught.value.primary
