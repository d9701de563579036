"""What a join reads: windows, static views and relations computed below, all probed the same way.

An input can list its rows, list those whose visibility changes within the slab, and find the partners of
a flow's rows. Partners' intervals are computed for the pairs found, not for all rows there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from weir.kernel.relations.keys import SortedKeys, StoredKeys, combine, spread
from weir.kernel.relations.matches import Matches, join, merge, verified
from weir.kernel.relations.relation import Relation, union
from weir.kernel.windows.instants import HIGHEST, LOWEST, Instants
from weir.rdf.columns import Ids

_NONE = np.empty(0, np.int64)
_TINY = 1 << 10


@dataclass(slots=True, eq=False)
class Present:
    """The instants of the slab at hand, for everything that runs in it. It ``follows`` where the first of
    them is the last one of the slab before, and whatever was visible there still is in its windows."""

    at: Instants
    follows: bool = False

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


class RelationInput:
    """A relation that other operators compute in the same slab, once somebody asks for it."""

    steady = False

    def __init__(
        self, name: str, variables: tuple[str, ...], compute: Callable[[], Relation], instants: int
    ) -> None:
        self.name = name
        self.variables = variables
        self._compute = compute
        self.begin(instants)

    def begin(self, instants: int) -> None:
        """A slab of so many instants, in which nothing is computed yet."""
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
            self._stable = throughout(self._rows, self._instants)
        return self._stable

    def relation(self) -> Relation:
        return self._rows

    def changed(self) -> Relation:
        return unsteady(self._rows, self._instants)

    def join(self, flow: Relation, *, stable: bool = False) -> Relation:
        partners = self._steady() if stable else self._rows
        return join(flow, partners)

    def estimate(self, flow: Relation) -> float:
        on = [name for name in self._rows.columns if name in flow.columns]
        if not on or flow.optional.intersection(on) or self._rows.optional.intersection(on):
            return float(len(flow)) * len(self._rows)
        keys = SortedKeys(combine([self._rows.columns[name] for name in on]))
        return float(keys.ranges(combine([flow.columns[name] for name in on]))[1].sum())


class StaticInput:
    """A view on static graphs, whose intervals are of microseconds; ``steady`` if no row comes or goes. Of a
    view that lies in a file some variables are ``stored`` in order, and no other index is made of it."""

    def __init__(
        self, name: str, present: Present, view: Relation, stored: Mapping[str, StoredKeys] | None = None
    ) -> None:
        self.name = name
        self.present = present
        self.view = view
        self.stored = stored or {}
        self.variables = view.variables
        self.steady = bool((view.start == LOWEST).all() and (view.end == HIGHEST).all())
        self._indexes: dict[tuple[str, ...], SortedKeys] = {}
        self._probed: tuple[Relation, Ids, Ids] | None = None

    def __len__(self) -> int:
        return len(self.view)

    def standing(self) -> int:
        return len(self.view)

    def has_stable(self) -> bool:
        return len(self.view) > 0

    def _intervals(self, rows: Ids | slice) -> tuple[Ids, Ids]:
        time = self.present.at.time
        return time.searchsorted(self.view.start[rows]), time.searchsorted(self.view.end[rows])

    def relation(self) -> Relation:
        rows = len(self.view)
        if self.steady:
            start = np.zeros(rows, np.int64)
            return self.view.during(start, np.full(rows, len(self.present), np.int64))
        start, end = self._intervals(slice(None))
        seen = start < end
        found = self.view.during(start, end)
        return found if seen.all() else found.take(np.flatnonzero(seen))

    def changed(self) -> Relation:
        return self.view.take(_NONE) if self.steady else unsteady(self.relation(), len(self.present))

    def _index(self, on: tuple[str, ...]) -> SortedKeys:
        """The view by some of its variables, built once."""
        found = self._indexes.get(on)
        if found is None:
            found = self._indexes[on] = SortedKeys(combine([self.view.columns[name] for name in on]))
        return found

    def _ranges(self, flow: Relation, on: tuple[str, ...]) -> tuple[SortedKeys | StoredKeys, Ids, Ids]:
        """An index, and where it has the flow's rows; a stored one may be of one of the variables alone, that
        with the fewest partners."""
        if not self.stored:
            index = self._index(on)
            return index, *index.ranges(combine([flow.columns[name] for name in on]))
        keys = (self.stored[name] for name in on)
        found = [(index, *index.ranges(flow.columns[name])) for name, index in zip(on, keys, strict=True)]
        return min(found, key=lambda each: int(each[2].sum()))

    def join(self, flow: Relation, *, stable: bool = False) -> Relation:
        on = tuple(name for name in self.variables if name in flow.columns)
        if self.view.optional.intersection(on) or flow.optional.intersection(on):
            return join_generally(flow, self.relation(), len(self.present), stable)
        left, right = self.partners(flow, on)
        intervals = None if self.steady else self._intervals(right)
        return joined(flow, self.view, left, right, intervals, len(self.present) if stable else None)

    def partners(self, flow: Relation, on: tuple[str, ...]) -> tuple[Ids, Ids]:
        """Pairs (row of the flow, row of the view) that are equal on these variables, valid or not."""
        if not on:
            return spread(np.zeros(len(flow), np.int64), np.full(len(flow), len(self.view)))
        left, right = self._probe(flow, on)
        return verified(flow.columns, self.view.columns, left, right, on) if len(on) > 1 else (left, right)

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
        index, first, counts = self._ranges(flow, on)
        probe, place = spread(first, counts)
        return probe, index.rows(place)

    def estimate(self, flow: Relation) -> float:
        on = tuple(name for name in self.variables if name in flow.columns)
        if not on or flow.optional.intersection(on) or self.view.optional.intersection(on):
            return float(len(flow)) * len(self.view)
        if len(self.view) * len(flow) <= _TINY:
            return float(len(self._probe(flow, on)[0]))
        return float(self._ranges(flow, on)[2].sum())


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


def instantaneous(flow: Relation) -> bool:
    """Whether every row is visible at one index only."""
    return bool((flow.end - flow.start == 1).all())


def unsteady(relation: Relation, instants: int) -> Relation:
    """Without the rows that are visible throughout."""
    moving = (relation.start > 0) | (relation.end < instants)
    return relation if moving.all() else relation.take(np.flatnonzero(moving))


def throughout(relation: Relation, instants: int) -> Relation:
    """Only the rows that are visible throughout."""
    return relation.take(np.flatnonzero((relation.start == 0) & (relation.end == instants)))


def joined(
    flow: Relation,
    rows: Relation,
    left: Ids,
    right: Ids,
    intervals: tuple[Ids, Ids] | None,
    instants: int | None,
) -> Relation:
    """The joined rows of pairs, visible with the flow; the partners' ``intervals`` cut that, where given, and
    must be all ``instants``, where these are given."""
    start, end = flow.start[left], flow.end[left]
    if intervals is not None:
        since, until = intervals
        if instants is not None:
            seen = (since == 0) & (until == instants)
        else:
            start, end = np.maximum(start, since), np.minimum(end, until)
            seen = start < end
        if not seen.all():
            left, right, start, end = left[seen], right[seen], start[seen], end[seen]
    return merge(flow, rows, Matches(left, right, start, end))


def join_generally(flow: Relation, rows: Relation, instants: int, stable: bool) -> Relation:
    """A join where a shared variable may be unbound."""
    return join(flow, throughout(rows, instants) if stable else rows)
