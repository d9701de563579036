"""Columns of text: of terms, of times, and of rows put together from them.

Each distinct term is written once, each second once. Rows of text are put together from columns of numbered
texts. No call per row, and per distinct term only where it is unusual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from weir.extras import lazily
from weir.rdf.columns import Ids
from weir.rdf.compiled import njit
from weir.rdf.formats.tnq_split import Words, words_of
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.xsd.moments import civil_text
from weir.runtime.output.json_columns import bytes_of
from weir.runtime.worker.texts import StreamTexts

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:
    pc = lazily("pyarrow.compute")

_WORD = 8
Codes: TypeAlias = NDArray[np.uint16] | NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Coded:
    """``texts[codes[i]]`` is the text of row i; a null is the same as no text."""

    codes: Ids
    texts: pa.LargeStringArray

    @staticmethod
    def of(codes: Ids, texts: Sequence[str | None]) -> Coded:
        """With a few texts."""
        return Coded(codes, pa.array(texts, pa.large_string()))

    def framed(self, before: str, after: str = "") -> Coded:
        """The same with something before and after each text."""
        if not before and not after:
            return self
        first, last, nothing = (pa.scalar(text, pa.large_string()) for text in (before, after, ""))
        return Coded(self.codes, pc.binary_join_element_wise(first, self.texts, last, nothing))

    def where(self, rows: np.ndarray, otherwise: str) -> Coded:
        """The same in the rows that are marked, ``otherwise`` in the rest."""
        texts = pa.concat_arrays([self.texts, pa.array([otherwise], pa.large_string())])
        return Coded(np.where(rows, self.codes, len(self.texts)), texts)

    def take(self, order: Ids) -> Coded:
        """Its rows in another order."""
        return Coded(self.codes[order], self.texts)

    @property
    def column(self) -> pa.DictionaryArray:
        """The same for Arrow."""
        return pa.DictionaryArray.from_arrays(pa.array(self.codes), self.texts)

    @property
    def ranks(self) -> Ids:
        """The place of each text in the order of texts, by its code."""
        places: Ids = pc.rank(self.texts.fill_null(""), tiebreaker="dense").to_numpy().astype(np.int64) - 1
        return places


@dataclass(frozen=True, slots=True)
class Woven:
    """Texts that are yet to be put together from those of ``columns``, side by side: one a row, or with
    ``starts`` one for the rows from each of them up to the next. ``texts`` has those of all columns, of each
    from its number in ``firsts`` on."""

    columns: Sequence[Coded]
    firsts: Sequence[int]
    texts: pa.LargeStringArray
    starts: Ids | None = None

    def rows(self) -> pa.LargeStringArray:
        """All of them, put together."""
        return put_together(self.numbered())

    def numbered(self, first: int = 0, last: int | None = None) -> pa.LargeListArray:
        """Some of the texts, as lists of numbered parts: a fraction of the size they have once they are
        ``put_together``."""
        width, rows = len(self.columns), len(self.columns[0].codes)
        if self.starts is None:
            bounds = np.arange(first, (rows if last is None else last) + 1)
        else:
            bounds = np.append(self.starts[first:], rows)[: None if last is None else last - first + 1]
        begin, end = bounds[[0, -1]].tolist()
        codes = np.empty((end - begin, width), np.uint16 if len(self.texts) < 1 << 16 else np.int32)
        for place, column in enumerate(self.columns):
            np.add(column.codes[begin:end], self.firsts[place], out=codes[:, place], casting="unsafe")
        parts = pa.DictionaryArray.from_arrays(pa.array(codes.ravel()), self.texts)
        return pa.LargeListArray.from_arrays(pa.array((bounds - begin) * width), parts)


def weave(columns: Sequence[Coded], starts: Ids | None = None) -> Woven:
    """The texts of each row side by side; behind the last there is room to read whole words."""
    room = pa.array([" " * _WORD], pa.large_string())
    firsts = np.cumsum([0, *(len(column.texts) for column in columns[:-1])]).tolist()
    texts = pa.concat_arrays([*(column.texts.fill_null("") for column in columns), room])
    return Woven(columns, firsts, texts, starts)


def put_together(numbered: pa.LargeListArray) -> pa.LargeStringArray:
    """What ``Woven.numbered`` gave as texts; each part is copied once, straight to its place."""
    bounds = numbered.offsets.to_numpy()
    codes = numbered.values.indices.to_numpy()
    begins, data = bytes_of(numbered.values.dictionary)
    ends = _ends(bounds, codes, begins)
    out = np.empty(int(ends[-1]) + _WORD, np.uint8)
    _fill(words_of(out), codes[bounds[0] : bounds[-1]], begins, words_of(data))
    return pa.LargeStringArray.from_buffers(len(numbered), pa.py_buffer(ends), pa.py_buffer(out))


@njit(over=("codes",), cache=True)
def _ends(bounds: Ids, codes: Codes, begins: Ids) -> Ids:
    """Where each text begins, and the end of the last."""
    ends = np.empty(len(bounds), np.int64)
    ends[0] = at = 0
    for row in range(len(bounds) - 1):
        for place in range(bounds[row], bounds[row + 1]):
            code = codes[place]
            at += begins[code + 1] - begins[code]
        ends[row + 1] = at
    return ends


@njit(over=("out",), cache=True)
def _fill(out: Words, codes: Codes, begins: Ids, data: Words) -> None:
    """Copy the parts one after the other, eight bytes at a time: what is copied too much is written over by
    what comes next."""
    at = 0
    for code in codes:
        first, length = begins[code], begins[code + 1] - begins[code]
        for byte in range(0, length, _WORD):
            out[at + byte] = data[first + byte]
        at += length


def arrow_texts(texts: pl.Series) -> pa.LargeStringArray:
    """A column of texts for Arrow."""
    return texts.to_arrow().cast(pa.large_string())


_SECOND, _MILLISECOND = 1_000_000, 1000
_DATE = len("1970-01-01T00:00:00")


@lru_cache(maxsize=1)
def _fractions() -> pa.LargeStringArray:
    return pa.array([f".{number:03d}Z" for number in range(1000)], pa.large_string())


def timestamp(microseconds: int) -> str:
    """xsd:dateTime in UTC with milliseconds, and microseconds where there are any."""
    return civil_text(microseconds, 6 if microseconds % _MILLISECOND else 3) + "Z"


def stamps(at: Ids) -> tuple[Coded, Coded]:
    """``timestamp`` of a column, in two that stand side by side."""
    second = at // _SECOND
    distinct, where = distinct_values(second)
    moments = np.datetime_as_string(distinct.astype("datetime64[s]"))
    seconds = Coded.of(where, moments.tolist())
    rest = at - second * _SECOND
    if not (rest % _MILLISECOND).any():
        return seconds, Coded(rest // _MILLISECOND, _fractions())
    distinct, where = distinct_values(rest)
    return seconds, Coded.of(where, [timestamp(each)[_DATE:] for each in distinct.tolist()])


def distinct_values(values: Ids) -> tuple[Ids, Ids]:
    """The values that occur, in the order in which they do, and for each row the number of its own."""
    coded = pa.array(values).dictionary_encode()
    return coded.dictionary.to_numpy(), coded.indices.to_numpy().astype(np.int64)


def texts_of(ids: Ids, dictionary: Dictionary) -> pa.LargeStringArray:
    """The canonical texts of distinct ids, null for 0; those in tables a table at a time."""
    pieces = [pa.nulls(1, pa.large_string())]
    places = np.zeros(len(ids), np.int64)
    open_ = ids != 0
    known = 1
    chunks = reversed(dictionary.chunks) if isinstance(dictionary, StreamTexts) else ()
    for table in (*chunks, *dictionary.tables.values()):
        wanted = np.flatnonzero(open_ & (ids > 0))
        if not len(wanted):
            break
        found = np.minimum(np.searchsorted(table.ids, ids[wanted]), len(table.ids) - 1)
        here = table.ids[found] == ids[wanted]
        rows = wanted[here]
        pieces.append(table.texts.take(pa.array(found[here])))
        places[rows] = np.arange(known, known + len(rows))
        known += len(rows)
        open_[rows] = False
    rest = np.flatnonzero(open_)
    if len(rest):
        texts = [dictionary.text(identifier) for identifier in ids[rest].tolist()]
        pieces.append(pa.array(texts, pa.large_string()))
        places[rest] = np.arange(known, known + len(rest))
    if len(pieces) == 2 and len(pieces[1]) == len(ids):
        return pieces[1]
    return pa.concat_arrays(pieces).take(pa.array(places))


def coded_texts(ids: Ids, dictionary: Dictionary) -> Coded:
    """The canonical texts of a column, null where it is unbound."""
    distinct, where = distinct_values(ids)
    return Coded(where, texts_of(distinct, dictionary))
