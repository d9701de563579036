"""Columns of joined rows, gathered when somebody reads them.

A join finds pairs of rows; most columns of either side are never looked at again. Small ones are gathered
at once, as that is cheaper than to remember it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from weir.kernel.relations.keys import codes
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

    def grouped(self, names: Sequence[str]) -> tuple[Ids, Ids, dict[str, Ids]] | None:
        """As ``groups_of``, found among the fewer rows of the left side; None where it takes the right."""
        if self._start is None or any(name in self._right for name in names):
            return None
        if _one_each(self._start):
            return self._left_rows, self._start, {name: self._left[name] for name in names}
        numbers, rows = codes([self._start, *(self._left[name] for name in names)], len(self._start))
        return (
            numbers[self._left_rows],
            self._start[rows],
            {name: self._left[name][rows] for name in names},
        )


def groups_of(
    columns: Mapping[str, Ids], start: Ids, names: Sequence[str]
) -> tuple[Ids, Ids, dict[str, Ids]]:
    """Numbers of the distinct combinations of instant and ``names``; the instant and values of each."""
    found = columns.grouped(names) if isinstance(columns, Gathered) else None
    if found is not None:
        return found
    if _one_each(start):
        return np.arange(len(start)), start, {name: columns[name] for name in names}
    numbers, rows = codes([start, *(columns[name] for name in names)], len(start))
    return numbers, start[rows], {name: columns[name][rows] for name in names}


def _one_each(start: Ids) -> bool:
    """Whether each row has an instant to itself, in order."""
    return bool((start[1:] > start[:-1]).all())
