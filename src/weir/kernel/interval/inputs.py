"""What a join joins: windows, static views and relations computed below, all probed the same way.

An input can list its rows, list those whose visibility changes within the slab, and find the partners of
a flow's rows. Partners' intervals are computed for the pairs found, not for all rows there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from weir.kernel.interval.arrivals import FEW
from weir.kernel.interval.gathering import gathered
from weir.kernel.interval.instants import LOWEST, Instants
from weir.kernel.interval.kept import Counts, KeptIndex
from weir.kernel.interval.keys import combine
from weir.kernel.interval.lookup import Lookup
from weir.kernel.interval.operators import matches, merge, union
from weir.kernel.interval.relation import Relation
from weir.kernel.interval.sorting import SortedKeys, spread
from weir.kernel.interval.track import NEVER, Accept, Derived, Keeping, Track
from weir.kernel.interval.window import Window
from weir.rdf.columns import Ids

_NONE = np.empty(0, np.int64)


class Present:
    """The instants of the slab at hand, for everything that runs in it."""

    __slots__ = ("at",)

    def __init__(self, at: Instants) -> None:
        self.at = at

    def __len__(self) -> int:
        return len(self.at.time)


class Input(Protocol):
    """``variables`` are its columns; ``name`` is how routes are shown."""

    name: str
    variables: tuple[str, ...]

    @property
    def steady(self) -> bool:
        """Whether every row is always visible."""
        ...

    def __len__(self) -> int:
        """How many rows take part in the slab, or a close upper bound."""
        ...

    def standing(self) -> int:
        """The cardinality at the present time: what Algorithm 2 of CQELS looks at."""
        ...

    def relation(self) -> Relation:
        """All rows."""
        ...

    def changed(self) -> Relation:
        """The rows that are not visible throughout the slab."""
        ...

    def has_stable(self) -> bool:
        """Whether any row may be visible throughout the slab."""
        ...

    def join(self, flow: Relation, *, stable: bool = False) -> Relation:
        """The flow's rows with their partners; only partners visible throughout if ``stable``."""
        ...

    def estimate(self, flow: Relation) -> float:
        """About how many rows ``join`` would give."""
        ...


