"""``weir bench conference`` at toy size: every query is measured and agrees with the store."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from weir_bench.conference import benchmark as conference
from weir_bench.conference import scale
from weir_bench.conference.blackbox import BlackBox, store_of
from weir_bench.conference.queries import PUBLISHED, QUERIES
from weir_bench.report import Report


def test_every_query_is_measured_beside_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conference, "SLAB", 50)
    world = conference._world(2_000, conference.FILL + 1_000)
    store = BlackBox(store_of(world.people), world.stream)
    report = Report("conference", True)
    for place, template in enumerate(QUERIES):
        row = conference._query(report, world, store, template, place, 1, 200, True)
        assert row["slab_us"] > 0
        assert row["slab_of_one_us"] > 0
        assert row["reevaluation_us"] > 0
        assert row["answers_per_triple"] >= 0
    assert len(report.goals) == 3 * len(QUERIES)
    assert all(len(figures) == len(QUERIES) for figures in PUBLISHED.values())


def test_every_query_is_measured_by_both_routing_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conference, "SLAB", 50)
    monkeypatch.setattr(conference, "ROUTED", 200)
    report = Report("conference", True)
    conference._routing(report, conference._world(2_000, conference.FILL + 1_000), True)
    rows = report.figures["routing"]
    assert list(rows) == [template.name for template in QUERIES]
    for row in rows.values():
        assert row["cost_us"] > 0 and row["cardinality_us"] > 0


def test_the_data_are_described() -> None:
    described = conference._described(conference._world(2_000, 100))
    for figure in ("library_triples", "rooms", "doors_per_room", "sightings_per_second", "participants"):
        assert described[figure] > 0


@pytest.mark.spark
def test_solutions_are_the_stores_whatever_the_size_of_the_library(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Experiment 2 at small size: written and loaded by Spark, and compared with pyoxigraph."""
    monkeypatch.setattr(scale, "_ROUNDS", 1)
    monkeypatch.setattr(scale, "SLAB", 100)
    monkeypatch.setattr(scale, "QUERIES", [replace(each, instances=2) for each in QUERIES])
    report = Report("conference", True)
    scale.static_size(report, (2_000,), 200, spark)
    rows = report.figures["static_size"]
    assert rows["triples"] == [2_000]
    assert all(each["Q1"] > 0 and each["Q2"] > 0 for each in rows["solutions_compared"])
    assert 2_000_000 in scale.SIZES and scale.SIZES[-1] == 10**7
