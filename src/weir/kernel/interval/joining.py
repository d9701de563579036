"""Joins of any number of parts, OPTIONAL, MINUS and EXISTS as operators.

OPTIONAL, MINUS and EXISTS ask, for the rows at hand, when they have partners. Where the other side allows it
they start a flow at these rows (numbered), so that large windows and views are probed and never listed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from weir.kernel.expressions import Compiled
from weir.kernel.expressions.vector import FALSE_ID, TRUE_ID
from weir.kernel.interval.calculus import Leaf, Operator, informed
from weir.kernel.interval.inputs import Input, Present, RelationInput
from weir.kernel.interval.routing import Condition, Router
from weir.kernel.interval.windowed import WindowInput
from weir.kernel.operators import exists, join, left_join, mark_exists, minus, outer_rows
from weir.kernel.operators.evaluate import Surroundings, extend_by, filter_by
from weir.kernel.relations.coverage import uncovered
from weir.kernel.relations.matches import matches
from weir.kernel.relations.relation import Relation, union
from weir.language.algebra.expressions import Not
from weir.rdf.columns import Ids
from weir.rdf.terms import Variable


@dataclass(frozen=True, slots=True)
class Probe:
    """An EXISTS: ``outer`` are the variables to put into its plan, None where a join with them will do."""

    name: str
    plan: Operator
    outer: tuple[str, ...] | None

    def asked(self, relation: Relation) -> tuple[Relation, Relation]:
        """The relation and its partners, such that ``exists`` on the two answers."""
        if self.outer is None and not self.plan.flows:
            return relation, self.plan.run()
        names = self.outer
        if names is None:
            names = tuple(name for name in self.plan.variables if name in relation.columns)
        if not names:
            return relation, self.plan.run().keep(())
        key = f"{self.name}.row"
        numbered, seed = outer_rows(relation, names, key)
        return numbered, self.plan.within(seed, key).keep([key])


class Check:
    """A condition: an expression whose EXISTS parts are decided by probes.

    ``anonymous`` is for OPTIONAL, where equal solutions draw alike (RAND and its like).
    """

    name = "filter"

    def __init__(
        self,
        compiled: Compiled,
        probes: Sequence[Probe],
        around: Callable[[], Surroundings],
        *,
        anonymous: bool = False,
    ) -> None:
        self.compiled = compiled
        self.probes = tuple(probes)
        self.around = around
        self.anonymous = anonymous
        expression = compiled.expression
        self._direct: tuple[Probe, bool] | None = None
        for probe in self.probes:
            if expression == Variable(probe.name):
                self._direct = (probe, False)
            elif expression == Not(Variable(probe.name)):
                self._direct = (probe, True)

    @property
    def steady(self) -> bool:
        """Whether the same row always gets the same answer."""
        return self.compiled.plain and all(probe.plan.steady for probe in self.probes)

    def keep(self, relation: Relation) -> Relation:
        """The rows, or pieces of them, for which the condition is true."""
        if not len(relation):
            return relation
        if not self.probes:
            return filter_by(relation, self.compiled, self.around(), anonymous=self.anonymous)
        if self._direct is not None:
            probe, negated = self._direct
            asking, partners = probe.asked(relation)
            return exists(asking, partners, negated=negated).keep(relation.variables)
        marked = self.marked(relation)
        kept = filter_by(marked, self.compiled, self.around(), anonymous=self.anonymous)
        return kept.keep(relation.variables)

    def marked(self, relation: Relation) -> Relation:
        """The rows cut where an EXISTS changes, with its answer as a column."""
        for probe in self.probes:
            names = (*relation.variables, probe.name)
            asking, partners = probe.asked(relation)
            relation = mark_exists(asking, partners, probe.name, TRUE_ID, FALSE_ID).keep(names)
        return relation


class Joining(Operator):
    """A multi-way join with its conditions, routed by the present data."""

    flows = True

    def __init__(
        self,
        parts: Sequence[tuple[str, Operator]],
        conditions: Sequence[tuple[frozenset[str], Check]],
        present: Present,
        router: Router,
    ) -> None:
        self.parts = tuple(parts)
        self.checks = tuple(conditions)
        self.present = present
        self.router = router
        self.variables = tuple(dict.fromkeys(name for _, part in parts for name in part.variables))
        self.linear = all(check.steady for _, check in self.checks)
        self._conditions = [Condition(reads, check.keep, check.name) for reads, check in self.checks]

    @property
    def steady(self) -> bool:  # type: ignore[override]
        return self.linear and all(part.steady for _, part in self.parts)

    @property
    def nests(self) -> bool:  # type: ignore[override]
        return all(part.nests for _, part in self.parts)

    def _inputs(self) -> list[Input]:
        return [part.input(name, self.present) for name, part in self.parts]

    def required(self) -> list[WindowInput]:
        return [each for _, part in self.parts for each in part.required()]

    def run(self) -> Relation:
        if len(self.parts) == 1:
            flow = self.parts[0][1].run()
            for _, check in self.checks:
                flow = check.keep(flow)
            return flow
        return self.router.everything(self._inputs(), self._conditions)

    def changes(self) -> Relation:
        if len(self.parts) == 1 and self.parts[0][1].linear:
            flow = self.parts[0][1].changes()
            for _, check in self.checks:
                flow = check.keep(flow)
            return flow
        found = self.router.changes(self._inputs(), self._conditions)
        if len(found) == 1:
            return found[0]
        return union(*found) if found else Relation.empty(self.variables)

    def until_last(self) -> tuple[Relation, Input] | None:
        """What ``changes`` does but for the last join, where there is just one flow."""
        return self.router.until_last(self._inputs(), self._conditions)

    def within(self, seed: Relation, key: str) -> Relation:
        read = frozenset(self.variables).union(*(reads for reads, _ in self.checks))
        graphs = [name for name in seed.columns if name.startswith(".each")] if self.checks else []
        start = seed.keep([key, *(name for name in seed.columns if name in read), *graphs])
        inputs: list[Input] = []
        for name, part in self.parts:
            if isinstance(part, Leaf):
                inputs.append(part.input(name, self.present))
            else:
                variables = tuple(dict.fromkeys((key, *part.variables)))
                compute = partial(part.within, seed, key)
                inputs.append(RelationInput(name, variables, compute, len(self.present)))
        found = self.router.onward(start, inputs, self._conditions, "rows")
        return found.keep([key, *self.variables])


class Optional(Operator):
    """OPTIONAL; ``nested`` says that the right side may be evaluated for the left rows."""

    def __init__(self, left: Operator, right: Operator, check: Check | None, *, nested: bool) -> None:
        self.left, self.right = left, right
        self.check = check
        self.nested = nested
        self.variables = tuple(dict.fromkeys((*left.variables, *right.variables)))

    @property
    def _settled(self) -> bool:
        return self.right.steady and (self.check is None or self.check.steady)

    @property
    def linear(self) -> bool:  # type: ignore[override]
        return self.left.linear and self._settled

    @property
    def steady(self) -> bool:  # type: ignore[override]
        return self.left.steady and self._settled

    @property
    def nests(self) -> bool:  # type: ignore[override]
        return self.left.nests and self.right.nests

    def required(self) -> list[WindowInput]:
        return self.left.required()

    def run(self) -> Relation:
        return self._extended(self.left.run())

    def changes(self) -> Relation:
        return self._extended(self.left.changes())

    def _extended(self, left: Relation) -> Relation:
        if not len(left):
            return Relation.empty(self.variables)
        if not self.nested:
            return left_join(left, self.right.run(), None if self.check is None else self.check.keep)
        numbered = left.having(_LEFT, np.arange(1, len(left) + 1))
        joined = _attached(numbered, self.right.within(numbered, _LEFT))
        if self.check is not None:
            joined = self.check.keep(joined)
        alone = uncovered(left.start, left.end, joined.columns[_LEFT] - 1, joined.start, joined.end)
        joined = joined.keep(name for name in joined.columns if name != _LEFT)
        return union(joined, left.pieces(*alone)) if len(alone.owner) else joined

    def within(self, seed: Relation, key: str) -> Relation:
        left, right = self.left.within(seed, key), self.right.within(seed, key)
        if self.check is None:
            return left_join(left, right)
        check = self.check

        def keep(joined: Relation) -> Relation:
            known = informed(joined, seed, key, seed.variables)
            return check.keep(known).keep(joined.variables)

        return left_join(left, right, keep)


_LEFT = ".left"


def _attached(left: Relation, partners: Relation) -> Relation:
    """Each partner with the left row whose number it carries."""
    owner = partners.columns[_LEFT] - 1
    columns: dict[str, Ids] = {}
    for name, column in left.columns.items():
        values = column[owner]
        if name in left.optional and name in partners.columns:
            values = np.where(values == 0, partners.columns[name], values)
        columns[name] = values
    for name, column in partners.columns.items():
        if name not in columns:
            columns[name] = column
    optional = left.optional | partners.optional.difference(left.columns)
    return Relation(columns, partners.start, partners.end, optional)


class Difference(Operator):
    """MINUS; ``shared`` are variables that both sides always bind, None where there are none or the
    right side cannot be evaluated for the left rows."""

    def __init__(self, left: Operator, right: Operator, shared: tuple[str, ...] | None) -> None:
        self.left, self.right = left, right
        self.shared = shared
        self.variables = left.variables

    @property
    def linear(self) -> bool:  # type: ignore[override]
        return self.left.linear and self.right.steady

    @property
    def steady(self) -> bool:  # type: ignore[override]
        return self.left.steady and self.right.steady

    @property
    def nests(self) -> bool:  # type: ignore[override]
        return self.left.nests and self.right.nests

    def required(self) -> list[WindowInput]:
        return self.left.required()

    def run(self) -> Relation:
        return self._reduced(self.left.run())

    def changes(self) -> Relation:
        return self._reduced(self.left.changes())

    def _reduced(self, left: Relation) -> Relation:
        if not len(left):
            return left
        if self.shared is None:
            return minus(left, self.right.run())
        names = [name for name in self.right.variables if name in left.columns]
        numbered, seed = outer_rows(left, names, _LEFT)
        partners = self.right.within(seed, _LEFT).keep([_LEFT])
        return exists(numbered, partners, negated=True).keep(left.variables)

    def within(self, seed: Relation, key: str) -> Relation:
        left, right = self.left.within(seed, key), self.right.within(seed, key)
        found = matches(left, right)
        sharing = np.zeros(len(found), np.bool_)
        for name in left.columns:
            if name != key and not name.startswith(".") and name in right.columns:
                sharing |= (left.columns[name][found.left] != 0) & (right.columns[name][found.right] != 0)
        owner: Ids = found.left[sharing]
        rest = uncovered(left.start, left.end, owner, found.start[sharing], found.end[sharing])
        return left.pieces(*rest)


class Marking(Operator):
    """A run of BINDs with EXISTS parts, none of which looks at a variable that the run binds."""

    def __init__(self, inner: Operator, bindings: Sequence[tuple[str, Check]]) -> None:
        self.inner = inner
        self.bindings = tuple(bindings)
        self.variables = tuple(dict.fromkeys((*inner.variables, *(name for name, _ in bindings))))

        self.nests = inner.nests

    @property
    def steady(self) -> bool:  # type: ignore[override]
        return self.inner.steady and all(check.steady for _, check in self.bindings)

    def run(self) -> Relation:
        return self._marked(self.inner.run()).keep(self.variables)

    def _marked(self, rows: Relation) -> Relation:
        for _, check in self.bindings:
            rows = check.marked(rows)
        compiled = [(name, check.compiled) for name, check in self.bindings]
        return extend_by(rows, compiled, self.bindings[0][1].around())

    def within(self, seed: Relation, key: str) -> Relation:
        rows = self.inner.within(seed, key)
        names = [name for name, _ in self.bindings]
        outer = [name for name in seed.columns if name not in names]
        known = informed(rows, seed, key, outer)
        found = self._marked(known).keep([*rows.columns, *names])
        fixed = [name for name in names if name in seed.columns]
        return join(found, seed.keep([key, *fixed])) if fixed else found
