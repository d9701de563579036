"""Results as RDF messages, which can be read as a stream again: N-Quads, TriG, ``.tnq`` lines.

An evaluation is a message: a named graph per query and time, stamped with ``prov:generatedAtTime``; ``.tnq``
lines have their time in front instead. CONSTRUCT gives its triples. A solution of SELECT is a blank node with
a triple ``<urn:weir:column:NAME>`` for each variable that is bound, so are the answers of ASK. An evaluation
without results, where EMPTY asks for it, is a message without triples: a heartbeat.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote

from weir.runtime.output.sinks.base import Results
from weir.runtime.output.sinks.text import Row, evaluations, term_of, variables

GENERATED = "<http://www.w3.org/ns/prov#generatedAtTime>"
COLUMN = "urn:weir:column:"
"""What stands before a variable's name in a predicate."""

_XSD_DATETIME = "<http://www.w3.org/2001/XMLSchema#dateTime>"
_TRIPLE = ["subject", "predicate", "object"]


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
                yield (
                    graph,
                    at,
                    [line for n, row in enumerate(rows) for line in _solution(label, n, names, row)],
                )


def _solution(label: str, number: int, names: Sequence[str], row: Row) -> Iterator[str]:
    for name, text in zip(names, row, strict=True):
        if text is not None:
            yield f"{label}{number} <{COLUMN}{quote(name)}> {term_of(text)}"


def _stamp(graph: str, at: str) -> str:
    return f'{graph} {GENERATED} "{at}"^^{_XSD_DATETIME}'


GRAPHS: dict[str, Callable[[Sequence[Results], str], tuple[bytes, str]]] = {
    "nquads": nquads_text,
    "trig": trig_text,
    "tnq": tnq_text,
}
"""The formats by name."""
