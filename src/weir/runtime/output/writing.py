"""Columns of ids and of times as columns of text: each term is written once, each second once.

What results in any form are made of. No call per row, and per distinct term only where it is unusual.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import json_term, parse_term
from weir.rdf.xsd.moments import civil_text
from weir.runtime.output.weaving import Coded
from weir.runtime.worker.texts import StreamTexts

_SECOND, _MILLISECOND = 1_000_000, 1000
_FRACTIONS = pl.Series([f".{number:03d}Z" for number in range(1000)])


def timestamp(microseconds: int) -> str:
    """xsd:dateTime in UTC with milliseconds."""
    return civil_text(microseconds, 3) + "Z"


def compact(value: object) -> str:
    """JSON without superfluous blanks, text as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def stamps(at: Ids) -> tuple[Coded, Coded]:
    """``timestamp`` of a column, in two that stand side by side."""
    second = at // _SECOND
    distinct, where = distinct_values(second)
    moments = pl.Series(distinct * _SECOND).cast(pl.Datetime("us"))
    seconds = Coded(where, moments.dt.strftime("%Y-%m-%dT%H:%M:%S"))
    return seconds, Coded((at - second * _SECOND) // _MILLISECOND, _FRACTIONS)


def distinct_values(values: Ids) -> tuple[Ids, Ids]:
    """The values that occur, in the order in which they do, and for each row the number of its own."""
    coded = pa.array(values).dictionary_encode()
    return coded.dictionary.to_numpy(), coded.indices.to_numpy().astype(np.int64)


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


def coded_texts(ids: Ids, dictionary: Dictionary) -> Coded:
    """The canonical texts of a column, null where it is unbound."""
    distinct, where = distinct_values(ids)
    return Coded(where, texts_of(distinct, dictionary))


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


def quoted(texts: pl.Series) -> pl.Series:
    """Texts as they stand inside a JSON string, without its quotes; the same series if none differs."""
    awkward = np.flatnonzero(texts.str.contains(r'["\\\x00-\x1f]').fill_null(False).to_numpy())
    if not len(awkward):
        return texts
    escaped = [compact(text)[1:-1] for text in texts.gather(awkward)]
    return texts.clone().scatter(awkward, pl.Series(escaped, dtype=pl.String))


def side_by_side(columns: Sequence[pl.Series | str], *, between: str = "") -> pl.Series:
    """Texts put together row by row, without those that are null; a plain text is the same in every row."""
    parts = [
        pl.lit(column) if isinstance(column, str) else column.alias(str(place))
        for place, column in enumerate(columns)
    ]
    return pl.select(pl.concat_str(parts, separator=between, ignore_nulls=True)).to_series()


def same(text: str, rows: int) -> pl.Series:
    """A column of one text."""
    return pl.Series([text], dtype=pl.String).new_from_index(0, rows)
