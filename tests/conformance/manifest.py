"""The W3C query evaluation tests as values, read from their manifests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph as ox

from weir.rdf.terms import IRI, BlankNode, Literal, Term, Triple, TripleTerm

MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDF_TYPE = RDF + "type"

LEFT_OUT = {
    "entailment": "entailment regimes are no part of SPARQL's simple entailment, which Weir evaluates",
}
"""Folders without evaluation tests for us, with the reason. Update and protocol tests have other types."""


@dataclass(frozen=True, slots=True)
class Case:
    """One evaluation test: a query, its data, what should come out."""

    name: str
    query: Path
    result: Path
    data: tuple[Path, ...]
    graph_data: tuple[Path, ...]
    services: tuple[tuple[str, tuple[Path, ...]], ...]
    lax: bool
    csv: bool


def term(node: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple, scope: str = "") -> Term:
    """A parsed term with its lexical form as written; blank nodes get the scope before their label."""
    if isinstance(node, ox.Triple):
        subject, predicate = term(node.subject, scope), term(node.predicate)
        assert isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI)
        return TripleTerm(subject, predicate, term(node.object, scope))
    if isinstance(node, ox.NamedNode):
        return IRI(node.value)
    if isinstance(node, ox.BlankNode):
        return BlankNode(scope + node.value)
    if node.language is not None:
        return Literal.tagged(node.value, node.language, node.direction and str(node.direction))
    return Literal(node.value, node.datatype.value)


_FORMATS = {
    ".ttl": ox.RdfFormat.TURTLE,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".nq": ox.RdfFormat.N_QUADS,
    ".trig": ox.RdfFormat.TRIG,
}


def read_dataset(path: Path, scope: str = "") -> dict[str | None, list[Triple]]:
    """The triples of each graph of a file, each once; None is the default graph."""
    found: dict[str | None, dict[Triple, None]] = {None: {}}
    for quad in ox.parse(
        path.read_bytes(), format=_FORMATS[path.suffix], base_iri=path.as_uri(), rename_blank_nodes=False
    ):
        graph = quad.graph_name.value if isinstance(quad.graph_name, ox.NamedNode) else None
        triple = (term(quad.subject, scope), term(quad.predicate, scope), term(quad.object, scope))
        found.setdefault(graph, {})[triple] = None
    return {graph: list(triples) for graph, triples in found.items()}


def read_graph(path: Path, scope: str = "") -> list[Triple]:
    """The triples of the default graph of a file, each once."""
    return read_dataset(path, scope)[None]


class _Facts:
    """A manifest's triples, by subject and predicate."""

    def __init__(self, path: Path) -> None:
        self.index: dict[tuple[Term, str], list[Term]] = {}
        for subject, predicate, object in read_graph(path):
            assert isinstance(predicate, IRI)
            self.index.setdefault((subject, predicate.value), []).append(object)

    def all(self, subject: Term, predicate: str) -> list[Term]:
        return self.index.get((subject, predicate), [])

    def one(self, subject: Term, predicate: str) -> Term | None:
        return next(iter(self.all(subject, predicate)), None)

    def entries(self) -> Iterator[Term]:
        """What the manifest lists, whether it has a name or is a blank node."""
        for (subject, predicate), objects in self.index.items():
            if predicate == MF + "entries" and IRI(MF + "Manifest") in self.all(subject, RDF_TYPE):
                yield from self.items(objects[0])

    def items(self, head: Term | None) -> Iterator[Term]:
        while head is not None and head != IRI(RDF + "nil"):
            first = self.one(head, RDF + "first")
            assert first is not None
            yield first
            head = self.one(head, RDF + "rest")


def _path(iri: Term | None) -> Path:
    assert isinstance(iri, IRI)
    return Path(iri.value.removeprefix("file://"))


def read_manifest(path: Path) -> Iterator[Case]:
    """The evaluation tests of one manifest, in its order."""
    facts = _Facts(path)
    for entry in facts.entries():
        kinds = {kind.value for kind in facts.all(entry, RDF_TYPE) if isinstance(kind, IRI)}
        csv = MF + "CSVResultFormatTest" in kinds
        if not csv and MF + "QueryEvaluationTest" not in kinds:
            continue
        action = facts.one(entry, MF + "action")
        assert action is not None and isinstance(entry, IRI)
        services = []
        for service in facts.all(action, QT + "serviceData"):
            endpoint = facts.one(service, QT + "endpoint")
            assert isinstance(endpoint, IRI)
            services.append((endpoint.value, tuple(_path(p) for p in facts.all(service, QT + "data"))))
        yield Case(
            name=f"{path.parent.parent.name}/{path.parent.name}/{entry.value.rpartition('#')[2]}",
            query=_path(facts.one(action, QT + "query")),
            result=_path(facts.one(entry, MF + "result")),
            data=tuple(_path(p) for p in facts.all(action, QT + "data")),
            graph_data=tuple(_path(p) for p in facts.all(action, QT + "graphData")),
            services=tuple(services),
            lax=bool(facts.all(entry, MF + "resultCardinality")),
            csv=csv,
        )


def read_suite(folder: Path) -> list[Case]:
    """All evaluation tests below a folder, folders in the order of their names."""
    cases: list[Case] = []
    for path in sorted(folder.glob("*/manifest.ttl")):
        if path.parent.name not in LEFT_OUT:
            cases += read_manifest(path)
    return cases
