"""Answers as result lines: JSON Lines by the contract, a column at a time (DESIGN.md, "Result lines").

Each distinct term is written once and each line is put together by Polars, so that a million results a
second are a matter of memory bandwidth. Results of one evaluation time have no order of their own unless
the query gives one; they are written in the order of their text, so that the file does not depend on ids,
evaluators or partitions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from weir.kernel.batch import Answers
from weir.language.algebra import Distinct, OrderBy, Project, Reduced, Slice
from weir.language.query import Construct, Query, Select
from weir.language.windows import TickKind
from weir.rdf.columns import Ids
from weir.rdf.dictionary import Dictionary
from weir.runtime.writing import (
    arrow_texts,
    coded_texts,
    column_texts,
    compact,
    json_terms,
    quoted,
    run_together,
    same,
    side_by_side,
    stamps,
)


@dataclass(frozen=True, slots=True)
class Lines:
    """One line per result (for CONSTRUCT per evaluation time), with the time each carries."""

    at: Ids
    text: pa.LargeStringArray

    def __len__(self) -> int:
        return len(self.at)


def column_name(variable: str) -> str:
    """The column of a variable: its name, unless one in front of all variables has it."""
    return f"?{variable}" if variable in ("at", "op") else variable


def json_lines(query: Query, name: str, answers: Answers, dictionary: Dictionary) -> Lines:
    """The result lines of ``answers``, in order."""
    head = f'{{"query":{compact(name)},"at":"'
    middle = f'","op":"{query.semantics.r2s.value}",'
    at = answers.at + query.semantics.emit_after
    if isinstance(query.form, Construct):
        lines = _triples(at, answers, dictionary, head, middle + '"triples":["')
    else:
        if isinstance(query.form, Select):
            body = _bindings(query, answers, dictionary)
            if not keeps_order(query):
                body = body.gather(order_of_text(at, body))
        else:
            body = _booleans(answers.columns["boolean"])
        lines = Lines(at, arrow_texts(side_by_side([head, *stamps(at), middle, body, "}\n"])))
    if not len(answers.empty):
        return lines
    nothing = answers.empty + query.semantics.emit_after
    return _merged(
        lines, Lines(nothing, arrow_texts(side_by_side([head, *stamps(nothing), middle + _EMPTY])))
    )


_EMPTY = '"empty":true}\n'


def _merged(lines: Lines, others: Lines) -> Lines:
    """Both in the order of their times."""
    every = np.concatenate([lines.at, others.at])
    order = np.argsort(every, kind="stable")
    return Lines(every[order], pa.concat_arrays([lines.text, others.text]).take(pa.array(order)))


def keeps_order(query: Query) -> bool:
    """Whether the order within one evaluation time means something: ORDER BY, or several evaluations."""
    pattern = query.pattern
    while isinstance(pattern, (Project, Distinct, Reduced, Slice)):
        pattern = pattern.pattern
    tuples = any(w.semantics.tick.kind is TickKind.TUPLE for w in query.dataset.windows)
    return isinstance(pattern, OrderBy) or tuples


def order_of_text(at: Ids, texts: pl.Series) -> Ids:
    """The order by (``at``, text), where ``at`` ascends already; only rows that share their time move."""
    order = np.arange(len(at))
    if len(at) < 2:
        return order
    same = at[1:] == at[:-1]
    tied = np.flatnonzero(np.concatenate([same, [False]]) | np.concatenate([[False], same]))
    if len(tied):
        rows = pl.DataFrame({"at": at[tied], "text": texts.gather(tied), "row": tied})
        order[tied] = rows.sort("at", "text")["row"].to_numpy()
    return order


def _bindings(query: Query, answers: Answers, dictionary: Dictionary) -> pl.Series:
    fields = []
    for variable in query.form.variables if isinstance(query.form, Select) else ():
        prefix = compact(variable.name) + ":"

        def write(texts: pl.Series, prefix: str = prefix) -> pl.Series:
            return pl.select(pl.lit(prefix) + json_terms(texts)).to_series()

        fields.append(column_texts(answers.columns[variable.name], dictionary, write))
    if not fields:
        return same('"bindings":{}', len(answers.at))
    return side_by_side(['"bindings":{', side_by_side(fields, between=","), "}"])


def _booleans(column: Ids) -> pl.Series:
    return pl.Series(['"boolean":false', '"boolean":true']).gather((column != 0).astype(np.int64))


def _triples(at: Ids, answers: Answers, dictionary: Dictionary, head: str, middle: str) -> Lines:
    """One line per evaluation time with its triples; equal times are adjacent."""
    parts = [answers.columns[name] for name in ("subject", "predicate", "object")]
    coded = [coded_texts(part, dictionary) for part in parts]
    plain = side_by_side([*(texts.gather(where) for texts, where in coded), "."], between=" ")
    escaped = [(quoted(texts), where) for texts, where in coded]
    statements = plain
    if any(one is not other for (one, _), (other, _) in zip(coded, escaped, strict=True)):
        statements = side_by_side([*(texts.gather(where) for texts, where in escaped), "."], between=" ")
    starts = np.flatnonzero(np.concatenate([[True], at[1:] != at[:-1]])) if len(at) else _NONE
    if len(starts) == len(at):
        return Lines(at, arrow_texts(side_by_side([head, *stamps(at), middle, statements, '"]}\n'])))
    last = np.zeros(len(at), np.bool_)
    last[np.append(starts[1:], len(at)) - 1] = True
    opened = pl.Series([None], dtype=pl.String).new_from_index(0, len(at))
    opened = opened.scatter(starts, side_by_side([head, *stamps(at[starts]), middle]))
    pieces = [
        opened.fill_null('"'),
        statements.gather(order_of_text(at, plain)),
        pl.Series(['",', '"]}\n']).gather(last.astype(np.int64)),
    ]
    return Lines(at[starts], run_together(arrow_texts(side_by_side(pieces)), starts))


_NONE = np.empty(0, np.int64)
