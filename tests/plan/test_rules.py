"""Rewrites: filters go down, OPTIONAL goes up, parts that no stream touches are found."""

from __future__ import annotations

import pytest

from plan.plan_kit import built, filtered, leaves, query
from weir.plan import nodes as p
from weir.plan.planner import plan_query
from weir.plan.rules import StaticParts, hoist_optionals, push_filters


@pytest.mark.parametrize(("name", "below"), [("b", 1), ("d", 2)], ids=["goes left", "stays above"])
def test_a_filter_goes_through_optional_where_the_left_side_decides_it(name: str, below: int) -> None:
    optional = "OPTIONAL { WINDOW <v> { ?a :q ?d } }"
    plan = push_filters(built(f"WINDOW <w> {{ ?a :p ?b }} {optional} FILTER(?{name} != :x)"))
    assert filtered(plan) == below


def test_a_filter_that_reads_an_outer_value_stays_above_a_subselect_that_hides_it() -> None:
    plan = push_filters(
        built("WINDOW <w> { ?a :p ?b } FILTER EXISTS { { SELECT ?c { ?c :q ?d } } FILTER(?a != ?c) }")
    )
    assert isinstance(plan, p.Join)
    (condition,) = plan.conditions
    inside = condition.tests[0].plan
    assert filtered(inside) == 1
    assert isinstance(inside, p.Join) and inside.conditions


@pytest.mark.parametrize(
    ("pattern", "below"),
    [
        ("{ SELECT ?b { WINDOW <w> { ?a :p ?b } } } WINDOW <v> { ?c :q ?d } FILTER(?b > 1)", 1),
        ("WINDOW <w> { ?a :p ?b } WINDOW <v> { ?c :q ?d } FILTER(?b > ?d)", 2),
        ("{ WINDOW <w> { ?a :p ?b } } UNION { WINDOW <v> { ?a :q ?b } } FILTER(?b > 1)", 2),
        ("WINDOW <w> { ?a :p ?b } WINDOW <v> { ?c :q ?d } FILTER(?b > RAND())", 2),
    ],
    ids=["into its part", "above both", "into every branch", "not what is drawn"],
)
def test_where_a_condition_ends(pattern: str, below: int) -> None:
    assert filtered(push_filters(built(pattern))) == below


@pytest.mark.parametrize(
    ("last", "joined"),
    [("WINDOW <v> { ?a :r ?c }", 2), ("WINDOW <v> { ?d :r ?c }", 1)],
    ids=["concerns the left", "concerns what is optional"],
)
def test_optional_moves_above_joins_that_do_not_concern_it(last: str, joined: int) -> None:
    plan = hoist_optionals(
        built(f"WINDOW <w> {{ ?a :p ?b }} OPTIONAL {{ WINDOW <v> {{ ?a :q ?d }} }} {last}")
    )
    (found,) = [node for node in p.below(plan) if isinstance(node, p.LeftJoin)]
    assert leaves(found.left) == joined


def views(plan: p.Plan) -> list[int]:
    """How many leaves each static part has."""
    return sorted(leaves(node) for node in p.below(plan, closed=(p.Static,)) if isinstance(node, p.Static))


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("?b :q ?c . ?c :r ?d FILTER(?c != ?d)", [2]),
        ("?b :q ?c . ?c :r ?d FILTER(?a != ?d)", [2]),
        ("{ ?b :q ?c FILTER(?a != ?c) } UNION { ?b :r ?c }", [1, 1]),
        ("{ SELECT ?c { ?c :q ?d FILTER(?a != ?d) } }", [1]),
        ("FILTER(?a != :x)", []),
    ],
    ids=["own condition", "outer condition", "one branch", "hidden by a sub-select", "nothing else"],
)
def test_static_parts_of_exists_are_evaluated_once_without_outer_values(body: str, found: list[int]) -> None:
    assert views(plan_query(query(f"WINDOW <w> {{ ?a :p ?b }} FILTER EXISTS {{ {body} }}")).root) == found


def test_static_parts_that_share_variables_are_one_view() -> None:
    parts = "WINDOW <w> { ?a :p ?b } ?b :q ?c . ?c :r ?d . ?x :s ?y FILTER(?c != ?d)"
    assert views(plan_query(query(parts)).root) == [1, 2]


@pytest.mark.parametrize(
    ("pattern", "static"),
    [
        ("?a :p ?b", True),
        ("?a :p ?b FILTER(?b > 1)", True),
        ("?a :p ?b FILTER(?b > NOW())", False),
        ("?a :p ?b FILTER(?b > RAND())", False),
        ("?a :p ?b . WINDOW <w> { ?b :q ?c }", False),
        ("SERVICE <e> { ?a :p ?b }", False),
    ],
)
def test_what_depends_on_static_graphs_alone(pattern: str, static: bool) -> None:
    assert StaticParts(streamed_default=False).is_static(built(pattern)) is static


def test_a_default_graph_with_windows_is_not_static() -> None:
    assert not StaticParts(streamed_default=True).is_static(built("?a :p ?b"))
    assert StaticParts(streamed_default=True).is_static(built("GRAPH <g> { ?a :p ?b }"))
