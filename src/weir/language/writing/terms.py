"""Terms, triples and paths as text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from weir.language.algebra import patterns as a
from weir.rdf.terms import IRI, RDF, XSD, XSD_STRING, BlankNode, Literal, Term, TripleTerm, Variable

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
_TYPE = RDF + "type"


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

    def node(self, node: a.Node) -> str:
        """A term or variable in a pattern; internal variables are written as blank nodes."""
        match node:
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

    def datum(self, term: Term | None) -> str:
        """A cell of VALUES."""
        return "UNDEF" if term is None else self.node(term)

    def triple(self, triple: a.TriplePattern) -> str:
        verb = "a" if triple.predicate == IRI(_TYPE) else self.node(triple.predicate)
        return f"{self.node(triple.subject)} {verb} {self.node(triple.object)} ."

    def connection(self, pattern: a.PathPattern) -> str:
        return f"{self.node(pattern.subject)} {self.path(pattern.path)} {self.node(pattern.object)} ."

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
            case a.ZeroOrMore(inner):
                own, text = 3, f"{self.path(inner, 4)}*"
            case a.OneOrMore(inner):
                own, text = 3, f"{self.path(inner, 4)}+"
            case a.ZeroOrOne(inner):
                own, text = 3, f"{self.path(inner, 4)}?"
            case a.NegatedSet(forward, inverse):
                parts = [self.iri(iri.value) for iri in forward] + [
                    f"^{self.iri(iri.value)}" for iri in inverse
                ]
                return f"!({'|'.join(parts)})"
        return f"({text})" if own < level else text