class WindowInput:
    """The triples of one pattern in one window.

    ``names`` gives the track's column of each variable. What the window shows is a range of rows; it is
    looked up when somebody asks.
    """

    steady = False

    def __init__(
        self, name: str, track: Track, window: Window, names: dict[str, str], counts: Counts
    ) -> None:
        self.name = name
        self.window = window
        self.variables = tuple(names)
        self._names = names
        self._counts = counts
        self._by = window.spec.rows_by
        self.use(track)

    def use(self, track: Track) -> None:
        """Read from this track."""
        self.track = track
        self._rows = track.rows
        self._columns = tuple((name, track.place(column)) for name, column in self._names.items())
        self._place = dict(self._columns)
        self._spots = tuple(place for _, place in self._columns)
        self._coordinate = track.place(self._by)
        self._later = track.place("later") if track.keeping is Keeping.LATEST else None
        self._seen = (LOWEST, -1, 0, 0)
        self._lookups: dict[tuple[tuple[str, ...], tuple[str, ...]], Lookup] = {}
        self._indexes: dict[tuple[str, ...], KeptIndex] = {}

    def place_of(self, name: str) -> int:
        """The place of a variable among the track's columns."""
        return self._place[name]

    def reduce(self, accept: Accept) -> None:
        """Look only at rows that ``accept`` keeps, as long as that leaves much out."""
        self.use(self.track.derive(accept))

    def settle(self) -> None:
        """Go back to the whole track where reducing it leaves out little."""
        if isinstance(self.track, Derived) and self.track.useless:
            self.track.whole.derived.remove(self.track)
            self.use(self.track.whole)

    def numbers_at(self, time: int) -> tuple[int, int]:
        """The range of row numbers visible at one instant (windows that ``Window.least`` answers for)."""
        if self._seen[0] != time or self._seen[1] != self._rows.end:
            low = self.window.least(time)
            assert low is not None
            where, first = self._rows.column(self._coordinate), self._rows.first
            start = int(where.searchsorted(low)) if len(where) and where.item(0) < low else 0
            high = self.window.reach(time)
            end = len(where) if not len(where) or where.item(-1) < high else int(where.searchsorted(high))
            self._seen = (time, self._rows.end, first + start, first + end)
        return self._seen[2], self._seen[3]

    def shows(self, time: int) -> int:
        """How many rows are visible at one instant."""
        low, high = self.numbers_at(time)
        return max(high - low, 0)

    def fresh_rows(self, time: int) -> list[tuple[int, ...]] | None:
        """The rows visible at ``time``, in the order of ``variables``, if none was the instant before.

        None if some was, or if more than a few are new: only the newest rows are looked at.
        """
        rows = self._rows
        where = rows.column(self._coordinate)
        window = self.window
        before, now, shown = window.reach(time - 1), window.reach(time), window.least(time)
        assert shown is not None
        found: list[tuple[int, ...]] = []
        place = len(where)
        while place:
            place -= 1
            coordinate = where.item(place)
            if coordinate >= now:
                continue
            if coordinate < before:
                least = window.least(time - 1)
                if least is None or coordinate >= least:
                    return None
                break
            if coordinate < shown:
                # New, and pushed out again by what came with it.
                continue
            if len(found) == FEW:
                return None
            found.append(rows.row(place, self._spots))
        if len(found) > 1:
            found.reverse()
        return found

    def lookup(self, on: tuple[str, ...], rest: tuple[str, ...]) -> Lookup:
        """The track's rows by some variables."""
        found = self._lookups.get((on, rest))
        if found is None:
            places = [tuple(self._place[name] for name in names) for names in (on, rest)]
            found = self._lookups[on, rest] = self.track.lookup(self.window.spec.name, *places)
        return found

    def prepare(self, low: Ids, high: Ids) -> None:
        """The window's ends at the instants of the next slab."""
        self.settle()
        self._low, self._high = low, high
        self._bounds: tuple[Ids, Ids] | None = None
        self._every: tuple[Ids, Ids] | None = None
        self._span: tuple[int, int] | None = None
        self._core: tuple[int, int] | None = None
        self._where = self._rows.column(self._coordinate)

    def _shown(self) -> tuple[int, int]:
        """The range of rows that are visible at some instant."""
        if self._span is None:
            where = self._where
            first = int(where.searchsorted(self._low[0]))
            self._span = (first, max(first, int(where.searchsorted(self._high[-1]))))
        return self._span

    def _throughout(self) -> tuple[int, int]:
        """The range of rows that are visible at every instant."""
        if self._core is None:
            where = self._where
            first = int(where.searchsorted(self._low[-1]))
            self._core = (first, max(first, int(where.searchsorted(self._high[0]))))
        return self._core

    def newest(self) -> int:
        """The coordinate of the newest row."""
        return int(self._rows.column(self._coordinate)[-1])

    def __len__(self) -> int:
        first, end = self._shown()
        return end - first

    def standing(self) -> int:
        return max(self._shown()[1] - self._throughout()[0], 0)

    def has_stable(self) -> bool:
        first, end = self._throughout()
        return first < end

    def _column(self, name: str) -> Ids:
        return self._rows.column(self._place[name])

    @property
    def _superseded(self) -> Ids | None:
        """Which row takes over from each, where any does."""
        if self._later is None or not self.track.superseded:
            return None
        return self._rows.column(self._later)

    def _intervals(self, rows: Ids | slice) -> tuple[Ids, Ids]:
        where = self._where[rows]
        start = self._high.searchsorted(where, side="right")
        end = self._low.searchsorted(where, side="right")
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
        places = rows - first
        return self._every[0][places], self._every[1][places]

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
            return _unsteady(self._listed(np.flatnonzero(moved) + first), len(self._low))
        if first == core:
            return self._listed(slice(core_end, end)) if core_end < end else Relation.empty(self.variables)
        if core_end == end:
            return self._listed(slice(first, core))
        return self._listed(np.concatenate([np.arange(first, core), np.arange(core_end, end)]))

    def _visible(self, flow: Relation) -> tuple[Ids, Ids]:
        """For each row of the flow, the range of positions that can be visible with it."""
        if self._bounds is None:
            self._bounds = (self._where.searchsorted(self._low), self._where.searchsorted(self._high))
        return self._bounds[0][flow.start], self._bounds[1][flow.end - 1]

    def _index(self, on: tuple[str, ...]) -> KeptIndex:
        index = self._indexes.get(on)
        if index is None:
            index = KeptIndex(self.track, tuple(self._place[name] for name in on), self._counts)
            self._indexes[on] = index
        return index

    def join(self, flow: Relation, *, stable: bool = False) -> Relation:
        if flow.optional and flow.optional.intersection(self.variables):
            return _generic(flow, self.relation(), len(self._low), stable)
        on = tuple(name for name in self.variables if name in flow.columns)
        # Where each row of the flow has one instant, a range of positions is all it can see.
        exact = not stable and self._superseded is None and _instantaneous(flow)
        if exact and len(flow) <= _SHORT and (found := self._at_once(flow, on)) is not None:
            left, right = found
        else:
            left, right = self._pairs(flow, on, *(self._throughout() if stable else self._shown()), exact)
        if len(on) > 1:
            for name in on:
                same = flow.columns[name][left] == self._column(name)[right]
                if not same.all():
                    left, right = left[same], right[same]
        if exact:
            return self._merged(flow, left, right, flow.start[left], flow.end[left], flow.start)
        start, finish = self._intervals_of(right)
        if stable:
            kept = (start == 0) & (finish == len(self._low))
            start, finish = flow.start[left], flow.end[left]
        else:
            start = np.maximum(start, flow.start[left])
            finish = np.minimum(finish, flow.end[left])
            kept = start < finish
        if not kept.all():
            left, right, start, finish = left[kept], right[kept], start[kept], finish[kept]
        return self._merged(flow, left, right, start, finish, None)

    def takes_ranges(self, flow: Relation) -> bool:
        """Whether a range of positions is all that tells what of the window each row of a flow can see."""
        return self._superseded is None and not flow.optional and _instantaneous(flow)

    def ranges(self, flow: Relation) -> tuple[Ids, Ids, int, int]:
        """The range of positions that each row of a flow can see, and the range of all of them."""
        return (*self._visible(flow), *self._shown())

    def column(self, name: str) -> Ids:
        """The live rows of a variable."""
        return self._column(name)

    def _at_once(self, flow: Relation, on: tuple[str, ...]) -> tuple[Ids, Ids] | None:
        """Pairs for a few rows of one instant, to which the same rows of the window are visible."""
        starts = flow.start.tolist()
        index = starts[0] if starts else 0
        if not on or any(start != index for start in starts):
            return None
        low = int(self._where.searchsorted(self._low[index]))
        high = int(self._where.searchsorted(self._high[index]))
        return self._index(on).matches([flow.columns[name] for name in on], low, high, _ANYWHERE)

    def _pairs(
        self, flow: Relation, on: tuple[str, ...], first: int, end: int, exact: bool
    ) -> tuple[Ids, Ids]:
        if first >= end or not len(flow):
            return _NONE, _NONE
        if not on:
            low, high = self._visible(flow)
            low, high = np.maximum(low, first), np.minimum(high, end)
            return spread(low, np.maximum(high - low, 0))
        probes = [flow.columns[name] for name in on]
        limited = exact or len(flow) * (end - first) > _LAZY
        bounds = self._visible(flow) if limited else _ANYWHERE
        return self._index(on).matches(probes, first, end, bounds, exact=exact)

    def _merged(
        self, flow: Relation, left: Ids, right: Ids, start: Ids, end: Ids, instant: Ids | None
    ) -> Relation:
        own = {name: self._rows.column(place) for name, place in self._columns if name not in flow.columns}
        return Relation(gathered(flow.columns, left, own, right, instant), start, end, flow.optional)

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


