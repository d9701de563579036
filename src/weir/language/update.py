"""``INSERT DATA`` and ``DELETE DATA`` (SPARQL 1.1 Update, sections 3.1.1 and 3.1.2).

Only the two forms that carry their own triples: what a pattern would delete or insert depends on a
graph's state at a moment, which a log of updates does not have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from weir.language.algebra import patterns as a
from weir.language.syntax.lexer import Kind, Source, Tokens
from weir.language.syntax.queries import QueryParser
from weir.language.syntax.triples import Triple
from weir.rdf.terms import IRI, Term, TripleTerm, blank_labels

Quad: TypeAlias = tuple[Term, IRI, Term, str | None]


@dataclass(frozen=True, slots=True)
class Update:
    """Quads to add, or, ``deleting``, to remove where they are there; a quad's graph None is the default
    graph. Blank nodes are new ones."""

    quads: tuple[Quad, ...]
    deleting: bool = False


def parse_update(text: str) -> tuple[Update, ...]:
    """The operations of an update request, in order (raises ``weir.SyntaxError``)."""
    return _UpdateParser(Tokens(Source(text)), None, None).request()


class _UpdateParser(QueryParser):
    def request(self) -> tuple[Update, ...]:
        found: list[Update] = []
        while True:
            self.prologue()
            if self.kinds[self.i] == Kind.END:
                return tuple(found)
            found.append(self._operation())
            if self.kinds[self.i] != Kind.END:
                self.expect(";")

    def _operation(self) -> Update:
        word = self.texts[self.i]
        if word not in ("INSERT", "DELETE"):
            raise self.expected("INSERT DATA or DELETE DATA")
        self.i += 1
        if not self.accept("DATA"):
            raise self.expected("DATA", "only INSERT DATA and DELETE DATA are understood")
        deleting = word == "DELETE"
        self.expect("{")
        quads: list[Quad] = []
        while not self.accept("}"):
            if self.accept("GRAPH"):
                graph = self.iri("the IRI of a graph").value
                self.expect("{")
                self._triples(quads, graph, deleting)
                self.expect("}")
                self.accept(".")
            else:
                self._triples(quads, None, deleting)
        return Update(tuple(quads), deleting)

    def _triples(self, quads: list[Quad], graph: str | None, deleting: bool) -> None:
        if self.texts[self.i] == "}":
            return
        triples: list[Triple] = []
        start = self.i
        dot = self.triples(triples, paths=False)
        if not dot and self.texts[self.i] not in ("}", "GRAPH"):
            raise self.expected("'.' or '}'")
        for triple in triples:
            node = a.triple_node(triple.subject, triple.predicate, triple.object)  # type: ignore[arg-type]
            if any(True for _ in a.variables_of(node)):
                raise self.error("data may hold no variables", start)
            if not isinstance(node, TripleTerm):
                raise self.error("a literal or a triple term cannot be a subject", start)
            if deleting and blank_labels(str(node)):
                raise self.error("DELETE DATA may hold no blank nodes", start)
            quads.append((node.subject, node.predicate, node.object, graph))
