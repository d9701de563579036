"""Every rewrite gives the same answers: random queries by the plan of each stage, against the reference."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from properties.generate import STREAMS, case
from properties.test_evaluators import outcome
from weir.kernel.contract import NotCovered
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.reference import ReferenceEvaluator
from weir.language import parse
from weir.plan import nodes as p
from weir.plan.planner import QueryPlan, plan_query
from weir.plan.rules.filters import push_filters
from weir.plan.rules.optionals import hoist_optionals

CASES = max(120, int(120 * float(os.environ.get("WEIR_EXAMPLES", "1"))))
FIRST = int(os.environ.get("WEIR_SEED", "1")) * 1_000_000 + 900_000
STAGES = ("algebra", "filters first", "joins flattened", "static parts")


def staged(name: str, *given: object, **options: object) -> IntervalEvaluator:
    """An evaluator of the plan as it stands after one stage."""
    query = given[0]
    plan = plan_query(query, STREAMS)  # type: ignore[arg-type]
    root = dict(plan.stages)[name]
    at = QueryPlan(plan.query, root, plan.windows, plan.streams)
    return IntervalEvaluator(*given, plan=at, **options)  # type: ignore[arg-type]


def test_every_stage_answers_what_the_reference_answers() -> None:
    changed = dict.fromkeys(STAGES, 0)
    for seed in range(FIRST, FIRST + CASES):
        given = case(Random(seed))
        expected = outcome(ReferenceEvaluator, given, given.steps)
        before: p.Plan | None = None
        for name, plan in plan_query(given.query, STREAMS).stages:
            if plan == before:
                continue
            before = plan
            changed[name] += 1
            try:
                found = outcome(partial(staged, name), given, given.steps)
            except NotCovered:
                continue
            assert found == expected, f"seed {seed}, {name}: {given.query}"
    assert all(changed.values()), changed


def leaves_below(plan: p.Plan, wanted: Callable[[p.Plan], bool]) -> int:
    """How many leaves lie below nodes of a kind."""
    if wanted(plan):
        return _leaves(plan)
    return sum(leaves_below(child, wanted) for child in p.children(plan))


def _leaves(plan: p.Plan) -> int:
    return isinstance(plan, p.Match) + sum(_leaves(child) for child in p.children(plan))


def built(pattern: str) -> p.Plan:
    query = parse(
        "PREFIX : <urn:> SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] FROM NAMED WINDOW <v> ON <s> [ALL] "
        f"WHERE {{ {pattern} }}",
        "rspql",
    )
    return dict(plan_query(query).stages)["algebra"]


@pytest.mark.parametrize(("name", "below"), [("b", 1), ("d", 2)], ids=["goes left", "stays above"])
def test_a_filter_goes_through_optional_where_the_left_side_decides_it(name: str, below: int) -> None:
    optional = "OPTIONAL { WINDOW <v> { ?a :q ?d } }"
    plan = push_filters(built(f"WINDOW <w> {{ ?a :p ?b }} {optional} FILTER(?{name} != :x)"))
    assert leaves_below(plan, lambda node: isinstance(node, p.Join) and bool(node.conditions)) == below


@pytest.mark.parametrize(
    ("last", "joined"),
    [("WINDOW <v> { ?a :r ?c }", 2), ("WINDOW <v> { ?d :r ?c }", 1)],
    ids=["concerns the left", "concerns what is optional"],
)
def test_optional_moves_above_joins_that_do_not_concern_it(last: str, joined: int) -> None:
    plan = hoist_optionals(
        built(f"WINDOW <w> {{ ?a :p ?b }} OPTIONAL {{ WINDOW <v> {{ ?a :q ?d }} }} {last}")
    )
    found: list[p.LeftJoin] = []
    stack = [plan]
    while stack:
        node = stack.pop()
        found += [node] if isinstance(node, p.LeftJoin) else []
        stack += p.children(node)
    assert _leaves(found[0].left) == joined


def views_in_exists(body: str) -> list[int]:
    """How many leaves each static view has in an EXISTS whose row binds ?a and ?b."""
    query = parse(
        "PREFIX : <urn:> SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?a :p ?b } "
        f"FILTER EXISTS {{ {body} }} }}",
        "rspql",
    )
    stack = [plan_query(query).root]
    found: list[int] = []
    while stack:
        node = stack.pop()
        if isinstance(node, p.Static):
            found.append(_leaves(node))
            continue
        stack += p.children(node)
        stack += [test.plan for formula in p.formulas(node) for test in formula.tests]
    return sorted(found)


@pytest.mark.parametrize(
    ("body", "leaves"),
    [
        ("?b :q ?c . ?c :r ?d FILTER(?c != ?d)", [2]),
        ("?b :q ?c . ?c :r ?d FILTER(?a != ?d)", [2]),
        ("{ ?b :q ?c FILTER(?a != ?c) } UNION { ?b :r ?c }", [1, 1]),
        ("{ SELECT ?c { ?c :q ?d FILTER(?a != ?d) } }", [1]),
        ("FILTER(?a != :x)", []),
    ],
    ids=["own condition", "outer condition", "one branch", "hidden by a sub-select", "nothing else"],
)
def test_static_parts_of_exists_are_evaluated_once_without_outer_values(body: str, leaves: list[int]) -> None:
    assert views_in_exists(body) == leaves


def test_a_filter_that_reads_an_outer_value_stays_above_a_subselect_that_hides_it() -> None:
    plan = push_filters(
        built("WINDOW <w> { ?a :p ?b } FILTER EXISTS { { SELECT ?c { ?c :q ?d } } FILTER(?a != ?c) }")
    )
    assert isinstance(plan, p.Project)
    assert isinstance(plan.plan, p.Join)
    (condition,) = plan.plan.conditions
    inside = condition.tests[0].plan
    assert leaves_below(inside, lambda node: isinstance(node, p.Join) and bool(node.conditions)) == 1
    assert isinstance(inside, p.Join) and inside.conditions


def test_static_parts_that_share_variables_are_one_view() -> None:
    query = parse(
        "PREFIX : <urn:> SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?a :p ?b } "
        "?b :q ?c . ?c :r ?d . ?x :s ?y FILTER(?c != ?d) }",
        "rspql",
    )
    root = plan_query(query).root
    views: list[p.Static] = []
    stack = [root]
    while stack:
        node = stack.pop()
        views += [node] if isinstance(node, p.Static) else []
        stack += () if isinstance(node, p.Static) else p.children(node)
    assert sorted(_leaves(view) for view in views) == [1, 2]
