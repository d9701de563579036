"""All W3C SPARQL 1.0, 1.1 and 1.2 query evaluation tests, four ways: with the data static, with the default
graph in a window, with the named graphs in a window, and with one window around the body of the query."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.manifest import Case, read_dataset, read_graph, read_suite
from conformance.results import Table, as_csv, isomorphic, numeric, read_results
from conformance.running import EVALUATORS, Data, Outcome, run_static, run_streamed
from shared import shared_dir
from weir.language import parse
from weir.language.algebra.patterns import is_ordered
from weir.language.algebra.query import Query

SUITES = shared_dir("w3c")
WRITTEN_OTHERWISE = {
    "sparql10/expr-ops/add-numbers-cast",
    "sparql10/expr-ops/subtract-numbers-cast",
    "sparql10/expr-ops/multiply-numbers-cast",
    "sparql10/expr-ops/divide-numbers-cast",
    "sparql10/expr-ops/unplus-2",
    "sparql10/expr-ops/unminus-2",
    "sparql11/aggregates/agg-min-02",
    "sparql11/aggregates/agg-avg-distinct",
    "sparql11/aggregates/agg-sum-distinct",
    "sparql11/cast/cast-float",
    "sparql11/cast/cast-double",
    "sparql11/cast/cast-decimal",
    "sparql11/csv-tsv-res/tsv03",
    "sparql11/functions/ceil01",
    "sparql11/functions/floor01",
    "sparql11/functions/round01",
    "sparql11/functions/seconds",
}
"""Tests whose result file writes a number in another form of the same type ("3" for the decimal "3.0"):
there, and only there, numbers are compared by value."""

CASES = [case for suite in ("sparql10", "sparql11", "sparql12") for case in read_suite(SUITES / suite)]


def load(case: Case, query: Query) -> Data:
    """The dataset of a test: what its manifest gives, else what the query's FROM clauses name."""
    named = {path.as_uri(): path for path in case.graph_data}
    default = list(case.data)
    if query.dataset.default or query.dataset.named:
        default = [Path(iri.removeprefix("file://")) for iri in query.dataset.default]
        named = {iri: Path(iri.removeprefix("file://")) for iri in query.dataset.named}
    triples = [t for i, path in enumerate(default) for t in read_graph(path, f"d{i}")]
    graphs = {iri: read_graph(path, f"n{i}") for i, (iri, path) in enumerate(named.items())}
    for i, path in enumerate(default):
        graphs.update({iri: t for iri, t in read_dataset(path, f"d{i}").items() if iri is not None})
    return Data(triples, graphs)


def static_data(query: Query, data: Data) -> Data:
    """For FROM clauses the graphs are registered by name, and the query asks for them."""
    if not (query.dataset.default or query.dataset.named):
        return data
    named = dict(data.named)
    for i, iri in enumerate(query.dataset.default):
        named.setdefault(iri, read_graph(Path(iri.removeprefix("file://")), f"d{i}"))
    return Data((), named)


def check(case: Case, query: Query, outcome: Outcome) -> None:
    expected = read_results(case.result)
    if isinstance(expected, bool):
        assert outcome.truth is expected
        return
    if isinstance(expected, list):
        assert isomorphic(outcome.rows, expected)
        return
    assert set(outcome.names) == set(expected.variables)
    places = [outcome.names.index(name) for name in expected.variables]
    rows = [tuple(row[place] for place in places) for row in outcome.rows]
    assert same(case, query, rows, expected), f"expected {show(expected.rows)}\ngot {show(rows)}"


def same(case: Case, query: Query, rows: list, expected: Table) -> bool:
    wanted = list(expected.rows)
    if case.csv:
        return isomorphic([tuple(as_csv(t) for t in row) for row in rows], wanted)
    if case.lax:
        return set(rows) == set(wanted) and len(rows) >= len(set(wanted))
    ordered = expected.ordered and is_ordered(query.pattern)
    if case.name not in WRITTEN_OTHERWISE:
        return isomorphic(rows, wanted, ordered=ordered)
    computed = [tuple(numeric(t) for t in row) for row in rows]
    return isomorphic(computed, [tuple(numeric(t) for t in row) for row in wanted], ordered=ordered)


def show(rows: object) -> str:
    assert isinstance(rows, list | tuple)
    return "\n  ".join(["", *(" | ".join(str(term) for term in row) for row in rows)])


OTHERWISE = {
    (
        "sparql10/dataset/dawg-dataset-04",
        "default",
    ): "FROM alone hides named graphs in SPARQL, but never beside windows",
}
"""Tests that have another answer under windows, and why."""


@pytest.mark.parametrize(
    ("mode", "evaluator"),
    [
        *(("static", each) for each in EVALUATORS),
        ("default", "auto"),
        ("named", "auto"),
        *(("body", each) for each in EVALUATORS),
    ],
)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_evaluation(case: Case, mode: str, evaluator: str) -> None:
    query = parse(case.query.read_text(), "sparql", base=case.query.as_uri())
    services = {iri: [t for path in paths for t in read_graph(path, "s")] for iri, paths in case.services}
    data = load(case, query)
    if mode == "static":
        outcome = run_static(query, static_data(query, data), evaluator, services)
    else:
        outcome = run_streamed(query, data, static_data(query, data), mode, evaluator, services)
    if (case.name, mode) in OTHERWISE:
        assert outcome.rows
        return
    check(case, query, outcome)


def test_the_suites_are_whole() -> None:
    assert len(CASES) == 588
    assert len({case.name for case in CASES}) == len(CASES)
