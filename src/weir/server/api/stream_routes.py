"""Streams over HTTP: create, list, describe, delete, push.

As RDF they are described so that others can find them: VoCaLS stream descriptors in a DCAT catalogue. A
stream that is pushed into and the results of each query are both ``vocals:RDFStream``s with endpoints, each a
``dcat:Distribution`` with its address and media type (VoCaLS: w3id.org/rsp/vocals).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import pyoxigraph as ox
from fastapi import APIRouter, Depends, Query, Request, Response

from weir.errors import BacklogFull, UsageError
from weir.linked.http.headers import media_type as media_type_of
from weir.rdf.formats.guarded_parser import rewritten
from weir.rdf.formats.media import FORMATS
from weir.rdf.formats.times import FIRST_TIME, LAST_TIME, read_time
from weir.rdf.terms import Literal
from weir.runtime.control.registry import StreamInfo
from weir.runtime.output.text_columns import timestamp
from weir.server.api.access import ADMIN, READ, WRITE, Here, Threads, base_of, changing, chosen
from weir.server.api.models import (
    PROBLEMS,
    Id,
    NewStream,
    Pushed,
    RejectedLine,
    Stream,
    Streams,
    described_body,
)
from weir.server.problems import Problem
from weir.server.pushed_streams import MEDIA_TYPES, form_of
from weir.server.resources import slug
from weir.server.service import Service

router = APIRouter(prefix="/api/streams", tags=["streams"], responses=PROBLEMS)
_BODY = described_body(*MEDIA_TYPES[:2], *(form.media_types[0] for form in FORMATS if not form.timed))
_REJECTED = 100

TYPES = ("text/turtle", "application/ld+json", "application/n-triples", "application/rdf+xml")
PREFIXES: Mapping[str, str] = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcterms": "http://purl.org/dc/terms/",
    "vocals": "http://w3id.org/rsp/vocals#",
    "vsd": "http://w3id.org/rsp/vocals-sd#",
    "formats": "http://www.w3.org/ns/formats/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_MEDIA = "https://www.iana.org/assignments/media-types/"
_PUSHED = (
    "application/x-tnq",
    "text/turtle",
    "application/trig",
    "application/n-quads",
    "application/ld+json",
)
_SENT = ("text/event-stream", "application/sparql-results+json", "application/ld+json", "application/n-quads")


def stream_json(service: Here, stream: StreamInfo) -> Stream:
    """A stream with what is known of its flow."""
    with service.job.metrics.lock:
        told: dict[str, Any] = dict(service.job.metrics.streams.get(stream.iri, {}))
    flow = service.pushed.get(stream.iri)
    messages, record = int(told.get("messages", 0)), service.records.get("streams", stream.iri)
    high, complete = told.get("high"), told.get("complete")
    newest = flow.newest if flow is not None else high
    lag = max(0.0, (newest - complete) / 1_000_000) if newest is not None and complete is not None else None
    return Stream(
        id=service.stream_id(stream.iri),
        iri=stream.iri,
        rate=service.rate(stream.iri, messages) if flow is None else flow.rate,
        lag=lag,
        latency=service.latency([stream.iri]),
        messages=messages,
        high=None if high is None else timestamp(high),
        complete=None if complete is None else timestamp(complete),
        late=int(told.get("late", 0)),
        waiting=int(told.get("waiting", 0)),
        source=str((stream.source or {}).get("kind", "dataframe")),
        readers=list(stream.readers),
        address=record.get("address"),
        created=record.get("created"),
        backlog=None if flow is None else flow.writer.backlog(),
    )


@router.get("", dependencies=[Depends(READ)], response_model=Streams)
def list_streams(service: Here, request: Request) -> Any:
    """All streams; as Turtle or JSON-LD a DCAT catalogue of them and of the results of queries."""
    described = _described(service, request)
    return described or Streams(streams=[stream_json(service, each) for each in service.job.streams()])


def _described(service: Service, request: Request, only: StreamInfo | None = None) -> Response | None:
    """The description of one stream, or of all, where the client asks for RDF."""
    media_type = chosen(request, ("application/json", *TYPES))
    if media_type not in TYPES:
        return None
    turtle = catalog(service, base_of(request), only).encode()
    data = rewritten(turtle, ox.RdfFormat.TURTLE, media_type, PREFIXES)
    return Response(data, media_type=media_type)


@router.post("", dependencies=[Depends(ADMIN)], status_code=201)
@changing
def create_stream(service: Here, body: NewStream, response: Response) -> Stream:
    """A stream that messages can be pushed into, or one that is read from an address."""
    made = service.add_stream(
        body.iri,
        body.id,
        body.time,
        body.lateness,
        body.heartbeat,
        times_distinct=body.times_distinct,
        source=body.source,
    )
    response.headers["Location"] = f"/api/streams/{service.stream_id(made.iri)}"
    return stream_json(service, made)


@router.get("/{id}", dependencies=[Depends(READ)], response_model=Stream)
def describe_stream(service: Here, id: Id, request: Request) -> Any:
    """One stream; as Turtle or JSON-LD its VoCaLS and DCAT description."""
    found = service.stream(id)
    return _described(service, request, found) or stream_json(service, found)


@router.delete("/{id}", dependencies=[Depends(ADMIN)], status_code=204)
@changing
def delete_stream(service: Here, id: Id) -> Response:
    """Delete a stream that no query reads."""
    service.drop_stream(id)
    return Response(status_code=204)


@router.post("/{id}/messages", dependencies=[Depends(WRITE)], status_code=202, openapi_extra=_BODY)
async def push_messages(
    service: Here,
    lanes: Threads,
    id: Id,
    request: Request,
    time: Annotated[
        str | None, Query(max_length=40, description="The time of a message without one.")
    ] = None,
    complete: Annotated[
        bool, Query(description="Whether nothing more of these times comes: they are evaluated at once.")
    ] = False,
) -> Pushed:
    """Push messages: many as ``.tnq`` lines or JSON-LD lines, or one in any other RDF format.

    The answer comes when they are on stable storage; from then on each is read exactly once.
    """
    stream = await lanes.pushes.run(service.pushed_stream, id)
    media_type = media_type_of(request.headers)
    try:
        form_of(media_type)
    except UsageError as error:
        kind = media_type[:80] or "none"
        raise Problem(415, f"unknown type of messages: {kind}", hint=error.hint) from None
    at = _time(time)
    body = await request.body()
    try:
        future, checked = await lanes.pushes.run(stream.push, body, media_type, at, complete=complete)
        if future is not None:
            await asyncio.wrap_future(future)
    except BacklogFull as error:
        raise Problem(503, error.primary, hint=error.hint, headers={"Retry-After": "1"}) from None
    rejected = [RejectedLine(line=each.line, reason=each.reason) for each in checked.rejected[:_REJECTED]]
    if rejected and not checked.messages:
        listed = [each.model_dump() for each in rejected]
        raise Problem(422, "no line was good", rejected[0].reason, line=rejected[0].line, rejected=listed)
    return Pushed(accepted=len(checked.messages), rejected=rejected)


def _time(text: str | None) -> int | None:
    if text is None:
        return None
    found = read_time(text)
    if found is None or not FIRST_TIME <= found <= LAST_TIME:
        raise Problem(422, "the time is neither milliseconds nor an xsd:dateTime", f"time={text}")
    return found


def catalog(service: Service, base: str, only: StreamInfo | None = None) -> str:
    """The descriptor of one stream, or of all streams and of the results of all queries, in Turtle."""
    root = f"{base}/api/streams"
    out = [f"@prefix {name}: <{iri}> ." for name, iri in PREFIXES.items()]
    out.append(
        f"""<{root}> a vocals:StreamDescriptor, dcat:Catalog ;
          dcterms:title "Streams of a Weir service"@en ; dcat:service <{base}/#service> .
        <{base}/#service> a vsd:StreamingService, dcat:DataService ;
          dcat:endpointURL <{base}/api> ; dcat:endpointDescription <{base}/openapi.json> ."""
    )
    for stream in service.job.streams() if only is None else [only]:
        id = service.stream_id(stream.iri)
        iri = _absolute(stream.iri, f"{root}/{id}#stream")
        out.append(_stream(root, iri, id, f"{root}/{id}"))
        if stream.iri in service.pushed:
            out.append(_endpoint(iri, f"{root}/{id}/messages", _PUSHED, "vsd:PublishingService"))
    for query in service.job.queries() if only is None else []:
        place = f"{base}/api/queries/{slug(query.name)}"
        iri = _absolute(query.output or "", f"{place}#results")
        out.append(_stream(root, iri, query.name, place))
        out.append(_endpoint(iri, f"{place}/results", _SENT, "vsd:ProcessingService"))
    return "\n".join(out)


def _stream(root: str, iri: str, title: str, place: str) -> str:
    return f"""<{root}> dcat:dataset <{iri}> .
        <{iri}> a vocals:RDFStream, dcat:Dataset ;
          dcterms:title {Literal.tagged(title, "en")} ; dcat:landingPage <{place}> ."""


def _endpoint(iri: str, address: str, types: Sequence[str], role: str) -> str:
    node = f"<{address}#endpoint>"
    media = ", ".join(f"<{_MEDIA}{each}>" for each in types)
    return f"""<{iri}> vocals:hasEndpoint {node} ; dcat:distribution {node} .
        {node} a vocals:StreamEndpoint, dcat:Distribution ;
          dcat:accessURL <{address}> ; vsd:providedBy {role} ; dcat:mediaType {media} ."""


def _absolute(iri: str, instead: str) -> str:
    """The IRI where it is one that a document can hold: streams may have relative names."""
    try:
        return ox.NamedNode(iri).value
    except ValueError:
        return instead
