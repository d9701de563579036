"""The one way into the strict RDF parsers and writers, with guards around them.

What comes from outside must not be able to end a worker: ``guards`` refuse a text before a parser sees it,
what a document may become is bounded, and whatever goes wrong is ``Unparsable``, also a panic of the parser.
``read_statements`` is the slow and complete way for single statements: what a vectorised reader does not
recognise comes here, and what is refused here is malformed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import IO, Any, TypeAlias

import pyoxigraph as ox

from weir.errors import DataError
from weir.rdf.formats.guards import refusal
from weir.rdf.formats.media import FORMATS
from weir.rdf.messages import NO_GRAPH_TEXT
from weir.rdf.terms import (
    IRI,
    NESTING,
    RDF_DIRLANGSTRING,
    RDF_LANGSTRING,
    BlankNode,
    Literal,
    Term,
    triple_term,
)

_NESTED = (ox.RdfFormat.JSON_LD, ox.RdfFormat.RDF_XML)
_CHUNK = 1 << 20
_GROWTH, _MOST = 64, 1 << 28
"""Bytes of N-Quads that each byte of a document may become, and all of them together: names that are given
once and used often would otherwise fill the memory."""

_LONGEST_REASON = 300

SYNTAXES: dict[str, ox.RdfFormat] = {
    media_type: each.syntax for each in FORMATS if each.syntax for media_type in each.media_types
} | {"text/n3": ox.RdfFormat.N3}
"""The syntaxes of documents by their media types."""

_IRI = r"<[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*>"
_BLANK = r"_:[A-Za-z0-9_]+"
_LITERAL = rf'"[^"\\\n\r]*+(?:\\[\\"nr][^"\\\n\r]*+)*+"(?:@[a-z]+(?:-[a-z0-9]+)*|\^\^{_IRI})?'
_LINE = re.compile(
    rf"^({_IRI}|{_BLANK}) ({_IRI}) ({_IRI}|{_BLANK}|{_LITERAL})(?: ({_IRI}|{_BLANK}))? \.$", re.MULTILINE
)
_STRING = "^^<http://www.w3.org/2001/XMLSchema#string>"

QuadText: TypeAlias = tuple[str, str, str, str]
"""The canonical texts of a quad, the graph empty where there is none."""


class Unparsable(ValueError):
    """A text that is no RDF: the ``reason``, and where: ``line`` and ``column`` from 1, 0 where not known."""

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        super().__init__(f"column {column}: {reason}" if column else reason)
        self.reason, self.line, self.column = reason, line, column


def parse_quads(
    data: bytes | IO[bytes], syntax: ox.RdfFormat, base: str | None = None, *, lenient: bool = False
) -> Iterator[ox.Quad]:
    """The quads of a text or a file; raises ``Unparsable`` at the first mistake, also between two quads.

    A file that may nest too deeply is read whole, others as the quads are taken; it can be read twice.
    ``lenient`` takes IRIs and language tags as they are, which is for what Weir wrote itself.
    """
    with _refusing():
        if not isinstance(data, bytes) and (syntax in _NESTED or _may_nest(data)):
            data = data.read()
        if isinstance(data, bytes) and (reason := refusal(data, syntax)) is not None:
            raise Unparsable(reason)
        yield from ox.parse(data, format=syntax, base_iri=base, lenient=lenient)


def written(
    quads: Iterable[ox.Quad] | Iterable[ox.Triple],
    syntax: ox.RdfFormat,
    most: int = _MOST,
    prefixes: Mapping[str, str] | None = None,
) -> bytes:
    """Quads in a syntax; what it cannot express, and more than ``most`` bytes, are ``Unparsable``."""
    out = _Bounded(most)
    with _refusing():
        try:
            ox.serialize(quads, out, syntax, prefixes=dict(prefixes) if prefixes else None)
        except OSError as error:
            raise Unparsable(str(error)) from None
    return out.getvalue()


def as_nquads(data: bytes, syntax: ox.RdfFormat, base: str | None = None) -> bytes:
    """A document as lines of N-Quads; one that is none, or that grows beyond measure, is ``Unparsable``."""
    most = min(_MOST, _GROWTH * len(data) + _CHUNK)
    return written(parse_quads(data, syntax, base), ox.RdfFormat.N_QUADS, most)


def rewritten(
    data: bytes, given: ox.RdfFormat, media_type: str, prefixes: Mapping[str, str] | None = None
) -> bytes:
    """A document of Weir's own in the syntax of a media type; what that cannot express is a ``DataError``.
    Where it has no graphs, all triples lie side by side; JSON-LD is written without prefixes."""
    syntax = ox.RdfFormat.from_media_type(media_type)
    assert syntax is not None, media_type
    quads = parse_quads(data, given, lenient=True)
    shown = prefixes if syntax != ox.RdfFormat.JSON_LD else None
    try:
        if syntax.supports_datasets:
            return written(quads, syntax, prefixes=shown)
        return written((quad.triple for quad in quads), syntax, prefixes=shown)
    except Unparsable as error:
        raise DataError(f"this cannot be written as {media_type}", detail=str(error)) from None


class _Bounded(io.BytesIO):
    """A file in memory that takes so many bytes and no more."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._left = most

    def write(self, data: Any) -> int:
        self._left -= len(data)
        if self._left < 0:
            raise Unparsable("it grows beyond measure: long names or contexts that are used very often")
        return super().write(data)


