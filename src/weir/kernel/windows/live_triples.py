"""The live triples of one stream that match one pattern: kept once, shown by every window that reads them.

A row is found by its coordinates (time, sequence number of its message, number among all triples), all of
which ascend, so what a window shows at any instant is a contiguous range of rows.

The three ways to keep equal triples follow from the content (docs/semantics.md, "Data"):

* BAG: every occurrence is a row.
* GRAPH: a later occurrence takes over from an earlier one. Each is visible from its own start until the
  later one's start, so a triple is visible once at a time and nothing has to be merged.
* GRAPH in a window that never lets go (ALL): later occurrences add nothing and are not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Protocol

import numpy as np

from weir.kernel.relations.keys import firsts, grouped
from weir.kernel.relations.relation import Slot
from weir.kernel.windows.arrivals import FEW, Ready, Single
from weir.kernel.windows.buffer import Buffer
from weir.kernel.windows.instants import LOWEST
from weir.rdf.columns import Ids

COORDINATES = ("time", "sequence", "number")


_SINGLE = ("subject", "predicate", "object", "graph", *COORDINATES)
"""The columns of ready triples, in the order of ``Single``."""

NEVER = np.iinfo(np.int64).max


_MANY = 512
"""New rows from which on sorting is cheaper than asking for each."""


class Keeping(Enum):
    """How equal triples are kept."""

    BAG = "bag"
    LATEST = "latest"
    FIRST = "first"


class Follower(Protocol):
    """Something kept up to date with the rows of a pattern: an index, or a part of them."""

    def follow(self, number: int, columns: Sequence[Ids]) -> None:
        """Rows from ``number`` on are new."""
        ...

    def follow_row(self, number: int, values: Sequence[int]) -> None:
        """The row ``number`` is new."""
        ...

    def restart(self) -> None:
        """Forget everything: other rows take the place of all."""
        ...


class LiveTriples:
    """``slots`` are the constants and variables of (subject, predicate, object, graph); a graph of None
    means all graphs. ``columns`` are the variables kept, in order of their slots. Triples before the time
    ``floor`` are not kept."""

    def __init__(
        self,
        slots: Sequence[Slot | None],
        coordinates: Sequence[str],
        keeping: Keeping,
        floor: int = LOWEST,
    ) -> None:
        self.slots = tuple(slots)
        self.keeping = keeping
        self.floor = floor
        self.followers: list[Follower] = []
        places: dict[str, int] = {}
        for place, slot in enumerate(self.slots):
            if isinstance(slot, str):
                places.setdefault(slot, place)
        self.columns = tuple(places)
        self._constants = tuple(
            (place, slot) for place in (1, 0, 2, 3) if isinstance(slot := self.slots[place], int)
        )
        self._equal = tuple(
            (place, places[slot])
            for place, slot in enumerate(self.slots)
            if isinstance(slot, str) and places[slot] != place
        )
        self._coordinates = tuple(name for name in COORDINATES if name in coordinates)
        self._taken = (*places.values(), *(4 + COORDINATES.index(name) for name in self._coordinates))
        self._named = isinstance(self.slots[3], str)
        later = ("later",) if keeping is Keeping.LATEST else ()
        self.rows = Buffer((*self.columns, *self._coordinates, *later))
        self.superseded = 0
        self._latest: dict[int | tuple[int, ...], int] = {}
        self._unread = False
        """Whether ``_latest`` has to be made from the live rows before it is used."""

    def place(self, name: str) -> int:
        """The place of a variable, coordinate or ``later`` among the columns of ``rows``."""
        return self.rows.names.index(name)

    def coordinate(self, name: str) -> Ids:
        """The live rows of a coordinate, as a view."""
        return self.rows.column(self.place(name))

    @property
    def later(self) -> Ids:
        """The absolute number of the row that takes over from each, NEVER if none has come."""
        return self.rows.column(len(self.rows.names) - 1)

    def append(self, ready: Ready) -> None:
        """Take in the triples that match."""
        if not len(ready):
            return
        chosen = self._select(ready) if len(ready) > FEW else self._select_few(ready)
        if chosen is not None and not len(chosen):
            return
        columns = [ready.column(_SINGLE[place]) for place in self._taken]
        self.add(columns if chosen is None else [column[chosen] for column in columns])

    def append_single(self, single: Single) -> None:
        """Take in one triple, if it matches."""
        for place, constant in self._constants:
            if single[place] != constant:
                return
        for place, first in self._equal:
            if single[place] != single[first]:
                return
        if (self._named and not single[3]) or single[4] < self.floor:
            return
        self.add_row([single[place] for place in self._taken])

    def add(self, parts: list[Ids]) -> None:
        """New rows: a column for each variable and coordinate."""
        number = self.rows.end
        if self.keeping is Keeping.BAG:
            self.rows.append(parts)
        elif self.keeping is Keeping.LATEST:
            self._append_latest(parts)
        else:
            parts = self._append_first(parts)
        for each in self.followers:
            each.follow(number, parts)

    def add_row(self, values: list[int]) -> None:
        """One new row: a value for each variable and coordinate."""
        if self.keeping is not Keeping.BAG:
            self.add([np.array([value], np.int64) for value in values])
            return
        number = self.rows.append_row(values)
        for each in self.followers:
            each.follow_row(number, values)

    def _select_few(self, ready: Ready) -> Ids | None:
        """As ``_select``; for a handful of triples plain integers are quicker."""
        if self._equal or self.floor > LOWEST or self._named:
            return self._select(ready)
        rows = list(range(len(ready)))
        for place, constant in self._constants:
            values = ready.column(_SINGLE[place]).tolist()
            rows = [row for row in rows if values[row] == constant]
        return None if len(rows) == len(ready) else np.array(rows, np.int64)

    def _select(self, ready: Ready) -> Ids | None:
        """The positions of matching triples; None where all match."""
        rows: Ids | None = None
        for place, constant in self._constants:
            column = ready.column(_SINGLE[place])
            rows = (column == constant).nonzero()[0] if rows is None else rows[column[rows] == constant]
            if not len(rows):
                return rows
        for place, first in self._equal:
            column, other = ready.column(_SINGLE[place]), ready.column(_SINGLE[first])
            rows = np.flatnonzero(column == other) if rows is None else rows[column[rows] == other[rows]]
        if isinstance(self.slots[3], str):
            column = ready.column("graph")
            rows = np.flatnonzero(column) if rows is None else rows[column[rows] != 0]
        if self.floor > LOWEST:
            column = ready.column("time")
            rows = np.flatnonzero(column >= self.floor) if rows is None else rows[column[rows] >= self.floor]
        return None if rows is None or len(rows) == len(ready) else rows

    def _keys(self, parts: Sequence[Ids]) -> Sequence[int | tuple[int, ...]]:
        width = len(self.columns)
        if width == 0:
            return [0] * len(parts[0])
        if width == 1:
            keys: list[int] = parts[0].tolist()
            return keys
        return list(zip(*(part.tolist() for part in parts[:width]), strict=True))

    def _append_latest(self, parts: list[Ids]) -> None:
        """Every new row takes over from the last one with the same terms, if that is still there."""
        if len(parts[0]) >= _MANY and len(parts[0]) >= len(self.rows) >> 2:
            self._append_together(parts)
            return
        first, oldest = self.rows.end, self.rows.first
        if self._unread:
            live = [self.rows.column(place) for place in range(max(1, len(self.columns)))]
            self._latest = dict(zip(self._keys(live), range(oldest, first), strict=True))
            self._unread = False
        latest = self._latest
        olds: list[int] = []
        news: list[int] = []
        for number, key in enumerate(self._keys(parts), first):
            before = latest.get(key, -1)
            if before >= oldest:
                olds.append(before)
                news.append(number)
            latest[key] = number
        self.rows.append([*parts, np.full(len(parts[0]), NEVER, np.int64)])
        if olds:
            self.later[np.array(olds) - oldest] = news
            self.superseded += len(olds)
        if len(latest) > 2 * len(self.rows) + 64:
            self._latest = {key: number for key, number in latest.items() if number >= oldest}

    def _append_together(self, parts: list[Ids]) -> None:
        """The same for many rows at once: live and new ones are sorted by their terms."""
        live, oldest, width = len(self.rows), self.rows.first, len(self.columns)
        columns = [np.concatenate([self.rows.column(place), parts[place]]) for place in range(width)]
        order, new = grouped(columns, live + len(parts[0]))
        follows = np.flatnonzero(~new[1:] & (order[1:] >= live))
        self.rows.append([*parts, np.full(len(parts[0]), NEVER, np.int64)])
        self.later[order[:-1][follows]] = order[1:][follows] + oldest
        self.superseded += len(follows)
        self._latest, self._unread = {}, True

    def _append_first(self, parts: list[Ids]) -> list[Ids]:
        latest = self._latest
        fresh: list[int] = []
        if len(parts[0]) >= _MANY:
            places = firsts(parts[: len(self.columns)], len(parts[0]))
            parts = [part[places] for part in parts]
        for place, key in enumerate(self._keys(parts)):
            if key not in latest:
                latest[key] = self.rows.first
                fresh.append(place)
        places = np.array(fresh, np.int64)
        parts = [part[places] for part in parts]
        self.rows.append(parts)
        return parts

    def drop(self, count: int) -> None:
        """Forget the oldest rows."""
        self.rows.drop(count)

    # State

    def saved(self) -> tuple[int, list[Ids]]:
        """The live rows: the number of the first, and their columns."""
        count = len(self.columns) + len(self._coordinates)
        return self.rows.first, [self.rows.column(place).copy() for place in range(count)]

    def restore(self, first: int, parts: list[Ids]) -> None:
        """Replace the live rows; who takes over from whom is found again."""
        self._latest, self._unread = {}, False
        self.superseded = 0
        self.rows.restore(first, [])
        for each in self.followers:
            each.restart()
        if parts and len(parts[0]):
            self.add(parts)
