"""What an operator is, and those that act row by row: Scan, Values, Union, Project. A row keeps its interval.

``run`` gives all rows. ``changes`` gives only the rows that are not visible throughout the slab, and exists
where an operator acts row by row (it is *linear*): differences between instants need no more. ``within``
evaluates for given values of outer variables: every row carries the number of the values it belongs to.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weir.kernel.operators.inputs.input import Input, Present, RelationInput
from weir.kernel.operators.inputs.window_input import WindowInput
from weir.kernel.relations.matches import join
from weir.kernel.relations.relation import Relation, union
from weir.rdf.columns import Ids

Rows: TypeAlias = Sequence[Sequence[int]] | NDArray[np.int64]


class Operator(ABC):
    """``variables`` may be bound by it. ``steady`` says that its rows never change within a slab, ``linear``
    that it acts row by row, ``flows`` that ``within`` probes instead of listing, ``nests`` that it can do
    ``within`` at all."""

    variables: tuple[str, ...]
    steady: bool = False
    linear: bool = False
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


class Unary(Operator):
    """An operator on one other, whose rows are there only while some of ``inner`` are."""

    def __init__(self, inner: Operator, variables: Sequence[str] | None = None) -> None:
        self.inner = inner
        self.variables = inner.variables if variables is None else tuple(dict.fromkeys(variables))
        self.nests = inner.nests
        self.steady = inner.steady

    @abstractmethod
    def _kept(self, rows: Relation) -> Relation:
        """What becomes of rows of ``inner``."""

    def run(self) -> Relation:
        return self._kept(self.inner.run())

    def changes(self) -> Relation:
        return self._kept(self.inner.changes()) if self.linear else self.run()

    def within(self, seed: Relation, key: str) -> Relation:
        return self._kept(self.inner.within(seed, key))

    def required(self) -> list[WindowInput]:
        return self.inner.required()


class Binary(Operator):
    """An operator that takes rows of ``left``, or pieces of them, by what it finds in ``right``."""

    def __init__(self, left: Operator, right: Operator) -> None:
        self.left, self.right = left, right
        self.nests = left.nests and right.nests
        self.steady = left.steady and right.steady
        self.linear = left.linear and right.steady

    @abstractmethod
    def _kept(self, left: Relation) -> Relation:
        """What becomes of the given rows of ``left``."""

    def run(self) -> Relation:
        return self._kept(self.left.run())

    def changes(self) -> Relation:
        return self._kept(self.left.changes())

    def required(self) -> list[WindowInput]:
        return self.left.required()


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


class Scan(Operator):
    """A pattern, as the input that it is."""

    linear = True
    flows = True

    def __init__(self, variables: tuple[str, ...], give: Callable[[], Input]) -> None:
        self.variables = variables
        self.give = give
        self.steady = give().steady

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


def values(names: Sequence[str], rows: Rows, indices: int) -> Relation:
    """Inline data, visible at all ``indices`` of the slab; 0 is UNDEF."""
    table = np.array(rows, np.int64).reshape(len(rows), len(names))
    columns = {name: np.ascontiguousarray(table[:, place]) for place, name in enumerate(names)}
    optional = frozenset(name for name, column in columns.items() if not column.all())
    start = np.zeros(len(rows), np.int64)
    return Relation(columns, start, np.full(len(rows), indices, np.int64), optional)


class Values(Operator):
    """Inline data."""

    linear = True
    steady = True

    def __init__(self, variables: tuple[str, ...], rows: Rows, present: Present) -> None:
        self.variables = variables
        self.rows = rows
        self.present = present

    def run(self) -> Relation:
        return values(self.variables, self.rows, len(self.present))

    def changes(self) -> Relation:
        return Relation.empty(self.variables)

    def within(self, seed: Relation, key: str) -> Relation:
        return seeded(self.run(), seed, key)


class Union(Operator):
    """UNION."""

    def __init__(self, parts: Sequence[Operator]) -> None:
        self.parts = tuple(parts)
        self.variables = tuple(dict.fromkeys(name for part in parts for name in part.variables))
        self.linear = all(part.linear for part in parts)
        self.flows = all(part.flows for part in parts)
        self.nests = all(part.nests for part in parts)
        self.steady = all(part.steady for part in parts)

    def run(self) -> Relation:
        return union(*(part.run() for part in self.parts))

    def changes(self) -> Relation:
        return union(*(part.changes() for part in self.parts))

    def within(self, seed: Relation, key: str) -> Relation:
        if not self.parts:
            return Relation.empty((key,))
        return union(*(part.within(seed, key) for part in self.parts))


def project(relation: Relation, variables: Iterable[str]) -> Relation:
    """Solutions restricted to ``variables``, as a bag; a variable without a column is unbound."""
    columns: dict[str, Ids] = {}
    missing: list[str] = []
    for name in variables:
        column = relation.columns.get(name)
        if column is None:
            column = np.zeros(len(relation), np.int64)
            missing.append(name)
        columns[name] = column
    optional = relation.optional.intersection(columns).union(missing)
    return Relation(columns, relation.start, relation.end, optional)


class Project(Unary):
    """Only some variables."""

    def __init__(self, inner: Operator, variables: tuple[str, ...]) -> None:
        super().__init__(inner, variables)
        self.linear = inner.linear
        self.flows = inner.flows

    def _kept(self, rows: Relation) -> Relation:
        return project(rows, self.variables)

    def within(self, seed: Relation, key: str) -> Relation:
        graphs = [name for name in seed.columns if name.startswith(".each")]
        inner = self.inner.within(seed.keep([key, *self.variables, *graphs]), key)
        return project(inner, (key, *self.variables))
