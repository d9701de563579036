"""Results as text: tables for people, SPARQL 1.1 results for programs, RDF messages for other streams.

A stream has many results where a query has one, so every row of CSV and TSV has the columns ``query``, ``at``
and ``op`` in front, and JSON has one results document per query and evaluation time, a line each. An
evaluation without results, where EMPTY asks for it, is a row with nothing behind ``at``, a document without
solutions.

N-Quads, TriG and ``.tnq`` lines can be read as a stream again. An evaluation is a message: a named graph per
query and time, stamped with ``prov:generatedAtTime``; ``.tnq`` lines have their time in front instead.
CONSTRUCT gives its triples. A solution of SELECT is a blank node with a triple ``<urn:weir:column:NAME>`` for
each variable that is bound, so are the answers of ASK. An evaluation without results is a message without
triples: a heartbeat.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa

from weir.extras import lazily
from weir.language.writing.terms import ShownTerms
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term, TripleTerm, json_term, parse_term
from weir.runtime.output.json_columns import compact
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.sinks.result_files import Render
from weir.runtime.output.text_columns import timestamp

if TYPE_CHECKING:
    from rich import console as consoles
    from rich import table as tables
    from rich import text as texts
else:
    consoles, tables, texts = (lazily(f"rich.{part}") for part in ("console", "table", "text"))

GENERATED = "<http://www.w3.org/ns/prov#generatedAtTime>"
COLUMN = "urn:weir:column:"
"""What stands before a variable's name in a predicate."""

_FRONT = ("query", "at", "op")
_TABS = str.maketrans({"\t": "\\t"})
_XSD_DATETIME = "<http://www.w3.org/2001/XMLSchema#dateTime>"
_TRIPLE = ["subject", "predicate", "object"]

Row = tuple[str | None, ...]


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


Prefixes = Mapping[str, Mapping[str, str]]
"""Namespaces by prefix, for each query by name."""
_NONE: Prefixes = {}
_USUAL = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": XSD,
}


def table_text(console: consoles.Console | None = None, prefixes: Prefixes = _NONE) -> Render:
    """Results as a table per query, the columns as wide as ``console`` allows, by default the terminal; terms
    as in the query."""
    wide = console or consoles.Console()

    def render(results: Sequence[Results], note: str) -> tuple[bytes, str]:
        buffer = io.StringIO()
        out = consoles.Console(file=buffer, width=wide.width, force_terminal=wide.is_terminal)
        for result in results:
            out.print(rich_table(result, prefixes.get(result.name, {})))
        return buffer.getvalue().encode(), note

    return render


def rich_table(result: Results, prefixes: Mapping[str, str]) -> tables.Table:
    """One query's results of a batch."""
    write = ShownTerms({**_USUAL, **prefixes}).node
    names = variables(result)
    table = tables.Table(title=result.name, title_justify="left", show_edge=False, pad_edge=False)
    for name in ("at", "op", *names):
        table.add_column(name, overflow="fold")
    shown = [written(column, write) for column in result.table.columns[2:]]
    for row in zip(*stamps(result.table), *shown, strict=True):
        table.add_row(*(texts.Text(value or "") for value in row))
    return table


