"""Terms and property paths (SPARQL 1.2 grammar, rules 88 to 96 and 127 to 138).

Relative IRIs are resolved by RFC 3986, section 5.2.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from weir.language.algebra import patterns as a
from weir.language.algebra.query import Dialect
from weir.language.syntax.cursor import Cursor
from weir.language.syntax.lexer import Kind, Tokens
from weir.rdf.terms import DIRECTIONS, IRI, RDF, XSD, BlankNode, Literal, Variable, is_iri_text

TYPE = IRI(RDF + "type")
TRUE = Literal("true", XSD + "boolean")
FALSE = Literal("false", XSD + "boolean")

_NUMBERS = {Kind.INTEGER: XSD + "integer", Kind.DECIMAL: XSD + "decimal", Kind.DOUBLE: XSD + "double"}
_CHARACTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
REPEATED: dict[str, type[a.ZeroOrMore | a.OneOrMore | a.ZeroOrOne]] = {
    "*": a.ZeroOrMore,
    "+": a.OneOrMore,
    "?": a.ZeroOrOne,
}

_PARTS = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.\-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL
)
WELL_KNOWN = {
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "f": "http://larkc.eu/csparql/sparql/jena/ext#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "prov": "http://www.w3.org/ns/prov#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "sioc": "http://rdfs.org/sioc/ns#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "ssn": "http://www.w3.org/ns/ssn/",
    "swrc": "http://swrc.ontoware.org/ontology#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


class TermParser(Cursor):
    """Terms are made once per text: a name seen again is the same object."""

    def __init__(self, tokens: Tokens, dialect: Dialect | None, base: str | None) -> None:
        super().__init__(tokens, dialect)
        self.base = base
        self.prefixes: dict[str, str] = {}
        self.terms: dict[str, IRI | Variable] = {}
        self.anonymous = 0

    # Terms

    def variable(self) -> Variable:
        if self.kinds[self.i] != 1:
            raise self.expected("a variable")
        text = self.texts[self.i]
        term = self.terms.get(text)
        if not isinstance(term, Variable):
            term = self.terms[text] = Variable(text[1:])
        self.i += 1
        return term

    def iri(self, what: str = "an IRI") -> IRI:
        kind = self.kinds[self.i]
        text = self.texts[self.i]
        term = self.terms.get(text)
        if kind == 2:
            if not isinstance(term, IRI):
                term = self.terms[text] = self._prefixed(text)
        elif kind == 3:
            if not isinstance(term, IRI):
                term = self.terms[text] = IRI(resolve(self.reference(), self.base))
        else:
            raise self.expected(what)
        self.i += 1
        return term

    def reference(self) -> str:
        """What stands between ``<`` and ``>``, its escapes resolved."""
        text = self.texts[self.i][1:-1]
        if "\\" in text:
            text = self._unescaped(text)
            if not is_iri_text(text):
                raise self.error("an escape in an IRI stands for a character that no IRI has")
        return text

    def variable_or_iri(self) -> IRI | Variable:
        if self.kinds[self.i] == Kind.VARIABLE:
            return self.variable()
        return self.iri("a variable or an IRI")

    def _prefixed(self, text: str) -> IRI:
        prefix, _, local = text.partition(":")
        namespace = self.prefixes.get(prefix)
        if namespace is None:
            known = WELL_KNOWN.get(prefix, "…")
            raise self.error(f"unknown prefix '{prefix}:'", None, f"declare it: PREFIX {prefix}: <{known}>")
        return IRI(namespace + (_ESCAPED.sub(r"\1", local) if "\\" in local else local))

    def string(self) -> str:
        """A string literal's characters."""
        kind, text = self.kinds[self.i], self.texts[self.i]
        if kind == Kind.STRING:
            body = text[1:-1]
        elif kind == Kind.LONG:
            body = text[3:-3]
        else:
            raise self.expected("a string")
        found = self._unescaped(body) if "\\" in body else body
        self.i += 1
        return found

    def _unescaped(self, text: str) -> str:
        def character(match: re.Match[str]) -> str:
            digits = match[1] or match[2]
            if digits is None:
                return _CHARACTERS.get(match[3], match[3])
            code = int(digits, 16)
            if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                raise self.error(f"\\u{digits} is not a character")
            return chr(code)

        return _ESCAPE.sub(character, text)

    def literal(self) -> Literal:
        """A string with its language or datatype, a number or a boolean."""
        kind, text = self.kinds[self.i], self.texts[self.i]
        if kind == Kind.STRING or kind == Kind.LONG:
            lexical = self.string()
            if self.kinds[self.i] == Kind.LANGUAGE:
                language, _, direction = self.texts[self.i][1:].partition("--")
                if direction and direction not in DIRECTIONS:
                    raise self.error(f"'{direction}' is no base direction", None, "write --ltr or --rtl")
                self.i += 1
                return Literal.tagged(lexical, language, direction or None)
            if self.accept("^^"):
                return Literal(lexical, self.iri("a datatype IRI").value)
            return Literal(lexical)
        if kind in _NUMBERS:
            self.i += 1
            return Literal(text, _NUMBERS[Kind(kind)])
        if kind == Kind.MARK and text in "+-" and self.signed():
            self.i += 2
            number = self.i - 1
            return Literal(text + self.texts[number], _NUMBERS[Kind(self.kinds[number])])
        if kind == Kind.WORD and text in ("TRUE", "FALSE"):
            self.i += 1
            return TRUE if text == "TRUE" else FALSE
        raise self.expected("an RDF term")

    def signed(self) -> bool:
        """Whether the sign here belongs to the number after it."""
        number = self.i + 1
        return self.kinds[number] in _NUMBERS and self.tokens.end(self.i) == self.tokens.offset(number)

    def fresh(self) -> BlankNode:
        """A blank node that the text does not name."""
        self.anonymous += 1
        return BlankNode(f".{self.anonymous}")

    # Paths

    def path(self) -> a.Path:
        return self._chain("|", a.Alternative, lambda: self._chain("/", a.Sequence, self._path_step))

    def _chain(self, mark: str, kind: type[a.Alternative | a.Sequence], read: Callable[[], a.Path]) -> a.Path:
        path = read()
        length = 0
        while self.accept(mark):
            length += 1
            self.bounded(length, "paths in one chain")
            path = kind(path, read())
        return path

    def _path_step(self) -> a.Path:
        inverse = self.accept("^")
        path = self._path_primary()
        mark = self.texts[self.i]
        if self.kinds[self.i] == Kind.MARK and mark in "*+?" and not (mark == "+" and self.signed()):
            self.i += 1
            path = REPEATED[mark](path)
        return a.Inverse(path) if inverse else path

    def _path_primary(self) -> a.Path:
        if self.texts[self.i] == "(":
            self.enter("(")
            path = self.path()
            self.leave(")")
            return path
        if self.accept("!"):
            return self._negated()
        return a.Link(self._link())

    def _link(self) -> IRI:
        if self.kinds[self.i] == Kind.A:
            self.i += 1
            return TYPE
        return self.iri("a predicate or a path")

    def _negated(self) -> a.NegatedSet:
        forward: list[IRI] = []
        inverse: list[IRI] = []
        if self.accept("("):
            if not self.accept(")"):
                while True:
                    (inverse if self.accept("^") else forward).append(self._link())
                    if not self.accept("|"):
                        break
                self.expect(")")
        else:
            (inverse if self.accept("^") else forward).append(self._link())
        return a.NegatedSet(tuple(forward), tuple(inverse))


