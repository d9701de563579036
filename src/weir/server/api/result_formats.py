"""Results as they go out: events, JSON batches, SPARQL results, N-Quads and JSON-LD."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import pyoxigraph as ox

from weir.rdf.sparql_json import term_of_json
from weir.rdf.terms import XSD
from weir.server.tail import Chunk

PROV_TIME = "http://www.w3.org/ns/prov#generatedAtTime"
_COLUMN = "urn:weir:column:"


def events(chunk: Chunk) -> bytes:
    """Server-sent events: the id is the position, the data the result line with its position."""
    out = [missed_event(chunk.missed, chunk.first)] if chunk.missed else []
    out += [
        b'id: %d\ndata: %s,"position":%d}\n\n' % (place, line[:-1], place) for place, line in chunk.lines()
    ]
    return b"".join(out)


def missed_event(count: int, first: int) -> bytes:
    """The event that tells a follower how many results it did not get, and where it goes on."""
    return b'event: missed\ndata: {"missed":%d,"next":%d}\n\n' % (count, first)


def batch(chunk: Chunk) -> bytes:
    """A JSON batch: results with positions, where to go on, how many were missed."""
    lines = b",".join(b'%s,"position":%d}' % (line[:-1], place) for place, line in chunk.lines())
    return b'{"results":[%s],"next":%d,"missed":%d}' % (lines, chunk.next, chunk.missed)


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
            out.append(f'{graph} <{PROV_TIME}> "{line["at"]}"^^<{XSD}dateTime> .')
        row = f"_:r{line['position']}"
        for triple in line.get("triples", ()):
            out.append(f"{triple.rstrip().removesuffix('.').rstrip()} {graph} .")
        for name, value in line.get("bindings", {}).items():
            out.append(f"{row} <{_COLUMN}{name}> {term_of_json(value)} {graph} .")
        if "boolean" in line:
            value = "true" if line["boolean"] else "false"
            out.append(f'{row} <{_COLUMN}boolean> "{value}"^^<{XSD}boolean> {graph} .')
    return "".join(text + "\n" for text in out).encode()


def jsonld(lines: Iterable[Mapping[str, Any]]) -> bytes:
    """The same as JSON-LD."""
    quads = ox.parse(nquads(lines), format=ox.RdfFormat.N_QUADS)
    data = ox.serialize(quads, format=ox.RdfFormat.JSON_LD)
    assert data is not None
    return data
