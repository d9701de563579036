"""Semi-joins on arrival: rows of a window that no static part of their join can match are left out.

In ``window ⋈ view`` a row whose shared terms do not occur in the view never has a partner. The test is one
binary search per new row and spares the join every later look at it (CQELS 4.4: filters first).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.kernel.relations.keys import StoredKeys, combine
from weir.kernel.windows.arrivals import FEW
from weir.kernel.windows.live_triples import LiveTriples
from weir.rdf.columns import Ids, Mask, sorted_set

_SMALL = 1 << 16


class Membership:
    """Whether the terms of a row, at some places, occur together in a view."""

    def __init__(self, places: Sequence[int], columns: Sequence[Ids]) -> None:
        self.places = tuple(places)
        self._keys = sorted_set(combine(columns))
        self._few: set[object] = set()
        if len(self._keys) <= _SMALL:
            single = len(columns) == 1
            self._few = set(
                columns[0].tolist() if single else zip(*(c.tolist() for c in columns), strict=True)
            )

    def __len__(self) -> int:
        return len(self._keys)

    def mask(self, columns: Sequence[Ids]) -> Mask:
        """For whole columns; a collision of combined keys lets a row in and does no harm."""
        values = combine([columns[place] for place in self.places])
        if not len(self._keys):
            return np.zeros(len(values), np.bool_)
        place = self._keys.searchsorted(values)
        np.minimum(place, len(self._keys) - 1, out=place)
        return np.asarray(self._keys[place] == values)

    def row(self, values: Sequence[int]) -> bool:
        """For one row."""
        if len(self._keys) > _SMALL:
            return bool(self.mask([np.array([value], np.int64) for value in values])[0])
        if len(self.places) == 1:
            return values[self.places[0]] in self._few
        return tuple(values[place] for place in self.places) in self._few


class StoredMembership(Membership):
    """The same for one place, whose terms in the view are stored in order."""

    def __init__(self, place: int, keys: StoredKeys) -> None:
        super().__init__((place,), [np.empty(0, np.int64)])
        self._stored = keys

    def __len__(self) -> int:
        return len(self._stored)

    def mask(self, columns: Sequence[Ids]) -> Mask:
        """For whole columns."""
        return self._stored.ranges(columns[self.places[0]])[1] > 0

    def row(self, values: Sequence[int]) -> bool:
        """For one row."""
        return bool(self.mask([np.array([value], np.int64) for value in values])[0])


class Members:
    """Rows that are in all of several views."""

    def __init__(self, tests: Sequence[Membership]) -> None:
        self._tests = tuple(tests)

    def rows(self, columns: Sequence[Ids]) -> Ids:
        """Of rows given by their columns, the places of those that are in."""
        if len(columns[0]) <= FEW:
            rows = zip(*(column.tolist() for column in columns), strict=True)
            return np.array([place for place, values in enumerate(rows) if self.row(values)], np.int64)
        mask = self._tests[0].mask(columns)
        for test in self._tests[1:]:
            mask &= test.mask(columns)
        return mask.nonzero()[0]

    def row(self, values: Sequence[int]) -> bool:
        """Whether one row is in."""
        return all(test.row(values) for test in self._tests)


_TRIED = 512
_USELESS = 0.6


class ReducedTriples(LiveTriples):
    """Live triples that can have a partner in the static parts they are joined with.

    Rows without one can never contribute to the join, so they are left out on arrival (filters first).
    ``whole`` keeps them: after an update of the static graphs they may count.
    """

    def __init__(self, whole: LiveTriples, accept: Members) -> None:
        super().__init__(whole.slots, whole.rows.names, whole.keeping, whole.floor)
        self.whole = whole
        self.accept = accept
        self.offered = 0
        self.kept = 0

    def follow(self, number: int, columns: Sequence[Ids]) -> None:
        """Take in the rows that may have partners."""
        count = len(columns[0])
        rows = self.accept.rows(columns)
        self.offered += count
        if not len(rows):
            return
        self.kept += len(rows)
        self.add([*columns] if len(rows) == count else [column[rows] for column in columns])

    def follow_row(self, number: int, values: Sequence[int]) -> None:
        """Take in one row, if it may have partners."""
        self.offered += 1
        if self.accept.row(values):
            self.kept += 1
            self.add_row([*values])

    def restart(self) -> None:
        """Forget all rows."""
        self.restore(0, [])

    @property
    def useless(self) -> bool:
        """Whether it keeps most of what it is offered, and ``whole`` would serve as well."""
        return self.offered > _TRIED and self.kept > _USELESS * self.offered


def reduced(whole: LiveTriples, accept: Members) -> ReducedTriples:
    """Those of the live triples, and of those to come, that ``accept`` keeps."""
    found = ReducedTriples(whole, accept)
    whole.followers.append(found)
    if len(whole.rows):
        first, columns = whole.saved()
        found.follow(first, columns)
    return found
