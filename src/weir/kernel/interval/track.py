"""The live triples of one stream that match one pattern: kept once, shown by every window that reads them.

A row is found by its coordinates (time, sequence number of its message, number among all triples), all of
which ascend, so what a window shows at any instant is a contiguous range of rows.

The three ways to keep equal triples follow from the content (SEMANTICS, "Data"):

* BAG: every occurrence is a row.
* GRAPH: a later occurrence takes over from an earlier one. Each is visible from its own start until the
  later one's start, so a triple is visible once at a time and nothing has to be merged.
* GRAPH in a window that never lets go (ALL): later occurrences add nothing and are not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np

from weir.kernel.interval.arrivals import Ready
from weir.kernel.interval.buffer import Buffer
from weir.kernel.interval.instants import LOWEST
from weir.kernel.interval.operators import Slot
from weir.rdf.columns import Ids

COORDINATES = ("time", "sequence", "number")
_SLOTS = ("subject", "predicate", "object", "graph")
NEVER = np.iinfo(np.int64).max


class Keeping(Enum):
    """How equal triples are kept."""

    BAG = "bag"
    LATEST = "latest"
    FIRST = "first"


class Track:
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
        places: dict[str, int] = {}
        for place, slot in enumerate(self.slots):
            if isinstance(slot, str):
                places.setdefault(slot, place)
        self.columns = tuple(places)
        self._places = tuple(places.values())
        self._coordinates = tuple(name for name in COORDINATES if name in coordinates)
        later = ("later",) if keeping is Keeping.LATEST else ()
        self.rows = Buffer((*self.columns, *self._coordinates, *later))
        self.superseded = 0
        self._latest: dict[int | tuple[int, ...], int] = {}

    def column(self, name: str) -> Ids:
        """The live rows of a variable or coordinate, as a view."""
        return self.rows.column(self.rows.names.index(name))

    def coordinate(self, name: str) -> Ids:
        """The live rows of a coordinate, as a view."""
        return self.rows.column(len(self.columns) + self._coordinates.index(name))

    @property
    def later(self) -> Ids:
        """The absolute number of the row that takes over from each, NEVER if none has come."""
        return self.rows.column(len(self.rows.names) - 1)

    def append(self, ready: Ready) -> None:
        """Take in the triples that match."""
        chosen = self._select(ready) if len(ready) else None
        if not len(ready) or (chosen is not None and not len(chosen)):
            return
        parts: list[Ids] = []
        for place in self._places:
            column: Ids = getattr(ready, _SLOTS[place])
            parts.append(column if chosen is None else column[chosen])
        for name in self._coordinates:
            column = getattr(ready, name)
            parts.append(column if chosen is None else column[chosen])
        if self.keeping is Keeping.BAG:
            self.rows.append(parts)
        elif self.keeping is Keeping.FIRST:
            self._append_first(parts)
        else:
            self._append_latest(parts)

    def _select(self, ready: Ready) -> Ids | None:
        """The positions of matching triples; None where all match."""
        rows: Ids | None = None
        if self.floor > LOWEST and ready.time[0] < self.floor:
            rows = np.flatnonzero(ready.time >= self.floor)
        for place in (1, 0, 2, 3):
            slot = self.slots[place]
            column: Ids = getattr(ready, _SLOTS[place])
            if isinstance(slot, int):
                rows = np.flatnonzero(column == slot) if rows is None else rows[column[rows] == slot]
            elif isinstance(slot, str):
                first = self._places[self.columns.index(slot)]
                if first != place:
                    other: Ids = getattr(ready, _SLOTS[first])
                    rows = (
                        np.flatnonzero(column == other) if rows is None else rows[column[rows] == other[rows]]
                    )
                if place == 3 and not column.all():
                    rows = np.flatnonzero(column) if rows is None else rows[column[rows] != 0]
            if rows is not None and not len(rows):
                return rows
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
        first, oldest = self.rows.end, self.rows.first
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

    def _append_first(self, parts: list[Ids]) -> None:
        latest = self._latest
        fresh: list[int] = []
        for place, key in enumerate(self._keys(parts)):
            if key not in latest:
                latest[key] = self.rows.first
                fresh.append(place)
        if fresh:
            places = np.array(fresh)
            self.rows.append([part[places] for part in parts])

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
        self._latest = {}
        self.superseded = 0
        self.rows.restore(first, [])
        if not len(parts[0]):
            return
        if self.keeping is Keeping.LATEST:
            self._append_latest(parts)
        else:
            self.rows.append(parts)
            if self.keeping is Keeping.FIRST:
                self._latest = dict.fromkeys(self._keys(parts), first)
