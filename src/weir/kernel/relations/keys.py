"""Rows as single integers: what DISTINCT and GROUP BY compare, and what joins search.

One column is its own key. Several are mixed into one 64-bit hash, so that one sort or search serves any
number of columns; whoever uses such keys verifies the columns where keys are equal, so a collision
costs time and never a wrong answer.

In ``SortedKeys`` rows of one key are listed in ascending position. Where positions stand for time (rows of a
window), a probe can ask for a range of positions as well, so its cost follows what is visible and not all
there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from weir.errors import EvaluationError
from weir.kernel.relations.coverage import enumerated
from weir.rdf.columns import Ids, Mask
from weir.rdf.compiled import njit

LIMIT = 1 << 25
"""The most rows one operator may make in one slab."""

_GOLDEN = np.int64(-7046029254386353131)
_MIX = np.int64(-4658895280553007687)
_LARGE = 1 << 9
_STEPS = 8
_MANY = 1 << 9
"""So many probes may be worth a hash table."""


def combine(columns: Sequence[Ids]) -> Ids:
    """One key a row; exact for a single column, a hash for several."""
    if len(columns) == 1:
        return columns[0]
    mixed = columns[0] * _GOLDEN
    for column in columns[1:]:
        mixed ^= mixed >> 29
        mixed += column
        mixed *= _MIX
    mixed ^= mixed >> 32
    return mixed


def codes(columns: Sequence[Ids], length: int) -> tuple[Ids, Ids]:
    """Numbers 0, 1, … of the distinct rows, and the position of the first row of each number.

    ``length`` is the number of rows, for the case that there are no columns.
    """
    order, new = grouped(columns, length)
    numbers = np.empty(length, np.int64)
    numbers[order] = np.cumsum(new) - 1
    return numbers, order[new]


def firsts(columns: Sequence[Ids], length: int) -> Ids:
    """The position of the first row of each distinct one, ascending."""
    order, new = grouped(columns, length)
    return np.sort(order[new])


def occurrences(columns: Sequence[Ids], length: int) -> Ids:
    """The number of each row among the equal ones up to it, from 1."""
    order, new = grouped(columns, length)
    found = np.empty(length, np.int64)
    found[order] = turns(np.cumsum(new)) + 1
    return found


def turns(values: Ids) -> Ids:
    """The place of each value among its neighbours of the same value, from 0."""
    heads = np.flatnonzero(np.diff(values, prepend=-1))
    return np.arange(len(values)) - np.repeat(heads, np.diff(heads, append=len(values)))


def grouped(columns: Sequence[Ids], length: int) -> tuple[Ids, Mask]:
    """The rows such that equal ones are neighbours, in their old order, and where a new one begins."""
    if not columns or length <= 1:
        return np.arange(length), np.arange(length) == 0
    keys = combine(columns)
    exact = len(columns) == 1
    if length > _LARGE:
        # Sorting values is several times faster than sorting positions by value: the key gives up its
        # low bits for the position.
        bits = (length - 1).bit_length()
        packed = np.sort((_spread(keys) << bits) | np.arange(length))
        order = packed & ((1 << bits) - 1)
        ordered = packed >> bits
        exact = False
    else:
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
    new = np.empty(length, np.bool_)
    new[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    if not exact and not new.all():
        again = np.flatnonzero(~new)
        if not same(columns, order[again], order[again - 1]).all():
            order = np.lexsort(tuple(columns))
            new[1:] = ~same(columns, order[1:], order[:-1])
    return order, new


def _spread(keys: Ids) -> Ids:
    """Keys whose low bits depend on all of theirs."""
    mixed = keys * _GOLDEN
    mixed ^= (mixed >> 32) & 0xFFFFFFFF
    return mixed


def same(columns: Sequence[Ids], left: Ids, right: Ids) -> Mask:
    """Where the rows ``left`` and ``right`` of these columns are equal."""
    equal: Mask = columns[0][left] == columns[0][right]
    for column in columns[1:]:
        equal &= column[left] == column[right]
    return equal


class SortedKeys:
    """The positions ``0 … len(keys)−1`` in the order of their keys.

    Distinct keys are kept with the offsets of their runs, so that a probe is one binary search.
    """

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

    def ranges(self, probes: Ids) -> tuple[Ids, Ids]:
        """For each probe the first place in ``order`` of its key, and how many places follow."""
        if not len(self._distinct):
            none = np.zeros(len(probes), np.int64)
            return none, none
        if len(probes) > _MANY:
            self._asked += len(probes)
            if self._asked > len(self._distinct):
                return _found(*self._table, self._offsets, probes)
        rank = self._distinct.searchsorted(probes)
        np.minimum(rank, len(self._distinct) - 1, out=rank)
        first = self._offsets[rank]
        counts = self._offsets[rank + 1] - first
        counts[self._distinct[rank] != probes] = 0
        return first, counts

    def rows(self, places: Ids) -> Ids:
        """The positions at these places of ``order``."""
        return self.order[places]

    def ranges_within(self, probes: Ids, low: Ids, high: Ids) -> tuple[Ids, Ids]:
        """As ``ranges``, of the positions in ``[low, high)`` alone."""
        if not len(self._distinct):
            return self.ranges(probes)
        return _places_within(self._distinct, self._offsets, self.order, probes, low, high)

    @cached_property
    def _table(self) -> tuple[Ids, Ids]:
        """Keys by their hash: made where enough has been asked for to pay for it."""
        return _hashed(self._distinct)


class StoredKeys:
    """As ``SortedKeys``, of keys that lie in their order in a file: a probe is two binary searches there, and
    nothing is copied. ``order`` has a position for each key, counted from ``base``; None where keys ascend
    with their positions."""

    def __init__(self, ascending: Ids, order: Ids | None = None, base: int = 0) -> None:
        self._ascending = ascending
        self._order = order
        self._base = base

    def __len__(self) -> int:
        return len(self._ascending)

    def ranges(self, probes: Ids) -> tuple[Ids, Ids]:
        """For each probe the first place of its key, and how many places follow."""
        distinct, where = np.unique(probes, return_inverse=True)
        first = self._ascending.searchsorted(distinct)
        counts = self._ascending.searchsorted(distinct, side="right") - first
        return first[where], counts[where]

    def rows(self, places: Ids) -> Ids:
        """The positions at these places."""
        return places if self._order is None else self._order[places] - self._base


def spread(first: Ids, counts: Ids) -> tuple[Ids, Ids]:
    """The pairs (probe, place) of ranges: each probe with every place from ``first`` on."""
    if len(counts) and int(counts.sum()) > LIMIT:
        raise EvaluationError(
            f"join: more than {LIMIT} pairs in one slab",
            hint="a join without shared variables, or on one that hardly differs, multiplies its inputs",
        )
    return enumerated(first, counts)


def positions_in(ascending: Ids, probes: Ids) -> Ids:
    """As ``ascending.searchsorted(probes)`` where the probes ascend, too: by one walk along the two, unless
    the probes are few."""
    if len(probes) * _STEPS < len(ascending):
        return ascending.searchsorted(probes)
    return _walked(ascending, probes)


@njit(over=("ascending", "probes"), cache=True)
def _walked(ascending: Ids, probes: Ids) -> Ids:
    places = np.empty(len(probes), np.int64)
    place = 0
    for row in range(len(probes)):
        while place < len(ascending) and ascending[place] < probes[row]:
            place += 1
        places[row] = place
    return places


@njit(over=("probes",), cache=True)
def _places_within(
    distinct: Ids, offsets: Ids, order: Ids, probes: Ids, low: Ids, high: Ids
) -> tuple[Ids, Ids]:
    """For each probe the first place in ``order`` of its key whose position lies in ``[low, high)``, and how
    many such places follow. ``order[offsets[i] : offsets[i + 1]]`` are the positions of ``distinct[i]``."""
    first = np.zeros(len(probes), np.int64)
    counts = np.zeros(len(probes), np.int64)
    for row in range(len(probes)):
        place = first_from(distinct, 0, len(distinct), probes[row])
        if place < len(distinct) and distinct[place] == probes[row]:
            end = offsets[place + 1]
            first[row] = first_from(order, offsets[place], end, low[row])
            counts[row] = first_from(order, first[row], end, high[row]) - first[row]
    return first, counts


@njit(over=(), inline="always")
def first_from(column: Any, first: Any, end: Any, least: Any) -> Any:
    """The first place in a run of an ascending column that is not below ``least``."""
    while first < end:
        middle = (first + end) >> 1
        if column[middle] < least:
            first = middle + 1
        else:
            end = middle
    return first


@njit(over=("distinct",), cache=True)
def _hashed(distinct: Ids) -> tuple[Ids, Ids]:
    """A hash table of the distinct keys, with the place of each."""
    known, places = hash_table(len(distinct))
    for place in range(len(distinct)):
        slot = slot_of(distinct[place], known, places)
        known[slot] = distinct[place]
        places[slot] = place
    return known, places


@njit(over=("probes",), cache=True)
def _found(known: Ids, places: Ids, offsets: Ids, probes: Ids) -> tuple[Ids, Ids]:
    """For each probe where the rows of its key begin, and how many there are."""
    first = np.zeros(len(probes), np.int64)
    counts = np.zeros(len(probes), np.int64)
    for row in range(len(probes)):
        place = places[slot_of(probes[row], known, places)]
        if place >= 0:
            first[row] = offsets[place]
            counts[row] = offsets[place + 1] - offsets[place]
    return first, counts


@njit(over=(), cache=True)
def hash_table(keys: int) -> tuple[Ids, Ids]:
    """Room for so many keys and for what each has; −1 is nothing, and the slot is free."""
    size = 16
    while size < 2 * keys:
        size *= 2
    return np.empty(size, np.int64), np.full(size, -1, np.int64)


@njit(over=(), inline="always")
def slot_of(key: int, known: Ids, held: Ids) -> int:
    """Where a hash table has a key, or a free slot for it."""
    size = len(known)
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    slot = np.int64(mixed & np.uint64(size - 1))
    while held[slot] >= 0 and known[slot] != key:
        slot = (slot + 1) & (size - 1)
    return slot  # type: ignore[return-value]
