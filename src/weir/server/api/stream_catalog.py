"""Streams described so that others can find them: VoCaLS stream descriptors in a DCAT catalogue.

A stream that is pushed into and the results of each query are both ``vocals:RDFStream``s with endpoints, each
a ``dcat:Distribution`` with its address and media type (VoCaLS: w3id.org/rsp/vocals).
"""

from __future__ import annotations

from collections.abc import Mapping

import pyoxigraph as ox

from weir.rdf.terms import RDF, Literal
from weir.runtime.control.registry import StreamInfo
from weir.server.resource_ids import slug
from weir.server.service import Service
from weir.server.sparql_process import GRAPHS

TYPES = ("text/turtle", "application/ld+json", "application/n-triples", "application/rdf+xml")
PREFIXES: Mapping[str, str] = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcterms": "http://purl.org/dc/terms/",
    "vocals": "http://w3id.org/rsp/vocals#",
    "vsd": "http://w3id.org/rsp/vocals-sd#",
    "formats": "http://www.w3.org/ns/formats/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_PUSHED = (
    "application/x-tnq",
    "text/turtle",
    "application/trig",
    "application/n-quads",
    "application/ld+json",
)
_SENT = ("text/event-stream", "application/sparql-results+json", "application/ld+json", "application/n-quads")

Triples = list[tuple[str, str, str]]


def catalog(service: Service, base: str, only: StreamInfo | None = None) -> Triples:
    """The descriptor of one stream, or of all streams and of the results of all queries."""
    root = f"<{base}/api/streams>"
    out: Triples = [
        (root, _rdf("type"), _term("vocals:StreamDescriptor")),
        (root, _rdf("type"), _term("dcat:Catalog")),
        (root, _term("dcterms:title"), _text("Streams of a Weir service")),
        (root, _term("dcat:service"), f"<{base}/#service>"),
        (f"<{base}/#service>", _rdf("type"), _term("vsd:StreamingService")),
        (f"<{base}/#service>", _rdf("type"), _term("dcat:DataService")),
        (f"<{base}/#service>", _term("dcat:endpointURL"), f"<{base}/api>"),
        (f"<{base}/#service>", _term("dcat:endpointDescription"), f"<{base}/openapi.json>"),
    ]
    for stream in service.streams() if only is None else [only]:
        place = f"{base}/api/streams/{service.stream_id(stream.iri)}"
        iri = _absolute(stream.iri, f"{place}#stream")
        out += _stream(root, iri, service.stream_id(stream.iri), place)
        if stream.iri in service.flows:
            out += _endpoint(iri, f"{place}/messages", _PUSHED, "vsd:PublishingService")
    if only is None:
        for query in service.queries():
            place = f"{base}/api/queries/{slug(query.name)}"
            iri = _absolute(query.output or "", f"{place}#results")
            out += _stream(root, iri, query.name, place)
            out += _endpoint(iri, f"{place}/results", _SENT, "vsd:ProcessingService")
    return out


def _stream(root: str, iri: str, title: str, place: str) -> Triples:
    subject = f"<{iri}>"
    return [
        (root, _term("dcat:dataset"), subject),
        (subject, _rdf("type"), _term("vocals:RDFStream")),
        (subject, _rdf("type"), _term("dcat:Dataset")),
        (subject, _term("dcterms:title"), _text(title)),
        (subject, _term("dcat:landingPage"), f"<{place}>"),
    ]


def _endpoint(iri: str, address: str, types: tuple[str, ...], role: str) -> Triples:
    node = f"<{address}#endpoint>"
    out = [
        (f"<{iri}>", _term("vocals:hasEndpoint"), node),
        (f"<{iri}>", _term("dcat:distribution"), node),
        (node, _rdf("type"), _term("vocals:StreamEndpoint")),
        (node, _rdf("type"), _term("dcat:Distribution")),
        (node, _term("dcat:accessURL"), f"<{address}>"),
        (node, _term("vsd:providedBy"), _term(role)),
    ]
    return out + [(node, _term("dcat:mediaType"), f"<{_MEDIA}{each}>") for each in types]


_MEDIA = "https://www.iana.org/assignments/media-types/"


def document(triples: Triples, media_type: str) -> bytes:
    """A document of some RDF syntax."""
    text = "".join(f"{s} {p} {o} .\n" for s, p, o in dict.fromkeys(triples)).encode()
    quads = ox.parse(text, format=ox.RdfFormat.N_TRIPLES)
    form = GRAPHS[media_type]
    prefixes = dict(PREFIXES) if form != ox.RdfFormat.JSON_LD else None
    written = ox.serialize(quads, format=form, prefixes=prefixes)
    assert written is not None
    return bytes(written)


def _absolute(iri: str, instead: str) -> str:
    """The IRI where it is one that a document can hold: streams may have relative names."""
    try:
        return ox.NamedNode(iri).value
    except ValueError:
        return instead


def _term(name: str) -> str:
    prefix, _, local = name.partition(":")
    return f"<{PREFIXES[prefix]}{local}>"


def _rdf(local: str) -> str:
    return f"<{RDF}{local}>"


def _text(text: str) -> str:
    return str(Literal.tagged(text, "en"))
