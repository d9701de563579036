"""Operators of a plan as objects: each gives its relation in the slab at hand.

``run`` gives all rows. ``changes`` gives only the rows that are not visible throughout the slab, and exists
where an operator acts row by row (it is *linear*): differences between instants need no more. ``within``
evaluates for given values of outer variables: every row carries the number of the values it belongs to.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from weir.kernel.expressions import Compiled
from weir.kernel.expressions.ranks import canonical_ranks, order_ranks
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.interval.inputs import Input, Present, RelationInput
from weir.kernel.interval.views import StaticInput
from weir.kernel.interval.windowed import WindowInput
from weir.kernel.operators import Measure, distinct, group, join, order, project, slice, values
from weir.kernel.operators.evaluate import Surroundings, extend_by
from weir.kernel.relations.coverage import uncovered
from weir.kernel.relations.keys import codes
from weir.kernel.relations.matches import matches
from weir.kernel.relations.relation import Relation, union
from weir.language.algebra.patterns import OrderKey
from weir.rdf.columns import Ids


class Operator(ABC):
    """``variables`` may be bound by it. ``steady`` says that its rows never change within a slab,
    ``flows`` that ``within`` probes instead of listing, ``nests`` that it can do ``within`` at all."""

    variables: tuple[str, ...]
    linear: bool = False
    steady: bool = False
    flows: bool = False
    nests: bool = True

    @abstractmethod
    def run(self) -> Relation:
        """All rows."""

    def changes(self) -> Relation:
        """The rows that are not visible throughout; others do no harm, as they make no difference."""
        return self.run()

    @abstractmethod
    def within(self, seed: Relation, key: str) -> Relation:
        """The rows for each row of ``seed``, whose number is in the column ``key``."""

    def required(self) -> list[WindowInput]:
        """Windows such that there is no row while any of them shows nothing."""
        return []

    def input(self, name: str, present: Present) -> Input:
        """The operator as a part of a join, computed when it is needed."""
        return RelationInput(name, self.variables, self.run, len(present))


def seeded(relation: Relation, seed: Relation, key: str) -> Relation:
    """A leaf's rows for each row of the seed that agrees with them."""
    if key in relation.columns:
        return join(relation, seed.keep([key]))
    return join(relation, seed.keep([key, *relation.columns]))


def informed(rows: Relation, seed: Relation, key: str, names: Iterable[str]) -> Relation:
    """The rows of ``within`` with the seed's values of ``names`` where they have none of their own."""
    wanted = [
        name for name in names if name in seed.columns and (name not in rows.columns or rows.may_lack(name))
    ]
    return join(rows, seed.keep([key, *wanted])) if wanted else rows


class Leaf(Operator):
    """A pattern, as the input that it is."""

    linear = True
    flows = True

    def __init__(self, variables: tuple[str, ...], give: Callable[[], Input]) -> None:
        self.variables = variables
        self.give = give

    @property
    def steady(self) -> bool:  # type: ignore[override]
        found = self.give()
        return isinstance(found, StaticInput) and not found.varies

    def run(self) -> Relation:
        return self.give().relation()

    def changes(self) -> Relation:
        return self.give().changed()

    def within(self, seed: Relation, key: str) -> Relation:
        found = self.give()
        wanted = seed.keep([key, *found.variables])
        return found.join(wanted)

    def required(self) -> list[WindowInput]:
        found = self.give()
        return [found] if isinstance(found, WindowInput) else []

    def input(self, name: str, present: Present) -> Input:
        return self.give()


class Rows(Operator):
    """Inline data."""

    linear = True
    steady = True

    def __init__(self, variables: tuple[str, ...], rows: Sequence[Sequence[int]], present: Present) -> None:
        self.variables = variables
        self.rows = rows
        self.present = present

    def run(self) -> Relation:
        return values(self.variables, self.rows, len(self.present))

    def changes(self) -> Relation:
        return Relation.empty(self.variables)

    def within(self, seed: Relation, key: str) -> Relation:
        return seeded(self.run(), seed, key)


class Computed(Operator):
    """A leaf whose relation a function computes: property paths."""

    def __init__(self, variables: tuple[str, ...], compute: Callable[[], Relation]) -> None:
        self.variables = variables
        self.compute = compute

    def run(self) -> Relation:
        return self.compute()

    def within(self, seed: Relation, key: str) -> Relation:
        return seeded(self.run(), seed, key)


