"""Files and a Parquet store answer alike: the same queries, through extracts and through Spark SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from weir.kernel.contract import Slab
from weir.kernel.evaluators import choose_evaluator
from weir.language import parse
from weir.linked.graphs.extract import StaticGraphs
from weir.linked.graphs.graph_sources import GraphSources
from weir.linked.graphs.parquet_store import GraphStore
from weir.rdf.ids.dictionary import Dictionary
from weir.spark.load import load_graphs

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

BASIC = [
    "SELECT * { ?x <urn:p0> ?y }",
    "SELECT * { ?x <urn:p0> ?y . ?y <urn:p1> ?z . ?z ?p <urn:n1> }",
    "SELECT * { ?x <urn:p2> ?x . ?x <urn:p0> 3 }",
    'SELECT * { ?x <urn:p1> "03"^^<http://www.w3.org/2001/XMLSchema#integer> . <urn:n0> ?p ?y }',
    "SELECT * { <urn:n0> ?p ?o }",
]
OTHERS = [
    "SELECT * { ?x <urn:p0> ?y OPTIONAL { ?y <urn:p1> ?z } }",
    "SELECT * { ?x <urn:p0> ?y MINUS { ?y <urn:p2> ?x } }",
    "SELECT * { ?x <urn:p0>+ ?y . ?y ^<urn:p1> ?z }",
    "SELECT ?x (COUNT(?y) AS ?n) (SUM(?y) AS ?s) { ?x ?p ?y } GROUP BY ?x",
    "SELECT * { GRAPH ?g { ?x <urn:p1> ?y } ?y <urn:p0> ?z }",
    "SELECT * { GRAPH <urn:g> { ?x <urn:p0>* <urn:n1> } }",
    "SELECT * FROM <urn:g> { ?x <urn:p0> ?y FILTER NOT EXISTS { ?y <urn:p1> ?x } }",
    "SELECT * { ?x ?p ?y FILTER (isBlank(?x) || ?y > 2) }",
    "CONSTRUCT { ?y <urn:of> ?x } { ?x <urn:p1> ?y }",
    "ASK { <urn:n0> <urn:p0> ?y . ?y <urn:p9> ?z }",
    "DESCRIBE <urn:n2>",
]


def nquads(rng: Random) -> str:
    nodes = [f"<urn:n{n}>" for n in range(12)] + ["_:a", "_:b"]
    values = ["3", "03"]
    literals = [f'"{v}"^^<http://www.w3.org/2001/XMLSchema#integer>' for v in values] + ['"x"@en', '"é\\n"']
    lines = []
    for _ in range(220):
        target = rng.choice(nodes) if rng.random() < 0.6 else rng.choice(literals)
        graph = rng.choice(["", "", " <urn:g>", " <urn:h>"])
        lines.append(f"{rng.choice(nodes)} <urn:p{rng.randrange(4)}> {target}{graph} .\n")
    return "".join(lines)


@pytest.fixture(scope="module")
def places(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    folder = tmp_path_factory.mktemp("alike")
    data = folder / "data.nq"
    data.write_text(nquads(Random(6)))
    load_graphs(spark, [("", data)], folder / "store")
    yield data, folder / "store"


def static_graphs(path: Path, key: bytes) -> StaticGraphs:
    library = GraphSources()
    library.add(None, path)
    return library.open(Dictionary(key))


def answers(text: str, opened: StaticGraphs) -> Counter[tuple[str | None, ...]]:
    query = parse(text, dialect="sparql")
    extract = opened.extract(query, ())
    evaluator = choose_evaluator(query, extract, opened.dictionary).evaluator
    found = evaluator.advance(Slab({}, 0, True))
    columns = [found.columns[name] for name in sorted(found.columns)]
    if text.startswith("ASK"):
        return Counter((str(row[0]),) for row in zip(*columns, strict=True))
    return Counter(zip(*(opened.dictionary.texts(column) for column in columns), strict=True))


@pytest.mark.parametrize("same_key", [True, False], ids=["same key", "another key"])
def test_extracts_of_files_and_of_a_store(places: tuple[Path, Path], same_key: bool) -> None:
    data, store = places
    key = GraphStore(store).key if same_key else b"another key of a checkpoint"
    files, stored = static_graphs(data, key), static_graphs(store, key)
    assert set(files.names()) == set(stored.names())
    some = 0
    for text in (*BASIC, *OTHERS):
        expected = answers(text, files)
        assert answers(text, stored) == expected, text
        some += len(expected)
    assert some > 100
