"""How long things last: the scores L and B (Planning Ahead, section 5.2), and what they are inferred from.

Times are in any one unit (Weir: microseconds); scores count evaluations, the present one included.
A copy that expires at t is fresh at every evaluation before t, and stale at t itself.

How often a remote row changes is learned from what refreshes find. A refresh after a time δ says only
*whether* a value changed in it. With changes at rate λ the probability of that is 1 − e^(−λδ), and a changed
value stands for λδ / (1 − e^(−λδ)) changes in the mean: so each key keeps the changes it stands for and the
time it was watched, and its rate is their quotient (one step of expectation maximisation an observation; cf.
Cho and Garcia-Molina, Estimating Frequency of Change). A prior of a quarter of a change in as much of the
prior interval keeps young keys sane; old observations fade.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.rdf.columns import Ids, Mask


def remaining_life(arrival: Ids, width: int, now: int, slide: int) -> Ids:
    """L (formula 12): at how many evaluations from now on a window row takes part; never negative.

    Law: a row that arrived at t is seen at ``now``, ``now + slide``, … as long as that is < t + width.
    """
    return np.maximum(-((now - width - arrival) // slide), 0)


def evaluations_fresh(expiry: Ids, now: int, slide: int) -> Ids:
    """B: for how many evaluations a copy fetched now stays fresh; never negative."""
    return np.maximum(-((now - expiry) // slide), 0)


LONG = 64
"""The life of a row in a window without a known width: longer than anybody plans."""


class Lifetimes:
    """How long window rows will still be seen, inferred from how many there are at each evaluation.

    An evaluator hands over the rows of the present window, not when each arrived. But rows of a time window
    leave in the order in which they came, a width later: so a binding that is there more often than was
    expected has arrived since, and one that is there less often has lost its oldest. Law: where the width
    is a multiple of the slide, the lives so found are L of formula 12, exactly.

    Kept are the arrivals of each binding that are still in the window, as runs of equal arrival time.
    Bindings are named by a hash of their ids: a collision would mislead a score, never a result.
    """

    def __init__(self, width: int | None) -> None:
        self._width = width
        none = np.empty(0, np.int64)
        self._binding, self._arrival, self._count = none, none, none

    def state(self) -> Mapping[str, Ids]:
        """What is known, for ``restore``."""
        return {"binding": self._binding, "arrival": self._arrival, "count": self._count}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Replace what is known."""
        self._binding, self._arrival, self._count = (
            np.array(state[name]) for name in ("binding", "arrival", "count")
        )

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


Floats = NDArray[np.float64]

FADE = 0.95
"""What an observation's weight is multiplied by at each later one of the same key."""

PRIOR = 0.25
"""How many changes the prior stands for."""

LONGEST = 1 << 50


def learned_interval(changes: Floats, watched: Floats, prior: int) -> Ids:
    """The mean time between changes of each key, in microseconds."""
    interval = (watched + PRIOR * prior) / (changes + PRIOR)
    clipped: Ids = np.clip(interval, 1, LONGEST).astype(np.int64)
    return clipped


def observe(
    changes: Floats, watched: Floats, elapsed: Ids, changed: Mask, prior: int
) -> tuple[Floats, Floats]:
    """The statistics of keys after one more observation each: ``changed`` or not in ``elapsed``."""
    expected = elapsed / learned_interval(changes, watched, prior)
    stands_for = np.where(changed, expected / -np.expm1(-np.maximum(expected, 1e-9)), 0.0)
    return changes * FADE + stands_for, watched * FADE + elapsed


def pooled_interval(changes: Floats, watched: Floats, prior: int) -> int:
    """One interval from all keys together: what to expect of a key never watched."""
    return int(learned_interval(np.array([changes.sum()]), np.array([watched.sum()]), prior)[0])