class Unions(Operator):
    """UNION."""

    def __init__(self, parts: Sequence[Operator]) -> None:
        self.parts = tuple(parts)
        self.variables = tuple(dict.fromkeys(name for part in parts for name in part.variables))
        self.linear = all(part.linear for part in parts)
        self.flows = all(part.flows for part in parts)
        self.nests = all(part.nests for part in parts)

    @property
    def steady(self) -> bool:  # type: ignore[override]
        return all(part.steady for part in self.parts)

    def run(self) -> Relation:
        return union(*(part.run() for part in self.parts))

    def changes(self) -> Relation:
        return union(*(part.changes() for part in self.parts))

    def within(self, seed: Relation, key: str) -> Relation:
        if not self.parts:
            return Relation.empty((key,))
        return union(*(part.within(seed, key) for part in self.parts))


class Projection(Operator):
    """Only some variables."""

    def __init__(self, inner: Operator, variables: tuple[str, ...]) -> None:
        self.inner = inner
        self.variables = variables
        self.linear = inner.linear
        self.flows = inner.flows
        self.nests = inner.nests

    @property
    def steady(self) -> bool:  # type: ignore[override]
        return self.inner.steady

    def required(self) -> list[WindowInput]:
        return self.inner.required()

    def run(self) -> Relation:
        return project(self.inner.run(), self.variables)

    def changes(self) -> Relation:
        return project(self.inner.changes(), self.variables)

    def within(self, seed: Relation, key: str) -> Relation:
        graphs = [name for name in seed.columns if name.startswith(".each")]
        inner = self.inner.within(seed.keep([key, *self.variables, *graphs]), key)
        return project(inner, (key, *self.variables))


class Distinct(Operator):
    """DISTINCT; of an ordered relation, equal rows keep the place of the first that is visible."""

    def __init__(self, inner: Operator, *, ordered: bool) -> None:
        self.inner = inner
        self.variables = inner.variables
        self.ordered = ordered
        self.nests = inner.nests

    @property
    def steady(self) -> bool:  # type: ignore[override]
        return self.inner.steady

    def required(self) -> list[WindowInput]:
        return self.inner.required()

    def run(self) -> Relation:
        rows = self.inner.run()
        return _first_of_equal(rows) if self.ordered else distinct(rows)

    def within(self, seed: Relation, key: str) -> Relation:
        rows = self.inner.within(seed, key)
        return _first_of_equal(rows) if self.ordered else distinct(rows)


def _first_of_equal(relation: Relation) -> Relation:
    """What is visible of each row while no equal row before it is."""
    numbers, firsts = codes(tuple(relation.columns.values()), len(relation))
    if len(firsts) == len(relation):
        return relation
    places = np.arange(len(relation))
    numbered = Relation({".number": numbers + 1}, relation.start, relation.end)
    found = matches(numbered, numbered)
    earlier = found.right < found.left
    owner, start, end = found.left[earlier], found.start[earlier], found.end[earlier]
    rest = uncovered(relation.start, relation.end, places[owner], start, end)
    return relation.pieces(rest.owner, rest.start, rest.end)


class Binding(Operator):
    """A run of BINDs without EXISTS; ``anonymous`` for keys of ORDER BY."""

    def __init__(
        self,
        inner: Operator,
        bindings: Sequence[tuple[str, Compiled]],
        around: Callable[[], Surroundings],
        *,
        anonymous: bool = False,
    ) -> None:
        self.inner = inner
        self.bindings = tuple(bindings)
        self.around = around
        self.anonymous = anonymous
        self.variables = tuple(dict.fromkeys((*inner.variables, *(name for name, _ in bindings))))
        self.linear = inner.linear and all(compiled.plain for _, compiled in bindings)
        self.nests = inner.nests

    @property
    def steady(self) -> bool:  # type: ignore[override]
        return self.inner.steady and all(compiled.plain for _, compiled in self.bindings)

    def required(self) -> list[WindowInput]:
        return self.inner.required()

    def run(self) -> Relation:
        return extend_by(self.inner.run(), self.bindings, self.around(), anonymous=self.anonymous)

    def changes(self) -> Relation:
        return extend_by(self.inner.changes(), self.bindings, self.around())

    def within(self, seed: Relation, key: str) -> Relation:
        rows = self.inner.within(seed, key)
        for name, compiled in self.bindings:
            known = informed(rows, seed, key, compiled.variables)
            known = extend_by(known, [(name, compiled)], self.around())
            rows = known.keep([*rows.columns, name])
            if name in seed.columns:
                rows = join(rows, seed.keep([key, name]))
        return rows


