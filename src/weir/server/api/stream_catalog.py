"""Streams described so that others can find them: VoCaLS stream descriptors in a DCAT catalogue.

A stream that is pushed into and the results of each query are both ``vocals:RDFStream``s with endpoints, each
a ``dcat:Distribution`` with its address and media type (VoCaLS: w3id.org/rsp/vocals).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyoxigraph as ox

from weir.rdf.terms import Literal
from weir.runtime.control.registry import StreamInfo
from weir.server.resources import slug
from weir.server.service import Service
from weir.server.sparql_process import graph_bytes

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


def document(turtle: str, media_type: str) -> bytes:
    """Turtle in the syntax of a media type."""
    return graph_bytes(turtle.encode(), media_type, PREFIXES, ox.RdfFormat.TURTLE)


def _absolute(iri: str, instead: str) -> str:
    """The IRI where it is one that a document can hold: streams may have relative names."""
    try:
        return ox.NamedNode(iri).value
    except ValueError:
        return instead
