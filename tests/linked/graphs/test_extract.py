"""Extracts hold what a query can use, and their size follows the answer, not the graph."""

from __future__ import annotations

import numpy as np

from weir.kernel.contract import Background, GraphTable
from weir.language import parse
from weir.linked.graphs.extract import StaticGraphs
from weir.linked.graphs.triple_tables import TableSource
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Literal, Term

CO_AUTHORS = """
PREFIX : <http://e/>
SELECT ?name FROM NAMED WINDOW <w> ON <s> [RANGE PT1S]
WHERE { WINDOW <w> { ?other :at ?place }
  ?paper :by ?author . ?paper :by ?other . ?author :name "a7" . ?other :name ?name }
"""


def library(authors: int, dictionary: Dictionary) -> GraphTable:
    """Each paper n is by the authors n and n + 1."""
    triples: list[tuple[Term, Term, Term]] = []
    for n in range(authors):
        person = IRI(f"http://e/person{n}")
        triples.append((person, IRI("http://e/name"), Literal(f"a{n}")))
        for paper in (n, n - 1):
            triples.append((IRI(f"http://e/paper{paper}"), IRI("http://e/by"), person))
    return GraphTable(*(dictionary.encode_terms([t[place] for t in triples]) for place in range(3)))


def test_the_extract_of_a_join_is_what_its_solutions_use() -> None:
    dictionary = Dictionary()
    source = TableSource(Background(library(100, dictionary)))
    part = StaticGraphs(source, dictionary).extract(parse(CO_AUTHORS)).default
    used = {
        tuple(dictionary.text(int(x)).strip('<>"').removeprefix("http://e/") for x in row)
        for row in zip(part.subject, part.predicate, part.object, strict=True)
    }
    assert used == {
        ("paper6", "by", "person6"),
        ("paper6", "by", "person7"),
        ("paper7", "by", "person7"),
        ("paper7", "by", "person8"),
        *((f"person{n}", "name", f"a{n}") for n in (6, 7, 8)),
    }


def test_the_extract_does_not_grow_with_the_graph() -> None:
    sizes = []
    for authors in (50, 5000):
        dictionary = Dictionary()
        source = TableSource(Background(library(authors, dictionary)))
        sizes.append(len(StaticGraphs(source, dictionary).extract(parse(CO_AUTHORS)).default.subject))
    assert sizes[0] == sizes[1]


def test_validity_comes_along() -> None:
    dictionary = Dictionary()
    table = library(10, dictionary)
    timed = GraphTable(table.subject, table.predicate, table.object, np.arange(30), np.arange(30) + 100)
    part = StaticGraphs(TableSource(Background(timed)), dictionary).extract(parse(CO_AUTHORS)).default
    assert part.start is not None and part.end is not None
    assert (part.end - part.start == 100).all()


def test_a_graph_is_there_because_it_was_given_or_inserted_into() -> None:
    dictionary = Dictionary()
    row = library(1, dictionary)
    extractor = StaticGraphs(TableSource(Background(named={"urn:given": GraphTable.empty()})), dictionary)
    text = "SELECT * WHERE {{ GRAPH ?g {{}} OPTIONAL {{ GRAPH <{}> {{ ?s ?p ?o }} }} }}"
    assert set(extractor.extract(parse(text.format("urn:asked"))).named) == {"urn:given"}
    number = extractor.apply(Background(), Background(named={"urn:deleted": row}))
    assert set(extractor.extract(parse(text.format("urn:deleted"))).named) == {"urn:given"}
    change = extractor.change(parse(text.format("urn:deleted")), number)
    assert change is None or not change.named
    number = extractor.apply(Background(named={"urn:made": row, "urn:given": row}), Background())
    change = extractor.change(parse(text.format("urn:asked")), number)
    assert change is not None and "urn:made" in change.named
    for found in (change, extractor.extract(parse(text.format("urn:asked")))):
        assert found.made == {"urn:made": (number,)}


def test_an_update_that_makes_a_graph_concerns_the_queries_that_look_at_its_name() -> None:
    dictionary = Dictionary()
    extractor = StaticGraphs(TableSource(Background()), dictionary)
    number = extractor.apply(Background(named={"urn:made": library(1, dictionary)}), Background())
    for pattern, concerned in (
        ("GRAPH ?g {}", True),
        ("GRAPH <urn:made> { FILTER NOT EXISTS { ?s <urn:x> ?o } }", True),
        ("GRAPH <urn:other> { FILTER NOT EXISTS { ?s <urn:x> ?o } }", False),
        ("GRAPH ?g { ?s <urn:x> ?o }", False),
        ("?s <urn:x> ?o FILTER NOT EXISTS { GRAPH ?g {} }", True),
    ):
        found = extractor.change(parse(f"SELECT * WHERE {{ {pattern} }}"), number)
        assert (found is not None) == concerned, pattern
