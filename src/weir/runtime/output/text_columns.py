"""Columns of text: of terms, of times, and of rows put together from them.

Each distinct term is written once, each second once. Rows of text are put together from columns of numbered
texts. No call per row, and per distinct term only where it is unusual.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from weir.rdf.columns import Ids
from weir.rdf.compiled import njit
from weir.rdf.formats.tnq_split import Bytes, Words, words_of
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import json_term, parse_term
from weir.rdf.xsd.moments import civil_text
from weir.runtime.worker.texts import StreamTexts

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

    @property
    def column(self) -> pa.DictionaryArray:
        """The same for Arrow."""
        return pa.DictionaryArray.from_arrays(pa.array(self.codes), arrow_texts(self.texts))

    @property
    def ranks(self) -> Ids:
        """The place of each text in the order of texts, by its code."""
        texts = self.texts.fill_null("")
        order = texts.arg_sort().to_numpy()
        ordered = texts.gather(order)
        places = np.empty(len(texts), np.int64)
        places[order] = np.cumsum((ordered != ordered.shift(1)).fill_null(False).to_numpy())
        return places


@dataclass(frozen=True, slots=True)
class Woven:
    """Rows of text, put together when they are asked for; all texts lie in ``data``, from ``begins`` on, and
    those of a column from its number in ``firsts`` on."""

    columns: Sequence[Coded]
    firsts: Sequence[int]
    begins: Ids
    data: Words

    def rows(self, first: int = 0, last: int | None = None) -> pa.LargeStringArray:
        """Some of the rows; each text is copied once, straight to its place."""
        some = [column.codes[first:last] for column in self.columns]
        codes = np.empty((len(some), len(some[0])), np.int64)
        for place, column in enumerate(some):
            np.add(column, self.firsts[place], out=codes[place])
        offsets = _offsets(codes, self.begins)
        out = np.empty(int(offsets[-1]) + _WORD, np.uint8)
        _fill(words_of(out), offsets, codes, self.begins, self.data)
        return pa.LargeStringArray.from_buffers(codes.shape[1], pa.py_buffer(offsets), pa.py_buffer(out))


def weave(columns: Sequence[Coded]) -> Woven:
    """The texts of each row side by side."""
    begins, data = bytes_of(arrow_texts(pl.concat([column.texts.fill_null("") for column in columns])))
    firsts = np.cumsum([0, *(len(column.texts) for column in columns[:-1])]).tolist()
    padded = np.empty(len(data) + _WORD, np.uint8)
    padded[: len(data)] = data
    return Woven(columns, firsts, begins, words_of(padded))


@njit(over=("codes",), cache=True)
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


@njit(over=("out",), cache=True)
def _fill(out: Words, offsets: Ids, codes: NDArray[np.int64], begins: Ids, data: Words) -> None:
    """Copy the texts of each row eight bytes at a time: what is copied too much is written over by what comes
    next."""
    for row in range(codes.shape[1]):
        place = offsets[row]
        for column in range(codes.shape[0]):
            code = codes[column, row]
            first, length = begins[code], begins[code + 1] - begins[code]
            for byte in range(0, length, _WORD):
                out[place + byte] = data[first + byte]
            place += length


def run_together(pieces: pa.LargeStringArray, starts: Ids) -> pa.LargeStringArray:
    """Neighbouring texts as one: those from each of ``starts`` up to the next. They lie so in memory."""
    _, offsets, data = pieces.buffers()
    every = np.frombuffer(offsets, np.int64)[pieces.offset : pieces.offset + len(pieces) + 1]
    kept = pa.py_buffer(np.append(every[starts], every[-1]))
    return pa.LargeStringArray.from_buffers(len(starts), kept, data)


def arrow_texts(texts: pl.Series) -> pa.LargeStringArray:
    """A column of texts for Arrow."""
    return texts.to_arrow().cast(pa.large_string())


def bytes_of(column: pa.LargeStringArray) -> tuple[Ids, Bytes]:
    """Where each text begins, and the end of the last; and the bytes of all."""
    _, offsets, data = column.buffers()
    begins = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    return begins, np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)


_SECOND, _MILLISECOND = 1_000_000, 1000
_DATE = len("1970-01-01T00:00:00")


@lru_cache(maxsize=1)
def _fractions() -> pl.Series:
    return pl.Series([f".{number:03d}Z" for number in range(1000)])


def timestamp(microseconds: int) -> str:
    """xsd:dateTime in UTC with milliseconds, and microseconds where there are any."""
    return civil_text(microseconds, 6 if microseconds % _MILLISECOND else 3) + "Z"


def compact(value: object) -> str:
    """JSON without superfluous blanks, text as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def stamps(at: Ids) -> tuple[Coded, Coded]:
    """``timestamp`` of a column, in two that stand side by side."""
    second = at // _SECOND
    distinct, where = distinct_values(second)
    moments = pl.Series(distinct * _SECOND).cast(pl.Datetime("us"))
    seconds = Coded(where, moments.dt.strftime("%Y-%m-%dT%H:%M:%S"))
    rest = at - second * _SECOND
    if not (rest % _MILLISECOND).any():
        return seconds, Coded(rest // _MILLISECOND, _fractions())
    distinct, where = distinct_values(rest)
    return seconds, Coded(where, pl.Series([timestamp(each)[_DATE:] for each in distinct.tolist()]))


def distinct_values(values: Ids) -> tuple[Ids, Ids]:
    """The values that occur, in the order in which they do, and for each row the number of its own."""
    coded = pa.array(values).dictionary_encode()
    return coded.dictionary.to_numpy(), coded.indices.to_numpy().astype(np.int64)


def texts_of(ids: Ids, dictionary: Dictionary) -> pl.Series:
    """The canonical texts of distinct ids, null for 0; those in tables a table at a time."""
    found = pl.Series([None], dtype=pl.String).new_from_index(0, len(ids))
    open_ = ids != 0
    chunks = reversed(dictionary.chunks) if isinstance(dictionary, StreamTexts) else ()
    for table in (*chunks, *dictionary.tables.values()):
        wanted = np.flatnonzero(open_ & (ids > 0))
        place = np.minimum(np.searchsorted(table.ids, ids[wanted]), len(table.ids) - 1)
        here = table.ids[place] == ids[wanted]
        rows = wanted[here]
        found = found.scatter(rows, pl.Series(table.texts.take(pa.array(place[here]))))
        open_[rows] = False
    rest = np.flatnonzero(open_)
    if len(rest):
        texts = [dictionary.text(identifier) for identifier in ids[rest].tolist()]
        found = found.scatter(rest, pl.Series(texts, dtype=pl.String))
    return found


def coded_texts(ids: Ids, dictionary: Dictionary) -> Coded:
    """The canonical texts of a column, null where it is unbound."""
    distinct, where = distinct_values(ids)
    return Coded(where, texts_of(distinct, dictionary))


def json_terms(texts: pl.Series) -> pl.Series:
    """Canonical texts as SPARQL JSON terms; null stays null. Common forms as columns, others one by one."""
    plain = ~texts.str.contains(r"[\\\x00-\x1f]")
    iri = texts.str.contains('^<[^<"]*$') & plain
    typed = texts.str.contains(r'^"[^"]*"(\^\^<[^"]*>)?$') & plain
    frame = pl.DataFrame({"text": texts, "iri": iri, "typed": typed})
    body = pl.col("text").str.slice(1)
    made = frame.select(
        pl.when(pl.col("iri"))
        .then(pl.lit('{"type":"uri","value":"') + body.str.head(-1) + pl.lit('"}'))
        .when(pl.col("typed"))
        .then(
            pl.lit('{"type":"literal","value":"')
            + body.str.replace('"^^<', '","datatype":"', literal=True).str.head(-1)
            + pl.lit('"}')
        )
    ).to_series()
    rest = np.flatnonzero((made.is_null() & texts.is_not_null()).to_numpy())
    if len(rest):
        slow = [compact(json_term(parse_term(text))) for text in texts.gather(rest)]
        made = made.scatter(rest, pl.Series(slow, dtype=pl.String))
    return made


def quoted(texts: pl.Series) -> pl.Series:
    """Texts as they stand inside a JSON string, without its quotes; the same series if none differs."""
    awkward = np.flatnonzero(texts.str.contains(r'["\\\x00-\x1f]').fill_null(False).to_numpy())
    if not len(awkward):
        return texts
    escaped = [compact(text)[1:-1] for text in texts.gather(awkward)]
    return texts.clone().scatter(awkward, pl.Series(escaped, dtype=pl.String))
