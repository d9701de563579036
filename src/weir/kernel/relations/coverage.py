"""Arithmetic on sets of intervals, group by group: unions, and what a union leaves uncovered.

All groups are laid out one after another on a single line (group g, time t ↦ g · span + t), so that a
running maximum over one sorted array does the work of a loop over groups. OPTIONAL, MINUS, EXISTS,
DISTINCT and property paths are a few lines each on top of this.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weir.rdf.columns import Ids

ROOM = 1 << 62
"""The length of the line; where it does not do, times are replaced by their ranks."""


_FEW = 12
"""Up to this many pieces, a loop costs less than the fixed price of sorting."""


class Pieces(NamedTuple):
    """Intervals, each belonging to the row or group ``owner``."""

    owner: Ids
    start: Ids
    end: Ids


def unite(owner: Ids, start: Ids, end: Ids) -> Pieces:
    """The union of each owner's intervals: disjoint, not touching, sorted by (owner, start)."""
    if len(owner) <= 1:
        return Pieces(owner, start, end)
    if len(owner) <= _FEW:
        return _columns(_united(sorted(zip(owner.tolist(), start.tolist(), end.tolist(), strict=True))))
    low, high = int(start.min()), int(end.max())
    if (int(owner.max()) + 1) * (high - low + 1) >= ROOM:
        times = np.unique(np.concatenate([start, end]))
        pieces = unite(owner, np.searchsorted(times, start), np.searchsorted(times, end))
        return Pieces(pieces.owner, times[pieces.start], times[pieces.end])
    span = high - low + 1
    base = owner * span - low
    first = base + start
    order = np.argsort(first)
    first = first[order]
    reach = np.maximum.accumulate((base + end)[order])
    cuts = np.flatnonzero(first[1:] > reach[:-1])
    heads = np.concatenate([_ZERO, cuts + 1])
    tails = np.append(cuts, len(order) - 1)
    chosen = order[heads]
    base = base[chosen]
    return Pieces(owner[chosen], first[heads] - base, reach[tails] - base)


def uncovered(start: Ids, end: Ids, owner: Ids, first: Ids, last: Ids) -> Pieces:
    """What is left of each row's ``[start, end)`` after its pieces: sorted by (row, start).

    Row r is uncovered by the pieces whose ``owner`` is r; each lies within its row's interval.
    """
    rows = len(start)
    if not rows or not len(owner):
        return Pieces(np.arange(rows), start, end)
    if rows + len(owner) <= _FEW:
        few = _united(sorted(zip(owner.tolist(), first.tolist(), last.tolist(), strict=True)))
        return _columns(_gaps(start.tolist(), end.tolist(), few))
    low, high = int(start.min()), int(end.max())
    span = high - low + 1
    if rows * span >= ROOM:
        times = np.unique(np.concatenate([start, end, first, last]))
        dense = [np.searchsorted(times, column) for column in (start, end, first, last)]
        pieces = uncovered(dense[0], dense[1], owner, dense[2], dense[3])
        return Pieces(pieces.owner, times[pieces.start], times[pieces.end])
    owner, first, last = unite(owner, first, last)
    base = np.arange(rows) * span - low
    # On the line, gaps open where a row starts or a piece ends and close where a piece starts or a
    # row ends; sorted, the i-th opening belongs to the i-th closing.
    opens = np.sort(np.concatenate([base + start, base[owner] + last]))
    closes = np.sort(np.concatenate([base + end, base[owner] + first]))
    gaps = np.flatnonzero(opens < closes)
    opens = opens[gaps]
    row = opens // span
    base = base[row]
    return Pieces(row, opens - base, closes[gaps] - base)


def _united(pieces: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """``unite`` for a few pieces in order."""
    out = pieces[:1]
    for owner, start, end in pieces[1:]:
        last_owner, last_start, reach = out[-1]
        if owner != last_owner or start > reach:
            out.append((owner, start, end))
        elif end > reach:
            out[-1] = (owner, last_start, end)
    return out


def _gaps(start: list[int], end: list[int], pieces: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """``uncovered`` for a few rows, given the union of their pieces."""
    out: list[tuple[int, int, int]] = []
    at = 0
    for row, (begin, stop) in enumerate(zip(start, end, strict=True)):
        while at < len(pieces) and pieces[at][0] == row:
            if begin < pieces[at][1]:
                out.append((row, begin, pieces[at][1]))
            begin = pieces[at][2]
            at += 1
        if begin < stop:
            out.append((row, begin, stop))
    return out


def _columns(pieces: list[tuple[int, int, int]]) -> Pieces:
    table = np.array(pieces, np.int64).reshape(len(pieces), 3)
    return Pieces(table[:, 0], table[:, 1], table[:, 2])


def expand(start: Ids, end: Ids) -> tuple[Ids, Ids]:
    """Every (row, index) with the row visible at the index, row by row."""
    lengths = end - start
    row = np.repeat(np.arange(len(start)), lengths)
    index = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths - start, lengths)
    return row, index


_ZERO = np.zeros(1, np.int64)
