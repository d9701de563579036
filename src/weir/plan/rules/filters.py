"""Filters first (CQELS 4.4): conditions move down to where all their variables are bound.

A condition goes into a part of a join if the part binds, in every solution, each variable that the
condition reads and that any other part could bind. It goes through OPTIONAL and MINUS to the left, into
every branch of UNION, and below projections and BINDs that do not make its variables.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from weir.language.algebra.scope import volatile
from weir.plan import nodes as p
from weir.plan.analysis.variables import certain, possible, reads


def push_filters(plan: p.Plan, outer: frozenset[str] = frozenset()) -> p.Plan:
    """The plan with every condition as low as it may go; an enclosing EXISTS puts in values of ``outer``."""
    inside = outer & frozenset(plan.variables) if isinstance(plan, p.Project) else outer
    return _push(p.mapped(plan, partial(push_filters, outer=inside), _push_inside), outer)


def _push_inside(test: p.Exists) -> p.Exists:
    return replace(test, plan=push_filters(test.plan, frozenset(test.outer)))


def _push(plan: p.Plan, outer: frozenset[str]) -> p.Plan:
    if not isinstance(plan, p.Join):
        return plan
    parts = list(plan.parts)
    kept: list[p.Formula] = []
    for condition in plan.conditions:
        place = None if volatile(condition.expression) else _place(parts, condition)
        lowered = None if place is None else lower(parts[place], condition, outer)
        if place is None or lowered is None:
            kept.append(condition)
        else:
            parts[place] = lowered
    if len(parts) == 1 and not kept:
        return parts[0] if isinstance(parts[0], p.Join) else p.Join(tuple(parts))
    return p.Join(tuple(parts), tuple(kept))


def _place(parts: list[p.Plan], condition: p.Formula) -> int | None:
    """The part that alone decides the condition."""
    names = reads(condition)
    for number, part in enumerate(parts):
        others = frozenset().union(*(possible(other) for i, other in enumerate(parts) if i != number))
        if names & possible(part) and names & others <= certain(part):
            return number
    return None


def lower(plan: p.Plan, condition: p.Formula, outer: frozenset[str]) -> p.Plan | None:
    """The plan with the condition inside, None where it cannot go in (a leaf, a group, a slice)."""
    names = reads(condition)
    match plan:
        case p.Join(parts, conditions) if not any(volatile(each.expression) for each in conditions):
            return _push(p.Join(parts, (*conditions, condition)), outer)
        case p.LeftJoin(left, right, inner):
            if names & possible(right) <= certain(left):
                return p.LeftJoin(lowest(left, condition, outer), right, inner)
        case p.Minus(left, right):
            return p.Minus(lowest(left, condition, outer), right)
        case p.Union(parts):
            return p.Union(tuple(lowest(part, condition, outer) for part in parts))
        case p.Extend(inner, variable, _):
            if variable not in names:
                return replace(plan, plan=lowest(inner, condition, outer))
        case p.Project(inner, variables):
            # Variables that the projection hides mean something else inside.
            if not names & ((possible(inner) | outer) - frozenset(variables)):
                lowered = lower(inner, condition, outer & frozenset(variables))
                return None if lowered is None else replace(plan, plan=lowered)
        case p.Distinct(inner):
            return replace(plan, plan=lowest(inner, condition, outer))
    return None


def lowest(plan: p.Plan, condition: p.Formula, outer: frozenset[str]) -> p.Plan:
    """The condition inside the plan, or right above it."""
    return lower(plan, condition, outer) or p.Join((plan,), (condition,))