class Grouping(Operator):
    """GROUP BY. Operands that are expressions have become columns below."""

    def __init__(
        self,
        inner: Operator,
        keys: tuple[str, ...],
        measures: Sequence[Measure],
        present: Present,
        terms: Terms,
    ) -> None:
        self.inner = inner
        self.keys = keys
        self.measures = tuple(measures)
        self.present = present
        self.terms = terms
        self.variables = (*keys, *(measure.name for measure in measures))
        self.nests = inner.nests

    @property
    def steady(self) -> bool:  # type: ignore[override]
        return self.inner.steady

    def required(self) -> list[WindowInput]:
        return self.inner.required() if self.keys else []

    def run(self) -> Relation:
        return group(self.inner.run(), self.keys, self.measures, len(self.present), self.terms)

    def within(self, seed: Relation, key: str) -> Relation:
        rows = self.inner.within(seed, key)
        count = len(self.present)
        found = group(rows, (key, *self.keys), self.measures, count, self.terms)
        if self.keys:
            return found
        nothing = group(Relation.empty(), (), self.measures, count, self.terms)
        covered = matches(seed.keep([key]), found.keep([key]))
        rest = uncovered(seed.start, seed.end, covered.left, covered.start, covered.end)
        return union(found, join(seed.keep([key]).pieces(*rest), nothing))


class Ordering(Operator):
    """ORDER BY: rows in order, ties by the canonical order of the visible variables."""

    def __init__(
        self,
        inner: Operator,
        keys: Sequence[tuple[OrderKey, str]],
        visible: tuple[str, ...],
        terms: Terms,
    ) -> None:
        self.inner = inner
        self.keys = tuple(keys)
        self.visible = tuple(sorted(visible))
        self.terms = terms
        self.variables = inner.variables
        self.nests = inner.nests

    @property
    def steady(self) -> bool:  # type: ignore[override]
        return self.inner.steady

    def required(self) -> list[WindowInput]:
        return self.inner.required()

    def run(self) -> Relation:
        return self._sorted(self.inner.run())

    def _sorted(self, rows: Relation) -> Relation:
        if len(rows) <= 1:
            return rows
        ranks: list[Ids] = []
        for key, name in self.keys:
            rank = order_ranks(rows.columns.get(name, _zeros(rows)), self.terms)
            ranks.append(-rank if key.descending else rank)
        ranks += _canonical(rows, self.visible, self.terms)
        return order(rows, ranks)

    def within(self, seed: Relation, key: str) -> Relation:
        return self._sorted(self.inner.within(seed, key))


class Slicing(Operator):
    """LIMIT and OFFSET; of the canonical order where there is no other."""

    def __init__(
        self, inner: Operator, offset: int, limit: int | None, terms: Terms, *, ordered: bool
    ) -> None:
        self.inner = inner
        self.offset, self.limit = offset, limit
        self.terms = terms
        self.ordered = ordered
        self.variables = inner.variables
        self.nests = inner.nests

    @property
    def steady(self) -> bool:  # type: ignore[override]
        return self.inner.steady

    def required(self) -> list[WindowInput]:
        return self.inner.required()

    def run(self) -> Relation:
        return slice(self._sorted(self.inner.run()), self.offset, self.limit)

    def _sorted(self, rows: Relation) -> Relation:
        if self.ordered or len(rows) <= 1:
            return rows
        named = sorted(name for name in rows.columns if not name.startswith("."))
        return order(rows, _canonical(rows, named, self.terms))

    def within(self, seed: Relation, key: str) -> Relation:
        rows = self._sorted(self.inner.within(seed, key))
        return slice(rows, self.offset, self.limit, by=rows.columns[key])


def _canonical(rows: Relation, names: Sequence[str], terms: Terms) -> list[Ids]:
    return [canonical_ranks(rows.columns[name], terms) for name in names if name in rows.columns]


def _zeros(rows: Relation) -> Ids:
    return np.zeros(len(rows), np.int64)
