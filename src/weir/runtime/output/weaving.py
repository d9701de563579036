"""Rows of text woven from columns of numbered texts: bytes are copied once, by a compiled loop.

A column is the number of a text for each row, and the texts, of which there are few; putting rows together
as texts would copy each of them once per column and ask for memory as often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from weir.rdf.columns import Ids
from weir.rdf.formats.tnq_split import Bytes, Words, words_of

_WORD = 8


@dataclass(frozen=True, slots=True)
class Coded:
    """``texts[codes[i]]`` is the text of row i; a null is the same as no text."""

    codes: Ids
    texts: pl.Series

    def framed(self, before: str, after: str = "") -> Coded:
        """The same with something before and after each text."""
        if not before and not after:
            return self
        return Coded(self.codes, pl.select(pl.lit(before) + self.texts + pl.lit(after)).to_series())

    def where(self, rows: np.ndarray, otherwise: str) -> Coded:
        """The same in the rows that are marked, ``otherwise`` in the rest."""
        texts = pl.concat([self.texts, pl.Series([otherwise], dtype=pl.String)])
        return Coded(np.where(rows, self.codes, len(self.texts)), texts)

    def take(self, order: Ids) -> Coded:
        """Its rows in another order."""
        return Coded(self.codes[order], self.texts)

    def rank(self) -> Ids:
        """The place of each row's text in the order of texts."""
        place = np.empty(len(self.texts), np.int64)
        place[self.texts.arg_sort().to_numpy()] = np.arange(len(self.texts))
        return place[self.codes]


def weave(columns: Sequence[Coded]) -> pa.LargeStringArray:
    """The texts of each row side by side."""
    begins, data = bytes_of(arrow_texts(pl.concat([column.texts.fill_null("") for column in columns])))
    codes = np.empty((len(columns), len(columns[0].codes)), np.int64)
    first = 0
    for place, column in enumerate(columns):
        np.add(column.codes, first, out=codes[place])
        first += len(column.texts)
    return _woven(codes, begins, data)


def _woven(codes: NDArray[np.int64], begins: Ids, data: Bytes) -> pa.LargeStringArray:
    """For each row the texts that its column of ``codes`` names, one after the other."""
    offsets = _offsets(codes, begins)
    out = np.empty(int(offsets[-1]) + _WORD, np.uint8)
    padded = np.empty(len(data) + _WORD, np.uint8)
    padded[: len(data)] = data
    _fill(words_of(out), offsets, codes, begins, words_of(padded))
    return pa.LargeStringArray.from_buffers(codes.shape[1], pa.py_buffer(offsets), pa.py_buffer(out))


def run_together(pieces: pa.LargeStringArray, starts: Ids) -> pa.LargeStringArray:
    """Neighbouring texts as one: those from each of ``starts`` up to the next. They lie so in memory."""
    _, offsets, data = pieces.buffers()
    every = np.frombuffer(offsets, np.int64)[pieces.offset : pieces.offset + len(pieces) + 1]
    kept = pa.py_buffer(np.append(every[starts], every[-1]))
    return pa.LargeStringArray.from_buffers(len(starts), kept, data)


def arrow_texts(texts: pl.Series) -> pa.LargeStringArray:
    """A column of texts for Arrow."""
    return texts.to_arrow().cast(pa.large_string())


def taken(texts: pa.LargeStringArray, rows: Ids) -> pa.LargeStringArray:
    """Some of the texts, in the order of ``rows``."""
    return _woven(rows.reshape(1, -1), *bytes_of(texts))


def bytes_of(column: pa.LargeStringArray) -> tuple[Ids, Bytes]:
    """Where each text begins, and the end of the last; and the bytes of all."""
    _, offsets, data = column.buffers()
    begins = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    return begins, np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)


@njit(cache=True)
def _offsets(codes: NDArray[np.int64], begins: Ids) -> Ids:
    """Where each row begins, and the end of the last."""
    offsets = np.empty(codes.shape[1] + 1, np.int64)
    at = 0
    for row in range(codes.shape[1]):
        offsets[row] = at
        for column in range(codes.shape[0]):
            code = codes[column, row]
            at += begins[code + 1] - begins[code]
    offsets[codes.shape[1]] = at
    return offsets


@njit(cache=True)
def _fill(out: Words, offsets: Ids, codes: NDArray[np.int64], begins: Ids, data: Words) -> None:
    """Copy the texts of each row to their place, eight bytes at a time: what is copied too much is written
    over by what comes next."""
    for row in range(codes.shape[1]):
        place = offsets[row]
        for column in range(codes.shape[0]):
            code = codes[column, row]
            first, length = begins[code], begins[code + 1] - begins[code]
            for byte in range(0, length, _WORD):
                out[place + byte] = data[first + byte]
            place += length
