"""Results for programs that read tables: SPARQL 1.1 results in CSV, TSV and JSON, by evaluation.

A stream has many results where a query has one, so every row of CSV and TSV has the columns ``query``, ``at``
and ``op`` in front, and JSON has one results document per query and evaluation time, a line each. An
evaluation without results, where EMPTY asks for it, is a row with nothing behind ``at``, a document without
solutions.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence

from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term, json_term
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.sinks.text import evaluations, stamps, term_of, variables, written
from weir.runtime.output.writing import compact

_FRONT = ("query", "at", "op")
_TABS = str.maketrans({"\t": "\\t"})


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
    """A term as CSV writes it: no brackets, quotes or datatypes."""
    if isinstance(term, IRI):
        return term.value
    return f"_:{term.label}" if isinstance(term, BlankNode) else term.lexical


def turtle(term: Term) -> str:
    """A term as TSV writes it: canonical N-Triples has no tab but in strings, where it is escaped."""
    return str(term).translate(_TABS)


TABLES: dict[str, Callable[[Sequence[Results], str], tuple[bytes, str]]] = {
    "srj": srj_text,
    "csv": csv_text,
    "tsv": tsv_text,
}
"""The formats by name."""
