"""The triples of one pattern in one window, as an input of joins.

At index k a row is visible if its coordinate lies in ``[low[k], high[k])`` and no later equal triple has
taken over from it; what a window shows is a range of the live triples, so most questions are binary searches.
"""

from __future__ import annotations

import numpy as np

from weir.kernel.operators.inputs.input import (
    Present,
    RelationInput,
    instantaneous,
    join_generally,
    joined,
    unsteady,
)
from weir.kernel.relations.keys import positions_in, spread
from weir.kernel.relations.matches import verified
from weir.kernel.relations.relation import Relation, union
from weir.kernel.windows.arrivals import FEW
from weir.kernel.windows.live_triples import NEVER, Keeping, LiveTriples
from weir.kernel.windows.reduction import Members, ReducedTriples, reduced
from weir.kernel.windows.window import Window
from weir.kernel.windows.window_index import IndexCounts, WindowIndex
from weir.rdf.columns import Ids, Mask

_NONE = np.empty(0, np.int64)
_NEVER = np.zeros(0, np.bool_)


class WindowInput:
    """The triples of one pattern in one window.

    ``names`` gives the column of each variable among the live ``triples``. What the window shows is a range
    of rows; it is looked up when somebody asks.
    """

    steady = False

    def __init__(
        self, name: str, triples: LiveTriples, window: Window, names: dict[str, str], counts: IndexCounts
    ) -> None:
        self.name = name
        self.window = window
        self.variables = tuple(names)
        self._names = names
        self._counts = counts
        self._by = window.spec.rows_by
        self.use(triples)

    def use(self, triples: LiveTriples) -> None:
        """Read from these live triples."""
        self.triples = triples
        self._rows = triples.rows
        self._columns = tuple((name, triples.place(column)) for name, column in self._names.items())
        self._place = dict(self._columns)
        self.coordinate = triples.place(self._by)
        self._later = triples.place("later") if triples.keeping is Keeping.LATEST else None
        self._indexes: dict[tuple[str, ...], WindowIndex] = {}

    def place_of(self, name: str) -> int:
        """The place of a variable among the columns of the live triples."""
        return self._place[name]

    def reduce(self, accept: Members) -> None:
        """Look only at rows that ``accept`` keeps, as long as that leaves much out."""
        self.use(reduced(self.triples, accept))

    def settle(self) -> None:
        """Go back to all triples where reducing it leaves out little."""
        if isinstance(self.triples, ReducedTriples) and self.triples.useless:
            self.triples.whole.followers.remove(self.triples)
            self.use(self.triples.whole)

    def prepare(self, low: Ids, high: Ids) -> None:
        """The window's ends at the instants of the next slab."""
        self.settle()
        self._low, self._high = low, high
        self._bounds: tuple[Ids, Ids] | None = None
        self._every: tuple[Ids, Ids] | None = None
        self._span: tuple[int, int] | None = None
        self._core: tuple[int, int] | None = None
        self._where = self._rows.column(self.coordinate)

    def _shown(self) -> tuple[int, int]:
        """The range of rows that are visible at some instant."""
        if self._span is None:
            self._span = self._range(self._low[0], self._high[-1])
        return self._span

    def _throughout(self) -> tuple[int, int]:
        """The range of rows that are visible at every instant."""
        if self._core is None:
            self._core = self._range(self._low[-1], self._high[0])
        return self._core

    def _range(self, low: np.int64, high: np.int64) -> tuple[int, int]:
        first = int(self._where.searchsorted(low))
        return first, max(first, int(self._where.searchsorted(high)))

    def newest(self) -> int:
        """The coordinate of the newest row."""
        return int(self._rows.column(self.coordinate)[-1])

    def __len__(self) -> int:
        first, end = self._shown()
        return end - first

    def standing(self) -> int:
        return max(self._shown()[1] - self._throughout()[0], 0)

    def has_stable(self) -> bool:
        first, end = self._throughout()
        return first < end

    @property
    def _superseded(self) -> Ids | None:
        """Which row takes over from each, where any does."""
        if self._later is None or not self.triples.superseded:
            return None
        return self._rows.column(self._later)

    def _intervals(self, rows: Ids | slice) -> tuple[Ids, Ids]:
        where = self._where[rows]
        search = positions_in if isinstance(rows, slice) else np.searchsorted
        start, end = search(self._high, where + 1), search(self._low, where + 1)
        later = self._superseded
        if later is not None:
            takers = later[rows]
            over = (takers != NEVER).nonzero()[0]
            if len(over):
                after = self._where[takers[over] - self._rows.first]
                end[over] = np.minimum(end[over], self._high.searchsorted(after, side="right"))
        return start, end

    def _intervals_of(self, rows: Ids) -> tuple[Ids, Ids]:
        """The same, by way of all rows where there are fewer of them."""
        first, end = self._shown()
        if len(rows) <= 2 * (end - first):
            return self._intervals(rows)
        if self._every is None:
            self._every = self._intervals(slice(first, end))
        return self._every[0][rows - first], self._every[1][rows - first]

    def _listed(self, rows: Ids | slice) -> Relation:
        start, end = self._intervals(rows)
        seen = start < end
        columns = {name: self._rows.column(place)[rows] for name, place in self._columns}
        found = Relation(columns, start, end)
        return found if seen.all() else found.take(seen.nonzero()[0])

    def relation(self) -> Relation:
        first, end = self._shown()
        return self._listed(slice(first, end)) if first < end else Relation.empty(self.variables)

    def changed(self) -> Relation:
        (first, end), (core, core_end) = self._shown(), self._throughout()
        if core >= core_end:
            return self.relation()
        later = self._superseded
        if later is not None:
            moved = np.ones(end - first, np.bool_)
            moved[core - first : core_end - first] = later[core:core_end] != NEVER
            return unsteady(self._listed(np.flatnonzero(moved) + first), len(self._low))
        if first == core:
            return self._listed(slice(core_end, end)) if core_end < end else Relation.empty(self.variables)
        if core_end == end:
            return self._listed(slice(first, core))
        return self._listed(np.concatenate([np.arange(first, core), np.arange(core_end, end)]))

    def _visible(self, flow: Relation) -> tuple[Ids, Ids]:
        """For each row of the flow, the range of positions that can be visible with it."""
        if self._bounds is None:
            first, end = self._shown()
            where = self._where[first:end]
            self._bounds = (positions_in(where, self._low) + first, positions_in(where, self._high) + first)
        return self._bounds[0][flow.start], self._bounds[1][flow.end - 1]

    def _index(self, on: tuple[str, ...]) -> WindowIndex:
        index = self._indexes.get(on)
        if index is None:
            index = WindowIndex(self.triples, tuple(self._place[name] for name in on), self._counts)
            self._indexes[on] = index
        return index

    def join(self, flow: Relation, *, stable: bool = False) -> Relation:
        if flow.optional and flow.optional.intersection(self.variables):
            return join_generally(flow, self.relation(), len(self._low), stable)
        on = tuple(name for name in self.variables if name in flow.columns)
        # Where each row of the flow has one instant, a range of positions is all it can see.
        exact = not stable and self._superseded is None and instantaneous(flow)
        left, right = self._pairs(flow, on, *(self._throughout() if stable else self._shown()), exact)
        rows = Relation({name: self._rows.column(place) for name, place in self._columns}, _NONE, _NONE)
        if len(on) > 1:
            left, right = verified(flow.columns, rows.columns, left, right, on)
        intervals = None if exact else self._intervals_of(right)
        return joined(flow, rows, left, right, intervals, len(self._low) if stable else None)

    def takes_ranges(self, flow: Relation) -> bool:
        """Whether a range of positions is all that tells what of the window each row of a flow can see."""
        return self._superseded is None and not flow.optional and instantaneous(flow)

    def ranges(self, flow: Relation) -> tuple[Ids, Ids, int, int]:
        """The range of positions that each row of a flow can see, and the range of all of them."""
        return (*self._visible(flow), *self._shown())

    def column(self, name: str) -> Ids:
        """The live rows of a variable."""
        return self._rows.column(self._place[name])

    def _pairs(
        self, flow: Relation, on: tuple[str, ...], first: int, end: int, exact: bool
    ) -> tuple[Ids, Ids]:
        if first >= end or not len(flow):
            return _NONE, _NONE
        low, high = self._visible(flow)
        if not on:
            low, high = np.maximum(low, first), np.minimum(high, end)
            return spread(low, np.maximum(high - low, 0))
        probes = [flow.columns[name] for name in on]
        return self._index(on).matches(probes, first, end, (low, high), exact=exact)

    def estimate(self, flow: Relation) -> float:
        if not len(self._where):
            return 0.0
        on = tuple(name for name in self.variables if name in flow.columns)
        if not on or (flow.optional and flow.optional.intersection(on)):
            if len(flow) <= FEW:
                return float(len(flow) * self.standing())
            low, high = self._visible(flow)
            return float(np.maximum(high - low, 0).sum())
        return self._index(on).estimate([flow.columns[name] for name in on], *self._shown())


