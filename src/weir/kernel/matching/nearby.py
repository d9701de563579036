"""Results as small numbers: what refers to the triples of a window refers to neighbours.

The results of a batch come in the order of their first triple, and the others are a window away at most. So
the first triple and the time are kept as steps from the result before, the other triples by their distance
from the first: a byte each where windows are small. Law: a ``Near`` gives back what it was made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from weir.kernel.matching.resolve import Rows

Small = NDArray[np.signedinteger[Any]]
_WIDTHS = (np.int8, np.int16)


@dataclass(frozen=True, slots=True)
class Near:
    """Some results: ``begin`` are the time's number and the first triple of the first one; ``columns`` has a
    row for steps of the one, a row for steps of the other, and a row of distances for each further triple,
    the least number where there is none."""

    begin: tuple[int, int]
    columns: Small

    @staticmethod
    def of(index: Rows, rows: Rows) -> Near:
        """Results by the number of their time and of their triples, −1 behind the last."""
        if not len(index):
            return Near((0, 0), np.empty((rows.shape[1] + 1, 0), np.int8))
        begin = int(index[0]), int(rows[0, 0])
        for width in _WIDTHS:
            columns = np.empty((rows.shape[1] + 1, len(index)), width)
            if _shrink(index, rows, columns, np.iinfo(width).max):
                return Near(begin, columns)
        columns = np.empty((rows.shape[1] + 1, len(index)), np.int32)
        columns[0] = np.diff(index, prepend=index[:1])
        columns[1] = np.diff(rows[:, 0], prepend=rows[:1, 0])
        for step, column in enumerate(rows.T[1:], 2):
            columns[step] = np.where(column < 0, np.iinfo(np.int32).min, column - rows[:, 0])
        return Near(begin, columns)

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    @property
    def index(self) -> Rows:
        """The number of each result's time."""
        return np.cumsum(self.columns[0], dtype=np.int32) + np.int32(self.begin[0])

    @property
    def rows(self) -> Rows:
        """The triples of each result, −1 behind the last."""
        first = np.cumsum(self.columns[1], dtype=np.int32) + np.int32(self.begin[1])
        none = np.iinfo(self.columns.dtype).min
        others = [np.where(column == none, np.int32(-1), column + first) for column in self.columns[2:]]
        return np.stack([first, *others], axis=1)


@njit(cache=True)
def _shrink(index: Rows, rows: Rows, columns: Any, most: int) -> bool:
    """Fill ``columns``; False where a number is larger than ``most``. The least one stands for no triple."""
    before, first = index[0], rows[0, 0]
    for place in range(len(index)):
        step, move = index[place] - before, rows[place, 0] - first
        if abs(step) > most or abs(move) > most:
            return False
        before, first = index[place], rows[place, 0]
        columns[0, place], columns[1, place] = step, move
        for further in range(1, rows.shape[1]):
            other = rows[place, further]
            distance = other - first if other >= 0 else -most - 1
            if distance > most or (distance < -most and other >= 0):
                return False
            columns[further + 1, place] = distance
    return True