def _without_dots(path: str) -> str:
    """``remove_dot_segments`` of RFC 3986 section 5.2.4."""
    out: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == ".." and out not in ([], [""]):
            out.pop()
        elif segment not in (".", ".."):
            out.append(segment)
    return "/".join([*out, ""] if segments[-1] in (".", "..") else out)


def resolve(reference: str, base: str | None) -> str:
    """``reference`` against ``base``; left as written where there is no base."""
    if base is None:
        return reference
    match = _PARTS.fullmatch(reference)
    origin = _PARTS.fullmatch(base)
    if match is None or origin is None or match[1] is not None:
        return reference
    _, authority, path, query, fragment = match.groups()
    if authority is not None:
        path = _without_dots(path)
    else:
        authority = origin[2]
        if not path:
            path = origin[3]
            query = origin[4] if query is None else query
        elif path.startswith("/"):
            path = _without_dots(path)
        elif authority is not None and not origin[3]:
            path = _without_dots("/" + path)
        else:
            path = _without_dots(origin[3][: origin[3].rfind("/") + 1] + path)
    return "".join(
        (
            f"{origin[1]}:" if origin[1] is not None else "",
            f"//{authority}" if authority is not None else "",
            path,
            f"?{query}" if query is not None else "",
            f"#{fragment}" if fragment is not None else "",
        )
    )
