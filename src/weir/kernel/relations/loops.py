"""Inner loops that numba compiles: the same as their array statement, without a pass over memory a step."""

from __future__ import annotations

import numpy as np
from numba import njit

from weir.rdf.columns import Ids


def sliding_pairs(
    rows: Ids, probes: Ids, low: Ids, high: Ids, owner: Ids, keys: Ids, number: Ids, codes: int
) -> tuple[Ids, Ids]:
    """The distinct (owner, number) of the pairs of each row with the positions of its key in ``[low, high)``.

    ``rows`` are in the order of their owners, along which ``low`` and ``high`` never fall: positions come
    into a table once and are linked to those of the same key before them, so that a probe walks over what it
    sees and nothing else. ``keys`` and ``number`` are by position; numbers lie below ``codes``.
    """
    if not len(rows):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    known, latest = _table(len(keys))
    before, seen = np.empty(len(keys), np.int64), np.full(codes, -1, np.int64)
    most = min(int((high - low).max()), codes)
    room = 2 * len(rows) + max(most, 0)
    owners, numbers = np.empty(room, np.int64), np.empty(room, np.int64)
    done, reached, found = 0, max(int(low[rows[0]]), 0), 0
    while True:
        done, reached, found = _slide(
            done, reached, found, most,
            rows, probes, low, high, owner, keys, number, known, latest, before, seen, owners, numbers,
        )  # fmt: skip
        if done == len(rows):
            return owners[:found], numbers[:found]
        owners, numbers = (
            np.concatenate([part, np.empty(len(part), np.int64)]) for part in (owners, numbers)
        )


@njit(cache=True)
def _slide(
    done: int,
    reached: int,
    found: int,
    most: int,
    rows: Ids,
    probes: Ids,
    low: Ids,
    high: Ids,
    owner: Ids,
    keys: Ids,
    number: Ids,
    known: Ids,
    latest: Ids,
    before: Ids,
    seen: Ids,
    owners: Ids,
    numbers: Ids,
) -> tuple[int, int, int]:
    """Go on with ``sliding_pairs`` from row ``done`` as far as there is room for what a row may give."""
    size = len(known)
    while done < len(rows) and found + most <= len(owners):
        row = rows[done]
        done += 1
        while reached < high[row]:
            key = keys[reached]
            slot = _slot(key, size)
            while latest[slot] >= 0 and known[slot] != key:
                slot = (slot + 1) & (size - 1)
            known[slot] = key
            before[reached] = latest[slot]
            latest[slot] = reached
            reached += 1
        key = probes[row]
        slot = _slot(key, size)
        while latest[slot] >= 0 and known[slot] != key:
            slot = (slot + 1) & (size - 1)
        place = latest[slot]
        mine, least = owner[row], max(low[row], 0)
        while place >= least:
            code = number[place]
            if seen[code] != mine:
                seen[code] = mine
                owners[found] = mine
                numbers[found] = code
                found += 1
            place = before[place]
    return done, reached, found


@njit(cache=True)
def numbered(column: Ids) -> tuple[Ids, Ids]:
    """Numbers 0, 1, … of the distinct values in the order in which they come, and where each comes first."""
    numbers = np.empty(len(column), np.int64)
    firsts = np.empty(len(column), np.int64)
    known, number = _table(len(column))
    size, count = len(known), 0
    for place in range(len(column)):
        key = column[place]
        slot = _slot(key, size)
        while number[slot] >= 0 and known[slot] != key:
            slot = (slot + 1) & (size - 1)
        if number[slot] < 0:
            known[slot] = key
            number[slot] = count
            firsts[count] = place
            count += 1
        numbers[place] = number[slot]
    return numbers, firsts[:count]


@njit(cache=True)
def _table(keys: int) -> tuple[Ids, Ids]:
    """Room for so many keys and for what each has; −1 is nothing, and the slot is free."""
    size = 16
    while size < 2 * keys:
        size *= 2
    return np.empty(size, np.int64), np.full(size, -1, np.int64)


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
def below(values: Ids, bounds: Ids) -> Ids:
    """As ``values.searchsorted(bounds)`` where both ascend: one walk along the two."""
    out = np.empty(len(bounds), np.int64)
    place = 0
    for row in range(len(bounds)):
        bound = bounds[row]
        while place < len(values) and values[place] < bound:
            place += 1
        out[row] = place
    return out


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
