"""RDF terms and query variables (RDF 1.1 Concepts, section 3), as texts and as SPARQL's JSON.

A term's *text* is its canonical N-Triples form: ``\\"``, ``\\\\``, ``\\n`` and ``\\r`` escaped, all else
raw UTF-8; ``xsd:string`` is never written; language tags are lower case. Two terms are equal exactly
where their texts are. Nothing here knows of values: ``"01"`` and ``"1"`` are different terms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD_STRING = XSD + "string"
RDF_LANGSTRING = RDF + "langString"

_IRI_TEXT = re.compile(r'[^\x00-\x20<>"{}|^`\\\ud800-\udfff]*')
_TAG = re.compile("[a-zA-Z]+(?:-[a-zA-Z0-9]+)*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


@dataclass(frozen=True, slots=True)
class IRI:
    """An absolute IRI, or the relative one as written where a query gives no base."""

    value: str

    def __str__(self) -> str:
        return f"<{self.value}>"


@dataclass(frozen=True, slots=True)
class BlankNode:
    """A blank node; its label is unique within its scope (a message, a graph file, a solution)."""

    label: str

    def __str__(self) -> str:
        return f"_:{self.label}"


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal; ``datatype`` is ``rdf:langString`` exactly where ``language`` is set."""

    lexical: str
    datatype: str = XSD_STRING
    language: str | None = None

    def __str__(self) -> str:
        quoted = f'"{self.lexical.translate(_ESCAPES)}"'
        if self.language is not None:
            return f"{quoted}@{self.language}"
        return quoted if self.datatype == XSD_STRING else f"{quoted}^^<{self.datatype}>"

    @staticmethod
    def tagged(lexical: str, language: str) -> Literal:
        """A language-tagged string; tags compare without case, so they are kept in lower case."""
        return Literal(lexical, RDF_LANGSTRING, language.lower())


@dataclass(frozen=True, slots=True)
class Variable:
    """A query variable, named without its ``?``.

    Names that start with a dot are Weir's own (blank nodes of a query, path and aggregate
    intermediates): no query can write them, and ``SELECT *`` leaves them out.
    """

    name: str

    @property
    def internal(self) -> bool:
        return self.name.startswith(".")

    def __str__(self) -> str:
        return f"?{self.name}"


def is_iri_text(text: str) -> bool:
    """Whether ``text`` may stand between ``<`` and ``>``, absolute or relative (IRIREF of SPARQL, Turtle)."""
    return _IRI_TEXT.fullmatch(text) is not None


def is_language_tag(text: str) -> bool:
    """Whether ``text`` may follow ``@`` (LANGTAG of SPARQL and Turtle)."""
    return _TAG.fullmatch(text) is not None


def is_unicode(text: str) -> bool:
    """Whether ``text`` has no lone surrogate, which is no character and has no UTF-8 form."""
    return text.isascii() or _SURROGATE.search(text) is None


Term: TypeAlias = IRI | BlankNode | Literal
Triple: TypeAlias = tuple[Term, Term, Term]

_UNESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n", "\\r": "\r"}
_ESCAPED = re.compile(r'\\[\\"nr]')


def parse_term(text: str) -> Term:
    """The term of a canonical text: the inverse of ``str``. Other N-Triples need a parser."""
    mark = text[0]
    if mark == "<":
        return IRI(text[1:-1])
    if mark == "_":
        return BlankNode(text[2:])
    close = text.rindex('"')
    lexical = text[1:close]
    if "\\" in lexical:
        lexical = _ESCAPED.sub(lambda match: _UNESCAPES[match.group()], lexical)
    rest = text[close + 1 :]
    if not rest:
        return Literal(lexical)
    if rest[0] == "@":
        return Literal(lexical, RDF_LANGSTRING, rest[1:])
    return Literal(lexical, rest[3:-1])


def json_term(term: Term) -> dict[str, str]:
    """A term as JSON; plain strings have no datatype."""
    if isinstance(term, IRI):
        return {"type": "uri", "value": term.value}
    if isinstance(term, BlankNode):
        return {"type": "bnode", "value": term.label}
    out = {"type": "literal", "value": term.lexical}
    if term.datatype == RDF_LANGSTRING:
        out["xml:lang"] = term.language or ""
    elif term.datatype != XSD_STRING:
        out["datatype"] = term.datatype
    return out


def term_of_json(value: Mapping[str, Any]) -> Term:
    """A term from JSON; what is none raises ``LookupError``, ``TypeError`` or ``ValueError``."""
    kind, text = value["type"], _text(value["value"])
    if kind == "uri":
        return IRI(text)
    if kind == "bnode":
        return BlankNode(text)
    if kind in ("literal", "typed-literal"):
        return literal_of(text, value.get("xml:lang"), value.get("datatype"))
    raise ValueError(f"unknown kind of term {kind!r}")


def literal_of(lexical: str, language: Any, datatype: Any) -> Literal:
    """A literal from its parts, of which two may be missing."""
    if language:
        return Literal.tagged(lexical, _text(language))
    return Literal(lexical, _text(datatype) if datatype else XSD_STRING)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no string")
    if not is_unicode(value):
        raise ValueError(f"{value!r} has a lone surrogate")
    return value
