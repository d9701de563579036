"""OPTIONAL moves outwards, so that more parts are joined by one adaptive join.

``Join(LeftJoin(A, B), C)`` is ``LeftJoin(Join(A, C), B)`` where C shares with B only variables that A
binds in every solution (well-designed patterns: Pérez, Arenas and Gutierrez, 2009).
"""

from __future__ import annotations

from weir.language.algebra.scope import volatile
from weir.plan import nodes as p
from weir.plan.analysis.variables import certain, possible, reads
from weir.plan.build import joined


def hoist_optionals(plan: p.Plan) -> p.Plan:
    """The plan with OPTIONAL above the joins that it does not concern."""
    return _hoist(p.mapped(plan, hoist_optionals))


def _hoist(plan: p.Plan) -> p.Plan:
    if not isinstance(plan, p.Join) or len(plan.parts) < 2:
        return plan
    if any(volatile(condition.expression) for condition in plan.conditions):
        return plan
    for number, part in enumerate(plan.parts):
        if not isinstance(part, p.LeftJoin):
            continue
        others = [other for i, other in enumerate(plan.parts) if i != number]
        beside = frozenset().union(*(possible(other) for other in others))
        seen = possible(part.right) | (frozenset() if part.condition is None else reads(part.condition))
        if beside & seen <= certain(part.left):
            below = _hoist(joined(part.left, *others))
            lifted: p.Plan = p.LeftJoin(below, part.right, part.condition)
            return p.Join((lifted,), plan.conditions) if plan.conditions else lifted
    return plan
