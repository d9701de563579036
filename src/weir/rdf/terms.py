"""RDF terms and query variables (RDF 1.2 Concepts, section 3), as texts and as SPARQL's JSON.

A term's *text* is its canonical N-Triples form: ``\\"``, ``\\\\``, ``\\n`` and ``\\r`` escaped, all else
raw UTF-8; ``xsd:string`` is never written; language tags are lower case; a triple term is
``<<( subject predicate object )>>`` with single spaces. Two terms are equal exactly where their texts are.
Nothing here knows of values: ``"01"`` and ``"1"`` are different terms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD_STRING = XSD + "string"
RDF_LANGSTRING = RDF + "langString"
RDF_DIRLANGSTRING = RDF + "dirLangString"
DIRECTIONS = ("ltr", "rtl")
NESTING = 100
"""Triple terms, one within another; what nests deeper is no term here."""

_IRI_TEXT = re.compile(r'[^\x00-\x20<>"{}|^`\\\ud800-\udfff]*')
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
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
    """A literal; ``datatype`` is ``rdf:langString`` exactly where ``language`` is set and ``direction`` is
    not, ``rdf:dirLangString`` exactly where both are."""

    lexical: str
    datatype: str = XSD_STRING
    language: str | None = None
    direction: str | None = None

    def __str__(self) -> str:
        quoted = f'"{self.lexical.translate(_ESCAPES)}"'
        if self.direction is not None:
            return f"{quoted}@{self.language}--{self.direction}"
        if self.language is not None:
            return f"{quoted}@{self.language}"
        return quoted if self.datatype == XSD_STRING else f"{quoted}^^<{self.datatype}>"

    @staticmethod
    def tagged(lexical: str, language: str, direction: str | None = None) -> Literal:
        """A language-tagged string; tags compare without case, so they are kept in lower case."""
        datatype = RDF_LANGSTRING if direction is None else RDF_DIRLANGSTRING
        return Literal(lexical, datatype, language.lower(), direction)


@dataclass(frozen=True, slots=True)
class TripleTerm:
    """A triple as a term: it says nothing of whether the triple holds."""

    subject: IRI | BlankNode
    predicate: IRI
    object: Term

    def __str__(self) -> str:
        return f"<<( {self.subject} {self.predicate} {self.object} )>>"


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


def is_absolute_iri(text: str) -> bool:
    """Whether ``text`` is an IRI with a scheme, as RDF has them (RFC 3987, section 2.2)."""
    return _SCHEME.match(text) is not None and is_iri_text(text)


def is_language_tag(text: str) -> bool:
    """Whether ``text`` may follow ``@`` (LANGTAG of SPARQL and Turtle)."""
    return _TAG.fullmatch(text) is not None


def is_unicode(text: str) -> bool:
    """Whether ``text`` has no lone surrogate, which is no character and has no UTF-8 form."""
    return text.isascii() or _SURROGATE.search(text) is None


Term: TypeAlias = IRI | BlankNode | Literal | TripleTerm
Triple: TypeAlias = tuple[Term, Term, Term]

BLANK_NODES = r"^(?:_:|<<\(.*_:)"
"""A regular expression for the texts that are blank nodes or may have some in them."""

_PLACES = ("subject", "predicate", "object")
_UNESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n", "\\r": "\r"}
_ESCAPED = re.compile(r'\\[\\"nr]')


_PART = re.compile(r' (<<\(|\)>>|<[^<>]*>|_:[^ ]+|"(?:[^"\\]|\\.)*"(?:@[^ ]+|\^\^<[^>]*>)?)', re.DOTALL)


def parse_term(text: str) -> Term:
    """The term of a canonical text: the inverse of ``str``. Other N-Triples need a parser."""
    mark = text[0]
    if mark == "<":
        return _triple_term(text) if text.startswith("<<(") else IRI(text[1:-1])
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
        language, _, direction = rest[1:].partition("--")
        return Literal.tagged(lexical, language, direction or None)
    return Literal(lexical, rest[3:-1])


def _triple_term(text: str) -> TripleTerm:
    """A triple term, whatever is nested in it, without recursion."""
    open_terms: list[list[Term]] = [[]]
    for part in _PART.findall(" " + text):
        if part == "<<(":
            open_terms.append([])
        elif part == ")>>":
            subject, predicate, object = open_terms.pop()
            assert isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI)
            open_terms[-1].append(TripleTerm(subject, predicate, object))
        else:
            open_terms[-1].append(parse_term(part))
    ((found,),) = open_terms
    assert isinstance(found, TripleTerm)
    return found


def blank_labels(text: str) -> list[str]:
    """The labels of the blank nodes in a canonical text, as often and in the order in which they occur."""
    if text.startswith("_:"):
        return [text[2:]]
    if not text.startswith("<<(") or "_:" not in text:
        return []
    return [part[2:] for part in _PART.findall(" " + text) if part.startswith("_:")]


def relabelled_text(text: str, label: Callable[[str], str]) -> str:
    """A canonical text with every blank node in it renamed."""
    return str(relabelled(parse_term(text), label)) if "_:" in text else text


def relabelled(term: Term, label: Callable[[str], str]) -> Term:
    """The term with every blank node in it renamed."""
    if isinstance(term, BlankNode):
        return BlankNode(label(term.label))
    if isinstance(term, TripleTerm):
        subject, object = relabelled(term.subject, label), relabelled(term.object, label)
        assert isinstance(subject, IRI | BlankNode)
        return TripleTerm(subject, term.predicate, object)
    return term


def triple_term(subject: Term | None, predicate: Term | None, object: Term | None) -> TripleTerm | None:
    """The triple term of three terms; None where they make no triple, or nest too deeply."""
    if not isinstance(subject, IRI | BlankNode) or not isinstance(predicate, IRI) or object is None:
        return None
    depth, inner = 1, object
    while isinstance(inner, TripleTerm):
        depth, inner = depth + 1, inner.object
    return TripleTerm(subject, predicate, object) if depth <= NESTING else None


def json_term(term: Term) -> dict[str, Any]:
    """A term as JSON; plain strings have no datatype."""
    if isinstance(term, IRI):
        return {"type": "uri", "value": term.value}
    if isinstance(term, BlankNode):
        return {"type": "bnode", "value": term.label}
    if isinstance(term, TripleTerm):
        parts = {place: json_term(getattr(term, place)) for place in _PLACES}
        return {"type": "triple", "value": parts}
    out = {"type": "literal", "value": term.lexical}
    if term.language is not None:
        out["xml:lang"] = term.language
        if term.direction is not None:
            out["its:dir"] = term.direction
    elif term.datatype != XSD_STRING:
        out["datatype"] = term.datatype
    return out


def term_of_json(value: Mapping[str, Any], is_iri: Callable[[str], bool] = is_iri_text) -> Term:
    """A term from JSON; what is none raises ``LookupError``, ``TypeError`` or ``ValueError``.

    What it is given is not trusted: nothing becomes a term whose text would be read as anything else.
    """
    kind = value["type"]
    if kind == "triple":
        parts = value["value"]
        found = triple_term(*(term_of_json(parts[place], is_iri) for place in _PLACES))
        if found is None:
            raise ValueError("a triple term whose parts are no triple")
        return found
    text = _text(value["value"])
    if kind == "uri":
        return iri_of(text, is_iri)
    if kind == "bnode":
        return BlankNode(text)
    if kind in ("literal", "typed-literal"):
        return literal_of(text, value.get("xml:lang"), value.get("datatype"), value.get("its:dir"), is_iri)
    raise ValueError(f"unknown kind of term {str(kind)[:80]!r}")


def iri_of(text: str, is_iri: Callable[[str], bool] = is_iri_text) -> IRI:
    """An IRI from its text; what is none is a ``ValueError``."""
    if not is_iri(text):
        raise ValueError(f"{text[:80]!r} is no IRI")
    return IRI(text)


def literal_of(
    lexical: str,
    language: Any,
    datatype: Any,
    direction: Any = None,
    is_iri: Callable[[str], bool] = is_iri_text,
) -> Literal:
    """A literal from its parts, of which three may be missing; what is none is a ``ValueError``."""
    if language:
        if direction and direction not in DIRECTIONS:
            raise ValueError(f"{str(direction)[:80]!r} is no base direction")
        if not is_language_tag(_text(language)):
            raise ValueError(f"{language[:80]!r} is no language tag")
        return Literal.tagged(lexical, language, direction or None)
    if not datatype:
        return Literal(lexical)
    named = iri_of(_text(datatype), is_iri).value
    if named in (RDF_LANGSTRING, RDF_DIRLANGSTRING):
        raise ValueError(f"a literal of datatype <{named}> has a language tag")
    return Literal(lexical, named)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:80]!r} is no string")
    if not is_unicode(value):
        raise ValueError(f"{value[:80]!r} has a lone surrogate")
    return value
