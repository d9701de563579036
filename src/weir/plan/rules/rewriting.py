"""Walking a plan: a rule is a function on nodes, applied from the leaves up, also inside EXISTS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from weir.plan import nodes as p

Rule: TypeAlias = Callable[[p.Plan], p.Plan]


def bottom_up(plan: p.Plan, rule: Rule) -> p.Plan:
    """The plan with the rule applied to every node, children first."""
    return rule(rebuilt(plan, lambda child: bottom_up(child, rule)))


def rebuilt(plan: p.Plan, change: Rule, change_test: Callable[[p.Exists], p.Exists] | None = None) -> p.Plan:
    """The node with ``change`` applied to its children, and ``change_test`` to its EXISTS tests; without
    that, ``change`` applied to their plans."""

    def each_test(test: p.Exists) -> p.Exists:
        return replace(test, plan=change(test.plan)) if change_test is None else change_test(test)

    match plan:
        case p.Join(parts, conditions):
            return p.Join(
                tuple(change(part) for part in parts),
                tuple(_formula(condition, each_test) for condition in conditions),
            )
        case p.Union(parts):
            return p.Union(tuple(change(part) for part in parts))
        case p.LeftJoin(left, right, condition):
            formula = None if condition is None else _formula(condition, each_test)
            return p.LeftJoin(change(left), change(right), formula)
        case p.Minus(left, right):
            return p.Minus(change(left), change(right))
        case p.Extend(inner, variable, formula):
            return p.Extend(change(inner), variable, _formula(formula, each_test))
        case p.Group() | p.OrderBy() | p.Project() | p.Distinct() | p.Slice() | p.Graph() | p.Static():
            return replace(plan, plan=change(plan.plan))
        case _:
            return plan


def _formula(formula: p.Formula, change: Callable[[p.Exists], p.Exists]) -> p.Formula:
    if not formula.tests:
        return formula
    return replace(formula, tests=tuple(change(test) for test in formula.tests))
