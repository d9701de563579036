"""Adaptive routing of a multi-way join (CQELS 3.3 and 4.4, Algorithms 1 and 2).

After each operator the next one is chosen by the present data: filters first, then the join that the
policy prefers. Flows are left-deep. Where only differences are asked for, a flow starts at each input that
changed, with the rows that changed, and meets of the inputs whose turn came before only the rows that did
not: every combination with a change is found once, and what stays as it was is never looked at.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from weir.errors import EvaluationError
from weir.kernel.interval.inputs import Input, RelationInput
from weir.kernel.relations.relation import Relation


class Policy(Enum):
    """``CARDINALITY`` is Algorithm 2: the right child with the fewest rows. ``COST`` is Example 1: the
    join with the smallest result. They differ in Example 1 at t = 1."""

    CARDINALITY = "cardinality"
    COST = "cost"


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter: it may be applied once none of the inputs still to come binds a variable it reads,
    other than those that the flow binds already."""

    reads: frozenset[str]
    apply: Callable[[Relation], Relation]
    name: str = "filter"


@dataclass(slots=True)
class Routes:
    """What was chosen: how often each flow, as the names of its operators in order."""

    taken: Counter[str] = field(default_factory=Counter)

    def note(self, steps: Sequence[str]) -> None:
        self.taken[" → ".join(steps)] += 1


_CROSS_LIMIT = 1 << 16


def _at_hand(each: Input) -> bool:
    """Whether an input's rows are known without evaluating a plan below; others wait until needed."""
    return not isinstance(each, RelationInput) or each.computed


class TooLarge(EvaluationError):
    """A join would exceed the router's limit."""


class Router:
    """Joins inputs under conditions; one that would give more rows than ``limit`` is refused."""

    def __init__(self, policy: Policy, routes: Routes, limit: float = math.inf) -> None:
        self.policy = policy
        self.routes = routes
        self.limit = limit

    def everything(self, inputs: Sequence[Input], conditions: Sequence[Condition]) -> Relation:
        """The whole join; the flow starts at the input with the fewest rows."""
        first = min((each for each in inputs if _at_hand(each)), key=len, default=inputs[0])
        rest = [each for each in inputs if each is not first]
        return self._flow(first.name, first.relation(), rest, conditions, frozenset())

    def onward(
        self, start: Relation, inputs: Sequence[Input], conditions: Sequence[Condition], name: str
    ) -> Relation:
        """The join of a relation with all inputs."""
        return self._flow(name, start, list(inputs), conditions, frozenset())

    def changes(self, inputs: Sequence[Input], conditions: Sequence[Condition]) -> list[Relation]:
        """The parts of the join that are not visible throughout the slab; together, each row once."""
        moving = [each for each in inputs if not each.steady]
        if len(moving) > 1:
            moving.sort(key=lambda each: not _at_hand(each) or each.has_stable())
        found: list[Relation] = []
        steady: set[int] = set()
        for each in moving:
            start = each.changed()
            if len(start):
                rest = [other for other in inputs if other is not each]
                found.append(self._flow(each.name, start, rest, conditions, frozenset(steady)))
            if not each.has_stable():
                break
            steady.add(id(each))
        return found

    def until_last(
        self, inputs: Sequence[Input], conditions: Sequence[Condition]
    ) -> tuple[Relation, Input] | None:
        """As ``changes`` where there is one flow: all of it but the last join; None where there are several
        flows, or conditions, or fewer joins."""
        moving = [each for each in inputs if not each.steady]
        sources = [each for each in moving if not _at_hand(each) or not each.has_stable()]
        if conditions or len(inputs) < 2 or not sources:
            return None
        rest = [other for other in inputs if other is not sources[0]]
        flow, steps = sources[0].changed(), [sources[0].name]
        while len(rest) > 1 and len(flow):
            chosen = self._next(flow, rest)
            rest.remove(chosen)
            flow = chosen.join(flow)
            steps.append(chosen.name)
        self.routes.note([*steps, rest[0].name])
        return flow, rest[0]

    def _flow(
        self,
        name: str,
        start: Relation,
        rest: list[Input],
        conditions: Sequence[Condition],
        steady: frozenset[int],
    ) -> Relation:
        """Algorithm 1 on whole relations: compute, find the next operator, go on."""
        steps = [name]
        pending = list(conditions)
        flow = start
        while True:
            if pending and len(flow):
                flow = self._filtered(flow, rest, pending, steps)
            if not rest:
                break
            if not len(flow):
                names = dict.fromkeys(v for each in rest for v in each.variables if v not in flow.columns)
                flow = Relation.empty((*flow.variables, *names))
                break
            chosen = self._next(flow, rest)
            rest.remove(chosen)
            if self.limit < math.inf and chosen.estimate(flow) > self.limit:
                raise TooLarge(f"join with {chosen.name}: more than {self.limit:.0f} rows")
            flow = chosen.join(flow, stable=id(chosen) in steady)
            steps.append(chosen.name)
        self.routes.note(steps)
        return flow

    @staticmethod
    def _filtered(
        flow: Relation, rest: Sequence[Input], pending: list[Condition], steps: list[str]
    ) -> Relation:
        coming = {variable for each in rest for variable in each.variables}
        for condition in list(pending):
            open_to_change = condition.reads & coming
            if open_to_change and not open_to_change <= flow.columns.keys() - flow.optional:
                continue
            pending.remove(condition)
            flow = condition.apply(flow)
            steps.append(condition.name)
            if not len(flow):
                break
        return flow

    def _next(self, flow: Relation, rest: Sequence[Input]) -> Input:
        """``findNextOp`` for joins (Algorithm 2)."""
        if len(rest) == 1:
            return rest[0]
        rest = [each for each in rest if _at_hand(each)] or rest
        if self.policy is Policy.COST:
            return min(rest, key=lambda each: each.estimate(flow))
        connected = [each for each in rest if any(name in flow.columns for name in each.variables)]
        return min(
            rest,
            key=lambda each: (
                bool(connected) and each not in connected and len(flow) * len(each) > _CROSS_LIMIT,
                each.standing(),
            ),
        )
