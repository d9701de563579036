"""A first-in first-out table of int64 columns: rows are appended behind and dropped in front.

Columns are read as slices without copying, so a slab that touches few rows costs little however many are
alive. Rows have absolute numbers that never change; ``first`` is the number of the oldest kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.rdf.columns import Ids

_ROOM = 64
_NEAR = 6


class Buffer:
    """``names`` are the columns; all rows have all of them."""

    __slots__ = ("_data", "_head", "_tail", "first", "names")

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.first = 0
        self._data = np.empty((len(self.names), _ROOM), np.int64)
        self._head = 0
        self._tail = 0

    def __len__(self) -> int:
        return self._tail - self._head

    @property
    def end(self) -> int:
        """The number that the next row will get."""
        return self.first + self._tail - self._head

    @property
    def bytes(self) -> int:
        """Memory held, including room to grow."""
        return self._data.nbytes

    def column(self, place: int) -> Ids:
        """The kept rows of a column, as a view."""
        return self._data[place, self._head : self._tail]

    def row(self, position: int, places: Sequence[int]) -> tuple[int, ...]:
        """Some values of the row at a position among those kept."""
        data, at = self._data, self._head + position
        return tuple([data.item(place, at) for place in places])

    def item(self, place: int, position: int) -> int:
        """One value of the row at a position among those kept."""
        return self._data.item(place, self._head + position)

    def seek(self, place: int, value: int, near: int) -> int:
        """The number of the first row whose value is not below ``value``, in a column that never falls.

        ``near`` is a guess, from which a few rows are looked at before all of them are searched.
        """
        data, first, end = self._data, self.first, self.first + self._tail - self._head
        shift = self._head - first
        at = first if near < first else end if near > end else near
        for _ in range(_NEAR):
            if at < end and data.item(place, at + shift) < value:
                at += 1
            elif at > first and data.item(place, at - 1 + shift) >= value:
                at -= 1
            else:
                return at
        return first + int(self.column(place).searchsorted(value))

    def append(self, columns: Sequence[Ids]) -> None:
        """New rows, one array a column."""
        count = len(columns[0])
        if self._tail + count > self._data.shape[1]:
            self._make_room(count)
        tail = self._tail
        for place, column in enumerate(columns):
            self._data[place, tail : tail + count] = column
        self._tail = tail + count

    def append_row(self, values: Sequence[int]) -> int:
        """One new row; returns its number."""
        tail = self._tail
        if tail >= self._data.shape[1]:
            self._make_room(1)
            tail = self._tail
        data = self._data
        for place, value in enumerate(values):
            data[place, tail] = value
        self._tail = tail + 1
        return self.first + tail - self._head

    def drop(self, count: int) -> None:
        """Forget the oldest ``count`` rows."""
        if count <= 0:
            return
        self._head += count
        self.first += count
        if self._head == self._tail:
            self._head = self._tail = 0
        live, room = self._tail - self._head, self._data.shape[1]
        if room > 4 * _ROOM and live * 8 < room:
            self._move(max(_ROOM, 2 * live))

    def _make_room(self, count: int) -> None:
        live = len(self)
        room = self._data.shape[1]
        self._move(room if (live + count) * 2 <= room else max(_ROOM, 2 * (live + count)))

    def _move(self, room: int) -> None:
        live = len(self)
        data = np.empty((len(self.names), room), np.int64)
        data[:, :live] = self._data[:, self._head : self._tail]
        self._data, self._head, self._tail = data, 0, live

    def restore(self, first: int, columns: Sequence[Ids]) -> None:
        """Replace everything by these rows, numbered from ``first``."""
        self._head = self._tail = 0
        self.first = first
        if columns:
            self.append(columns)
