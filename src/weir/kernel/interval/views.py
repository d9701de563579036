"""A view on static graphs as an input of joins: rows valid for ever, or in ``[since, until)``, in µs."""

from __future__ import annotations

import numpy as np

from weir.kernel.interval.inputs import Present, instantaneous, join_generally, unsteady
from weir.kernel.relations.gathered import gathered
from weir.kernel.relations.keys import combine
from weir.kernel.relations.relation import Relation
from weir.kernel.relations.sorted_keys import SortedKeys, spread
from weir.rdf.columns import Ids

_NONE = np.empty(0, np.int64)
_TINY = 1 << 10


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
        return unsteady(self.relation(), len(self._time))

    def index(self, on: tuple[str, ...]) -> SortedKeys:
        """The view by some of its variables, built once."""
        found = self._indexes.get(on)
        if found is None:
            found = self._indexes[on] = SortedKeys(combine([self.view.columns[name] for name in on]))
        return found

    def join(self, flow: Relation, *, stable: bool = False) -> Relation:
        shared = [name for name in self.variables if name in flow.columns]
        if self.view.optional.intersection(shared) or flow.optional.intersection(shared):
            return join_generally(flow, self.relation(), len(self._time), stable)
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
        instant = flow.start if self._since is None and instantaneous(flow) else None
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
