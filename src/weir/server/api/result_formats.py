"""Results as they go out: events, JSON batches, SPARQL results, N-Quads and JSON-LD."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import pyoxigraph as ox

from weir.rdf.terms import XSD, term_of_json
from weir.runtime.output.sinks.formats import COLUMN, GENERATED
from weir.runtime.output.subscriptions import Chunk, Wire, event


def events(chunk: Chunk) -> bytes:
    """Server-sent events: the id is the position, the data the result line with its position. One named
    ``missed`` tells how many results were not kept, and where it goes on."""
    told = b'{"missed":%d,"next":%d}' % (chunk.missed, chunk.first)
    missed = event(told, name=b"missed") if chunk.missed else b""
    return missed + b"".join(event(_placed(line, place), id=place) for place, line in chunk.lines())


def batch(chunk: Chunk) -> bytes:
    """A JSON batch: results with positions, where to go on, how many were missed."""
    lines = b",".join(_placed(line, place) for place, line in chunk.lines())
    return b'{"results":[%s],"next":%d,"missed":%d}' % (lines, chunk.next, chunk.missed)


def _placed(line: bytes, place: int) -> bytes:
    """A result line, which is a JSON object, with its position as its last member."""
    return b'%s,"position":%d}' % (line[:-1], place)


EVENTS = Wire(events, lambda position: b"retry: 1000\n: from %d\n\n" % position, lambda _: b": \n\n")
END = event(b"{}", name=b"end")
"""The last event where the query is gone or the server stops."""
BATCHES = Wire(batch, lambda _: b"", lambda position: batch(Chunk(position, position, b"")))


def shortened(chunk: Chunk, most: int) -> Chunk:
    """The first ``most`` lines."""
    if chunk.next - chunk.first <= most:
        return chunk
    lines = chunk.data.splitlines(keepends=True)[:most]
    return Chunk(chunk.first, chunk.first + most, b"".join(lines), chunk.missed)


def results(chunk: Chunk) -> list[dict[str, Any]]:
    """The result lines as JSON objects, with positions."""
    return [{**json.loads(line), "position": place} for place, line in chunk.lines()]


def sparql_json(lines: Sequence[Mapping[str, Any]], variables: Sequence[str]) -> dict[str, Any]:
    """SPARQL 1.1 Query Results JSON; a member of ours tells when each solution was answered, and where."""
    if lines and all("boolean" in line for line in lines):
        return {"head": {}, "boolean": lines[-1]["boolean"], "weir": [_stamp(line) for line in lines]}
    rows = [line for line in lines if "bindings" in line]
    return {
        "head": {"vars": list(variables)},
        "results": {"bindings": [row["bindings"] for row in rows]},
        "weir": [_stamp(row) for row in rows],
    }


def _stamp(line: Mapping[str, Any]) -> dict[str, Any]:
    return {name: line[name] for name in ("at", "op", "position") if name in line}


def nquads(lines: Iterable[Mapping[str, Any]]) -> bytes:
    """A named graph per query and evaluation time, stamped with ``prov:generatedAtTime``.

    CONSTRUCT's triples are written as they are, a solution of SELECT as a blank node with a triple per
    variable, ASK as one triple.
    """
    out: list[str] = []
    stamped: set[str] = set()
    for line in lines:
        graph = f"<urn:weir:{quote(line['query'], safe='')}:{line['at']}>"
        if graph not in stamped:
            stamped.add(graph)
            out.append(f'{graph} {GENERATED} "{line["at"]}"^^<{XSD}dateTime> .')
        row = f"_:r{line['position']}"
        for triple in line.get("triples", ()):
            out.append(f"{triple.rstrip().removesuffix('.').rstrip()} {graph} .")
        for name, value in line.get("bindings", {}).items():
            out.append(f"{row} <{COLUMN}{name}> {term_of_json(value)} {graph} .")
        if "boolean" in line:
            value = "true" if line["boolean"] else "false"
            out.append(f'{row} <{COLUMN}boolean> "{value}"^^<{XSD}boolean> {graph} .')
    return "".join(text + "\n" for text in out).encode()


def jsonld(lines: Iterable[Mapping[str, Any]]) -> bytes:
    """The same as JSON-LD."""
    quads = ox.parse(nquads(lines), format=ox.RdfFormat.N_QUADS)
    data = ox.serialize(quads, format=ox.RdfFormat.JSON_LD)
    assert data is not None
    return data
