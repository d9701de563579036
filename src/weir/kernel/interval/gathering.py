"""Columns of joined rows, gathered when somebody reads them.

A join finds pairs of rows; most columns of either side are never looked at again. Small ones are gathered
at once, as that is cheaper than to remember it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from weir.kernel.interval.keys import codes
from weir.rdf.columns import Ids

_SMALL = 1 << 10


def gathered(
    left: Mapping[str, Ids],
    left_rows: Ids,
    right: Mapping[str, Ids],
    right_rows: Ids,
    start: Ids | None = None,
) -> Mapping[str, Ids]:
    """The columns of pairs of rows; both sides have no name in common.

    ``start`` is given where each pair has one instant, that of its left row.
    """
    if len(left_rows) > _SMALL:
        return Gathered(left, left_rows, right, right_rows, start)
    columns = {name: column[left_rows] for name, column in left.items()}
    for name, column in right.items():
        columns[name] = column[right_rows]
    return columns


class Gathered(Mapping[str, Ids]):
    """Columns of pairs, each gathered once."""

    __slots__ = ("_known", "_left", "_left_rows", "_right", "_right_rows", "_start")

    def __init__(
        self,
        left: Mapping[str, Ids],
        left_rows: Ids,
        right: Mapping[str, Ids],
        right_rows: Ids,
        start: Ids | None,
    ) -> None:
        self._left, self._left_rows = left, left_rows
        self._right, self._right_rows = right, right_rows
        self._start = start
        self._known: dict[str, Ids] = {}

    def __getitem__(self, name: str) -> Ids:
        found = self._known.get(name)
        if found is None:
            if name in self._right:
                found = self._right[name][self._right_rows]
            else:
                found = self._left[name][self._left_rows]
            self._known[name] = found
        return found

    def __iter__(self) -> Iterator[str]:
        yield from self._left
        yield from self._right

    def __len__(self) -> int:
        return len(self._left) + len(self._right)

    def __contains__(self, name: object) -> bool:
        return name in self._right or name in self._left

    def distinct(self, names: Sequence[str]) -> tuple[Ids, dict[str, Ids]] | None:
        """The distinct combinations of instant and ``names``, in the order of instants.

        The sides are small and the pairs are many: both sides' distinct values are numbered, and a pair
        marks its place in the table of all combinations. None where that does not apply.
        """
        if self._start is None or not all(name in self for name in names):
            return None
        mine = [name for name in names if name in self._left and name not in self._right]
        other = [name for name in names if name in self._right]
        groups, group_rows = codes([self._start, *(self._left[name] for name in mine)], len(self._start))
        low = int(self._right_rows.min()) if len(self._right_rows) else 0
        high = int(self._right_rows.max()) + 1 if len(self._right_rows) else 0
        numbers, number_rows = codes([self._right[name][low:high] for name in other], high - low)
        width = max(len(number_rows), 1)
        if len(group_rows) * width > _TABLE:
            return None
        order = np.argsort(group_rows)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(0, len(order) * width, width)
        marks = np.zeros(len(order) * width, np.bool_)
        marks[rank[groups][self._left_rows] + numbers[self._right_rows - low]] = True
        places = marks.nonzero()[0]
        group = places // width
        chosen = group_rows[order][group]
        partner = number_rows[places - group * width] + low
        columns = {name: self._left[name][chosen] for name in mine}
        for name in other:
            columns[name] = self._right[name][partner]
        return self._start[chosen], columns


_TABLE = 1 << 22
