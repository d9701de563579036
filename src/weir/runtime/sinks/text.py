"""Results for people and for other tools: a table on the terminal, CSV, TSV, N-Quads messages."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import IO

import pyarrow as pa
from rich.console import Console
from rich.table import Table

from weir.rdf.terms import IRI, BlankNode, Term, parse_term
from weir.runtime.results import timestamp
from weir.runtime.sinks.base import Results
from weir.runtime.sinks.lines import ExactFile

GENERATED = "<http://www.w3.org/ns/prov#generatedAtTime>"
_XSD_DATETIME = "<http://www.w3.org/2001/XMLSchema#dateTime>"

Render = Callable[[Sequence[Results], bool], bytes]
"""The text of a batch's results; the flag says that it is the first text of its file."""


class TextSink:
    """A way to write results, into a file exactly once or to a stream at least once."""

    form = "columns"

    def __init__(self, render: Render, target: ExactFile | IO[bytes]) -> None:
        self._render = render
        self._target = target
        self._first = True
        self.promise = "exactly once" if isinstance(target, ExactFile) else "at least once"

    def open(self) -> None:
        if isinstance(self._target, ExactFile):
            self._target.open()
            self._first = self._target.path.stat().st_size == 0

    def write(self, batch: int, results: Sequence[Results]) -> None:
        if not any(len(result) for result in results):
            return
        data = self._render(results, self._first)
        self._first = False
        if isinstance(self._target, ExactFile):
            self._target.append(batch, data)
        else:
            self._target.write(data)
            self._target.flush()

    def close(self) -> None:
        if isinstance(self._target, ExactFile):
            self._target.close()


def plain(term: Term) -> str:
    """A term as SPARQL 1.1 CSV writes it: no brackets, quotes or datatypes."""
    if isinstance(term, IRI):
        return term.value
    return f"_:{term.label}" if isinstance(term, BlankNode) else term.lexical


def csv_text(results: Sequence[Results], first: bool) -> bytes:
    """SPARQL 1.1 CSV with the columns ``query``, ``at`` and ``op`` before the variables.

    The header is repeated where another query's results begin: each has its own variables.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    for result in results:
        names = [name for name in result.table.column_names if name not in ("at", "op")]
        if first or len(results) > 1:
            writer.writerow(["query", "at", "op", *names])
        columns = [_written(result.table[name], plain) for name in names]
        for at, op, *values in zip(*_stamps(result.table), *columns, strict=True):
            writer.writerow([result.name, at, op, *values])
    return out.getvalue().encode()


def nquads_text(results: Sequence[Results], first: bool) -> bytes:
    """N-Quads messages: a named graph per query and time, stamped with ``prov:generatedAtTime``.

    Solutions of a SELECT are written as one blank node each, with a triple per variable.
    """
    lines = []
    for result in results:
        table = result.table
        constructs = table.column_names[2:] == ["subject", "predicate", "object"]
        last = None
        for place, (at, values) in enumerate(_rows(table)):
            graph = f"<urn:weir:{_escaped(result.name)}:{at}>"
            if at != last:
                lines.append(f'{graph} {GENERATED} "{at}"^^{_XSD_DATETIME} .')
                last = at
            if constructs:
                lines.append(" ".join([*(v or "" for v in values), graph, "."]))
                continue
            for name, value in zip(table.column_names[2:], values, strict=True):
                if value is not None:
                    lines.append(f"_:r{place} <urn:weir:column:{name}> {value} {graph} .")
    return "".join(line + "\n" for line in lines).encode()


def table_text(console: Console) -> Render:
    """Results as a table per query, the columns as wide as ``console`` allows."""

    def render(results: Sequence[Results], first: bool) -> bytes:
        buffer = io.StringIO()
        out = Console(file=buffer, width=console.width, force_terminal=console.is_terminal)
        for result in results:
            if len(result):
                out.print(rich_table(result))
        return buffer.getvalue().encode()

    return render


def rich_table(result: Results) -> Table:
    """One query's results of a batch."""
    names = [name for name in result.table.column_names if name not in ("at", "op")]
    table = Table(title=result.name, title_justify="left", show_edge=False, pad_edge=False)
    for name in ("at", "op", *names):
        table.add_column(name, overflow="fold")
    columns = [_written(result.table[name], str) for name in names]
    for row in zip(*_stamps(result.table), *columns, strict=True):
        table.add_row(*(value or "" for value in row))
    return table


def _stamps(table: pa.Table) -> tuple[list[str], list[str]]:
    return [timestamp(at) for at in table["at"].to_pylist()], table["op"].to_pylist()


def _rows(table: pa.Table) -> list[tuple[str, list[str | None]]]:
    names = table.column_names[2:]
    columns = [table[name].to_pylist() for name in names]
    return [(at, list(values)) for at, *values in zip(_stamps(table)[0], *columns, strict=True)]


def _written(column: pa.ChunkedArray, write: Callable[[Term], str]) -> list[str]:
    known: dict[str | None, str] = {None: ""}
    for text in column.unique().to_pylist():
        if text is not None:
            known[text] = text if text in ("true", "false") else write(parse_term(text))
    return [known[text] for text in column.to_pylist()]


def _escaped(name: str) -> str:
    return json.dumps(name)[1:-1].replace(" ", "%20").replace("<", "%3C").replace(">", "%3E")
