"""Hash indexes of plain integers, for evaluations so small that array operations cost more than their data.

An index of live triples is kept up to date row by row while rows come one by one, is given up when many
come at once, and is made again when rows come one by one again (CQELS 4.3: an index is kept as long as it
can be updated faster than its stream runs).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import TypeAlias

from weir.kernel.relations.relation import Relation
from weir.kernel.windows.buffer import Buffer
from weir.kernel.windows.live_triples import LiveTriples
from weir.rdf.columns import Ids

_MANY = 64
_LARGEST = 1 << 17
Key = int | tuple[int, ...]


Lists: TypeAlias = "tuple[array[int], ...]"
"""What is found under a key: the values of each column asked for, all of one length. They lie side by side in
memory: a list would hold pointers to integers all over the place."""


class HashIndex:
    """Rows by the columns ``on``: under each key the rows' numbers, ascending, then their values of the
    columns ``rest``."""

    def __init__(self, rows: Buffer, reader: str, on: tuple[int, ...], rest: tuple[int, ...]) -> None:
        self.key = (reader, on, rest)
        self._rows = rows
        self._on, self._rest = on, rest
        self._single = on[0] if len(on) == 1 else None
        self._table: dict[Key, Lists] | None = None
        self._entries = 0

    def find(self, keys: Sequence[Key], low: int, high: int) -> list[Lists | None]:
        """For each key the numbers and values of its rows with numbers in ``[low, high)``; not to be changed.

        ``low`` never falls from one call to the next: rows below it are forgotten.
        """
        table = self._table
        if table is None:
            table = self._build()
        found: list[Lists | None] = []
        for key in keys:
            entry = table.get(key)
            if entry is None:
                found.append(None)
                continue
            numbers = entry[0]
            if numbers[0] < low:
                dead = bisect_left(numbers, low)
                self._entries -= dead
                if dead == len(numbers):
                    del table[key]
                    found.append(None)
                    continue
                for values in entry:
                    del values[:dead]
            if numbers[-1] >= high:
                end = bisect_left(numbers, high)
                found.append(tuple([values[:end] for values in entry]) if end else None)
            else:
                found.append(entry)
        return found

    def follow_row(self, number: int, values: Sequence[int]) -> None:
        """One row more."""
        table = self._table
        if table is None:
            return
        if self._entries > 2 * len(self._rows) + 16 * _MANY:
            self._table = None
            return
        key: Key
        if self._single is not None:
            key = values[self._single]
        else:
            key = tuple([values[place] for place in self._on])
        entry = table.get(key)
        if entry is None:
            table[key] = (array("q", (number,)), *[array("q", (values[place],)) for place in self._rest])
        else:
            entry[0].append(number)
            for column, place in enumerate(self._rest, 1):
                entry[column].append(values[place])
        self._entries += 1

    def follow(self, number: int, columns: Sequence[Ids]) -> None:
        """Several rows more: a handful is added, many make the table not worth keeping."""
        if self._table is None:
            return
        if len(columns[0]) > _MANY:
            self._table = None
            return
        for row, values in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            self.follow_row(number + row, values)

    def restart(self) -> None:
        """Other rows take the place of all."""
        self._table = None

    def _build(self) -> dict[Key, Lists]:
        self._table = {}
        self._entries = 0
        places = max((*self._on, *self._rest), default=-1) + 1
        columns = [self._rows.column(place).tolist() for place in range(places)]
        for row, values in enumerate(zip(*columns, strict=True)):
            self.follow_row(self._rows.first + row, values)
        return self._table


def hash_index(triples: LiveTriples, reader: str, on: tuple[int, ...], rest: tuple[int, ...]) -> HashIndex:
    """The live triples by the columns ``on`` for one window, kept up to date from now on."""
    for each in triples.followers:
        if isinstance(each, HashIndex) and each.key == (reader, on, rest):
            return each
    found = HashIndex(triples.rows, reader, on, rest)
    triples.followers.append(found)
    return found


def table_of(view: Relation, on: Sequence[str], rest: Sequence[str]) -> dict[Key, Lists] | None:
    """The rows of a static view by the columns ``on``, with row numbers first as in a ``HashIndex``; None
    where there are too many to hold so."""
    if len(view) > _LARGEST:
        return None
    table: dict[Key, Lists] = {}
    columns = [view.columns[name].tolist() for name in on]
    keys = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
    values = [range(len(view)), *(view.columns[name].tolist() for name in rest)]
    for key, row in zip(keys, zip(*values, strict=True), strict=True):
        entry = table.get(key)
        if entry is None:
            entry = table[key] = tuple([array("q") for _ in row])
        for column, value in zip(entry, row, strict=True):
            column.append(value)
    return table