class StaticInput:
    """A view on static graphs: rows valid for ever, or in ``[since, until)`` microseconds."""

    def __init__(
        self,
        name: str,
        present: Present,
        view: Relation,
        since: Ids | None = None,
        until: Ids | None = None,
    ) -> None:
        self.name = name
        self.present = present
        self.view = view
        self.variables = view.variables
        self._since, self._until = since, until
        self._indexes: dict[tuple[str, ...], SortedKeys] = {}
        self._probed: tuple[Relation, Ids, Ids] | None = None

    @property
    def _time(self) -> Ids:
        return self.present.at.time

    @property
    def varies(self) -> bool:
        """Whether rows come and go."""
        return self._since is not None

    @property
    def steady(self) -> bool:
        return self._since is None

    def __len__(self) -> int:
        return len(self.view)

    def standing(self) -> int:
        return len(self.view)

    def has_stable(self) -> bool:
        return len(self.view) > 0

    def _intervals(self, rows: Ids | slice) -> tuple[Ids, Ids]:
        assert self._since is not None and self._until is not None
        return (
            self._time.searchsorted(self._since[rows]),
            self._time.searchsorted(self._until[rows]),
        )

    def relation(self) -> Relation:
        rows, instants = len(self.view), len(self._time)
        if self._since is None:
            start = np.zeros(rows, np.int64)
            return self.view.during(start, np.full(rows, instants, np.int64))
        start, end = self._intervals(slice(None))
        seen = start < end
        found = self.view.during(start, end)
        return found if seen.all() else found.take(np.flatnonzero(seen))

    def changed(self) -> Relation:
        if self._since is None:
            return self.view.take(_NONE)
        return _unsteady(self.relation(), len(self._time))

    def index(self, on: tuple[str, ...]) -> SortedKeys:
        """The view by some of its variables, built once."""
        found = self._indexes.get(on)
        if found is None:
            found = self._indexes[on] = SortedKeys(combine([self.view.columns[name] for name in on]))
        return found

    def join(self, flow: Relation, *, stable: bool = False) -> Relation:
        shared = [name for name in self.variables if name in flow.columns]
        if self.view.optional.intersection(shared) or flow.optional.intersection(shared):
            return _generic(flow, self.relation(), len(self._time), stable)
        if shared:
            on = tuple(shared)
            left, right = self._probe(flow, on)
            if len(on) > 1:
                for name in on:
                    same = flow.columns[name][left] == self.view.columns[name][right]
                    if not same.all():
                        left, right = left[same], right[same]
        else:
            left = np.repeat(np.arange(len(flow)), len(self.view))
            right = np.tile(np.arange(len(self.view)), len(flow))
        start, end = flow.start[left], flow.end[left]
        if self._since is not None:
            since, until = self._intervals(right)
            if stable:
                seen = (since == 0) & (until == len(self._time))
            else:
                start, end = np.maximum(start, since), np.minimum(end, until)
                seen = start < end
            if not seen.all():
                left, right, start, end = left[seen], right[seen], start[seen], end[seen]
        own = {name: column for name, column in self.view.columns.items() if name not in flow.columns}
        instant = flow.start if self._since is None and _instantaneous(flow) else None
        optional = flow.optional
        if self.view.optional:
            optional |= self.view.optional.difference(flow.columns)
        return Relation(gathered(flow.columns, left, own, right, instant), start, end, optional)

    def _probe(self, flow: Relation, on: tuple[str, ...]) -> tuple[Ids, Ids]:
        """Pairs (row of the flow, row of the view); what was estimated is not looked up again."""
        if self._probed is None or self._probed[0] is not flow:
            self._probed = (flow, *self._lookup(flow, on))
        return self._probed[1], self._probed[2]

    def _lookup(self, flow: Relation, on: tuple[str, ...]) -> tuple[Ids, Ids]:
        if len(self.view) * len(flow) <= _TINY:
            hits = flow.columns[on[0]][:, None] == self.view.columns[on[0]]
            for name in on[1:]:
                hits &= flow.columns[name][:, None] == self.view.columns[name]
            left, right = np.nonzero(hits)
            return left, right
        index = self.index(on)
        probe, place = spread(*index.ranges(combine([flow.columns[name] for name in on])))
        return probe, index.order[place]

    def estimate(self, flow: Relation) -> float:
        on = tuple(name for name in self.variables if name in flow.columns)
        if not on or flow.optional.intersection(on) or self.view.optional.intersection(on):
            return float(len(flow)) * len(self.view)
        if len(self.view) * len(flow) <= _TINY:
            return float(len(self._probe(flow, on)[0]))
        return float(self.index(on).ranges(combine([flow.columns[name] for name in on]))[1].sum())


