"""The first plan: leaves get their sources, groups are flattened, EXISTS is set apart."""

from __future__ import annotations

import pytest

from plan.plan_kit import built, query
from weir.errors import UsageError
from weir.language.algebra import patterns as a
from weir.plan import nodes as p
from weir.plan.build import Builder, conjuncts, joined
from weir.rdf.terms import IRI, Variable


def sources(plan: p.Plan) -> list[p.Source]:
    return [node.source for node in p.below(plan) if isinstance(node, p.Match)]


@pytest.mark.parametrize(
    ("pattern", "source"),
    [
        ("?a :p ?b", p.Source()),
        ("GRAPH <g> { ?a :p ?b }", p.Source(None, IRI("g"))),
        ("GRAPH ?g { ?a :p ?b }", p.Source(None, Variable("g"))),
        ("WINDOW <w> { ?a :p ?b }", p.Source("w")),
        ("WINDOW <w> { GRAPH <g> { ?a :p ?b } }", p.Source("w", IRI("g"))),
    ],
)
def test_a_leaf_knows_where_it_reads(pattern: str, source: p.Source) -> None:
    assert sources(built(pattern)) == [source]


def test_a_variable_window_is_a_union_over_the_named_ones() -> None:
    plan = built("WINDOW ?w { ?a :p ?b }")
    assert isinstance(plan, p.Union) and [source.window for source in sources(plan)] == ["w", "v"]


def test_joins_are_flat() -> None:
    plan = built("{ ?a :p ?b . ?b :q ?c } WINDOW <w> { ?c :r ?d } FILTER(?a != ?b)")
    assert isinstance(plan, p.Join) and (len(plan.parts), len(plan.conditions)) == (3, 1)


def test_a_join_keeps_a_condition_that_would_see_more_outside() -> None:
    inner = built("?a :p ?b FILTER(!BOUND(?c))")
    plan = joined(inner, built("?c :q ?d"))
    assert isinstance(plan, p.Join) and inner in plan.parts


def test_exists_becomes_a_variable_with_its_test() -> None:
    plan = built("?a :p ?b FILTER NOT EXISTS { ?b :q ?c }")
    assert isinstance(plan, p.Join)
    (condition,) = plan.conditions
    assert [test.name for test in condition.tests] == [".exists1"] and condition.written is not None


def test_a_graph_that_must_exist_is_asked_for_where_no_triple_shows_it() -> None:
    plan = built("GRAPH <g> { OPTIONAL { ?a :p ?b } }")
    source = p.Source(None, IRI("g"))
    assert isinstance(plan, p.Join) and plan.parts[0] == p.GraphNames(source)
    assert not any(isinstance(node, p.GraphNames) for node in p.below(built("GRAPH <g> { ?a :p ?b }")))


def test_an_undeclared_window_is_refused() -> None:
    with pytest.raises(UsageError, match="window w is not declared"):
        Builder({"v": ()}, ("v",)).build(query("WINDOW <w> { ?a :p ?b }").pattern, p.Source())


def test_conjuncts_of_what_is_drawn_stay_together() -> None:
    def count(text: str) -> int:
        filtered = query(f"?a :p ?b FILTER({text})").pattern
        assert isinstance(filtered, a.Project) and isinstance(filtered.pattern, a.Filter)
        return len(conjuncts(filtered.pattern.condition))

    assert (count("?a > 1 && ?b > 1 && ?a > ?b"), count("?a > 1 && RAND() > 0.5")) == (3, 1)


def test_order_is_seen_through_the_projection() -> None:
    from_text = "WINDOW <w> { ?a :p ?b }"
    plain = query(from_text).pattern
    assert isinstance(plain, a.Project) and not a.is_ordered(plain)
    assert a.is_ordered(a.Distinct(a.Project(a.OrderBy(plain.pattern, ()), plain.variables)))
