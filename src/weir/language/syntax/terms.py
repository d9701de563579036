"""Terms, triples and property paths (SPARQL 1.1 grammar, rules 75 to 109 and 127 to 138).

Relative IRIs are resolved by RFC 3986, section 5.2.
"""

from __future__ import annotations

import re

from weir.language.algebra import patterns as a
from weir.language.algebra.query import Dialect
from weir.language.syntax import tree
from weir.language.syntax.cursor import Cursor
from weir.language.syntax.lexer import Kind, Tokens
from weir.rdf.terms import IRI, RDF, XSD, BlankNode, Literal, Variable

TYPE = IRI(RDF + "type")
FIRST = IRI(RDF + "first")
REST = IRI(RDF + "rest")
NIL = IRI(RDF + "nil")
TRUE = Literal("true", XSD + "boolean")
FALSE = Literal("false", XSD + "boolean")

_NUMBERS = {Kind.INTEGER: XSD + "integer", Kind.DECIMAL: XSD + "decimal", Kind.DOUBLE: XSD + "double"}
_CHARACTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PATH_MARKS = frozenset("/|*+?")
_REPEATED: dict[str, type[a.ZeroOrMore | a.OneOrMore | a.ZeroOrOne]] = {
    "*": a.ZeroOrMore,
    "+": a.OneOrMore,
    "?": a.ZeroOrOne,
}
_VERB_KINDS = frozenset((Kind.VARIABLE, Kind.PREFIXED, Kind.IRI, Kind.A))

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
                term = self.terms[text] = IRI(resolve(text[1:-1], self.base))
        else:
            raise self.expected(what)
        self.i += 1
        return term

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
        self.i += 1
        if "\\" in body:
            return _ESCAPED.sub(lambda match: _CHARACTERS.get(match[1], match[1]), body)
        return body

    def literal(self) -> Literal:
        """A string with its language or datatype, a number or a boolean."""
        kind, text = self.kinds[self.i], self.texts[self.i]
        if kind == Kind.STRING or kind == Kind.LONG:
            lexical = self.string()
            if self.kinds[self.i] == Kind.LANGUAGE:
                self.i += 1
                return Literal.tagged(lexical, self.texts[self.i - 1][1:])
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
        return self.kinds[self.i + 1] in _NUMBERS and self.adjacent(self.i)

    def fresh(self) -> BlankNode:
        """A blank node that the text does not name."""
        self.anonymous += 1
        return BlankNode(f".{self.anonymous}")

    # Triples

    def same_subject(self, out: list[tree.Triple], paths: bool) -> None:
        """One subject with its predicates and objects."""
        before = len(out)
        subject = self.node(out, paths)
        if len(out) == before or self.kinds[self.i] in _VERB_KINDS or self.texts[self.i] in ("^", "!", "("):
            self.properties(subject, out, paths)

    def node(self, out: list[tree.Triple], paths: bool) -> tree.TermNode:
        """A term, or ``[…]`` or ``(…)`` whose triples go to ``out``."""
        kind = self.kinds[self.i]
        text = self.texts[self.i]
        if kind <= 3:
            term = self.terms.get(text)
            if term is None:
                return self.variable() if kind == 1 else self.iri()
            self.i += 1
            return term
        if kind == Kind.MARK:
            if text == "[":
                return self._property_list(out, paths)
            if text == "(":
                return self._collection(out, paths)
        elif kind == Kind.BLANK:
            self.i += 1
            return BlankNode(text[2:])
        return self.literal()

    def _property_list(self, out: list[tree.Triple], paths: bool) -> BlankNode:
        self.enter()
        self.i += 1
        subject = self.fresh()
        if not self.accept("]"):
            self.properties(subject, out, paths)
            self.expect("]")
        self.depth -= 1
        return subject

    def _collection(self, out: list[tree.Triple], paths: bool) -> IRI | BlankNode:
        self.enter()
        self.i += 1
        members: list[tuple[int, tree.TermNode]] = []
        while not self.accept(")"):
            at = self.tokens.offset(self.i)
            members.append((at, self.node(out, paths)))
        self.depth -= 1
        if not members:
            return NIL
        head = cell = self.fresh()
        for place, (at, member) in enumerate(members):
            out.append(tree.Triple(at, cell, FIRST, member))
            rest = self.fresh() if place + 1 < len(members) else NIL
            out.append(tree.Triple(at, cell, REST, rest))
            if isinstance(rest, BlankNode):
                cell = rest
        return head

    def properties(self, subject: tree.TermNode, out: list[tree.Triple], paths: bool) -> None:
        """Predicates and objects, at least one of each."""
        texts = self.texts
        while True:
            at = self.tokens.offset(self.i)
            verb = self.verb(paths)
            while True:
                term = self.node(out, paths)
                out.append(tree.Triple(at, subject, verb, term))
                if texts[self.i] != ",":
                    break
                self.i += 1
            if texts[self.i] != ";":
                return
            while texts[self.i] == ";":
                self.i += 1
            if self.kinds[self.i] not in _VERB_KINDS and not (paths and texts[self.i] in ("^", "!", "(")):
                return

    def verb(self, paths: bool) -> IRI | Variable | a.Path:
        """A predicate, or a property path where the grammar allows one."""
        kind = self.kinds[self.i]
        if kind == 1:
            return self.variable()
        if paths and (kind == Kind.MARK or self.texts[self.i + 1] in _PATH_MARKS):
            path = self.path()
            return path.iri if isinstance(path, a.Link) else path
        if kind == 4:
            self.i += 1
            return TYPE
        return self.iri("a predicate")

    # Paths

    def path(self) -> a.Path:
        path = self._path_sequence()
        length = 0
        while self.accept("|"):
            length += 1
            self.bounded(length, "paths")
            path = a.Alternative(path, self._path_sequence())
        return path

    def _path_sequence(self) -> a.Path:
        path = self._path_step()
        length = 0
        while self.accept("/"):
            length += 1
            self.bounded(length, "paths")
            path = a.Sequence(path, self._path_step())
        return path

    def _path_step(self) -> a.Path:
        inverse = self.accept("^")
        path = self._path_primary()
        mark = self.texts[self.i]
        if self.kinds[self.i] == Kind.MARK and mark in "*+?" and not (mark == "+" and self.signed()):
            self.i += 1
            path = _REPEATED[mark](path)
        return a.Inverse(path) if inverse else path

    def _path_primary(self) -> a.Path:
        if self.accept("("):
            self.enter()
            path = self.path()
            self.expect(")")
            self.depth -= 1
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
    for place, segment in enumerate(segments):
        last = place == len(segments) - 1
        if segment == "..":
            if len(out) > 1 or (out and out[0] != ""):
                out.pop()
            if last:
                out.append("")
        elif segment == ".":
            if last:
                out.append("")
        else:
            out.append(segment)
    return "/".join(out)


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
