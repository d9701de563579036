"""Filters first: a condition goes down to where its variables are bound."""

from __future__ import annotations

import pytest

from plan.plan_kit import built, filtered
from weir.plan import nodes as p
from weir.plan.rules.filters import push_filters


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
