"""The engine: what is given to it, what it refuses before Spark starts, and one run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from weir.engine import Engine
from weir.errors import CheckpointError, UsageError

QUERY = """REGISTER RSTREAM <{name}> AS SELECT ?s FROM NAMED WINDOW <w> ON <s> [RANGE PT1S STEP PT1S]
WHERE {{ WINDOW <w> {{ ?s <urn:p> ?o }} }}"""
LINES = "".join(f"{second}000\t<urn:{second}> <urn:p> <urn:o> .\n" for second in range(1, 4))


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    path = tmp_path / "s.tnq"
    path.write_text(LINES)
    return path


def test_a_query_is_called_as_it_is_registered_or_else_by_the_given_name() -> None:
    engine = Engine()
    assert engine.register(QUERY.format(name="q"), name="other").output == "q"
    texts = [QUERY.format(name=name) for name in ("a", "b")]
    assert engine.register_all("\n---\n".join(texts)) == ["a", "b"]
    plain = "SELECT * { STREAM <s> [NOW] { ?a ?b ?c } }"
    assert engine.register_all(f"{plain}\n---\n{plain}", name="seen") == ["seen-1", "seen-2"]
    with pytest.raises(UsageError, match="two queries are named"):
        engine.register(QUERY.format(name="q"))


def test_what_cannot_run_is_refused_before_spark_starts(stream: Path) -> None:
    engine = Engine()
    with pytest.raises(UsageError, match="no query"):
        engine.run()
    engine.register(QUERY.format(name="q"))
    with pytest.raises(UsageError, match="unknown stream <s>"):
        engine.run()
    engine.stream("s", stream)
    with pytest.raises(UsageError, match="given twice"):
        engine.stream("s", stream)
    with pytest.raises(UsageError, match="nowhere"):
        engine.stream("t", stream.with_name("nowhere.tnq"))


def test_settings_of_endpoints_and_graphs_are_checked(tmp_path: Path) -> None:
    engine = Engine()
    engine.service("http://e/sparql#weir:budget=10", change_interval="5s")
    with pytest.raises(UsageError, match="budgets"):
        engine.service("http://e/sparql", budgets=10)
    with pytest.raises(UsageError, match="only a graph from a URL is refreshed"):
        engine.graph("urn:g", tmp_path / "g.ttl", refresh=5)


@pytest.mark.spark
def test_a_run_ends_with_its_sources_and_is_resumed_for_the_same_queries_only(
    spark: SparkSession, stream: Path, tmp_path: Path
) -> None:
    out, seen = tmp_path / "out.jsonl", []
    engine = Engine(checkpoint=tmp_path / "checkpoint", spark=spark)
    engine.stream("s", stream)
    engine.register(QUERY.format(name="q"))
    metrics = engine.run(out=out, observer=lambda told: seen.append(told.batches))
    found = [json.loads(line)["bindings"]["s"]["value"] for line in out.read_text().splitlines()]
    assert found == ["urn:1", "urn:2", "urn:3"]
    assert (metrics.results, metrics.triples, metrics.interrupted) == (3, 3, False)
    assert seen and seen[-1] == metrics.batches
    other = Engine(checkpoint=tmp_path / "checkpoint", spark=spark)
    other.stream("s", stream)
    other.register(QUERY.format(name="other"))
    with pytest.raises(CheckpointError):
        other.run(out=out)
