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
from weir.language.query import Query
from weir.rdf.columns import Ids
from weir.rdf.dictionary import Dictionary
from weir.rdf.sparql_json import json_term
from weir.rdf.terms import parse_term
from weir.runtime.results import column_name, compact, order_of_text
from weir.runtime.texts import StreamTexts

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
            body = _joined(fields, len(rows), ",")
            order = self._order(rows, counts, body)
            query = np.repeat(np.arange(len(names)), counts)
            at = self._at[rows] + self._shift(names)[query]
            heads = pl.Series([f'{{"query":{compact(name)},"at":"' for name in names])
            middles = pl.Series([f'","op":"{self._voices[name].operator}","bindings":{{' for name in names])
            parts = [heads.gather(query), _stamps(at), middles.gather(query), body.gather(order)]
            named = [part.alias(str(place)) for place, part in enumerate(parts)]
            text = pl.select(pl.concat_str([*named, pl.lit("}}\n")])).to_series()
            yield _table(names, query, {"at": pa.array(at), "line": _arrow(text)})

    def columns(self) -> Iterator[pa.RecordBatch]:
        """Columns of texts: tables of ``query``, ``at``, ``op`` and the variables, the rows of a query
        together; queries of one table select variables of the same names."""
        for signature, names in self._blocks():
            rows, counts = self._rows(names)
            found = {column_name(name): self._column(self._texts, column, rows) for name, column in signature}
            order = self._order(rows, counts, _joined(list(found.values()), len(rows), ""))
            query = np.repeat(np.arange(len(names)), counts)
            operators = pl.Series([self._voices[name].operator for name in names])
            columns = {
                "at": pa.array(self._at[rows] + self._shift(names)[query]),
                "op": _arrow(operators.gather(query)),
                **{name: _arrow(column.gather(order)) for name, column in found.items()},
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


def texts_of(ids: Ids, dictionary: Dictionary) -> pl.Series:
    """The canonical texts of distinct ids, null for 0; those in chunks a chunk at a time."""
    found = pl.Series([None], dtype=pl.String).new_from_index(0, len(ids))
    open_ = ids != 0
    for chunk in reversed(dictionary.chunks) if isinstance(dictionary, StreamTexts) else ():
        wanted = np.flatnonzero(open_ & (ids > 0))
        place = np.minimum(np.searchsorted(chunk.ids, ids[wanted]), len(chunk.ids) - 1)
        here = chunk.ids[place] == ids[wanted]
        rows = wanted[here]
        found = found.scatter(rows, pl.Series(chunk.texts.take(pa.array(place[here]))))
        open_[rows] = False
    rest = np.flatnonzero(open_)
    if len(rest):
        texts = [dictionary.text(identifier) for identifier in ids[rest].tolist()]
        found = found.scatter(rest, pl.Series(texts, dtype=pl.String))
    return found


def json_terms(texts: pl.Series) -> pl.Series:
    """Canonical texts as SPARQL JSON terms; null stays null. Common forms as columns, others one by one."""
    plain = ~texts.str.contains(r"[\\\x00-\x1f]")
    iri = texts.str.starts_with("<") & plain & ~texts.str.contains('"', literal=True)
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


def _stamps(at: Ids) -> pl.Series:
    """``results.timestamp`` of a column."""
    return pl.Series(at).cast(pl.Datetime("us")).dt.strftime("%Y-%m-%dT%H:%M:%S%.3fZ")


def _joined(columns: Sequence[pl.Series], count: int, separator: str) -> pl.Series:
    """Texts side by side, without those that are null."""
    if not columns:
        return pl.Series([""]).new_from_index(0, count)
    named = [column.alias(str(place)) for place, column in enumerate(columns)]
    return pl.select(pl.concat_str(named, separator=separator, ignore_nulls=True)).to_series()


def _arrow(texts: pl.Series) -> pa.LargeStringArray:
    return texts.to_arrow().cast(pa.large_string())


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