class RelationInput:
    """A relation that other operators compute in the same slab, once somebody asks for it."""

    steady = False

    def __init__(
        self, name: str, variables: tuple[str, ...], compute: Callable[[], Relation], instants: int
    ) -> None:
        self.name = name
        self.variables = variables
        self._compute = compute
        self._instants = instants
        self._computed: Relation | None = None
        self._stable: Relation | None = None

    @property
    def _rows(self) -> Relation:
        if self._computed is None:
            self._computed = self._compute()
        return self._computed

    @property
    def computed(self) -> bool:
        """Whether its rows are there already."""
        return self._computed is not None

    def __len__(self) -> int:
        return len(self._rows)

    def standing(self) -> int:
        return len(self._rows)

    def has_stable(self) -> bool:
        return len(self._steady()) > 0

    def _steady(self) -> Relation:
        if self._stable is None:
            whole = (self._rows.start == 0) & (self._rows.end == self._instants)
            self._stable = self._rows.take(np.flatnonzero(whole))
        return self._stable

    def relation(self) -> Relation:
        return self._rows

    def changed(self) -> Relation:
        return _unsteady(self._rows, self._instants)

    def join(self, flow: Relation, *, stable: bool = False) -> Relation:
        partners = self._steady() if stable else self._rows
        return merge(flow, partners, matches(flow, partners))

    def estimate(self, flow: Relation) -> float:
        on = [name for name in self._rows.columns if name in flow.columns]
        if not on or flow.optional.intersection(on) or self._rows.optional.intersection(on):
            return float(len(flow)) * len(self._rows)
        keys = SortedKeys(combine([self._rows.columns[name] for name in on]))
        return float(keys.ranges(combine([flow.columns[name] for name in on]))[1].sum())