@contextmanager
def _refusing() -> Iterator[None]:
    """What the parser or the writer raises is ``Unparsable`` out of here, also where it panics."""
    try:
        yield
    except (Unparsable, GeneratorExit):
        raise
    except SyntaxError as error:
        raise Unparsable(_shortened(error.msg), error.lineno or 0, error.offset or 0) from None
    except (ValueError, MemoryError) as error:
        raise Unparsable(_shortened(str(error) or "longer than the parser takes")) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise Unparsable(f"the parser failed: {_shortened(str(error))}") from None


def _may_nest(source: IO[bytes]) -> bool:
    """Whether a file has so many triple terms that they could nest too deeply; it is at its start again."""
    found, last = 0, b""
    while found <= NESTING and (data := source.read(_CHUNK)):
        found += (last + data).count(b"<<")
        last = data[-1:]
    source.seek(0)
    return found > NESTING


def _shortened(text: str) -> str:
    """What the parser said, without what it says of the place."""
    if "LoadDocumentCallback" in text:
        return "a context by its address: contexts are not fetched; write it into the message"
    head, _, rest = text.partition(": ")
    text = rest if head.startswith("Parser error at") and rest else text
    return text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + "…"


def term_text(term: object) -> str:
    """The canonical text of a pyoxigraph term."""
    if isinstance(term, ox.NamedNode | ox.BlankNode):
        return str(term)
    if isinstance(term, ox.DefaultGraph):
        return NO_GRAPH_TEXT
    return str(term_of(term))


def term_of(term: object) -> Term:
    """The term of a pyoxigraph term; ``ValueError`` for a triple term whose subject is none of a triple."""
    if isinstance(term, ox.NamedNode):
        return IRI(term.value)
    if isinstance(term, ox.BlankNode):
        return BlankNode(term.value)
    if isinstance(term, ox.Triple):
        found = triple_term(term_of(term.subject), term_of(term.predicate), term_of(term.object))
        if found is None:
            raise ValueError("a triple term whose parts are no triple")
        return found
    assert isinstance(term, ox.Literal)
    if term.language is None:
        datatype = term.datatype.value
        if datatype in (RDF_LANGSTRING, RDF_DIRLANGSTRING):
            raise ValueError(f"a literal of datatype <{datatype}> has a language tag")
        return Literal(term.value, datatype)
    direction = None if term.direction is None else str(term.direction)
    return Literal.tagged(term.value, term.language, direction)


def quad_texts(quads: Iterable[ox.Quad]) -> list[QuadText]:
    """The canonical texts of quads."""
    return [
        (
            term_text(quad.subject),
            term_text(quad.predicate),
            term_text(quad.object),
            term_text(quad.graph_name),
        )
        for quad in quads
    ]


def read_statements(texts: Sequence[str]) -> list[QuadText | str]:
    """For each N-Triples or N-Quads statement its quad, or the reason why it is none.

    A run of good statements is parsed as one document; where that fails it is halved, so that a few bad
    lines among many cost little.
    """
    if not texts:
        return []
    try:
        found = quad_texts(parse_quads("\n".join(texts).encode(), ox.RdfFormat.N_QUADS))
    except ValueError as error:
        if len(texts) == 1:
            return [str(error)]
    else:
        if len(found) == len(texts):
            return list(found)
        if len(texts) == 1:
            return ["no statement" if not found else "more than one statement"]
    half = len(texts) // 2
    return read_statements(texts[:half]) + read_statements(texts[half:])


def parse_document(
    body: bytes, media_type: str, *, base: str | None = None, most: int | None = None
) -> list[QuadText]:
    """The quads of a document; more than ``most``, or a syntax error, is a ``DataError``.

    Canonical N-Quads and N-Triples, which Weir writes, are split by one regular expression instead: measured
    at a sixth of the time.
    """
    syntax = SYNTAXES.get(media_type)
    if syntax is None:
        known = ", ".join(sorted(SYNTAXES))
        raise DataError(f"cannot read RDF as {media_type!r}", hint=f"use one of {known}")
    try:
        if syntax not in (ox.RdfFormat.N_QUADS, ox.RdfFormat.N_TRIPLES):
            body, syntax = as_nquads(body, syntax, base), ox.RdfFormat.N_QUADS
        quads = _canonical(body)
        if quads is None:
            quads = quad_texts(islice(parse_quads(body, syntax), None if most is None else most + 1))
    except ValueError as error:
        raise DataError(f"malformed {media_type}", detail=str(error)) from None
    if most is not None and len(quads) > most:
        raise DataError(f"the document has more than {most} quads")
    return quads


def _canonical(body: bytes) -> list[QuadText] | None:
    """The quads of lines in canonical form, whose terms are their own texts; None where one is not."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    quads: list[QuadText] = _LINE.findall(text)
    return quads if len(quads) == text.count("\n") and text[-1:] == "\n" and _STRING not in text else None
