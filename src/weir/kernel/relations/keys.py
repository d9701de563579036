"""Rows as single integers: what indexes, DISTINCT and GROUP BY compare.

One column is its own key. Several are mixed into one 64-bit hash, so that one sort or search serves any
number of columns; whoever uses such keys verifies the columns where keys are equal, so a collision
costs time and never a wrong answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.rdf.columns import Ids, Mask

_GOLDEN = np.int64(-7046029254386353131)


_MIX = np.int64(-4658895280553007687)


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
    if not columns or length <= 1:
        return np.zeros(length, np.int64), np.zeros(min(length, 1), np.int64)
    order, new = _ordered(columns, length)
    numbers = np.empty(length, np.int64)
    numbers[order] = np.cumsum(new) - 1
    return numbers, order[new]


def firsts(columns: Sequence[Ids], length: int) -> Ids:
    """The position of the first row of each distinct one, ascending."""
    if not columns or length <= 1:
        return np.zeros(min(length, 1), np.int64)
    order, new = _ordered(columns, length)
    return np.sort(order[new])


def _ordered(columns: Sequence[Ids], length: int) -> tuple[Ids, Mask]:
    """The rows such that equal ones are neighbours, in their old order, and where a new one begins."""
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


_LARGE = 1 << 9


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
