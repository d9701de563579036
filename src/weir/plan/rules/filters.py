"""Filters first (CQELS 4.4): conditions move down to where all their variables are bound.

A condition goes into a part of a join if the part binds, in every solution, each variable that the
condition reads and that any other part could bind. It goes through OPTIONAL and MINUS to the left, into
every branch of UNION, and below projections and BINDs that do not make its variables.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from weir.plan.analysis.variables import certain, possible, reads, volatile
from weir.plan.nodes import (
    Bind,
    Either,
    Formula,
    Joined,
    Optionally,
    Plan,
    Projected,
    Test,
    Unique,
    Without,
)
from weir.plan.rules.rewriting import rebuilt


def push_filters(plan: Plan, outer: frozenset[str] = frozenset()) -> Plan:
    """The plan with every condition as low as it may go; an enclosing EXISTS puts in values of ``outer``."""
    inside = outer & frozenset(plan.variables) if isinstance(plan, Projected) else outer
    return _push(rebuilt(plan, partial(push_filters, outer=inside), _push_inside), outer)


def _push_inside(test: Test) -> Test:
    return replace(test, plan=push_filters(test.plan, frozenset(test.outer)))


def _push(plan: Plan, outer: frozenset[str]) -> Plan:
    if not isinstance(plan, Joined):
        return plan
    parts = list(plan.parts)
    kept: list[Formula] = []
    for condition in plan.conditions:
        place = None if volatile(condition.expression) else _place(parts, condition)
        lowered = None if place is None else lower(parts[place], condition, outer)
        if place is None or lowered is None:
            kept.append(condition)
        else:
            parts[place] = lowered
    if len(parts) == 1 and not kept:
        return parts[0] if isinstance(parts[0], Joined) else Joined(tuple(parts))
    return Joined(tuple(parts), tuple(kept))


def _place(parts: list[Plan], condition: Formula) -> int | None:
    """The part that alone decides the condition."""
    names = reads(condition)
    for number, part in enumerate(parts):
        others = frozenset().union(*(possible(other) for i, other in enumerate(parts) if i != number))
        if names & possible(part) and names & others <= certain(part):
            return number
    return None


def lower(plan: Plan, condition: Formula, outer: frozenset[str]) -> Plan | None:
    """The plan with the condition inside, None where it cannot go in (a leaf, a group, a slice)."""
    names = reads(condition)
    match plan:
        case Joined(parts, conditions) if not any(volatile(each.expression) for each in conditions):
            return _push(Joined(parts, (*conditions, condition)), outer)
        case Optionally(left, right, inner):
            if names & possible(right) <= certain(left):
                return Optionally(lowest(left, condition, outer), right, inner)
        case Without(left, right):
            return Without(lowest(left, condition, outer), right)
        case Either(parts):
            return Either(tuple(lowest(part, condition, outer) for part in parts))
        case Bind(inner, variable, _):
            if variable not in names:
                return replace(plan, plan=lowest(inner, condition, outer))
        case Projected(inner, variables):
            # Variables that the projection hides mean something else inside.
            if not names & ((possible(inner) | outer) - frozenset(variables)):
                lowered = lower(inner, condition, outer & frozenset(variables))
                return None if lowered is None else replace(plan, plan=lowered)
        case Unique(inner):
            return replace(plan, plan=lowest(inner, condition, outer))
    return None


def lowest(plan: Plan, condition: Formula, outer: frozenset[str]) -> Plan:
    """The condition inside the plan, or right above it."""
    return lower(plan, condition, outer) or Joined((plan,), (condition,))
