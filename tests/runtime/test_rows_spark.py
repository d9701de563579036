"""Streaming DataFrames in and out, on Spark: ``weir.continuous``."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import weir
from weir.errors import CheckpointError, UsageError

QUERY = """PREFIX : <http://e/>
REGISTER RSTREAM <hot> AS SELECT ?room (MAX(?t) AS ?most)
FROM NAMED WINDOW <w> ON <temperatures> [RANGE 10 STEP 10]
WHERE { WINDOW <w> { ?x :shows ?t } GRAPH <plan> { ?x :in ?room } } GROUP BY ?room"""
COUNT = """PREFIX : <http://e/>
REGISTER RSTREAM <{name}> AS SELECT (COUNT(*) AS ?n)
FROM NAMED WINDOW <w> ON <{stream}> [RANGE 10 STEP 10] WHERE {{ WINDOW <w> {{ ?x :shows ?y }} }}"""
NUMBER = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'


def lines(*shown: tuple[int, str, int]) -> str:
    return "".join(f"{at}\t<http://e/{who}> <http://e/shows> {NUMBER.format(t)} .\n" for at, who, t in shown)


@pytest.mark.spark
@pytest.mark.timeout(400)
def test_a_query_as_a_streaming_dataframe(spark: SparkSession, tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    (tmp_path / "plan.ttl").write_text(
        "@prefix : <http://e/> . :a :in :hall . :b :in :hall . :c :in :attic ."
    )
    (source / "0.txt").write_text(lines((1, "a", 3), (2, "b", 5), (3, "c", 9), (12, "a", 4)))

    def run() -> list[tuple[str, str, str, str]]:
        text = spark.readStream.format("text").load(str(source))
        found = weir.continuous(
            spark,
            QUERY,
            {"temperatures": text},
            {"plan": tmp_path / "plan.ttl"},
            checkpoint=tmp_path / "weir",
        )
        assert found.isStreaming
        assert found.columns == ["at", "op", "room", "most"]
        writer = found.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "spark"))
        writer.trigger(availableNow=True).start(str(out)).awaitTermination()
        rows = (
            spark.read.parquet(str(out)).selectExpr("CAST(at AS STRING) at", "op", "room", "most").collect()
        )
        return sorted((row.at[17:], row.op, row.room, row.most) for row in rows)

    first = [
        ("00.01", "R", "<http://e/attic>", NUMBER.format(9)),
        ("00.01", "R", "<http://e/hall>", NUMBER.format(5)),
    ]
    assert run() == first
    (source / "1.txt").write_text(lines((13, "b", 2), (25, "a", 1)))
    assert run() == [*first, ("00.02", "R", "<http://e/hall>", NUMBER.format(4))]
    triples = spark.readStream.format("rate").load()
    with pytest.raises(CheckpointError, match="belongs to another query"):
        weir.continuous(
            spark, COUNT.format(name="n", stream="s"), {"s": _triples(triples)}, checkpoint=tmp_path / "weir"
        )
    with pytest.raises(UsageError, match="which make no messages"):
        weir.continuous(spark, COUNT.format(name="n", stream="s"), {"s": triples})


def _triples(rate):  # type: ignore[no-untyped-def]
    return rate.selectExpr(
        "timestamp AS time", "'<urn:a>' AS subject", "'<urn:p>' AS predicate", "'1' AS object"
    )
