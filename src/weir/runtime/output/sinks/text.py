"""Results as text: a way to write them, into one file exactly once or to a stream at least once."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import IO

import pyarrow as pa
from rich.console import Console
from rich.table import Table
from rich.text import Text

from weir.rdf.terms import XSD, Literal, Term, parse_term
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.sinks.lines import ExactFile
from weir.runtime.output.writing import timestamp

Render = Callable[[Sequence[Results], str], tuple[bytes, str]]
"""The text of a batch's results, given a note on the text before it (``""`` where there is none), and the
note for the text after it. What is written depends on these alone, so that a restart changes nothing."""

Row = tuple[str | None, ...]


class TextSink:
    """A way to write results, into a file exactly once or to a stream at least once."""

    form = "columns"

    def __init__(self, render: Render, target: ExactFile | IO[bytes]) -> None:
        self._render = render
        self._target = target
        self._note = ""
        self.promise = "exactly once" if isinstance(target, ExactFile) else "at least once"

    def open(self) -> None:
        if isinstance(self._target, ExactFile):
            self._target.open()
            self._note = self._target.note

    def write(self, batch: int, results: Sequence[Results]) -> None:
        some = [result for result in results if len(result)]
        if not some or (isinstance(self._target, ExactFile) and self._target.has(batch)):
            return
        data, self._note = self._render(some, self._note)
        if isinstance(self._target, ExactFile):
            self._target.append(batch, data, self._note)
        else:
            self._target.write(data)
            self._target.flush()

    def close(self) -> None:
        if isinstance(self._target, ExactFile):
            self._target.close()


def variables(result: Results) -> list[str]:
    """The columns behind ``at`` and ``op``: variables, parts of a triple, or ``boolean``."""
    return [name.removeprefix("?") for name in result.table.column_names[2:]]


def evaluations(result: Results) -> Iterator[tuple[str, str | None, list[Row]]]:
    """Time, operator and rows of canonical texts of each evaluation; neighbours of equal time are one.

    An evaluation that had no results has neither operator nor rows."""
    columns = [column.to_pylist() for column in result.table.columns[2:]]
    rows = zip(*stamps(result.table), *columns, strict=True)
    for (at, op), group in groupby(rows, key=itemgetter(0, 1)):
        yield at, op, [row[2:] for row in group if op is not None]


def stamps(table: pa.Table) -> tuple[list[str], list[str | None]]:
    """The times and operators of all rows; what stands for nothing has none."""
    known = {at: timestamp(at) for at in table["at"].unique().to_pylist()}
    return [known[at] for at in table["at"].to_pylist()], table["op"].to_pylist()


def term_of(text: str) -> Term:
    """The term of a text in a column; an answer of ASK is written without quotes."""
    return Literal(text, XSD + "boolean") if text in ("true", "false") else parse_term(text)


def written(column: pa.ChunkedArray, write: Callable[[Term], str]) -> list[str]:
    """The texts of a column, each distinct term written once; what is unbound is empty."""
    known: dict[str | None, str] = {None: ""}
    for text in column.unique().to_pylist():
        if text is not None:
            known[text] = write(term_of(text))
    return [known[text] for text in column.to_pylist()]


def table_text(console: Console) -> Render:
    """Results as a table per query, the columns as wide as ``console`` allows."""

    def render(results: Sequence[Results], note: str) -> tuple[bytes, str]:
        buffer = io.StringIO()
        out = Console(file=buffer, width=console.width, force_terminal=console.is_terminal)
        for result in results:
            out.print(rich_table(result))
        return buffer.getvalue().encode(), note

    return render


def rich_table(result: Results) -> Table:
    """One query's results of a batch."""
    names = variables(result)
    table = Table(title=result.name, title_justify="left", show_edge=False, pad_edge=False)
    for name in ("at", "op", *names):
        table.add_column(name, overflow="fold")
    shown = [written(column, _shown) for column in result.table.columns[2:]]
    for row in zip(*stamps(result.table), *shown, strict=True):
        table.add_row(*(Text(value or "") for value in row))
    return table


def _shown(term: Term) -> str:
    if isinstance(term, Literal) and term.datatype == XSD + "boolean":
        return term.lexical
    return str(term)
