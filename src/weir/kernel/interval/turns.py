"""A window whose content goes back and forth: closed windows at some instants, open ones at the others.

Under a time-driven tick a window that reports closes among other things shows, at a tick that is one of its
closes, what had closed, and at the next tick what is open by then (decision semantics-time, 13). Each of
the two rows by itself only moves forward. A triple is visible where the closed row shows it, at the
instants of the first kind, and where the open row does, at the others: its interval in either row, cut to
these instants.
"""

from __future__ import annotations

import numpy as np

from weir.kernel.interval.inputs import Present, RelationInput
from weir.kernel.interval.windowed import WindowInput
from weir.kernel.relations.relation import Relation, union
from weir.kernel.relations.sorted_keys import spread
from weir.kernel.windows.live_triples import LiveTriples
from weir.rdf.columns import Ids, Mask


class InTurnInput(RelationInput):
    """``closed`` and ``opened`` read the same track of the same window."""

    def __init__(self, name: str, present: Present, closed: WindowInput, opened: WindowInput) -> None:
        super().__init__(name, closed.variables, self._list, 0)
        self.present = present
        self.closed, self.opened = closed, opened
        self.window = closed.window

    @property
    def track(self) -> LiveTriples:
        """Where both rows find their triples."""
        return self.closed.track

    def use(self, track: LiveTriples) -> None:
        """Read from this track."""
        self.closed.use(track)
        self.opened.use(track)

    def prepare(self, low: Ids, high: Ids) -> None:
        """The next slab."""
        at = self.present.at
        self.closed.prepare(*self.window.row(at, closed=True))
        self.opened.prepare(*self.window.row(at, closed=False))
        self.begin(len(at))

    def _list(self) -> Relation:
        own = self.window.own_closes(self.present.at) if self.window.first is not None else _NEVER
        return union(cut(self.closed.relation(), own), cut(self.opened.relation(), ~own))


_NEVER = np.zeros(0, np.bool_)


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
