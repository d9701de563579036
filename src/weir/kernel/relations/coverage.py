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


class Pieces(NamedTuple):
    """Intervals, each belonging to the row or group ``owner``."""

    owner: Ids
    start: Ids
    end: Ids


def unite(owner: Ids, start: Ids, end: Ids) -> Pieces:
    """The union of each owner's intervals: disjoint, not touching, sorted by (owner, start)."""
    if len(owner) <= 1:
        return Pieces(owner, start, end)
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


def expand(start: Ids, end: Ids) -> tuple[Ids, Ids]:
    """Every (row, index) with the row visible at the index, row by row."""
    lengths = end - start
    row = np.repeat(np.arange(len(start)), lengths)
    index = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths - start, lengths)
    return row, index


_ZERO = np.zeros(1, np.int64)
