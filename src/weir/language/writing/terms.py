"""Terms, triples and paths as text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from weir.language.algebra import patterns as a
from weir.language.syntax.terms import REPEATED, TYPE
from weir.rdf.terms import IRI, XSD, XSD_STRING, BlankNode, Literal, TripleTerm, Variable
from weir.rdf.xsd.numbers import INTEGER_RANGES, XSD_DECIMAL, XSD_DOUBLE, XSD_FLOAT

_LOCAL = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?")
_BARE = {
    XSD + "integer": re.compile(r"[+-]?[0-9]+"),
    XSD + "decimal": re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    XSD + "double": re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+"),
    XSD + "boolean": re.compile(r"true|false"),
}
_ESCAPES = str.maketrans(
    {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
)
_MARKS: dict[type, str] = {kind: mark for mark, kind in REPEATED.items()}


class Terms:
    """Writes terms; IRIs of a declared namespace are shortened, and those prefixes remembered."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._namespaces = {namespace: prefix for prefix, namespace in prefixes.items() if namespace}
        self.used: dict[str, str] = {}

    def iri(self, value: str) -> str:
        for namespace, prefix in self._namespaces.items():
            if value.startswith(namespace) and _LOCAL.fullmatch(value, len(namespace)):
                self.used[prefix] = namespace
                return f"{prefix}:{value[len(namespace) :]}"
        return f"<{value}>"

    def literal(self, literal: Literal) -> str:
        bare = _BARE.get(literal.datatype)
        if bare is not None and bare.fullmatch(literal.lexical):
            return literal.lexical
        quoted = f'"{literal.lexical.translate(_ESCAPES)}"'
        if literal.language is not None:
            direction = "" if literal.direction is None else f"--{literal.direction}"
            return f"{quoted}@{literal.language}{direction}"
        return quoted if literal.datatype == XSD_STRING else f"{quoted}^^{self.iri(literal.datatype)}"

    def node(self, node: a.Node | None) -> str:
        """A term or variable in a pattern, or a cell of VALUES; internal variables are written as blank
        nodes."""
        match node:
            case None:
                return "UNDEF"
            case Variable(name):
                return f"_:{name[1:]}" if node.internal else f"?{name}"
            case IRI(value):
                return self.iri(value)
            case Literal():
                return self.literal(node)
            case BlankNode(label):
                return f"_:{label}"
            case TripleTerm(subject, predicate, object) | a.TripleTermPattern(subject, predicate, object):
                return f"<<( {self.node(subject)} {self.node(predicate)} {self.node(object)} )>>"

    def triple(self, triple: a.TriplePattern | a.PathPattern) -> str:
        if isinstance(triple, a.PathPattern):
            verb = self.path(triple.path)
        else:
            verb = "a" if triple.predicate == TYPE else self.node(triple.predicate)
        return f"{self.node(triple.subject)} {verb} {self.node(triple.object)} ."

    def path(self, path: a.Path, level: int = 0) -> str:
        """A path; ``level`` is how tightly its surroundings bind: 0 ``|``, 1 ``/``, 2 ``^``, 3 ``*``."""
        match path:
            case a.Link(IRI(value)):
                return self.iri(value)
            case a.Alternative(left, right):
                own, text = 0, f"{self.path(left, 0)}|{self.path(right, 1)}"
            case a.Sequence(left, right):
                own, text = 1, f"{self.path(left, 1)}/{self.path(right, 2)}"
            case a.Inverse(inner):
                own, text = 2, f"^{self.path(inner, 3)}"
            case a.ZeroOrMore(inner) | a.OneOrMore(inner) | a.ZeroOrOne(inner):
                own, text = 3, f"{self.path(inner, 4)}{_MARKS[type(path)]}"
            case a.NegatedSet(forward, inverse):
                backward = [f"^{self.node(iri)}" for iri in inverse]
                return f"!({'|'.join([*map(self.node, forward), *backward])})"
        return f"({text})" if own < level else text


class ShownTerms(Terms):
    """Terms for people: every number is written as a number, also where a query could not read it back."""

    def literal(self, literal: Literal) -> str:
        number = literal.datatype in _NUMERIC
        return literal.lexical if number else super().literal(literal)


_NUMERIC = frozenset({*INTEGER_RANGES, XSD_DECIMAL, XSD_DOUBLE, XSD_FLOAT})
