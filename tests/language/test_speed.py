"""The language benchmark measures what it says: different queries, beside rdflib, as a ratio."""

from __future__ import annotations

import pytest

import weir

pytest.importorskip("rdflib", reason="the bench extra brings rdflib")

from weir_bench.language.benchmark import GOAL, QUERIES, queries, run, streamed


def test_the_queries_differ() -> None:
    texts = queries()
    assert len(set(texts)) == QUERIES
    assert len({weir.parse(text) for text in texts}) == QUERIES


@pytest.mark.parametrize("dialect", ["rspql", "cqels"])
def test_the_queries_over_windows(dialect: str) -> None:
    query = weir.parse(streamed(queries(1)[0])[dialect])
    assert query.dialect.value == dialect and query.streams == ("s",)


def test_the_report_has_the_ratio_as_its_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weir_bench.language.benchmark.QUERIES", 250)
    monkeypatch.setattr("weir_bench.language.benchmark.TURN", 10)
    report = run(quick=True)
    assert [goal.goal for goal in report.goals] == [GOAL]
    assert report.goals[0].value > 0
