"""RDF documents to texts: every syntax a fragments server may speak, through pyoxigraph's parsers."""

from __future__ import annotations

from collections.abc import Iterator

import pyoxigraph as ox

from weir.errors import DataError
from weir.rdf.annotation import Quad
from weir.rdf.terms import Literal

FORMATS: dict[str, ox.RdfFormat] = {
    "application/n-quads": ox.RdfFormat.N_QUADS,
    "application/trig": ox.RdfFormat.TRIG,
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "text/turtle": ox.RdfFormat.TURTLE,
    "application/ld+json": ox.RdfFormat.JSON_LD,
    "application/json": ox.RdfFormat.JSON_LD,
    "application/rdf+xml": ox.RdfFormat.RDF_XML,
    "text/n3": ox.RdfFormat.N3,
}
"""Media types by the syntax that reads them."""

GRAPH_FORMATS = frozenset(
    ("application/n-quads", "application/trig", "application/ld+json", "application/json")
)
"""Syntaxes that keep data and metadata apart in graphs."""


def parse_document(
    body: bytes, media_type: str, *, base: str | None = None, most: int | None = None
) -> list[Quad]:
    """The quads of a document; more than ``most``, or a syntax error, is a ``DataError``."""
    syntax = FORMATS.get(media_type)
    if syntax is None:
        raise DataError(f"cannot read RDF as {media_type!r}", hint=f"use one of {', '.join(sorted(FORMATS))}")
    quads: list[Quad] = []
    try:
        for quad in _quads(body, syntax, base):
            quads.append(quad)
            if most is not None and len(quads) > most:
                raise DataError(f"the document has more than {most} quads")
    except (SyntaxError, ValueError, OSError) as error:
        raise DataError(f"malformed {media_type}", detail=str(error)) from None
    return quads


def _quads(body: bytes, syntax: ox.RdfFormat, base: str | None) -> Iterator[Quad]:
    for quad in ox.parse(body, format=syntax, base_iri=base):
        graph = quad.graph_name
        yield (
            str(quad.subject),
            str(quad.predicate),
            text_of_term(quad.object),
            "" if isinstance(graph, ox.DefaultGraph) else str(graph),
        )


def text_of_term(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> str:
    """A parsed term's text in Weir's canonical form, which escapes less than pyoxigraph's."""
    text = str(term)
    if "\\" in text and isinstance(term, ox.Literal):
        language = term.language
        if language is not None:
            return str(Literal.tagged(term.value, language))
        return str(Literal(term.value, term.datatype.value))
    return text
