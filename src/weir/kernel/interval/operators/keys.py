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


def same(columns: Sequence[Ids], left: Ids, right: Ids) -> Mask:
    """Where the rows ``left`` and ``right`` of these columns are equal."""
    equal: Mask = columns[0][left] == columns[0][right]
    for column in columns[1:]:
        equal &= column[left] == column[right]
    return equal
