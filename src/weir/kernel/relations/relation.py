"""The one relation type: columns of term ids and, for each row, the interval in which it is visible.

Inside a slab times are *indices* into the sorted array of its evaluation times, index 0 being the last
one already evaluated: a row is visible at the indices of ``[start, end)``. A relation is a multiset:
at index k its content is the bag of rows with ``start <= k < end``. Rows with an empty interval never
occur. 0 in a column is *unbound*. The order of rows means nothing, except after ``modifiers.order``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from weir.kernel.relations.coverage import unite
from weir.kernel.relations.keys import codes
from weir.rdf.columns import Ids, Mask

Slot: TypeAlias = int | str
"""A place of a pattern: a constant's id or a variable's name."""


@dataclass(frozen=True, slots=True)
class Relation:
    """``columns`` by variable name, all of one length with ``start`` and ``end``.

    ``optional`` names the columns that may hold 0; every other column is bound in every row, which
    lets joins compare ids directly.
    """

    columns: Mapping[str, Ids]
    start: Ids
    end: Ids
    optional: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.start)

    @staticmethod
    def empty(variables: tuple[str, ...] = ()) -> Relation:
        none = np.empty(0, np.int64)
        return Relation(dict.fromkeys(variables, none), none, none)

    @staticmethod
    def unit(indices: int) -> Relation:
        """The empty solution, visible at all ``indices`` of the slab."""
        return Relation({}, np.zeros(1, np.int64), np.full(1, indices, np.int64))

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

    def take(self, rows: Ids | Mask) -> Relation:
        """The given rows, by position or mask."""
        return self.pieces(rows, self.start[rows], self.end[rows])

    def pieces(self, rows: Ids | Mask, start: Ids, end: Ids) -> Relation:
        """Rows by position, each with an interval of its own in place of the old one."""
        return Relation(
            {name: column[rows] for name, column in self.columns.items()}, start, end, self.optional
        )

    def during(self, start: Ids, end: Ids) -> Relation:
        """The same rows with other intervals, none of them empty."""
        return Relation(self.columns, start, end, self.optional)

    def keep(self, variables: Iterable[str]) -> Relation:
        """Only these columns, where they exist; the rows stay."""
        columns = {name: self.columns[name] for name in variables if name in self.columns}
        return Relation(columns, self.start, self.end, self.optional.intersection(columns))

    def having(self, name: str, ids: Ids, *, optional: bool = False) -> Relation:
        """With one more column (or another in its place)."""
        rest = self.optional - {name}
        return Relation(
            {**self.columns, name: ids}, self.start, self.end, rest | {name} if optional else rest
        )

    def may_lack(self, name: str) -> bool:
        """Whether some row leaves the column unbound."""
        return name in self.optional and not self.columns[name].all()


def rename(relation: Relation, names: Mapping[str, str]) -> Relation:
    """Columns under other names; those not mentioned stay."""
    columns = {names.get(name, name): column for name, column in relation.columns.items()}
    optional = frozenset(names.get(name, name) for name in relation.optional)
    return Relation(columns, relation.start, relation.end, optional)


def union(*relations: Relation) -> Relation:
    """Multiset union; a column that some part lacks becomes optional."""
    parts = [relation for relation in relations if len(relation)]
    names = tuple(dict.fromkeys(name for relation in relations for name in relation.columns))
    if not parts:
        return Relation.empty(names)
    if len(parts) == 1 and len(parts[0].columns) == len(names):
        return parts[0]
    columns: dict[str, Ids] = {}
    optional: set[str] = set()
    for name in names:
        pieces: list[Ids] = []
        for part in parts:
            column = part.columns.get(name)
            if column is None:
                column = np.zeros(len(part), np.int64)
                optional.add(name)
            elif name in part.optional:
                optional.add(name)
            pieces.append(column)
        columns[name] = np.concatenate(pieces)
    start = np.concatenate([part.start for part in parts])
    end = np.concatenate([part.end for part in parts])
    return Relation(columns, start, end, frozenset(optional))


def distinct(relation: Relation) -> Relation:
    """Each solution once at each index: the intervals of equal rows are united."""
    if len(relation) <= 1:
        return relation
    numbers, firsts = codes(tuple(relation.columns.values()), len(relation))
    if len(firsts) == len(relation):
        return relation
    start, end = relation.start, relation.end
    if (start == start[0]).all() and (end == end[0]).all():
        return relation.take(firsts)
    pieces = unite(numbers, start, end)
    return relation.pieces(firsts[pieces.owner], pieces.start, pieces.end)


def clip(relation: Relation, start: int, end: int) -> Relation:
    """What is visible of each row within ``[start, end)``."""
    first = np.maximum(relation.start, start)
    last = np.minimum(relation.end, end)
    kept = first < last
    if kept.all():
        return relation.during(first, last)
    rows = np.flatnonzero(kept)
    return relation.pieces(rows, first[rows], last[rows])


def fresh(relation: Relation, name: str) -> str:
    """A column name that the relation does not have yet."""
    while name in relation.columns:
        name += "'"
    return name
