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

from weir.rdf.columns import Ids
from weir.rdf.splitting import Bytes


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
    parts = [bytes_of(arrow_texts(column.texts.fill_null(""))) for column in columns]
    lengths = [np.diff(offsets)[column.codes] for column, (offsets, _) in zip(columns, parts, strict=True)]
    offsets = np.zeros(len(columns[0].codes) + 1, np.int64)
    np.cumsum(np.sum(lengths, axis=0), out=offsets[1:])
    out = np.empty(int(offsets[-1]), np.uint8)
    at = offsets[:-1].copy()
    for column, (begins, data) in zip(columns, parts, strict=True):
        _fill(out, at, column.codes, begins, data)
    return pa.LargeStringArray.from_buffers(len(at), pa.py_buffer(offsets), pa.py_buffer(out))


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
    begins, data = bytes_of(texts)
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(np.diff(begins)[rows], out=offsets[1:])
    out = np.empty(int(offsets[-1]), np.uint8)
    _fill(out, offsets[:-1].copy(), rows, begins, data)
    return pa.LargeStringArray.from_buffers(len(rows), pa.py_buffer(offsets), pa.py_buffer(out))


def bytes_of(column: pa.LargeStringArray) -> tuple[Ids, Bytes]:
    """Where each text begins, and the end of the last; and the bytes of all."""
    _, offsets, data = column.buffers()
    begins = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    return begins, np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)


@njit(cache=True)
def _fill(out: Bytes, at: Ids, codes: Ids, begins: Ids, data: Bytes) -> None:
    """Copy each row's text to its place, and move the place on."""
    for row in range(len(codes)):
        code = codes[row]
        place = at[row]
        for byte in range(begins[code], begins[code + 1]):
            out[place] = data[byte]
            place += 1
        at[row] = place
