"""Columns of joined rows, gathered when somebody reads them.

A join finds pairs of rows; most columns of either side are never looked at again. Small ones are gathered
at once, as that is cheaper than to remember it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from weir.rdf.columns import Ids

_SMALL = 1 << 10


def gathered(
    left: Mapping[str, Ids], left_rows: Ids, right: Mapping[str, Ids], right_rows: Ids
) -> Mapping[str, Ids]:
    """The columns of pairs of rows; both sides have no name in common."""
    if len(left_rows) > _SMALL:
        return _Gathered(left, left_rows, right, right_rows)
    columns = {name: column[left_rows] for name, column in left.items()}
    for name, column in right.items():
        columns[name] = column[right_rows]
    return columns


class _Gathered(Mapping[str, Ids]):
    __slots__ = ("_known", "_left", "_left_rows", "_right", "_right_rows")

    def __init__(
        self, left: Mapping[str, Ids], left_rows: Ids, right: Mapping[str, Ids], right_rows: Ids
    ) -> None:
        self._left, self._left_rows = left, left_rows
        self._right, self._right_rows = right, right_rows
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
