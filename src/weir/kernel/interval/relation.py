"""The one relation type: columns of term ids and, for each row, the interval in which it is visible.

Inside a slab times are *indices* into the sorted array of its evaluation times, index 0 being the last
one already evaluated: a row is visible at the indices of ``[start, end)``. A relation is a multiset:
at index k its content is the bag of rows with ``start <= k < end``. Rows with an empty interval never
occur. 0 in a column is *unbound*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from weir.rdf.columns import Ids, Mask


@dataclass(frozen=True, slots=True)
class Relation:
    """``columns`` by variable name, all of one length with ``start`` and ``end``.

    ``optional`` names the columns that may hold 0; every other column is bound in every row, which
    lets joins compare ids directly.
    """

    columns: Mapping[str, Ids]
    start: Ids
    end: Ids
    optional: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.start)

    @staticmethod
    def empty(variables: tuple[str, ...] = ()) -> Relation:
        none = np.empty(0, np.int64)
        return Relation(dict.fromkeys(variables, none), none, none)

    @staticmethod
    def unit(indices: int) -> Relation:
        """The empty solution, visible at all ``indices`` of the slab."""
        return Relation({}, np.zeros(1, np.int64), np.full(1, indices, np.int64))

    def take(self, rows: Ids | Mask) -> Relation:
        """The given rows, by position or mask."""
        return Relation(
            {name: column[rows] for name, column in self.columns.items()},
            self.start[rows],
            self.end[rows],
            self.optional,
        )
