"""Walking a plan: a rule is a function on nodes, applied from the leaves up, also inside EXISTS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from weir.plan.nodes import (
    Bind,
    Each,
    Either,
    Formula,
    Grouped,
    Joined,
    Optionally,
    Ordered,
    Plan,
    Projected,
    Sliced,
    Static,
    Test,
    Unique,
    Without,
)

Rule: TypeAlias = Callable[[Plan], Plan]


def bottom_up(plan: Plan, rule: Rule) -> Plan:
    """The plan with the rule applied to every node, children first."""
    return rule(rebuilt(plan, lambda child: bottom_up(child, rule)))


def rebuilt(plan: Plan, change: Rule, change_test: Callable[[Test], Test] | None = None) -> Plan:
    """The node with ``change`` applied to its children, and ``change_test`` to its EXISTS tests; without
    that, ``change`` applied to their plans."""

    def each_test(test: Test) -> Test:
        return replace(test, plan=change(test.plan)) if change_test is None else change_test(test)

    match plan:
        case Joined(parts, conditions):
            return Joined(
                tuple(change(part) for part in parts),
                tuple(_formula(condition, each_test) for condition in conditions),
            )
        case Either(parts):
            return Either(tuple(change(part) for part in parts))
        case Optionally(left, right, condition):
            formula = None if condition is None else _formula(condition, each_test)
            return Optionally(change(left), change(right), formula)
        case Without(left, right):
            return Without(change(left), change(right))
        case Bind(inner, variable, formula):
            return Bind(change(inner), variable, _formula(formula, each_test))
        case Grouped() | Ordered() | Projected() | Unique() | Sliced() | Each() | Static():
            return replace(plan, plan=change(plan.plan))
        case _:
            return plan


def _formula(formula: Formula, change: Callable[[Test], Test]) -> Formula:
    if not formula.tests:
        return formula
    return replace(formula, tests=tuple(change(test) for test in formula.tests))
