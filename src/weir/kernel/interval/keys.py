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
_FEW = 12
"""Up to this many rows, a loop costs less than the fixed price of sorting."""


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
    """Numbers 0, 1, … of the distinct rows, and the position of one row of each number.

    ``length`` is the number of rows, for the case that there are no columns.
    """
    if not columns or length <= 1:
        return np.zeros(length, np.int64), np.zeros(min(length, 1), np.int64)
    if length <= _FEW:
        seen: dict[tuple[int, ...], int] = {}
        rows = zip(*(column.tolist() for column in columns), strict=True)
        few = [seen.setdefault(row, len(seen)) for row in rows]
        return np.array(few), np.array([few.index(number) for number in range(len(seen))])
    keys = combine(columns)
    order = np.argsort(keys)
    ordered = keys[order]
    new = np.empty(length, np.bool_)
    new[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    if len(columns) > 1 and not new.all():
        again = np.flatnonzero(~new)
        if not same(columns, order[again], order[again - 1]).all():
            order = np.lexsort(tuple(columns))
            new[1:] = ~same(columns, order[1:], order[:-1])
    numbers = np.empty(length, np.int64)
    numbers[order] = np.cumsum(new) - 1
    return numbers, order[new]


def same(columns: Sequence[Ids], left: Ids, right: Ids) -> Mask:
    """Where the rows ``left`` and ``right`` of these columns are equal."""
    equal: Mask = columns[0][left] == columns[0][right]
    for column in columns[1:]:
        equal &= column[left] == column[right]
    return equal
