"""A relation sorted on some of its columns, built once and probed many times.

The index concerns ids only: intervals are looked up by row, so ``during`` re-dates an indexed view for
the next slab at no cost. Distinct keys are kept with the offsets of their runs, so that a probe is one
binary search.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.kernel.interval.keys import combine
from weir.kernel.interval.relation import Relation
from weir.rdf.columns import Ids


class Index:
    """``relation`` by the columns ``on`` (at least one), none of which may hold 0 in any row."""

    __slots__ = ("_keys", "_offsets", "_order", "on", "relation")

    def __init__(self, relation: Relation, on: Sequence[str]) -> None:
        self.relation = relation
        self.on = tuple(on)
        keys = combine([relation.columns[name] for name in self.on])
        self._order = np.argsort(keys)
        ordered = keys[self._order]
        first = np.empty(len(ordered) + 1, np.bool_)
        first[:1] = first[-1:] = True
        np.not_equal(ordered[1:], ordered[:-1], out=first[1:-1])
        self._offsets = np.flatnonzero(first)
        self._keys = ordered[self._offsets[:-1]]

    def __len__(self) -> int:
        return len(self.relation)

    def during(self, start: Ids, end: Ids) -> Index:
        """The same index over the same rows with other intervals."""
        twin = Index.__new__(Index)
        twin.relation = self.relation.during(start, end)
        twin.on = self.on
        twin._keys, twin._offsets, twin._order = self._keys, self._offsets, self._order
        return twin

    @property
    def order(self) -> Ids:
        """The rows in key order; ``ranges`` are ranges of it."""
        return self._order

    def run(self, probe: int) -> Ids:
        """The rows of one key."""
        place = int(self._keys.searchsorted(probe))
        if place == len(self._keys) or self._keys[place] != probe:
            return self._order[:0]
        return self._order[self._offsets[place] : self._offsets[place + 1]]

    def ranges(self, probes: Ids) -> tuple[Ids, Ids]:
        """For each probe the first place in ``order`` of its run, and the run's length (0: no match)."""
        if not len(self._keys):
            none = np.zeros(len(probes), np.int64)
            return none, none
        place = np.searchsorted(self._keys, probes)
        np.minimum(place, len(self._keys) - 1, out=place)
        first = self._offsets[place]
        counts = self._offsets[place + 1] - first
        counts[self._keys[place] != probes] = 0
        return first, counts
