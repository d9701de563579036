"""The column types everything travels in."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ids: TypeAlias = NDArray[np.int64]
"""64-bit term ids, or microseconds, or positions: int64 columns."""

Mask: TypeAlias = NDArray[np.bool_]
"""One boolean a row."""

NEVER = int(np.iinfo(np.int64).min)
"""Before all time, in µs: the T of a stream of which nothing is known."""


def sorted_set(values: Ids) -> Ids:
    """The values that occur, ascending. Sorting is fast; ``np.unique`` puts integers into a hash table first,
    which takes up to a hundred times as long where most of them differ."""
    ordered: Ids = np.sort(values, axis=None)
    fresh = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered[fresh]


def one_of(values: Ids, known: Ids) -> Mask:
    """Which of the values are among those ``known``, which are distinct and ascending."""
    if not len(known):
        return np.zeros(len(values), np.bool_)
    found: Mask = known[np.minimum(known.searchsorted(values), len(known) - 1)] == values
    return found
