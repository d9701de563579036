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
    Unique,
    Without,
)

Rule: TypeAlias = Callable[[Plan], Plan]


def bottom_up(plan: Plan, rule: Rule) -> Plan:
    """The plan with the rule applied to every node, children first."""
    return rule(rebuilt(plan, lambda child: bottom_up(child, rule)))


def rebuilt(plan: Plan, change: Rule) -> Plan:
    """The node with ``change`` applied to its children and to the plans of its EXISTS tests."""
    match plan:
        case Joined(parts, conditions):
            return Joined(
                tuple(change(part) for part in parts),
                tuple(_formula(condition, change) for condition in conditions),
            )
        case Either(parts):
            return Either(tuple(change(part) for part in parts))
        case Optionally(left, right, condition):
            formula = None if condition is None else _formula(condition, change)
            return Optionally(change(left), change(right), formula)
        case Without(left, right):
            return Without(change(left), change(right))
        case Bind(inner, variable, formula):
            return Bind(change(inner), variable, _formula(formula, change))
        case Grouped() | Ordered() | Projected() | Unique() | Sliced() | Each() | Static():
            return replace(plan, plan=change(plan.plan))
        case _:
            return plan


def _formula(formula: Formula, change: Rule) -> Formula:
    if not formula.tests:
        return formula
    return replace(formula, tests=tuple(replace(test, plan=change(test.plan)) for test in formula.tests))
