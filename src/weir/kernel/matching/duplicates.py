"""Equal triples in a window: what a set makes of them, and where their comings and goings cancel.

Where a window's content is a set, a later occurrence takes over from an earlier one: each is visible from
its own start until the later one's start, so a triple is visible once at a time (as in ``interval.track``).
ISTREAM and DSTREAM compare multisets: a solution that starts where an equal one ends is no change. Two
equal solutions that are not the same combination differ in some triple, so only combinations with a
triple that has an equal one nearby need to be compared at all: those rows are *marked*, and of the marked
combinations only those are *contested* that start, or end, where an equal triple ends, or starts.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weir.kernel.interval.keys import codes
from weir.kernel.matching import speed
from weir.rdf.columns import Ids, Mask

Rows = NDArray[np.int32]


class Duplicates:
    """Equal triples among ``terms`` whose visibility, ``[start, end)``, overlaps or touches.

    ``end`` is where each row ends after later ones took over, which they do ``as_set``; ``taken`` and
    ``taking`` tell which rows have such a later, or earlier, equal one, ``marked`` which have either;
    ``chain`` is equal for rows that are so linked.
    """

    def __init__(self, terms: NDArray[np.int64], start: Rows, end: Rows, *, as_set: bool) -> None:
        count = len(start)
        earlier, later = _neighbours(terms)
        near = start[later] <= end[earlier]
        earlier, later = earlier[near], later[near]
        self.taken, self.taking = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        self.taken[earlier], self.taking[later] = True, True
        self.marked = self.taken | self.taking
        self.end = end
        if as_set and len(later):
            self.end = end.copy()
            self.end[earlier] = np.minimum(end[earlier], start[later])
        self.as_set = as_set
        self.chain = _chains(count, earlier, later)
        self._start = start

    @cached_property
    def _changes(self) -> tuple[Ids, Ids]:
        """Where marked triples end, and where they start, as sorted numbers (triple, index)."""
        marked = np.flatnonzero(self.marked)
        base = self.chain[marked] << _INDEX
        return np.sort(base + self.end[marked]), np.sort(base + self._start[marked])

    def contested(self, rows: Rows, start: Rows, end: Rows) -> Mask:
        """Which combinations, visible in ``[start, end)``, may cancel, or be cancelled by, an equal one.

        ``rows`` has a row each, −1 behind the last triple.
        """
        ends, starts = self._changes
        if not len(start) or not len(ends):
            return np.zeros(len(start), np.bool_)
        relevant = self.marked[rows] & (rows >= 0)
        place = self.chain[rows] << _INDEX
        begins = _among(place + start[:, None], ends)
        finishes = _among(place + end[:, None], starts)
        found: Mask = np.logical_or.reduce(relevant & (begins | finishes), axis=1)
        return found


_INDEX = 32


def _neighbours(terms: NDArray[np.int64]) -> tuple[Ids, Ids]:
    """Every triple that has an equal one before it: the last such one, and itself."""
    if speed.compiled is not None:
        previous: Ids = speed.compiled.previous_equal(terms)
        later = np.flatnonzero(previous >= 0)
        return previous[later], later
    numbers, firsts = codes(list(terms), terms.shape[1])
    if len(firsts) == len(numbers):
        return firsts[:0], firsts[:0]
    order = np.argsort(numbers, kind="stable")
    same = np.flatnonzero(numbers[order[1:]] == numbers[order[:-1]])
    return order[same], order[same + 1]


def _chains(count: int, earlier: Ids, later: Ids) -> Ids:
    """A number per row, equal for rows that are linked; links lead from a row to a later one."""
    number = np.arange(count)
    number[later] = earlier
    while True:
        further = number[number]
        if np.array_equal(further, number):
            return number
        number = further


def _among(keys: Ids, ordered: Ids) -> Mask:
    place = np.searchsorted(ordered, keys)
    np.minimum(place, len(ordered) - 1, out=place)
    found: Mask = ordered[place] == keys
    return found
