"""Rewrites of a plan, in the order in which they are applied.

**Filters first** (CQELS 4.4): conditions move down to where all their variables are bound. A condition goes
into a part of a join if the part binds, in every solution, each variable that the condition reads and that
any other part could bind. It goes through OPTIONAL and MINUS to the left, into every branch of UNION, and
below projections and BINDs that do not make its variables.

**Joins flattened**: OPTIONAL moves outwards, so that more parts are joined by one adaptive join.
``Join(LeftJoin(A, B), C)`` is ``LeftJoin(Join(A, C), B)`` where C shares with B only variables that A binds
in every solution (well-designed patterns: Pérez, Arenas and Gutierrez, 2009).

**Static parts**: what no stream touches is evaluated once and indexed (CQELS 4.3). Within a join, static
parts that share variables are one part, with the conditions they decide alone; those that share none stay
apart, because their product is better never made. Inside EXISTS, and inside ``GRAPH ?g`` where that goes
through the graphs one by one, the outcome of a part may depend on values put in from outside. A part is
evaluated once only where joining its solutions with those values gives the same (``joinable``).
"""

from __future__ import annotations

from dataclasses import replace

from weir.language.algebra.expressions import Expression
from weir.language.algebra.scope import timely, volatile
from weir.plan import nodes as p
from weir.plan.analysis.variables import certain, joinable, marks, possible, reads
from weir.plan.build import joined

_NOTHING: frozenset[str] = frozenset()


# Filters first


def push_filters(plan: p.Plan, outer: frozenset[str] = frozenset()) -> p.Plan:
    """The plan with every condition as low as it may go; an enclosing EXISTS puts in values of ``outer``."""
    inside = outer & frozenset(plan.variables) if isinstance(plan, p.Project) else outer
    pushed = p.mapped(
        plan,
        lambda below: push_filters(below, inside),
        lambda test: push_filters(test.plan, frozenset(test.outer)),
    )
    return _push(pushed, outer)


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
        case p.Extend(inner, bindings):
            # Below the assignments that it does not read; those that draw stay together.
            read = max((place for place, (name, _) in enumerate(bindings, 1) if name in names), default=0)
            drawn = any(volatile(formula.expression) for _, formula in bindings)
            if read < len(bindings) and not (read and drawn):
                below = p.Extend(inner, bindings[:read]) if read else inner
                return p.Extend(lowest(below, condition, outer), bindings[read:])
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


# Joins flattened


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


# Static parts


class StaticParts:
    """``streamed_default`` says that windows are part of the default graph."""

    def __init__(self, *, streamed_default: bool) -> None:
        self.streamed_default = streamed_default

    def marked(self, plan: p.Plan, outer: frozenset[str] = _NOTHING) -> p.Plan:
        """The plan with its greatest static parts marked; values of ``outer`` are put into it."""
        if isinstance(plan, p.Parameters):
            return p.Static(plan)
        if isinstance(plan, p.Values | p.Static):
            return plan
        if self._once(plan, outer):
            return p.Static(plan)
        if isinstance(plan, p.Join):
            plan = self._grouped(plan, outer)
        elif isinstance(plan, p.Project):
            outer &= frozenset(plan.variables) | marks(plan)
        elif isinstance(plan, p.Graph):
            outer |= {plan.name}
        return p.mapped(
            plan,
            lambda below: self.marked(below, outer),
            lambda test: self.marked(test.plan, frozenset(test.outer) | marks(test.plan)),
        )

    def _once(self, plan: p.Plan, outer: frozenset[str]) -> bool:
        """Whether the plan's solutions can be found once and joined with any values of ``outer``."""
        if not self.is_static(plan):
            return False
        return not outer or isinstance(plan, p.Match) or (joinable(plan, outer) and not marks(plan) & outer)

    def is_static(self, plan: p.Plan) -> bool:
        """Whether the outcome depends on static graphs alone."""
        read: tuple[Expression | None, ...] = ()
        match plan:
            case p.Static():
                return True
            case p.Service():
                return False
            case p.Match(source) | p.PathPattern(source) | p.GraphNames(source) | p.Graph(source):
                if source.window is not None or (source.graph is None and self.streamed_default):
                    return False
            case p.OrderBy(_, keys):
                read = tuple(key.expression for key in keys)
            case p.Group(_, _, aggregates):
                read = tuple(aggregate.operand for _, aggregate in aggregates)
        return (
            not any(_restless(each) for each in read if each is not None)
            and all(self._steady(formula) for formula in p.formulas(plan))
            and all(self.is_static(child) for child in p.children(plan))
        )

    def _steady(self, formula: p.Formula) -> bool:
        return not _restless(formula.expression) and all(self.is_static(test.plan) for test in formula.tests)

    def _grouped(self, plan: p.Join, outer: frozenset[str]) -> p.Join:
        static: list[p.Plan] = [
            part
            for part in plan.parts
            if isinstance(part, p.Parameters) or (self._once(part, outer) and not isinstance(part, p.Values))
        ]
        rest = [part for part in plan.parts if part not in static]
        conditions = list(plan.conditions)
        grouped: list[p.Plan] = []
        components = _components(static)
        for component in components:
            whole = p.Join(tuple(component))
            others = [*rest, *(part for other in components if other is not component for part in other)]
            beside = outer.union(*(possible(part) for part in others))
            names, bound = possible(whole), certain(whole)
            mine = [
                condition
                for condition in conditions
                if self._steady(condition)
                and reads(condition)
                and reads(condition) <= names
                and reads(condition) & beside <= bound
                and not any(marks(test.plan) & outer for test in condition.tests)
            ]
            conditions = [condition for condition in conditions if condition not in mine]
            part = component[0] if len(component) == 1 else whole
            if mine:
                part = p.Join(tuple(component), tuple(mine))
            grouped.append(part if isinstance(part, p.Static) else p.Static(part))
        return p.Join((*rest, *grouped), tuple(conditions))


def _components(parts: list[p.Plan]) -> list[list[p.Plan]]:
    """The parts grouped such that parts of different groups share no variable."""
    groups: list[tuple[set[str], list[p.Plan]]] = []
    for part in parts:
        names = set(possible(part))
        touching = [group for group in groups if group[0] & names]
        merged = [each for group in touching for each in group[1]]
        groups = [group for group in groups if group not in touching]
        groups.append((names.union(*(group[0] for group in touching)), [*merged, part]))
    return [members for _, members in groups]


def _restless(expression: Expression) -> bool:
    return volatile(expression) or timely(expression)
