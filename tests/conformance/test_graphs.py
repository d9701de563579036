"""The W3C tests with GRAPH, their named graphs as quads in a window: through every stage but Spark, where
only what the match step keeps of the messages is seen."""

from __future__ import annotations

import pytest

from conformance.manifest import Case
from conformance.running import EVALUATORS, run_matched
from conformance.test_evaluation import CASES, check, load
from weir.language import parse
from weir.language.algebra.fold import walk
from weir.language.algebra.patterns import Graph, Service
from weir.language.algebra.query import Ask, Query, Select


def read(case: Case) -> Query:
    return parse(case.query.read_text(), "sparql", base=case.query.as_uri())


def has_graph(case: Case) -> bool:
    query = read(case)
    found = {type(node) for node in walk(query.pattern)}
    return Graph in found and Service not in found and isinstance(query.form, Select | Ask)


WITH_GRAPH = [case for case in CASES if has_graph(case)]


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("case", WITH_GRAPH, ids=lambda case: case.name)
def test_graphs_of_messages(case: Case, evaluator: str) -> None:
    query = read(case)
    check(case, query, run_matched(query, load(case, query), evaluator))


def test_the_tests_that_need_names_of_graphs_are_among_them() -> None:
    names = {case.name for case in WITH_GRAPH}
    assert {"sparql10/graph/graph-empty", "sparql10/graph/graph-exist", "sparql11/bindings/graph"} < names
    assert len(names) == 44
