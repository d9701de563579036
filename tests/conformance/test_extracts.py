"""All W3C evaluation tests once more, on each query's extract of its data: what is left out plays no part."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.manifest import Case, read_graph
from conformance.running import EVALUATORS, run_static
from conformance.test_evaluation import CASES, check, load, static_data
from weir.kernel.contract import Background
from weir.kernel.reference import ReferenceEvaluator
from weir.language import parse
from weir.language.algebra.query import Query
from weir.linked.graphs.extract import StaticGraphs
from weir.linked.graphs.triple_tables import TableSource
from weir.rdf.ids.dictionary import Dictionary


def on_extract(
    query: Query, background: Background, dictionary: Dictionary, **rest: Any
) -> ReferenceEvaluator:
    part = StaticGraphs(TableSource(background), dictionary).extract(query)
    return ReferenceEvaluator(query, part, dictionary, **rest)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_extract(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EVALUATORS, "extract", on_extract)
    query = parse(case.query.read_text(), "sparql", base=case.query.as_uri())
    services = {iri: [t for path in paths for t in read_graph(path, "s")] for iri, paths in case.services}
    check(case, query, run_static(query, static_data(query, load(case, query)), "extract", services))
