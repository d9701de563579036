"""The time line of groups, cut at the ends of their rows: between two cuts nothing in a group changes.

All groups lie one after another on one line (as in ``coverage``); a *segment* is the stretch between two
neighbouring cuts, and a row covers the segments of a range ``[first, last)``. A sum per segment is a running
sum of what comes and goes; an extreme per segment comes from covering each range by two power-of-two
blocks and pushing the blocks down (a sparse table read backwards). Both cost the same however many
rows a segment holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.kernel.relations.coverage import ROOM
from weir.kernel.relations.matches import CHUNK
from weir.rdf.columns import Ids, Mask

_DENSE = 32


class Sweep:
    """``group`` numbers rows 0, 1, …; rows are visible in ``[start, end)``."""

    def __init__(self, group: Ids, start: Ids, end: Ids) -> None:
        self._times: Ids | None = None
        self._low = int(start.min()) if len(start) else 0
        self._span = (int(end.max()) if len(end) else 0) - self._low + 1
        if len(group) and (int(group.max()) + 1) * self._span >= ROOM:
            self._times = np.unique(np.concatenate([start, end]))
            self._low, self._span = 0, len(self._times)
        first, last = self._place(group, start), self._place(group, end)
        self._rank: Ids | None = None
        room = (int(group.max()) + 1) * self._span if len(group) else 0
        if room <= _DENSE * len(group) + _DENSE:
            # The line is short enough to be written down: no sorting, no searching.
            cut = np.zeros(room, np.bool_)
            cut[first] = cut[last] = True
            self.cuts = np.flatnonzero(cut)
            self._rank = np.cumsum(cut) - 1
        else:
            self.cuts = np.unique(np.concatenate([first, last]))
        self.segments = max(len(self.cuts) - 1, 0)

    def _place(self, group: Ids, time: Ids) -> Ids:
        if self._times is not None:
            time = np.searchsorted(self._times, time)
        return group * self._span + (time - self._low)

    def ranges(self, group: Ids, start: Ids, end: Ids) -> tuple[Ids, Ids]:
        """The segments that rows cover; their ends must be among the cuts."""
        first, last = self._place(group, start), self._place(group, end)
        if self._rank is not None:
            return self._rank[first], self._rank[last]
        return np.searchsorted(self.cuts, first), np.searchsorted(self.cuts, last)

    def intervals(self, segments: Ids) -> tuple[Ids, Ids, Ids]:
        """The group and the interval of segments that some row covers."""
        group = self.cuts[segments] // self._span
        base = group * self._span - self._low
        start, end = self.cuts[segments] - base, self.cuts[segments + 1] - base
        if self._times is not None:
            start, end = self._times[start], self._times[end]
        return group, start, end

    def counts(self, first: Ids, last: Ids) -> Ids:
        """The number of rows that cover each segment."""
        length = self.segments + 1
        change = np.bincount(first, minlength=length) - np.bincount(last, minlength=length)
        return np.cumsum(change)[: self.segments]

    def sums(self, first: Ids, last: Ids, amounts: NDArray[Any]) -> NDArray[Any]:
        """The sum of ``amounts`` over the rows that cover each segment, in their own (exact) type."""
        change = np.zeros(self.segments + 1, amounts.dtype)
        np.add.at(change, first, amounts)
        np.subtract.at(change, last, amounts)
        return np.cumsum(change)[: self.segments]

    def least(self, first: Ids, last: Ids, ranks: Ids, none: int) -> Ids:
        """The least rank among the rows that cover each segment; ``none`` where there is no row."""
        out = np.full(self.segments, none, np.int64)
        if not len(first):
            return out
        level = np.frexp((last - first).astype(np.float64))[1].astype(np.int64) - 1
        top = int(level.max())
        above = out
        for depth in range(top, -1, -1):
            here = np.full(self.segments, none, np.int64)
            rows = np.flatnonzero(level == depth)
            np.minimum.at(here, first[rows], ranks[rows])
            np.minimum.at(here, last[rows] - (1 << depth), ranks[rows])
            if depth < top:
                half = 1 << depth
                np.minimum(here, above, out=here)
                np.minimum(here[half:], above[:-half], out=here[half:])
            above = here
        return above

    def members(self, first: Ids, last: Ids) -> Iterator[tuple[Ids, Ids]]:
        """Every (segment, row) pair, by segment and then in the order of the rows, in chunks.

        A segment is never cut in two.
        """
        counts = self.counts(first, last)
        ends = np.cumsum(counts)
        at = 0
        while at < self.segments:
            before = int(ends[at - 1]) if at else 0
            upto = max(int(np.searchsorted(ends, before + CHUNK, side="right")), at + 1)
            inside = (first < upto) & (last > at)
            rows = np.flatnonzero(inside)
            begin = np.maximum(first[rows], at)
            lengths = np.minimum(last[rows], upto) - begin
            row = np.repeat(rows, lengths)
            segment = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths - begin, lengths)
            order = np.argsort(segment, kind="stable")
            yield segment[order], row[order]
            at = upto


@dataclass(frozen=True, slots=True)
class Operand:
    """The values of one aggregate as rows of a sweep: which segments each covers."""

    ids: Ids
    first: Ids
    last: Ids

    def where(self, mask: Mask) -> Operand:
        """The given rows."""
        return Operand(self.ids[mask], self.first[mask], self.last[mask])


def changes(group: Ids, start: Ids, end: Ids, columns: list[Ids]) -> Mask:
    """Which pieces, sorted by (group, start), differ from the piece that touches them on the left."""
    new = np.ones(len(group), np.bool_)
    if len(group) > 1:
        same = (group[1:] == group[:-1]) & (start[1:] == end[:-1])
        for column in columns:
            same &= column[1:] == column[:-1]
        new[1:] = ~same
    return new
