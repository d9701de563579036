"""Join: the union of two compatible solutions is visible while both are, ``[max start, min end)``.

Solutions are compatible where every shared variable is equal or unbound on one side (18.3). Shared
columns without 0 are matched by key; where a shared column holds 0, both sides fall into groups by
*which* of those columns are bound, and each pair of groups is matched on what is bound in both.

A join that would make more rows than ``limit`` is refused: matches are produced in chunks, empty
intersections dropped at once, so memory follows the result and not the fan-out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from weir.errors import EvaluationError
from weir.kernel.relations import loops as compiled
from weir.kernel.relations.keys import combine
from weir.kernel.relations.relation import Relation
from weir.rdf.columns import Ids

LIMIT = 1 << 25
"""The most rows one operator may make in one slab."""


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
