"""The parts that no stream touches: found here, evaluated once, indexed (CQELS 4.3).

Within a join, static parts that share variables form one view with the conditions they decide alone; those
that share none stay apart, because their product is better never made.

Inside EXISTS, and inside ``GRAPH ?g`` where that goes through the graphs one by one, the outcome of a part
may depend on values put in from outside. A part is evaluated once only where joining its solutions with
those values gives the same (``joinable``).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from weir.language.algebra.expressions import Expression
from weir.language.algebra.scope import timely, volatile
from weir.plan import nodes as p
from weir.plan.analysis.substitution import joinable
from weir.plan.analysis.variables import certain, marks, possible, reads

_NOTHING: frozenset[str] = frozenset()


class StaticParts:
    """``streamed_default`` says that windows are part of the default graph."""

    def __init__(self, *, streamed_default: bool) -> None:
        self.streamed_default = streamed_default

    def marked(self, plan: p.Plan, outer: frozenset[str] = _NOTHING) -> p.Plan:
        """The plan with its greatest static parts marked; values of ``outer`` are put into it."""
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
        return p.mapped(plan, partial(self.marked, outer=outer), self._marked_test)

    def _marked_test(self, test: p.Exists) -> p.Exists:
        return replace(test, plan=self.marked(test.plan, frozenset(test.outer) | marks(test.plan)))

    def _once(self, plan: p.Plan, outer: frozenset[str]) -> bool:
        """Whether the plan's solutions can be found once and joined with any values of ``outer``."""
        if not self.is_static(plan):
            return False
        return not outer or isinstance(plan, p.Match) or (joinable(plan, outer) and not marks(plan) & outer)

    def is_static(self, plan: p.Plan) -> bool:
        """Whether the outcome depends on static graphs alone."""
        if isinstance(plan, p.Static):
            return True
        if isinstance(plan, p.Service):
            return False
        if isinstance(plan, p.Match | p.PathPattern | p.GraphNames | p.Graph) and not self._static_source(
            plan.source
        ):
            return False
        if not all(self._steady(formula) for formula in p.formulas(plan)):
            return False
        if isinstance(plan, p.OrderBy) and any(_restless(key.expression) for key in plan.keys):
            return False
        if isinstance(plan, p.Group) and any(
            aggregate.operand is not None and _restless(aggregate.operand) for _, aggregate in plan.aggregates
        ):
            return False
        return all(self.is_static(child) for child in p.children(plan))

    def _static_source(self, source: p.Source) -> bool:
        return source.window is None and (source.graph is not None or not self.streamed_default)

    def _steady(self, formula: p.Formula) -> bool:
        return not _restless(formula.expression) and all(self.is_static(test.plan) for test in formula.tests)

    def _grouped(self, plan: p.Join, outer: frozenset[str]) -> p.Join:
        static: list[p.Plan] = [
            part for part in plan.parts if self._once(part, outer) and not isinstance(part, p.Values)
        ]
        rest = [part for part in plan.parts if part not in static]
        conditions = list(plan.conditions)
        views: list[p.Plan] = []
        components = _components(static)
        for component in components:
            view = p.Join(tuple(component))
            others = [*rest, *(part for other in components if other is not component for part in other)]
            beside = outer.union(*(possible(part) for part in others))
            names, bound = possible(view), certain(view)
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
            views.append(_view(component, mine))
        return p.Join((*rest, *views), tuple(conditions))


def _view(parts: list[p.Plan], conditions: list[p.Formula]) -> p.Static:
    if len(parts) == 1 and not conditions:
        part = parts[0]
        return part if isinstance(part, p.Static) else p.Static(part)
    return p.Static(p.Join(tuple(parts), tuple(conditions)))


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
