"""Answers as result lines: JSON Lines by the contract, a column at a time.

What a line says is in docs/semantics.md, "Result lines".

Each distinct term is written once and each line is put together by Polars, so that a million results a
second are a matter of memory bandwidth. Results of one evaluation time have no order of their own unless
the query gives one; they are written in the order of their text, so that the file does not depend on ids,
evaluators or partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from weir.kernel.contract import Answers
from weir.language.algebra.patterns import Distinct, OrderBy, Project, Reduced, Slice
from weir.language.algebra.query import Ask, Query, Select
from weir.language.algebra.windows import TickKind
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.output.text_columns import (
    Coded,
    coded_texts,
    compact,
    json_terms,
    quoted,
    run_together,
    side_by_side,
    stamps,
    weave,
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
    if isinstance(query.form, Select):
        lines = _bindings(query, at, answers, dictionary, head, middle)
    elif isinstance(query.form, Ask):
        boolean = Coded((answers.columns["boolean"] != 0).astype(np.int64), pl.Series(["false", "true"]))
        lines = Lines(at, weave([*_dated(at, head, middle + '"boolean":'), boolean.framed("", "}\n")]))
    else:
        lines = _triples(at, answers, dictionary, head, middle + '"triples":["')
    if not len(answers.empty):
        return lines
    nothing = answers.empty + query.semantics.emit_after
    return _merged(lines, Lines(nothing, weave(_dated(nothing, head, middle + _EMPTY))))


def _dated(at: Ids, before: str, after: str) -> tuple[Coded, Coded]:
    """The times with what stands before and after them."""
    seconds, fractions = stamps(at)
    return seconds.framed(before), fractions.framed("", after)


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


def _bindings(
    query: Query, at: Ids, answers: Answers, dictionary: Dictionary, head: str, middle: str
) -> Lines:
    """One line per solution; rows of one time in the order of their texts, unless the query has its own."""
    assert isinstance(query.form, Select)
    fields = []
    for variable in query.form.variables:
        terms = coded_texts(answers.columns[variable.name], dictionary)
        written = Coded(terms.codes, json_terms(terms.texts))
        fields.append(written.framed(compact(variable.name) + ":"))
    if fields and not keeps_order(query):
        order = order_of_rows(at, fields)
        fields = [field.take(order) for field in fields]
    dated = _dated(at, head, middle + '"bindings":{')
    if any(field.texts.null_count() for field in fields):
        body = side_by_side([field.texts.gather(field.codes) for field in fields], between=",")
        whole = Coded(np.arange(len(at)), body).framed("", "}}\n")
        return Lines(at, weave([*dated, whole]))
    commas = [field.framed("," if place else "") for place, field in enumerate(fields)]
    end = Coded(np.zeros(len(at), np.int64), pl.Series(["}}\n"]))
    return Lines(at, weave([*dated, *commas, end]))


def _triples(at: Ids, answers: Answers, dictionary: Dictionary, head: str, middle: str) -> Lines:
    """One line per evaluation time with its triples; equal times are adjacent."""
    parts = [coded_texts(answers.columns[name], dictionary) for name in ("subject", "predicate", "object")]
    first, last = np.ones(len(at), np.bool_), np.ones(len(at), np.bool_)
    first[1:] = last[:-1] = at[1:] != at[:-1]
    if not first.all():
        order = order_of_rows(at, parts)
        parts = [part.take(order) for part in parts]
    seconds, fractions = _dated(at, head, middle)
    pieces = weave(
        [
            seconds.where(first, ""),
            fractions.where(first, '"'),
            *(Coded(part.codes, quoted(part.texts)).framed("", " ") for part in parts),
            Coded(last.astype(np.int64), pl.Series(['.",', '."]}\n'])),
        ]
    )
    starts = np.flatnonzero(first)
    return Lines(at[starts], run_together(pieces, starts))


def order_of_rows(at: Ids, columns: Sequence[Coded]) -> Ids:
    """The order by time, which ascends already, and by the columns' texts put together.

    That is the order by one text after the other, since no term is the beginning of another but for what
    sorts behind the blank that follows the shorter one; where some are unbound, texts are put together.
    """
    order = np.arange(len(at))
    if len(at) < 2:
        return order
    same = at[1:] == at[:-1]
    tied = np.flatnonzero(np.concatenate([same, [False]]) | np.concatenate([[False], same]))
    if not len(tied):
        return order
    some = [column.take(tied) for column in columns]
    if any(column.texts.null_count() for column in some):
        texts = side_by_side([column.texts.gather(column.codes) for column in some])
        order[tied] = tied[order_of_text(at[tied], texts)]
        return order
    key = np.cumsum(np.concatenate([[0], at[tied][1:] != at[tied][:-1]]))
    room = int(key[-1]) + 1
    for column in some:
        room *= len(column.texts) or 1
    if room < 2**62:
        for column in some:
            key = key * len(column.texts) + column.rank()
        order[tied] = tied[np.argsort(key, kind="stable")]
    else:
        order[tied] = tied[np.lexsort([*(column.rank() for column in reversed(some)), key])]
    return order