def csv_text(results: Sequence[Results], note: str) -> tuple[bytes, str]:
    """SPARQL 1.1 CSV: plain values, lines that end in CR LF. The header is written again where rows of
    other variables follow; ``note`` is the last one."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    for result in results:
        names = variables(result)
        if (header := compact(names)) != note:
            writer.writerow([*_FRONT, *names])
            note = header
        columns = [written(column, plain) for column in result.table.columns[2:]]
        for at, op, *values in zip(*stamps(result.table), *columns, strict=True):
            writer.writerow([result.name, at, op, *values])
    return out.getvalue().encode(), note


def tsv_text(results: Sequence[Results], note: str) -> tuple[bytes, str]:
    """SPARQL 1.1 TSV: terms as Turtle writes them, also the query (a string), the time (an xsd:dateTime) and
    the operator (a string) in front; a header as in CSV."""
    lines = []
    for result in results:
        names = variables(result)
        if (header := compact(names)) != note:
            lines.append("\t".join(f"?{name}" for name in (*_FRONT, *names)))
            note = header
        query = turtle(Literal(result.name))
        columns = [written(column, turtle) for column in result.table.columns[2:]]
        for at, op, *values in zip(*stamps(result.table), *columns, strict=True):
            moment = turtle(Literal(at, XSD + "dateTime"))
            lines.append("\t".join([query, moment, "" if op is None else turtle(Literal(op)), *values]))
    return "".join(line + "\n" for line in lines).encode(), note


def srj_text(results: Sequence[Results], note: str) -> tuple[bytes, str]:
    """A SPARQL 1.1 Query Results JSON document per query and evaluation time, each on a line of its own, with
    the members ``query``, ``at`` and ``op`` beside those of the format. Triples of CONSTRUCT are solutions of
    ``subject``, ``predicate`` and ``object``."""
    lines = []
    for result in results:
        names = variables(result)
        for at, op, rows in evaluations(result):
            front = {"query": result.name, "at": at, "op": op}
            if names == ["boolean"] and rows:
                answers = [{"head": {}, "boolean": value == "true"} for (value,) in rows]
                lines += [compact({**front, **answer}) for answer in answers]
                continue
            bindings = [
                {
                    name: json_term(term_of(text))
                    for name, text in zip(names, row, strict=True)
                    if text is not None
                }
                for row in rows
            ]
            lines.append(compact({**front, "head": {"vars": names}, "results": {"bindings": bindings}}))
    return "".join(line + "\n" for line in lines).encode(), note


def plain(term: Term) -> str:
    """A term as CSV writes it: no brackets, quotes or datatypes, but in triple terms."""
    if isinstance(term, IRI):
        return term.value
    if isinstance(term, TripleTerm):
        return str(term)
    return f"_:{term.label}" if isinstance(term, BlankNode) else term.lexical


def turtle(term: Term) -> str:
    """A term as TSV writes it: canonical N-Triples has no tab but in strings, where it is escaped."""
    return str(term).translate(_TABS)


def nquads_text(results: Sequence[Results], note: str) -> tuple[bytes, str]:
    """N-Quads."""
    lines = []
    for graph, at, triples in _messages(results):
        lines.append(f"{_stamp(graph, at)} .\n")
        lines += [f"{triple} {graph} .\n" for triple in triples]
    return "".join(lines).encode(), note


def trig_text(results: Sequence[Results], note: str) -> tuple[bytes, str]:
    """TriG."""
    lines = []
    for graph, at, triples in _messages(results):
        lines.append(f"{_stamp(graph, at)} .\n{graph} {{\n")
        lines += [f"  {triple} .\n" for triple in triples]
        lines.append("}\n")
    return "".join(lines).encode(), note


def tnq_text(results: Sequence[Results], note: str) -> tuple[bytes, str]:
    """Stream lines in the graph of their evaluation. Messages of one time that are neighbours become one."""
    lines = []
    for graph, at, triples in _messages(results):
        lines += [f"{at}\t{triple} {graph} .\n" for triple in triples] or [f"{at}\t\n"]
    return "".join(lines).encode(), note


def _messages(results: Sequence[Results]) -> Iterator[tuple[str, str, list[str]]]:
    """Graph, time and triples of each evaluation."""
    for result in results:
        names = variables(result)
        mark = hashlib.sha256(result.name.encode()).hexdigest()[:8]
        for at, _, rows in evaluations(result):
            graph = f"<urn:weir:{quote(result.name, safe=':/')}:{at}>"
            if names == _TRIPLE:
                yield graph, at, [" ".join(text or "" for text in row) for row in rows]
            else:
                label = f"_:q{mark}t{''.join(sign for sign in at if sign.isalnum())}r"
                solutions = (_solution(label, number, names, row) for number, row in enumerate(rows))
                yield graph, at, list(chain.from_iterable(solutions))


def _solution(label: str, number: int, names: Sequence[str], row: Row) -> Iterator[str]:
    for name, text in zip(names, row, strict=True):
        if text is not None:
            yield f"{label}{number} <{COLUMN}{quote(name)}> {term_of(text)}"


def _stamp(graph: str, at: str) -> str:
    return f'{graph} {GENERATED} "{at}"^^{_XSD_DATETIME}'


RENDERS: dict[str, Render] = {
    "srj": srj_text,
    "csv": csv_text,
    "tsv": tsv_text,
    "nquads": nquads_text,
    "trig": trig_text,
    "tnq": tnq_text,
}
"""What is written the same wherever it goes, by the name of the format."""
