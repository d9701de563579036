"""Stream lines taken apart by compiled loops: one pass over the bytes, each distinct term noted once.

What a line is made of is found here, whether it is right elsewhere: terms are looked at as texts, once per
distinct one, and times that are not plain milliseconds are left to be read as texts too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from weir.rdf.columns import Ids, Mask
from weir.rdf.compiled import njit

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

_TAB, _LF, _CR, _SPACE, _MINUS, _ZERO = 9, 10, 13, 32, 45, 48
PADDING = 9
_DIGITS = 15
"""Milliseconds of more digits are no times of the years 1 to 9999; they are left to who says so."""

_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True, slots=True)
class Split:
    """Lines by the byte at which each begins; ``tab`` is that of its tab, -1 without one or if left out.

    ``time`` is milliseconds where ``plain`` says so. Fields are the subject, the predicate and what follows,
    empty where a line has too few.
    """

    starts: Ids
    tab: Ids
    time: Ids
    plain: Mask
    _data: Bytes
    _words: Words
    _begins: Ids
    _ends: Ids

    def leave_out(self, lines: list[int]) -> None:
        """Lines that are not to be read."""
        self.tab[lines], self.plain[lines] = -1, False
        self._begins[:, lines] = self._ends[:, lines] = 0

    def field(self, place: int, seed: int) -> tuple[Ids, Ranges]:
        """The number of each line's text in a column, and the distinct texts.

        ``seed`` is a secret, so that nobody can make terms that slow this down.
        """
        begin, end = self._begins[place], self._ends[place]
        numbers, first = _number(self._words, begin, end, np.uint64(seed))
        return numbers, Ranges(self._data, begin[first], end[first])


@dataclass(frozen=True, slots=True)
class Ranges:
    """Texts as ranges of bytes."""

    data: Bytes
    begin: Ids
    end: Ids

    @staticmethod
    def of(texts: pa.LargeStringArray) -> Ranges:
        """Texts without nulls."""
        _, offsets, data = texts.buffers()
        bounds = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1].copy()
        return Ranges(np.frombuffer(data or b"", np.uint8).copy(), bounds[:-1], bounds[1:])

    def texts(self) -> pa.LargeStringArray:
        """The texts, in memory of their own."""
        offsets = np.zeros(len(self.begin) + 1, np.int64)
        np.cumsum(self.end - self.begin, out=offsets[1:])
        joined = _joined(self.data, self.begin, self.end, int(offsets[-1]))
        return pa.LargeStringArray.from_buffers(len(self.begin), pa.py_buffer(offsets), pa.py_buffer(joined))


def room_for(size: int) -> Bytes:
    """Room for so many bytes of lines, and behind them for what the loops look at besides."""
    room = np.empty(size + PADDING, np.uint8)
    room[size:] = _LF
    return room


def padded(data: bytes) -> Bytes:
    """A copy of ``data`` in such a room."""
    room = room_for(len(data))
    room[: len(data)] = np.frombuffer(data, np.uint8)
    return room


def split_lines(data: Bytes) -> Split:
    """The lines of ``data``, which is ``padded``; only the last may lack its end. What is no UTF-8 is to be
    left out before any field is asked for."""
    words, size = words_of(data), len(data) - PADDING
    lines = _count(data, size) + bool(size and data[size - 1] != _LF)
    starts, tab, time, plain, begins, ends = _scan(words, data, lines)
    return Split(starts, tab, time, plain, data, words, begins, ends)


def words_of(data: Bytes) -> Words:
    """The eight bytes from each byte on."""
    return np.ndarray((max(len(data) - 7, 0),), "<u8", data.data, strides=(1,))


def line_texts(data: Bytes, begin: Ids, end: Ids) -> pl.Series:
    """Some ranges of bytes, which are UTF-8, as texts."""
    return pl.Series(Ranges(data, begin, end).texts())


@njit(over=("data",), cache=True)
def _count(data: Bytes, size: int) -> int:
    """The line feeds among so many bytes."""
    found = 0
    for place in range(size):
        found += data[place] == _LF
    return found


@njit(over=("data",), cache=True)
def _joined(data: Bytes, begin: Ids, end: Ids, size: int) -> Bytes:
    out = np.empty(size, np.uint8)
    at = 0
    for row in range(len(begin)):
        for place in range(begin[row], end[row]):
            out[at] = data[place]
            at += 1
    return out


_LOW, _HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_TABS, _LFS, _SPACES = (np.uint64(byte) * _LOW for byte in (_TAB, _LF, _SPACE))


@njit(over=(), inline="always")
def _find(words: Words, data: Bytes, place: int, byte: int, eight: np.uint64) -> int:
    """The place of the next ``byte``, or of the line feed before it; ``eight`` is eight of it. Eight at a
    time: a byte is among them where taking one from it borrows."""
    while True:
        word = words[place]
        one, other = word ^ eight, word ^ _LFS
        if (((one - _LOW) & ~one) | ((other - _LOW) & ~other)) & _HIGH:
            break
        place += 8
    while data[place] != byte and data[place] != _LF:
        place += 1
    return place


@njit(over=("data",), cache=True)
def _scan(words: Words, data: Bytes, lines: int) -> tuple[Ids, Ids, Ids, Mask, Ids, Ids]:
    """Where each line begins, its tab, its milliseconds and its three fields; fields that a line lacks are
    empty. Each ends with a line feed."""
    starts = np.empty(lines, np.int64)
    tab = np.full(lines, -1, np.int64)
    time = np.zeros(lines, np.int64)
    plain = np.zeros(lines, np.bool_)
    begins = np.zeros((3, lines), np.int64)
    ends = np.zeros((3, lines), np.int64)
    place = 0
    for line in range(lines):
        starts[line] = place
        negative = data[place] == _MINUS
        if negative:
            place += 1
        digits, value = 0, 0
        while digits <= _DIGITS and _ZERO <= data[place] < _ZERO + 10:
            value = 10 * value + (int(data[place]) - _ZERO)
            digits += 1
            place += 1
        good = 0 < digits <= _DIGITS and data[place] == _TAB
        place = _find(words, data, place, _TAB, _TABS)
        if data[place] == _TAB:
            tab[line] = place
            if good:
                plain[line] = True
                time[line] = -value if negative else value
            fields = 0
            while fields < 2:
                place += 1
                begins[fields, line] = place
                place = _find(words, data, place, _SPACE, _SPACES)
                ends[fields, line] = place
                fields += 1
                if data[place] == _LF:
                    break
            if data[place] == _SPACE:
                place += 1
                begins[2, line] = place
                place = _find(words, data, place, _LF, _LFS)
                ends[2, line] = place
                fields = 3
            while (
                ends[fields - 1, line] > begins[fields - 1, line] and data[ends[fields - 1, line] - 1] == _CR
            ):
                ends[fields - 1, line] -= 1
        place += 1
    return starts, tab, time, plain, begins, ends


@njit(over=("begin",), cache=True)
def _number(words: Words, begin: Ids, end: Ids, seed: np.uint64) -> tuple[Ids, Ids]:
    """For each range of bytes the number of its text, and for each number the first row that has it."""
    rows = len(begin)
    numbers = np.empty(rows, np.int64)
    first = np.empty(rows, np.int64)
    marks = np.empty(rows, np.uint64)
    size = 16
    while size < 2 * rows:
        size *= 2
    table = np.full(size, -1, np.int64)
    found = 0
    for row in range(rows):
        at, length = begin[row], end[row] - begin[row]
        mark = seed ^ (np.uint64(length) * _MIX1)
        whole = length >> 3
        for word in range(whole):
            mark = (mark ^ words[at + 8 * word]) * _MIX2
            mark ^= mark >> np.uint64(29)
        rest = length - 8 * whole
        keep = np.uint64(0)
        if rest > 0:
            keep = (np.uint64(1) << np.uint64(8 * rest)) - np.uint64(1)
            mark = (mark ^ (words[at + 8 * whole] & keep)) * _MIX2
            mark ^= mark >> np.uint64(29)
        mark *= _MIX1
        mark ^= mark >> np.uint64(32)
        slot = np.int64(mark & np.uint64(size - 1))
        while True:
            number = table[slot]
            if number < 0:
                table[slot] = found
                first[found] = row
                marks[found] = mark
                numbers[row] = found
                found += 1
                break
            other = first[number]
            if marks[number] == mark and end[other] - begin[other] == length:
                there, place = begin[other], 0
                while place < whole and words[there + 8 * place] == words[at + 8 * place]:
                    place += 1
                if place >= whole and (
                    rest <= 0 or (words[there + 8 * whole] ^ words[at + 8 * whole]) & keep == 0
                ):
                    numbers[row] = number
                    break
            slot = (slot + 1) & (size - 1)
    return numbers, first[:found].copy()
