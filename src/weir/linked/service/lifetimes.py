"""How long window rows will still be seen, inferred from how many there are at each evaluation.

An evaluator hands over the rows of the present window, not when each arrived. But rows of a time window
leave in the order in which they came, a width later: so a binding that is there more often than was
expected has arrived since, and one that is there less often has lost its oldest. Law: where the width
is a multiple of the slide, the lives so found are L of formula 12, exactly.
"""

from __future__ import annotations

import numpy as np

from weir.linked.service.scores import remaining_life
from weir.rdf.columns import Ids

LONG = 64
"""The life of a row in a window without a known width: longer than anybody plans."""


class Lifetimes:
    """The arrivals of each binding that are still in the window, as runs of equal arrival time.

    Bindings are named by a hash of their ids: a collision would mislead a score, never a result.
    """

    def __init__(self, width: int | None) -> None:
        self._width = width
        none = np.empty(0, np.int64)
        self._binding, self._arrival, self._count = none, none, none

    def state(self) -> tuple[Ids, Ids, Ids]:
        """What is known, for ``restore``."""
        return self._binding, self._arrival, self._count

    def restore(self, binding: Ids, arrival: Ids, count: Ids) -> None:
        """Replace what is known."""
        self._binding, self._arrival, self._count = binding, arrival, count

    def update(self, binding: Ids, count: Ids, at: int, slide: int) -> tuple[Ids, Ids]:
        """The lives of the rows at ``at``: for each row the place of its binding, and its L.

        ``binding`` are the distinct bindings of the window and ``count`` how many rows have each.
        """
        order = np.argsort(binding)
        named = binding[order]
        if not len(named):
            self._binding, self._arrival, self._count = named, named, named
            return named, named
        if self._width is not None:
            self._advance(named, count[order], at)
            place = np.searchsorted(named, self._binding)
            life = np.maximum(remaining_life(self._arrival, self._width, at, slide), 1)
            return np.repeat(order[place], self._count), np.repeat(life, self._count)
        rows = np.repeat(np.arange(len(binding)), count)
        return rows, np.full(len(rows), LONG, np.int64)

    def _advance(self, named: Ids, count: Ids, at: int) -> None:
        assert self._width is not None
        place = np.minimum(np.searchsorted(named, self._binding), len(named) - 1)
        stay = (self._arrival + self._width > at) & (named[place] == self._binding)
        place, arrival, runs = place[stay], self._arrival[stay], self._count[stay]
        held = np.bincount(place, weights=runs, minlength=len(named)).astype(np.int64)
        runs = self._less_the_oldest(place, runs, np.maximum(held - count, 0))
        new = np.flatnonzero(count > held)
        place = np.concatenate((place, new))
        arrival = np.concatenate((arrival, np.full(len(new), at)))
        runs = np.concatenate((runs, (count - held)[new]))
        order = np.lexsort((arrival, place))
        order = order[runs[order] > 0]
        self._binding, self._arrival, self._count = named[place[order]], arrival[order], runs[order]

    @staticmethod
    def _less_the_oldest(place: Ids, runs: Ids, excess: Ids) -> Ids:
        """Runs (by place, oldest first) shortened from the front by each place's ``excess``."""
        if not excess.any():
            return runs
        ends = np.cumsum(runs)
        first = np.searchsorted(place, place)
        gone = ends - (ends[first] - runs[first])
        left: Ids = np.clip(gone - excess[place], 0, runs)
        return left
