"""Answers as result lines: JSON Lines by the contract, a column at a time (DESIGN.md, "Result lines").

Each distinct term is written once and each line is put together by Polars, so that a million results a
second are a matter of memory bandwidth. Results of one evaluation time have no order of their own unless
the query gives one; they are written in the order of their text, so that the file does not depend on ids,
evaluators or partitions.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from weir.kernel.batch import Answers
from weir.language.algebra import Distinct, OrderBy, Project, Reduced, Slice
from weir.language.query import Ask, Query, Select
from weir.language.windows import TickKind
from weir.rdf.civil import civil_text
from weir.rdf.columns import Ids
from weir.rdf.dictionary import Dictionary
from weir.rdf.sparql_json import json_term


@dataclass(frozen=True, slots=True)
class Lines:
    """One line per result (for CONSTRUCT per evaluation time), with the time each carries."""

    at: Ids
    text: pl.Series

    def __len__(self) -> int:
        return len(self.at)


def timestamp(microseconds: int) -> str:
    """xsd:dateTime in UTC with milliseconds."""
    return civil_text(microseconds, 3) + "Z"


def column_name(variable: str) -> str:
    """The column of a variable: its name, unless one in front of all variables has it."""
    return f"?{variable}" if variable in ("at", "op") else variable


def compact(value: object) -> str:
    """JSON without superfluous blanks, text as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def json_lines(query: Query, name: str, answers: Answers, dictionary: Dictionary) -> Lines:
    """The result lines of ``answers``, in order."""
    shift = query.semantics.emit_after
    head = f'{{"query":{compact(name)},"at":"'
    middle = f'","op":"{query.semantics.r2s.value}",'
    if isinstance(query.form, Select):
        at, body = answers.at, _bindings(query, answers, dictionary)
        if not keeps_order(query):
            body = body.gather(order_of_text(at, body))
    elif isinstance(query.form, Ask):
        at, body = answers.at, _booleans(answers.columns["boolean"])
    else:
        at, body = _triples(answers, dictionary)
    at, body = _with_empty(at, body, answers.empty)
    shown = _once(at + shift, timestamp)
    lines = pl.select(pl.concat_str([pl.lit(head), shown, pl.lit(middle), body, pl.lit("}\n")])).to_series()
    return Lines(at + shift, lines)


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


def _once(values: Ids, write: Callable[[int], str | None]) -> pl.Series:
    """``write`` of each value, called once per distinct one."""
    if not len(values):
        return pl.Series([], dtype=pl.String)
    if int(values[0]) == int(values[-1]) and (values == values[0]).all():
        return pl.Series([write(int(values[0]))], dtype=pl.String).new_from_index(0, len(values))
    distinct, where = np.unique(values, return_inverse=True)
    return pl.Series([write(value) for value in distinct.tolist()], dtype=pl.String).gather(where)


def _bindings(query: Query, answers: Answers, dictionary: Dictionary) -> pl.Series:
    columns = []
    for variable in query.form.variables if isinstance(query.form, Select) else ():
        prefix = compact(variable.name) + ":"

        def write(identifier: int, prefix: str = prefix) -> str | None:
            return None if identifier == 0 else prefix + compact(json_term(dictionary.decode(identifier)))

        columns.append(_once(answers.columns[variable.name], write))
    if not columns:
        return pl.Series(['"bindings":{}'], dtype=pl.String).new_from_index(0, len(answers.at))
    fields = pl.select(
        pl.concat_str(
            [column.alias(str(i)) for i, column in enumerate(columns)], separator=",", ignore_nulls=True
        )
    ).to_series()
    return pl.select(pl.concat_str([pl.lit('"bindings":{'), fields, pl.lit("}")])).to_series()


def _booleans(column: Ids) -> pl.Series:
    return _once(column, lambda value: f'"boolean":{"true" if value else "false"}')


def _triples(answers: Answers, dictionary: Dictionary) -> tuple[Ids, pl.Series]:
    """One line per evaluation time with its triples; equal times are adjacent."""
    if not len(answers.at):
        return answers.at, pl.Series([], dtype=pl.String)
    texts = [
        pl.Series(dictionary.texts(answers.columns[name]), dtype=pl.String)
        for name in ("subject", "predicate", "object")
    ]
    statements = pl.select(pl.concat_str([*texts, pl.lit(".")], separator=" ")).to_series()
    statements = statements.gather(order_of_text(answers.at, statements))
    distinct = statements.unique(maintain_order=True)
    quoted = dict(zip(distinct.to_list(), (compact(text) for text in distinct), strict=True))
    starts = np.flatnonzero(np.concatenate([[True], np.diff(answers.at) != 0]))
    ends = np.append(starts[1:], len(answers.at))
    listed = statements.to_list()
    bodies = [
        f'"triples":[{",".join(quoted[text] for text in listed[begin:end])}]'
        for begin, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
    return answers.at[starts], pl.Series(bodies, dtype=pl.String)


def _with_empty(at: Ids, body: pl.Series, empty: Ids) -> tuple[Ids, pl.Series]:
    """With a line for each evaluation time that had no result, where the query asks for them."""
    if not len(empty):
        return at, body
    nothing = pl.Series(['"empty":true'], dtype=pl.String).new_from_index(0, len(empty))
    every = np.concatenate([at, empty])
    order = np.argsort(every, kind="stable")
    return every[order], pl.concat([body, nothing]).gather(order)
