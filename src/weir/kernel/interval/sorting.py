"""Keys in order, with the rows that have them: what joins search.

Rows of one key are listed in ascending position. Where positions stand for time (rows of a window), a
probe can ask for a range of positions as well, so its cost follows what is visible and not all there is.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from weir.errors import EvaluationError
from weir.kernel.interval import compiled
from weir.kernel.operators import LIMIT
from weir.rdf.columns import Ids


class SortedKeys:
    """The positions ``0 … len(keys)−1`` in the order of their keys."""

    def __init__(self, keys: Ids) -> None:
        self.order = np.argsort(keys, kind="stable")
        ordered = keys[self.order]
        first = np.empty(len(ordered) + 1, np.bool_)
        first[:1] = first[-1:] = True
        np.not_equal(ordered[1:], ordered[:-1], out=first[1:-1])
        self._offsets = np.flatnonzero(first)
        self._distinct = ordered[self._offsets[:-1]]
        self._asked = 0

    def __len__(self) -> int:
        return len(self.order)

    @property
    def distinct(self) -> int:
        """How many different keys there are."""
        return len(self._distinct)

    @cached_property
    def _table(self) -> Ids:
        """Keys by their hash: made where enough has been asked for to pay for it."""
        return compiled.hashed(self._distinct)

    @cached_property
    def _placed(self) -> Ids:
        """Rank of key and position as one ascending number."""
        rank = np.repeat(np.arange(len(self._distinct)), np.diff(self._offsets))
        return rank * len(self.order) + self.order

    def ranges(self, probes: Ids) -> tuple[Ids, Ids]:
        """For each probe the first place in ``order`` of its key, and how many places follow."""
        if not len(self._distinct):
            none = np.zeros(len(probes), np.int64)
            return none, none
        if len(probes) > _MANY:
            self._asked += len(probes)
            if self._asked > len(self._distinct):
                return compiled.found(self._table, self._distinct, self._offsets, probes)
        rank = self._distinct.searchsorted(probes)
        np.minimum(rank, len(self._distinct) - 1, out=rank)
        first = self._offsets[rank]
        counts = self._offsets[rank + 1] - first
        counts[self._distinct[rank] != probes] = 0
        return first, counts

    def ranges_within(self, probes: Ids, low: Ids, high: Ids) -> tuple[Ids, Ids]:
        """As ``ranges``, of the positions in ``[low, high)`` alone."""
        if not len(self._distinct):
            none = np.zeros(len(probes), np.int64)
            return none, none
        if len(probes) > _MANY:
            return compiled.places_within(self._distinct, self._offsets, self.order, probes, low, high)
        rank = self._distinct.searchsorted(probes)
        np.minimum(rank, len(self._distinct) - 1, out=rank)
        known = self._distinct[rank] == probes
        rows = len(self.order)
        rank *= rows
        first = self._placed.searchsorted(rank + np.clip(low, 0, rows))
        counts = self._placed.searchsorted(rank + np.clip(high, 0, rows))
        counts -= first
        np.maximum(counts, 0, out=counts)
        counts *= known
        return first, counts


_MANY = 1 << 9


def spread(first: Ids, counts: Ids) -> tuple[Ids, Ids]:
    """The pairs (probe, place) of ranges: each probe with every place from ``first`` on."""
    if len(counts) and int(counts.sum()) > LIMIT:
        raise EvaluationError(
            f"join: more than {LIMIT} pairs in one slab",
            hint="a join without shared variables, or on one that hardly differs, multiplies its inputs",
        )
    probe = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts)
    place = np.arange(len(probe)) + np.repeat(first - ends + counts, counts)
    return probe, place
