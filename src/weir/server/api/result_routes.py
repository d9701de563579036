"""Results over HTTP: event streams, WebSockets, long polls; from any position that is still kept.

They go out as events, JSON batches, SPARQL results, N-Quads and JSON-LD.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote

import pyoxigraph as ox
from fastapi import APIRouter, Depends, Header, Query, Request, Response, WebSocket

from weir.rdf.formats.guarded_parser import rewritten
from weir.rdf.terms import XSD, term_of_json
from weir.runtime.output.sinks.formats import COLUMN, GENERATED, plain
from weir.runtime.output.subscriptions import (
    EVENT_STREAM,
    PAUSE,
    Channel,
    Chunk,
    Wire,
    event,
    event_response,
    send_messages,
)
from weir.server.api.access import READ, Here, Threads, chosen
from weir.server.api.models import PROBLEMS, Id
from weir.server.drawing import variables_of
from weir.server.problems import Problem

router = APIRouter(prefix="/api/queries", tags=["results"], responses=PROBLEMS)

TYPES = (
    "application/json",
    EVENT_STREAM,
    "application/sparql-results+json",
    "application/ld+json",
    "application/n-quads",
    "application/x-ndjson",
    "text/csv",
)
_MOST = 2**53

From = Annotated[
    int | None,
    Query(
        alias="from",
        ge=-_MOST,
        le=_MOST,
        description="The position of the first result; negative: so many before the end.",
    ),
]


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


def csv_lines(lines: Sequence[Mapping[str, Any]], variables: Sequence[str], *, header: bool) -> str:
    """CSV with the position, time and operator of each result in front; triples and answers of ASK are one
    column."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    if header:
        writer.writerow(["position", "at", "op", *(variables or ["result"])])
    for line in lines:
        values = line.get("bindings", {})
        cells = [_plain(values.get(name)) for name in variables]
        if "triples" in line or "boolean" in line:
            cells = [" ".join(line["triples"]) if "triples" in line else str(line["boolean"]).lower()]
        writer.writerow([line["position"], line["at"], line.get("op", ""), *cells])
    return out.getvalue()


def _plain(value: Mapping[str, Any] | None) -> str:
    return "" if value is None else plain(term_of_json(value))


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


def position_of(channel: Channel, given: int | None, last: str | None, otherwise: int) -> int:
    """Where a follower begins: after the last event it has, or where it asks to."""
    lines = channel.lines
    if last is not None and last.strip().isdigit() and len(last) < 17:
        return min(int(last) + 1, lines.end)
    if given is None:
        return otherwise
    return min(given, lines.end) if given >= 0 else max(lines.start, lines.end + given)


@router.get(
    "/{id}/results",
    dependencies=[Depends(READ)],
    response_class=Response,
    responses={200: {"description": "Results", "content": {each: {} for each in TYPES}}},
)
async def get_results(
    service: Here,
    lanes: Threads,
    id: Id,
    request: Request,
    start: From = None,
    wait: Annotated[float, Query(ge=0, le=3600, description="Seconds to wait for a result.")] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
) -> Response:
    """The results of a query. As ``text/event-stream`` they flow for as long as the query lives: from now on,
    or from a position, or after ``Last-Event-ID``. Otherwise they are a batch, from the oldest that is kept
    or from a position, after ``wait`` seconds at most; ``next`` is where to go on. CSV has its header where
    the batch begins with the oldest that is kept."""
    info = await lanes.results.run(service.query, id)
    channel = service.channels[info.name]
    media_type = chosen(request, TYPES)
    if media_type == EVENT_STREAM:
        if service.channels.followers >= service.settings.limits.subscribers:
            raise Problem(503, "there are too many subscribers", headers={"Retry-After": "10"})
        position = position_of(channel, start, last_event_id, channel.lines.end)
        return event_response(channel.follow(position, EVENTS, PAUSE), END)
    position = position_of(channel, start, None, channel.lines.start)
    if wait:
        await channel.wait(position, min(wait, service.settings.limits.wait))
    chunk = shortened(await lanes.results.run(channel.lines.read, position), limit)
    headers = {"Cache-Control": "no-store", "Weir-Next": str(chunk.next), "Weir-Missed": str(chunk.missed)}
    if media_type == "application/json":
        return Response(batch(chunk), media_type=media_type, headers=headers)
    lines = [{**json.loads(line), "position": place} for place, line in chunk.lines()]
    if media_type == "application/sparql-results+json":
        found = sparql_json(lines, variables_of(info.query))
        data = json.dumps(found, ensure_ascii=False).encode()
    elif media_type == "application/x-ndjson":
        data = b"".join(_placed(line, place) + b"\n" for place, line in chunk.lines())
    elif media_type == "text/csv":
        first = position <= channel.lines.start
        data = csv_lines(lines, variables_of(info.query), header=first).encode()
    else:
        data = rewritten(nquads(lines), ox.RdfFormat.N_QUADS, media_type)
    return Response(data, media_type=media_type, headers=headers)


@router.websocket("/{id}/results/ws")
async def follow_results(
    socket: WebSocket, service: Here, lanes: Threads, id: str, start: From = None
) -> None:
    """Batches as JSON messages, each like the answer to a poll; nothing is expected from the client."""
    try:
        READ(socket)
        info = await lanes.results.run(service.query, id)
    except Problem as problem:
        await socket.close(1008, str(problem)[:120])
        return
    if service.channels.followers >= service.settings.limits.subscribers:
        await socket.close(1013, "there are too many subscribers")
        return
    channel = service.channels[info.name]
    await socket.accept()
    position = position_of(channel, start, None, channel.lines.end)
    await send_messages(socket, channel.follow(position, BATCHES, PAUSE), 1000, "the query is gone")
