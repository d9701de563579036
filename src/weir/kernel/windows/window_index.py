"""Indexes on window contents, kept only while they pay (CQELS 4.3).

Without one, a join with a window compares its few rows with every live row, or sorts the live rows for
the slab. A kept index covers the rows up to some number; newer ones are sorted apart until there are enough
of them to build it anew. An account decides: what a probe saved is earned, what building costs is
spent, old entries fade. An index is built when the account can pay for it and dropped when it is overdrawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weir.kernel.relations.keys import SortedKeys, combine, spread
from weir.kernel.windows.live_triples import LiveTriples
from weir.rdf.columns import Ids

_COMPARE = 0.6e-3
_SORT = 6e-3
_PROBE = 0.08
"""Microseconds per comparison, per row and binary digit sorted, per probe: only their ratios matter."""

_FADE = 0.9
_BROADCAST = 1 << 14
_MANY = 1 << 15


@dataclass(slots=True)
class IndexCounts:
    """How joins with windows went about it: how often they compared with every row, sorted the rows for a
    slab or used a kept index; indexes built and dropped; and ``rows`` of windows offered to them in all."""

    compared: int = 0
    sorted: int = 0
    kept: int = 0
    built: int = 0
    dropped: int = 0
    rows: int = 0


class WindowIndex:
    """Rows of a track by some of its columns (their places)."""

    def __init__(self, track: LiveTriples, columns: tuple[int, ...], counts: IndexCounts) -> None:
        self.track = track
        self.columns = columns
        self.counts = counts
        self._balance = 0.0
        self._main: SortedKeys | None = None
        self._from = self._until = 0
        self._tail: tuple[int, int, SortedKeys] | None = None

    def matches(
        self, probes: list[Ids], low: int, high: int, bounds: tuple[Ids, Ids], *, exact: bool = False
    ) -> tuple[Ids, Ids]:
        """Pairs (probe, row) with equal terms, rows by position among the live ones in ``[low, high)``.

        ``bounds`` give each probe the range of positions that can be visible to it; pairs outside it are
        left out if ``exact``, else they may be returned or not.
        """
        rows, width = high - low, len(probes[0])
        if rows <= 0:
            return _NONE, _NONE
        self.counts.rows += rows
        plain = min(width * rows * _COMPARE, rows * math.log2(rows + 1) * _SORT + width * _PROBE)
        self._balance = self._balance * _FADE + plain - width * _PROBE
        self._upkeep()
        columns = [self.track.rows.column(place)[low:high] for place in self.columns]
        if self._main is None and width * rows <= _BROADCAST:
            self.counts.compared += 1
            probe, row = _compare(probes, columns, low)
            if exact:
                inside = (row >= bounds[0][probe]) & (row < bounds[1][probe])
                if not inside.all():
                    return probe[inside], row[inside]
            return probe, row
        if self._main is None:
            self.counts.sorted += 1
            return self._search(SortedKeys(combine(columns)), probes, low, bounds, exact)
        self.counts.kept += 1
        return self._probe_kept(probes, low, high, bounds, exact)

    def _upkeep(self) -> None:
        """Build, extend or drop the kept index by the account."""
        first, end = self.track.rows.first, self.track.rows.end
        live = end - first
        cost = live * math.log2(live + 2) * _SORT
        if self._main is None:
            if self._balance > 2 * cost and live * _COMPARE > 8:
                self._build(first, end)
                self._balance -= cost
            return
        if end - self._until > max(256, live // 4) or self._from < first - live:
            self._balance -= cost
            if self._balance < -cost:
                self._main = self._tail = None
                self._balance = 0.0
                self.counts.dropped += 1
                return
            self._build(first, end)

    def _build(self, first: int, end: int) -> None:
        self._main = SortedKeys(combine([self.track.rows.column(place) for place in self.columns]))
        self._from, self._until, self._tail = first, end, None
        self.counts.built += 1

    def _probe_kept(
        self, probes: list[Ids], low: int, high: int, bounds: tuple[Ids, Ids], exact: bool
    ) -> tuple[Ids, Ids]:
        assert self._main is not None
        first = self.track.rows.first
        pairs = [self._search(self._main, probes, self._from - first, bounds, exact)]
        start = self._until - first
        if high > start:
            if self._tail is None or self._tail[:2] != (self._until, first + high):
                columns = [self.track.rows.column(place)[start:high] for place in self.columns]
                self._tail = (self._until, first + high, SortedKeys(combine(columns)))
            pairs.append(self._search(self._tail[2], probes, start, bounds, exact))
        probe = np.concatenate([pair[0] for pair in pairs])
        row = np.concatenate([pair[1] for pair in pairs])
        inside = (row >= low) & (row < high)
        return (probe, row) if inside.all() else (probe[inside], row[inside])

    def _search(
        self, keys: SortedKeys, probes: list[Ids], base: int, bounds: tuple[Ids, Ids], exact: bool
    ) -> tuple[Ids, Ids]:
        """Pairs from one sorted run whose first row has the position ``base``."""
        probing = combine(probes)
        low, high = bounds
        if exact:
            first, counts = keys.ranges_within(probing, low - base, high - base)
        else:
            first, counts = keys.ranges(probing)
            if len(low) and int(counts.sum()) > max(_MANY, 4 * len(probing)):
                first, counts = keys.ranges_within(probing, low - base, high - base)
        probe, place = spread(first, counts)
        return probe, keys.order[place] + base

    def estimate(self, probes: list[Ids], low: int, high: int) -> float:
        """About how many pairs there are: exact by a kept index, else as if keys were spread evenly."""
        if self._main is not None:
            share = (high - low) / max(len(self._main), 1)
            return float(self._main.ranges(combine(probes))[1].sum()) * min(share, 1.0)
        rows = high - low
        if len(probes[0]) * rows <= _BROADCAST and rows > 0:
            columns = [self.track.rows.column(place)[low:high] for place in self.columns]
            return float(len(_compare(probes, columns, 0)[0]))
        return len(probes[0]) * rows / max(self._distinct(low, high), 1)

    def _distinct(self, low: int, high: int) -> int:
        """Different keys in a sample of the live rows, scaled to all of them."""
        rows = high - low
        step = max(rows // 256, 1)
        sample = combine([self.track.rows.column(place)[low:high:step] for place in self.columns])
        found = len(np.unique(sample))
        return found if found < 0.9 * len(sample) else found * step


def _compare(probes: list[Ids], columns: list[Ids], base: int) -> tuple[Ids, Ids]:
    """Every probe with every row."""
    if len(probes[0]) == 1:
        hits = columns[0] == probes[0][0]
        for probe, column in zip(probes[1:], columns[1:], strict=True):
            hits &= column == probe[0]
        rows = np.flatnonzero(hits)
        return np.zeros(len(rows), np.int64), rows + base
    hits = probes[0][:, None] == columns[0]
    for probe, column in zip(probes[1:], columns[1:], strict=True):
        hits &= probe[:, None] == column
    left, rows = np.nonzero(hits)
    return left, rows + base


_NONE = np.empty(0, np.int64)
