"""The answers of many queries as texts, written together: each term once, each column of all queries at once.

What ``results`` and ``outputs`` write for a query by itself, and in the same order, but without a call per
query: a batch in which a thousand queries have a few results each costs what their lines cost. Law: a
query's rows here are exactly those that it would get alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from weir.kernel.matching.answers import SetAnswers
from weir.language.algebra.query import Query
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.output.results import column_name, order_of_text
from weir.runtime.output.text_columns import (
    Coded,
    arrow_texts,
    compact,
    json_terms,
    same,
    side_by_side,
    stamps,
    texts_of,
    weave,
)

MOST = 200_000
"""Rows written at a time, as a rule: what bounds the memory that texts take while they are made."""

QUERY = ".query"
"""The column that tells whose row it is; no variable has such a name."""

Signature = tuple[tuple[str, int], ...]
"""The variables that a query selects, in its order, with their columns in its channel."""


@dataclass(frozen=True, slots=True)
class Voice:
    """What else of a query its results show: the R2S operator, and how much later than its evaluation
    time a result is dated."""

    operator: str
    shift: int

    @staticmethod
    def of(query: Query) -> Voice:
        return Voice(query.semantics.r2s.value, query.semantics.emit_after)


class BulkTexts:
    """The texts of one set's answers; ``voices`` are those of its queries by name."""

    def __init__(self, answers: SetAnswers, voices: Mapping[str, Voice], dictionary: Dictionary) -> None:
        self._answers = answers
        self._voices = voices
        self._channel, self._at, self._values = answers.table
        self._ids = np.unique(self._values)
        self._texts = texts_of(self._ids, dictionary)
        channels = np.arange(len(answers.members) + 1)
        self._first = np.searchsorted(self._channel, channels)

    def lines(self) -> Iterator[pa.RecordBatch]:
        """JSON lines: tables of ``query``, ``at`` and ``line``, the rows of a query together."""
        terms = json_terms(self._texts)
        for signature, names in self._blocks():
            rows, counts = self._rows(names)
            fields = [
                pl.select(pl.lit(compact(name) + ":") + self._column(terms, column, rows)).to_series()
                for name, column in signature
            ]
            body = side_by_side(fields, between=",") if fields else same("", len(rows))
            order = self._order(rows, counts, body)
            query = np.repeat(np.arange(len(names)), counts)
            at = self._at[rows] + self._shift(names)[query]
            heads = pl.Series([f'{{"query":{compact(name)},"at":"' for name in names])
            middles = pl.Series([f'","op":"{self._voices[name].operator}","bindings":{{' for name in names])
            lines = [Coded(query, heads), *stamps(at), Coded(query, middles), Coded(order, body)]
            ends = Coded(np.zeros(len(at), np.int64), pl.Series(["}}\n"]))
            yield _table(names, query, {"at": pa.array(at), "line": weave([*lines, ends])})

    def columns(self) -> Iterator[pa.RecordBatch]:
        """Columns of texts: tables of ``query``, ``at``, ``op`` and the variables, the rows of a query
        together; queries of one table select variables of the same names."""
        for signature, names in self._blocks():
            rows, counts = self._rows(names)
            found = {column_name(name): self._column(self._texts, column, rows) for name, column in signature}
            order = self._order(
                rows, counts, side_by_side(list(found.values())) if found else same("", len(rows))
            )
            query = np.repeat(np.arange(len(names)), counts)
            operators = pl.Series([self._voices[name].operator for name in names])
            columns = {
                "at": pa.array(self._at[rows] + self._shift(names)[query]),
                "op": arrow_texts(operators.gather(query)),
                **{name: arrow_texts(column.gather(order)) for name, column in found.items()},
            }
            yield _table(names, query, columns)

    def _blocks(self) -> Iterator[tuple[Signature, list[str]]]:
        """Queries that have results and write them alike, not too many at a time."""
        counts = np.diff(self._first).tolist()
        alike: dict[Signature, list[str]] = {}
        held: dict[Signature, int] = {}
        for name, header in self._answers.headers.items():
            results = counts[header.channel]
            if not results:
                continue
            signature = tuple(header.columns.items())
            alike.setdefault(signature, []).append(name)
            held[signature] = held.get(signature, 0) + results
            if held[signature] >= MOST:
                yield signature, alike.pop(signature)
                del held[signature]
        yield from alike.items()

    def _rows(self, names: Sequence[str]) -> tuple[Ids, Ids]:
        """The rows of each query one after the other, in the order of time, and how many each has."""
        channel = np.array([self._answers.headers[name].channel for name in names], np.int64)
        first = self._first[channel]
        counts = self._first[channel + 1] - first
        ends = np.cumsum(counts)
        return np.arange(int(ends[-1])) + np.repeat(first - ends + counts, counts), counts

    def _order(self, rows: Ids, counts: Ids, body: pl.Series) -> Ids:
        """Rows of one query and time in the order of their text."""
        at = self._at[rows]
        fresh = np.ones(len(rows), np.bool_)
        fresh[1:] = at[1:] != at[:-1]
        starts = np.cumsum(counts) - counts
        fresh[starts] = True
        return order_of_text(np.cumsum(fresh), body)

    def _column(self, texts: pl.Series, column: int, rows: Ids) -> pl.Series:
        """The texts of a column; null where the variable is unbound."""
        if not 0 <= column < len(self._values):
            return pl.Series([None], dtype=pl.String).new_from_index(0, len(rows))
        return texts.gather(np.searchsorted(self._ids, self._values[column][rows]))

    def _shift(self, names: Sequence[str]) -> Ids:
        return np.array([self._voices[name].shift for name in names], np.int64)


def _table(names: Sequence[str], query: Ids, columns: Mapping[str, pa.Array]) -> pa.RecordBatch:
    owner = pa.DictionaryArray.from_arrays(pa.array(query.astype(np.int32)), pa.array(names))
    return pa.record_batch([owner, *columns.values()], names=[QUERY, *columns])


def parted(table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """A table that ``BulkTexts`` made, query by query."""
    owner = table[QUERY].combine_chunks()
    rest = table.drop_columns([QUERY])
    codes = owner.indices.to_numpy()
    if not len(codes):
        return
    starts = np.flatnonzero(np.diff(codes, prepend=-1)).tolist()
    for first, last in zip(starts, [*starts[1:], len(codes)], strict=True):
        yield owner.dictionary[int(codes[first])].as_py(), rest.slice(first, last - first)