class UnionInput:
    """Several inputs of the same variables, no row of which is also in another."""

    steady = False

    def __init__(self, name: str, parts: Sequence[Input]) -> None:
        self.name = name
        self.parts = tuple(parts)
        self.variables = self.parts[0].variables

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts)

    def standing(self) -> int:
        return sum(part.standing() for part in self.parts)

    def has_stable(self) -> bool:
        return any(part.has_stable() for part in self.parts)

    def relation(self) -> Relation:
        return union(*(part.relation() for part in self.parts))

    def changed(self) -> Relation:
        return union(*(part.changed() for part in self.parts))

    def join(self, flow: Relation, *, stable: bool = False) -> Relation:
        return union(*(part.join(flow, stable=stable) for part in self.parts))

    def estimate(self, flow: Relation) -> float:
        return sum(part.estimate(flow) for part in self.parts)


def _instantaneous(flow: Relation) -> bool:
    return bool((flow.end - flow.start == 1).all())


_TINY = 1 << 10
_SHORT = 1 << 6
_LAZY = 1 << 14
_ANYWHERE = (_NONE, _NONE)


def _unsteady(relation: Relation, instants: int) -> Relation:
    """Without the rows that are visible throughout."""
    moving = (relation.start > 0) | (relation.end < instants)
    return relation if moving.all() else relation.take(np.flatnonzero(moving))


def _generic(flow: Relation, rows: Relation, instants: int, stable: bool) -> Relation:
    """A join where a shared variable may be unbound."""
    if stable:
        rows = rows.take(np.flatnonzero((rows.start == 0) & (rows.end == instants)))
    return merge(flow, rows, matches(flow, rows))
