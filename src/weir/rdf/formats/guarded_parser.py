"""The one way into the strict RDF parsers, with guards before them.

The parsers recurse on nested JSON and triple terms until the stack is gone, which no caller can catch, and
expand XML entities without a bound. What comes from outside must not be able to end a worker: ``parse_quads``
refuses such texts before a parser sees them, and files while it does. ``read_statements`` is the slow and
complete way for single statements: what a vectorised reader does not recognise comes here, and what is
refused here is malformed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, TypeAlias

import numpy as np
import pyoxigraph as ox

from weir.errors import DataError
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

DEEPEST = 500
"""Nested brackets or elements in a text."""

_NESTED = (ox.RdfFormat.JSON_LD, ox.RdfFormat.RDF_XML)
_CHUNK = 1 << 20
_LONGEST_ENTITY = 200
_LONGEST_REASON = 300
_MARK = re.compile(
    rb'\\.|<(?:[^<>"{}|^`\\\x00-\x20]|\\.)*+>|#[^\n\r]*+'
    rb'|"""(?:[^"\\]|\\.|"(?!""))*+"""|"(?:[^"\\\n\r]|\\.)*+"'
    rb"|'''(?:[^'\\]|\\.|'(?!''))*+'''|'(?:[^'\\\n\r]|\\.)*+'"
    rb"|(<<|>>)",
    re.DOTALL,
)
"""What opens or closes a triple term; IRIs, strings, comments and escapes are passed over."""

_JSON_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_ENTITY = re.compile(rb"<!ENTITY\s+[^\"'>]*(\"[^\"]*\"|'[^']*'|>)")
_TAG = re.compile(rb"<(/?)[A-Za-z_][^>]*?(/?)>")

SYNTAXES: dict[str, ox.RdfFormat] = {
    media_type: each.syntax for each in FORMATS if each.syntax for media_type in each.media_types
} | {"text/n3": ox.RdfFormat.N3}
"""The syntaxes of documents by their media types."""

_IRI = r"<[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*>"
_BLANK = r"_:[A-Za-z0-9_]+"
_LITERAL = rf'"(?:[^"\\\n\r]|\\[\\"nr])*"(?:@[a-z]+(?:-[a-z0-9]+)*|\^\^{_IRI})?'
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


def parse_quads(data: bytes | IO[bytes], syntax: ox.RdfFormat, base: str | None = None) -> Iterator[ox.Quad]:
    """The quads of a text or a file; raises ``Unparsable`` at the first mistake, also between two quads.

    A file that may nest too deeply is read whole, others as the quads are taken; it can be read twice.
    """
    try:
        if not isinstance(data, bytes) and (syntax in _NESTED or _may_nest(data)):
            data = data.read()
        if isinstance(data, bytes) and (reason := refusal(data, syntax)) is not None:
            raise Unparsable(reason)
        yield from ox.parse(data, format=syntax, base_iri=base)
    except SyntaxError as error:
        raise Unparsable(_shortened(error.msg), error.lineno or 0, error.offset or 0) from None
    except Unparsable:
        raise
    except (ValueError, MemoryError) as error:
        raise Unparsable(_shortened(str(error) or "longer than the parser takes")) from None


def refusal(data: bytes, syntax: ox.RdfFormat) -> str | None:
    """Why ``data`` must not be given to the parser, None if it may."""
    if syntax == ox.RdfFormat.JSON_LD:
        return _deep_json(data)
    if syntax == ox.RdfFormat.RDF_XML:
        return _entities(data) or _deep_xml(data)
    return _deep_triple_terms(data)


def _may_nest(source: IO[bytes]) -> bool:
    """Whether a file has so many triple terms that they could nest too deeply; it is at its start again."""
    found, last = 0, b""
    while found <= NESTING and (data := source.read(_CHUNK)):
        found += (last + data).count(b"<<")
        last = data[-1:]
    source.seek(0)
    return found > NESTING


def _deep_triple_terms(data: bytes) -> str | None:
    if data.count(b"<<") <= NESTING:
        return None
    depth = deepest = 0
    for mark in _MARK.findall(data):
        if mark:
            depth = depth + 1 if mark == b"<<" else max(depth - 1, 0)
            deepest = max(deepest, depth)
    return f"triple terms nested {deepest} deep, more than {NESTING}" if deepest > NESTING else None


def _deep_json(data: bytes) -> str | None:
    if data.count(b"{") + data.count(b"[") <= DEEPEST:
        return None
    bare = np.frombuffer(_JSON_STRING.sub(b"", data), np.uint8)
    opened = ((bare == ord("{")) | (bare == ord("["))).astype(np.int64)
    closed = (bare == ord("}")) | (bare == ord("]"))
    deepest = int(np.cumsum(opened - closed).max(initial=0))
    return f"JSON nested {deepest} deep, more than {DEEPEST}" if deepest > DEEPEST else None


def _deep_xml(data: bytes) -> str | None:
    if data.count(b"<") <= DEEPEST:
        return None
    depth = deepest = 0
    for closes, alone in _TAG.findall(data):
        depth += -1 if closes else not alone
        deepest = max(deepest, depth)
    return f"XML nested {deepest} deep, more than {DEEPEST}" if deepest > DEEPEST else None


def _entities(data: bytes) -> str | None:
    for value in _ENTITY.findall(data):
        if b"&" in value or len(value) > _LONGEST_ENTITY:
            return "an XML entity that is long or names another"
    return None


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
    quads = _canonical(body) if syntax in (ox.RdfFormat.N_QUADS, ox.RdfFormat.N_TRIPLES) else None
    if quads is None:
        try:
            quads = quad_texts(islice(parse_quads(body, syntax, base), None if most is None else most + 1))
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
