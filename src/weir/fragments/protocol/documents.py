"""RDF documents to texts: every syntax a fragments server may speak, through pyoxigraph's parsers.

Canonical N-Quads and N-Triples, which Weir writes, are split by one regular expression instead: measured
at a third of the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyoxigraph as ox

from weir.errors import DataError
from weir.fragments.protocol.annotation import Quad
from weir.rdf.formats.guarded_parser import parse_quads
from weir.rdf.formats.media import FORMATS as MESSAGE_FORMATS
from weir.rdf.terms import Literal

FORMATS: dict[str, ox.RdfFormat] = {
    media_type: each.syntax for each in MESSAGE_FORMATS if each.syntax for media_type in each.media_types
} | {"text/n3": ox.RdfFormat.N3}
"""Media types by the syntax that reads them."""

_IRI = r"<[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*>"
_BLANK = r"_:[A-Za-z0-9_]+"
_LITERAL = rf'"(?:[^"\\\n\r]|\\[\\"nr])*"(?:@[a-z]+(?:-[a-z0-9]+)*|\^\^{_IRI})?'
_LINE = re.compile(
    rf"^({_IRI}|{_BLANK}) ({_IRI}) ({_IRI}|{_BLANK}|{_LITERAL})(?: ({_IRI}|{_BLANK}))? \.$", re.MULTILINE
)
_STRING = "^^<http://www.w3.org/2001/XMLSchema#string>"


def _canonical(body: bytes) -> list[Quad] | None:
    """The quads of lines in canonical form, whose terms are their own texts; None where one is not."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    quads: list[Quad] = _LINE.findall(text)
    return quads if len(quads) == text.count("\n") and text[-1:] == "\n" and _STRING not in text else None


def parse_document(
    body: bytes, media_type: str, *, base: str | None = None, most: int | None = None
) -> list[Quad]:
    """The quads of a document; more than ``most``, or a syntax error, is a ``DataError``."""
    syntax = FORMATS.get(media_type)
    if syntax is None:
        raise DataError(f"cannot read RDF as {media_type!r}", hint=f"use one of {', '.join(sorted(FORMATS))}")
    if syntax in (ox.RdfFormat.N_QUADS, ox.RdfFormat.N_TRIPLES):
        lines = _canonical(body)
        if lines is not None and (most is None or len(lines) <= most):
            return lines
    quads: list[Quad] = []
    try:
        for quad in _quads(body, syntax, base):
            quads.append(quad)
            if most is not None and len(quads) > most:
                raise DataError(f"the document has more than {most} quads")
    except ValueError as error:
        raise DataError(f"malformed {media_type}", detail=str(error)) from None
    return quads


def _quads(body: bytes, syntax: ox.RdfFormat, base: str | None) -> Iterator[Quad]:
    for quad in parse_quads(body, syntax, base):
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
