"""Join: the union of two compatible solutions is visible while both are, ``[max start, min end)``.

A multi-way join is routed by the present data (CQELS 3.3 and 4.4, Algorithms 1 and 2): after each operator
the next one is chosen, filters first, then the join that the policy prefers. Flows are left-deep. Where
only differences are asked for, a flow starts at each input that changed, with the rows that changed, and
meets of the inputs whose turn came before only the rows that did not: every combination with a change is
found once, and what stays as it was is never looked at.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial

from weir.errors import EvaluationError
from weir.kernel.operators.filter import Filter
from weir.kernel.operators.inputs.input import Input, Present, RelationInput, StaticInput
from weir.kernel.operators.inputs.window_input import WindowInput
from weir.kernel.operators.operator import Operator, Scan
from weir.kernel.relations.relation import Relation, union
from weir.kernel.windows.reduction import Members, Membership, StoredMembership


class Policy(Enum):
    """``CARDINALITY`` is Algorithm 2: the right child with the fewest rows. ``COST`` is Example 1: the
    join with the smallest result. They differ in Example 1 at t = 1."""

    CARDINALITY = "cardinality"
    COST = "cost"


_CROSS_LIMIT = 1 << 16


def _at_hand(each: Input) -> bool:
    """Whether an input's rows are known without evaluating a plan below; others wait until needed."""
    return not isinstance(each, RelationInput) or each.computed


class TooLarge(EvaluationError):
    """A join would exceed the router's limit."""


@dataclass(frozen=True, slots=True)
class Router:
    """Joins inputs under filters; a join that would give more rows than ``limit`` is refused. ``routes``
    counts how often each flow was chosen, as the names of its operators in order.

    A filter is applied once none of the inputs still to come binds a variable that it reads, other than
    those that the flow binds already.
    """

    policy: Policy
    routes: Counter[str]
    limit: float = math.inf

    def everything(self, inputs: Sequence[Input], filters: Sequence[Filter]) -> Relation:
        """The whole join; the flow starts at the input with the fewest rows."""
        first = min((each for each in inputs if _at_hand(each)), key=len, default=inputs[0])
        rest = [each for each in inputs if each is not first]
        return self.flow(first.name, first.relation(), rest, filters)

    def changes(self, inputs: Sequence[Input], filters: Sequence[Filter]) -> list[Relation]:
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
                found.append(self.flow(each.name, start, rest, filters, frozenset(steady)))
            if not each.has_stable():
                break
            steady.add(id(each))
        return found

    def until_last(self, inputs: Sequence[Input], filters: Sequence[Filter]) -> tuple[Relation, Input] | None:
        """As ``changes`` where there is one flow: all of it but the last join; None where there are several
        flows, or filters, or fewer joins."""
        moving = [each for each in inputs if not each.steady]
        sources = [each for each in moving if _at_hand(each) and not each.has_stable()]
        if filters or len(inputs) < 2 or not sources:
            return None
        rest = [other for other in inputs if other is not sources[0]]
        flow, steps = sources[0].changed(), [sources[0].name]
        while len(rest) > 1 and len(flow):
            chosen = self._next(flow, rest)
            rest.remove(chosen)
            flow = chosen.join(flow)
            steps.append(chosen.name)
        self._note([*steps, rest[0].name])
        return flow, rest[0]

    def flow(
        self,
        name: str,
        start: Relation,
        rest: list[Input],
        filters: Sequence[Filter],
        steady: frozenset[int] = frozenset(),
    ) -> Relation:
        """Algorithm 1 on whole relations: compute, find the next operator, go on until none of ``rest`` is
        left. Of the inputs ``steady`` only rows visible throughout are met."""
        steps = [name]
        pending = list(filters)
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
        self._note(steps)
        return flow

    def _note(self, steps: Sequence[str]) -> None:
        self.routes[" → ".join(steps)] += 1

    @staticmethod
    def _filtered(flow: Relation, rest: Sequence[Input], pending: list[Filter], steps: list[str]) -> Relation:
        coming = {variable for each in rest for variable in each.variables}
        for each in list(pending):
            open_to_change = each.reads & coming
            if open_to_change and not open_to_change <= flow.columns.keys() - flow.optional:
                continue
            pending.remove(each)
            flow = each.keep(flow)
            steps.append("filter")
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


class Join(Operator):
    """A multi-way join with its conditions, routed by the present data."""

    flows = True

    def __init__(
        self,
        parts: Sequence[tuple[str, Operator]],
        filters: Sequence[Filter],
        present: Present,
        router: Router,
    ) -> None:
        self.parts = tuple(parts)
        self.filters = tuple(filters)
        self.present = present
        self.router = router
        self.variables = tuple(dict.fromkeys(name for _, part in parts for name in part.variables))
        self.linear = all(each.steady for each in self.filters)
        self.nests = all(part.nests for _, part in parts)
        self.steady = self.linear and all(part.steady for _, part in parts)

    def _inputs(self) -> list[Input]:
        return [part.input(name, self.present) for name, part in self.parts]

    def required(self) -> list[WindowInput]:
        return [each for _, part in self.parts for each in part.required()]

    def run(self) -> Relation:
        if len(self.parts) == 1:
            flow = self.parts[0][1].run()
            for each in self.filters:
                flow = each.keep(flow)
            return flow
        return self.router.everything(self._inputs(), self.filters)

    def changes(self) -> Relation:
        if len(self.parts) == 1 and self.parts[0][1].linear:
            flow = self.parts[0][1].changes()
            for each in self.filters:
                flow = each.keep(flow)
            return flow
        found = self.router.changes(self._inputs(), self.filters)
        if len(found) == 1:
            return found[0]
        return union(*found) if found else Relation.empty(self.variables)

    def until_last(self) -> tuple[Relation, Input] | None:
        """What ``changes`` does but for the last join, where there is just one flow."""
        return self.router.until_last(self._inputs(), self.filters)

    def within(self, seed: Relation, key: str) -> Relation:
        read = frozenset(self.variables).union(*(each.reads for each in self.filters))
        graphs = [name for name in seed.columns if name.startswith(".each")] if self.filters else []
        start = seed.keep([key, *(name for name in seed.columns if name in read), *graphs])
        inputs: list[Input] = []
        for name, part in self.parts:
            if isinstance(part, Scan):
                inputs.append(part.input(name, self.present))
            else:
                variables = tuple(dict.fromkeys((key, *part.variables)))
                compute = partial(part.within, seed, key)
                inputs.append(RelationInput(name, variables, compute, len(self.present)))
        found = self.router.flow("rows", start, inputs, self.filters)
        return found.keep([key, *self.variables])


def reduce_windows(parts: Sequence[Operator]) -> None:
    """Let the window inputs of one join look only at rows that its static parts can match."""
    inputs = [part.give() for part in parts if isinstance(part, Scan)]
    views = [each for each in inputs if isinstance(each, StaticInput) and each.steady]
    for window in inputs:
        if not isinstance(window, WindowInput):
            continue
        tests: list[Membership] = []
        for view in views:
            shared = [name for name in window.variables if name in view.variables]
            shared = [name for name in shared if name not in view.view.optional]
            if view.stored:
                tests += [StoredMembership(window.place_of(name), view.stored[name]) for name in shared]
            elif shared:
                columns = [view.view.columns[name] for name in shared]
                tests.append(Membership([window.place_of(name) for name in shared], columns))
        if tests:
            window.reduce(Members(sorted(tests, key=len)))
