"""The parts that no stream touches are found, and evaluated once."""

from __future__ import annotations

import pytest

from plan.plan_kit import built, leaves, query
from weir.plan import nodes as p
from weir.plan.planner import plan_query
from weir.plan.rules.static import StaticParts


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
