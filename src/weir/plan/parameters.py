"""The constants of queries that are evaluated as one: data that a plan refers to, and no part of it.

Law: a plan that refers to a table means the same as the plan with its rows written as inline data. Who
changes the rows has views computed anew (``Evaluator.renew``); the plan itself stays.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from weir.rdf.columns import Ids


class ParameterTable:
    """Rows of term ids: the number of a query, then its constants."""

    def __init__(self, constants: int) -> None:
        self.rows: NDArray[np.int64] = np.empty((0, 1 + constants), np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return "parameters"

    def add(self, rows: Sequence[Sequence[int]]) -> None:
        """Put rows behind the others."""
        if len(rows):
            self.rows = np.concatenate([self.rows, np.array(rows, np.int64)])

    def remove(self, numbers: Collection[int]) -> None:
        """Take out the rows that begin with these ids."""
        self.rows = self.rows[~np.isin(self.rows[:, 0], list(numbers))]

    def ids(self) -> Ids:
        """Every id in it."""
        return self.rows.reshape(-1)
