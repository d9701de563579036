"""Arithmetic on sets of intervals, group by group: unions, what a union leaves uncovered, and segments.

All groups are laid out one after another on a single line, so that a running maximum over one sorted array
does the work of a loop over groups. OPTIONAL, MINUS, EXISTS, DISTINCT and property paths are a few lines
each on top of unions.

A ``Sweep`` cuts the line at the ends of rows: between two cuts nothing in a group changes. A *segment* is the
stretch between two neighbouring cuts, and a row covers the segments of a range ``[first, last)``. A sum per
segment is a running sum of what comes and goes; an extreme per segment comes from covering each range by two
power-of-two blocks and pushing the blocks down (a sparse table read backwards). Both cost the same however
many rows a segment holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weir.rdf.columns import Ids, Mask, sorted_set

CHUNK = 1 << 20
"""The most pairs of rows held at a time."""

_ROOM = 1 << 62
"""The length of the line; where it does not do, times are replaced by their ranks."""

_DENSE = 32


class Pieces(NamedTuple):
    """Intervals, each belonging to the row or group ``owner``."""

    owner: Ids
    start: Ids
    end: Ids


class _Line:
    """The groups 0, 1, … one after another: group g, time t ↦ g · span + t − low. Times between the ends of
    rows that will be asked for are ``others``."""

    def __init__(self, groups: int, start: Ids, end: Ids, *others: Ids) -> None:
        self._times: Ids | None = None
        self._low = int(start.min())
        self.span = int(end.max()) - self._low + 1
        if groups * self.span >= _ROOM:
            self._times = sorted_set(np.concatenate([start, end, *others]))
            self._low, self.span = 0, len(self._times)

    def places(self, group: Ids, time: Ids) -> Ids:
        """Where times of groups lie."""
        if self._times is not None:
            time = self._times.searchsorted(time)
        return group * self.span + (time - self._low)

    def times(self, group: Ids, places: Ids) -> Ids:
        """The times of places, each in its group."""
        time = places - (group * self.span - self._low)
        return time if self._times is None else self._times[time]


def unite(owner: Ids, start: Ids, end: Ids) -> Pieces:
    """The union of each owner's intervals: disjoint, not touching, sorted by (owner, start)."""
    if len(owner) <= 1:
        return Pieces(owner, start, end)
    line = _Line(int(owner.max()) + 1, start, end)
    first = line.places(owner, start)
    order = np.argsort(first)
    first = first[order]
    reach = np.maximum.accumulate(line.places(owner, end)[order])
    cuts = np.flatnonzero(first[1:] > reach[:-1])
    heads, tails = np.append(0, cuts + 1), np.append(cuts, len(order) - 1)
    owner = owner[order[heads]]
    return Pieces(owner, line.times(owner, first[heads]), line.times(owner, reach[tails]))


def uncovered(start: Ids, end: Ids, owner: Ids, first: Ids, last: Ids) -> Pieces:
    """What is left of each row's ``[start, end)`` after its pieces: sorted by (row, start).

    Row r is uncovered by the pieces whose ``owner`` is r; each lies within its row's interval.
    """
    every = np.arange(len(start))
    if not len(start) or not len(owner):
        return Pieces(every, start, end)
    line = _Line(len(start), start, end, first, last)
    owner, first, last = unite(owner, first, last)
    # On the line, gaps open where a row starts or a piece ends and close where a piece starts or a
    # row ends; sorted, the i-th opening belongs to the i-th closing.
    opens = np.sort(np.concatenate([line.places(every, start), line.places(owner, last)]))
    closes = np.sort(np.concatenate([line.places(every, end), line.places(owner, first)]))
    gaps = np.flatnonzero(opens < closes)
    row = opens[gaps] // line.span
    return Pieces(row, line.times(row, opens[gaps]), line.times(row, closes[gaps]))


def expand(start: Ids, end: Ids) -> tuple[Ids, Ids]:
    """Every (row, index) with the row visible at the index, row by row."""
    return enumerated(start, end - start)


def enumerated(first: Ids, counts: Ids) -> tuple[Ids, Ids]:
    """Every (row, place) of rows that have so many places from ``first`` on, row by row."""
    row = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(row)) + np.repeat(first - np.cumsum(counts) + counts, counts)
    return row, place


class Sweep:
    """``group`` numbers rows 0, 1, …, at least one; they are visible in ``[start, end)``."""

    def __init__(self, group: Ids, start: Ids, end: Ids) -> None:
        groups = int(group.max()) + 1
        self._line = _Line(groups, start, end)
        first, last = self._line.places(group, start), self._line.places(group, end)
        self._rank: Ids | None = None
        room = groups * self._line.span
        if room <= _DENSE * len(group) + _DENSE:
            # The line is short enough to be written down: no sorting, no searching.
            cut = np.zeros(room, np.bool_)
            cut[first] = cut[last] = True
            self.cuts = np.flatnonzero(cut)
            self._rank = np.cumsum(cut) - 1
        else:
            self.cuts = sorted_set(np.concatenate([first, last]))
        self.segments = len(self.cuts) - 1

    def ranges(self, group: Ids, start: Ids, end: Ids) -> tuple[Ids, Ids]:
        """The segments that rows cover; their ends must be among the cuts."""
        first, last = self._line.places(group, start), self._line.places(group, end)
        if self._rank is not None:
            return self._rank[first], self._rank[last]
        return self.cuts.searchsorted(first), self.cuts.searchsorted(last)

    def intervals(self, segments: Ids) -> Pieces:
        """The group and the interval of segments that some row covers."""
        group = self.cuts[segments] // self._line.span
        start, end = self.cuts[segments], self.cuts[segments + 1]
        return Pieces(group, self._line.times(group, start), self._line.times(group, end))

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
            place, segment = enumerated(begin, lengths)
            order = np.argsort(segment, kind="stable")
            yield segment[order], rows[place[order]]
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
