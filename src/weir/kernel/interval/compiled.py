"""Inner loops that numba compiles: the same as their array statement, without a pass over memory a step."""

from __future__ import annotations

import numpy as np
from numba import njit

from weir.rdf.columns import Ids


@njit(cache=True)
def distinct_pairs(
    rows: Ids, start: Ids, counts: Ids, owner: Ids, number: Ids, codes: int
) -> tuple[Ids, Ids]:
    """The distinct (owner, number) of the pairs of each row with ``number[start : start + count]``.

    ``rows`` are in the order of their owners; numbers lie below ``codes``.
    """
    total = 0
    for row in rows:
        total += counts[row]
    owners = np.empty(total, np.int64)
    numbers = np.empty(total, np.int64)
    seen = np.full(codes, -1, np.int64)
    found = 0
    for row in rows:
        mine = owner[row]
        for place in range(start[row], start[row] + counts[row]):
            code = number[place]
            if seen[code] != mine:
                seen[code] = mine
                owners[found] = mine
                numbers[found] = code
                found += 1
    return owners[:found], numbers[:found]


@njit(cache=True)
def places_within(
    distinct: Ids, offsets: Ids, order: Ids, probes: Ids, low: Ids, high: Ids
) -> tuple[Ids, Ids]:
    """For each probe the first place in ``order`` of its key whose position lies in ``[low, high)``, and how
    many such places follow. ``order[offsets[i] : offsets[i + 1]]`` are the positions of ``distinct[i]``."""
    first = np.zeros(len(probes), np.int64)
    counts = np.zeros(len(probes), np.int64)
    for row in range(len(probes)):
        probe = probes[row]
        left, right = 0, len(distinct)
        while left < right:
            middle = (left + right) >> 1
            if distinct[middle] < probe:
                left = middle + 1
            else:
                right = middle
        if left == len(distinct) or distinct[left] != probe:
            continue
        begin, end = offsets[left], offsets[left + 1]
        at, right = begin, end
        while at < right:
            middle = (at + right) >> 1
            if order[middle] < low[row]:
                at = middle + 1
            else:
                right = middle
        upto, right = at, end
        while upto < right:
            middle = (upto + right) >> 1
            if order[middle] < high[row]:
                upto = middle + 1
            else:
                right = middle
        first[row] = at
        counts[row] = upto - at
    return first, counts


@njit(cache=True)
def hashed(distinct: Ids) -> Ids:
    """A table in which the place of each of the distinct keys is found by its hash; -1 is nothing."""
    size = 16
    while size < 2 * len(distinct):
        size *= 2
    table = np.full(size, -1, np.int64)
    for place in range(len(distinct)):
        slot = _slot(distinct[place], size)
        while table[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        table[slot] = place
    return table


@njit(cache=True)
def found(table: Ids, distinct: Ids, offsets: Ids, probes: Ids) -> tuple[Ids, Ids]:
    """For each probe where the rows of its key begin, and how many there are."""
    first = np.zeros(len(probes), np.int64)
    counts = np.zeros(len(probes), np.int64)
    size = len(table)
    for row in range(len(probes)):
        probe = probes[row]
        slot = _slot(probe, size)
        while table[slot] >= 0:
            place = table[slot]
            if distinct[place] == probe:
                first[row] = offsets[place]
                counts[row] = offsets[place + 1] - offsets[place]
                break
            slot = (slot + 1) & (size - 1)
    return first, counts


@njit(inline="always")
def _slot(key: int, size: int) -> int:
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    return np.int64(mixed & np.uint64(size - 1))  # type: ignore[return-value]
