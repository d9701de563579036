"""Equal triples in a window: what a set makes of them, and where their comings and goings cancel.

Where a window's content is a set, a later occurrence takes over from an earlier one: each is visible from
its own start until the later one's start, so a triple is visible once at a time (as in ``interval.track``).
Occurrences whose visibility touches or overlaps are a *chain*.

ISTREAM and DSTREAM compare multisets: a solution that starts where an equal one ends is no change. Equal
solutions are made of equal triples, so their number at an index is the product of how often each of
their triples is there; and only a combination with a triple in a chain, of which another comes or goes at
the index in question, has to be looked at: those are *contested*.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weir.kernel.matching.combinations import previous_equal
from weir.rdf.columns import Ids, Mask

Rows = NDArray[np.int32]


class Duplicates:
    """Equal triples among ``terms`` whose visibility, ``[start, end)``, overlaps or touches.

    ``end`` is where each row ends after later ones took over, which they do ``as_set``; ``marked`` tells
    which rows are in a chain with others, ``chain`` is equal for those of one chain.
    """

    def __init__(self, terms: NDArray[np.int64], start: Rows, end: Rows, *, as_set: bool) -> None:
        earlier, later = _neighbours(terms)
        near = start[later] <= end[earlier]
        earlier, later = earlier[near], later[near]
        self.marked = np.zeros(len(start), np.bool_)
        self.marked[earlier] = self.marked[later] = True
        self.chain = _chains(len(start), earlier, later)
        self.end = end
        if as_set and len(later):
            self.end = end.copy()
            self.end[earlier] = np.minimum(end[earlier], start[later])
        self.as_set = as_set
        self._start, self._limit = start, end

    @cached_property
    def _sorted(self) -> tuple[Ids, Ids]:
        """Where marked rows start, and where they end, as ascending numbers (chain, index)."""
        marked = np.flatnonzero(self.marked)
        base = self.chain[marked] << _INDEX
        return np.sort(base + self._start[marked]), np.sort(base + self._limit[marked])

    def contested(self, rows: Rows, start: Rows, end: Rows) -> Mask:
        """Which combinations, visible in ``[start, end)``, are contested.

        In a set those where a triple takes over from an equal one, or is taken over; in a bag those that
        start where an equal triple goes, or end where one comes. ``rows`` has a row each, −1 behind the
        last triple.
        """
        relevant = self.marked[rows] & (rows >= 0)
        if not relevant.any():
            return np.zeros(len(rows), np.bool_)
        if self.as_set:
            here = (self._start[rows] == start[:, None]) | (self.end[rows] == end[:, None])
        else:
            chain = self.chain[rows] << _INDEX
            starts, ends = self._sorted
            here = _among(chain + start[:, None], ends) | _among(chain + end[:, None], starts)
        found: Mask = np.logical_or.reduce(relevant & here, axis=1)
        return found

    def changes(self, rows: Rows, index: Rows, *, rising: bool) -> Ids:
        """By how much the number of solutions equal to each combination rises, or falls, at its index."""
        now, before = self._copies(rows, index), self._copies(rows, index - 1)
        change: Ids = np.maximum(now - before if rising else before - now, 0)
        return change

    def _copies(self, rows: Rows, index: Rows) -> Ids:
        """How many equal solutions there are: the product of how often each triple is there."""
        at = (self.chain[rows] << _INDEX) + index[:, None]
        started, ended = (np.searchsorted(each, at, side="right") for each in self._sorted)
        count = started - ended
        # What is not in a chain is there once or, before it came and after it went, not at all.
        alone = (self._start[rows] <= index[:, None]) & (index[:, None] < self._limit[rows])
        count = np.where(self.marked[rows], count, alone)
        if self.as_set:
            count = np.minimum(count, 1)
        product: Ids = np.multiply.reduce(np.where(rows >= 0, count, 1), axis=1)
        return product


_INDEX = 32


def _neighbours(terms: NDArray[np.int64]) -> tuple[Ids, Ids]:
    """Every triple that has an equal one before it: the last such one, and itself."""
    previous: Ids = previous_equal(terms)
    later = np.flatnonzero(previous >= 0)
    return previous[later], later


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