class AlternatingInput(RelationInput):
    """``closed`` and ``opened`` read the same triples of the same window."""

    def __init__(self, name: str, present: Present, closed: WindowInput, opened: WindowInput) -> None:
        super().__init__(name, closed.variables, self._list, 0)
        self.present = present
        self.closed, self.opened = closed, opened
        self.window = closed.window

    @property
    def triples(self) -> LiveTriples:
        """Where both rows find their triples."""
        return self.closed.triples

    def use(self, triples: LiveTriples) -> None:
        """Read from these live triples."""
        self.closed.use(triples)
        self.opened.use(triples)

    def prepare(self, low: Ids, high: Ids) -> None:
        """The next slab."""
        at = self.present.at
        self.closed.prepare(*self.window.row(at, closed=True))
        self.opened.prepare(*self.window.row(at, closed=False))
        self.begin(len(at))

    def _list(self) -> Relation:
        own = self.window.own_closes(self.present.at) if self.window.first is not None else _NEVER
        return union(cut(self.closed.relation(), own), cut(self.opened.relation(), ~own))


def cut(relation: Relation, mask: Mask) -> Relation:
    """What is visible of the rows at the indices of a mask."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    start, end = edges[::2], edges[1::2]
    first = end.searchsorted(relation.start, side="right")
    count = start.searchsorted(relation.end) - first
    owner, run = spread(first, np.maximum(count, 0))
    return relation.pieces(
        owner, np.maximum(relation.start[owner], start[run]), np.minimum(relation.end[owner], end[run])
    )
