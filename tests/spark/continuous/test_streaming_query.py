"""Streaming DataFrames in and out, on Spark: ``weir.continuous``, and in an engine beside other streams."""

from __future__ import annotations

import json
import time
import warnings
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import weir
from weir.errors import CheckpointError, UsageError
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.running import RunningJob
from weir.spark.continuous import continuous
from weir.spark.dataframes import DataFrameStream
from weir.spark.job import Job
from weir.spark.session import named_sources, settled

QUERY = """PREFIX : <http://e/>
REGISTER RSTREAM <hot> AS SELECT ?room (MAX(?t) AS ?most)
FROM NAMED WINDOW <w> ON <temperatures> [RANGE 10 STEP 10]
WHERE { WINDOW <w> { ?x :shows ?t } GRAPH <plan> { ?x :in ?room } } GROUP BY ?room"""
COUNT = """PREFIX : <http://e/>
REGISTER RSTREAM <{name}> AS SELECT (COUNT(*) AS ?n)
FROM NAMED WINDOW <w> ON <{stream}> [RANGE 10 STEP 10] WHERE {{ WINDOW <w> {{ ?x :shows ?y }} }}"""
TYPES = {"most": "long"}
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

    def run(query: str = QUERY, folder: Path | None = tmp_path / "weir") -> list[tuple[str, str, str, int]]:
        text = spark.readStream.format("text").load(str(source))
        graphs: dict[str | None, str | Path] = {"plan": tmp_path / "plan.ttl"}
        before = dict(spark.conf.getAll)
        with settled(spark, tasks=2):
            found = continuous(spark, query, {"temperatures": text}, graphs, checkpoint=folder, types=TYPES)
            assert found.isStreaming
            assert found.dtypes == [
                ("at", "timestamp"),
                ("op", "string"),
                ("room", "string"),
                ("most", "bigint"),
            ]
            writer = found.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "spark"))
            started = writer.trigger(availableNow=True).start(str(out))
        assert dict(spark.conf.getAll) == before
        started.awaitTermination()
        rows = (
            spark.read.parquet(str(out)).selectExpr("CAST(at AS STRING) at", "op", "room", "most").collect()
        )
        return sorted((row.at[17:], row.op, row.room, row.most) for row in rows)

    first = [
        ("00.01", "R", "http://e/attic", 9),
        ("00.01", "R", "http://e/hall", 5),
    ]
    assert run() == first
    (source / "1.txt").write_text(lines((13, "b", 2), (25, "a", 1)))
    assert run() == [*first, ("00.02", "R", "http://e/hall", 4)]
    (source / "2.txt").write_text(lines((35, "a", 1)))
    with pytest.raises(StreamingQueryException, match="belongs to another query"):
        run(QUERY.replace("MAX", "MIN"), None)
    Checkpoint.open(tmp_path / "other", version="1", slots=5)
    with pytest.raises(StreamingQueryException, match="has 2 partitions, that of Weir 5"):
        run(folder=tmp_path / "other")
    triples = spark.readStream.format("rate").load()
    with pytest.raises(CheckpointError, match="belongs to another query"):
        continuous(
            spark, COUNT.format(name="n", stream="s"), {"s": _triples(triples)}, checkpoint=tmp_path / "weir"
        )
    with pytest.raises(UsageError, match="which make no messages"):
        continuous(spark, COUNT.format(name="n", stream="s"), {"s": triples})


@pytest.mark.spark
@pytest.mark.timeout(400)
def test_counters_of_a_streaming_dataframe(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "0.txt").write_text(
        lines((1, "a", 3), (2, "b", 5))
        + "no line\n"
        + '3\t<http://e/c> <http://e/shows> "x" .\n'
        + lines((12, "a", 4))
    )
    text = spark.readStream.format("text").load(str(source))
    query = """PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
    SELECT ?x ?y (?y * 0.5 AS ?half) (?y AS ?term)
      (xsd:decimal(?y) AS ?exact) (?y > 4 AS ?warm) (NOW() AS ?then)
    FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] WHERE { WINDOW <w> { ?x :shows ?y } }"""
    kinds = {"y": "long", "term": "ntriples"}
    before = spark.conf.get("spark.sql.session.timeZone")
    with warnings.catch_warnings(record=True) as told, settled(spark, tasks=2):
        warnings.simplefilter("always")
        spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")  # Instants are what they are elsewhere.
        try:
            found = continuous(spark, query, {"s": text}, types=kinds, metrics="readings")
            writer = found.writeStream.format("memory").queryName("typed").trigger(availableNow=True).start()
            writer.awaitTermination()
            micros = (
                spark.table("typed").selectExpr("unix_micros(at)", "unix_micros(then)").distinct().collect()
            )
        finally:
            spark.conf.set("spark.sql.session.timeZone", before)
        until = time.monotonic() + 60
        while len(told) < 2 and time.monotonic() < until:
            time.sleep(0.1)
    assert [kind for _, kind in found.dtypes[2:]] == [
        *("string", "bigint", "double", "string", "decimal(38,18)", "boolean", "timestamp")
    ]
    assert [tuple(row) for row in micros] == [(10_000, 10_000)]
    rows = spark.table("typed").orderBy("x").drop("at", "op", "then").collect()
    assert [tuple(row) for row in rows] == [
        ("http://e/a", 3, 1.5, NUMBER.format(3), Decimal(3), False),
        ("http://e/b", 5, 2.5, NUMBER.format(5), Decimal(5), True),
        ("http://e/c", None, None, '"x"', None, None),
    ]
    assert {str(each.message) for each in told if each.category is weir.WeirWarning} == {
        "statements that cannot be read, left out so far: 1",
        "values that are not of their column's type, left out so far: 1",
    }
    counted = [each["observedMetrics"]["readings"] for each in writer.recentProgress]
    sums = {
        name: sum(each[name] or 0 for each in counted)
        for name in ("triples", "rejected", "results", "untyped")
    }
    assert sums == {"triples": 4, "rejected": 1, "results": 3, "untyped": 1}


def _triples(rate):  # type: ignore[no-untyped-def]
    return rate.selectExpr(
        "timestamp AS time", "'<urn:a>' AS subject", "'<urn:p>' AS predicate", "'1' AS object"
    )


BOTH = """PREFIX : <http://e/>
REGISTER RSTREAM <both> AS SELECT ?x ?y
FROM NAMED WINDOW <v> ON <files> [RANGE 10 STEP 10] FROM NAMED WINDOW <w> ON <frames> [RANGE 10 STEP 10]
WHERE { WINDOW <v> { ?x :shows ?t } WINDOW <w> { ?y :shows ?t } }"""


def named(spark: SparkSession, folder: Path) -> DataFrame:
    with named_sources(spark):
        return spark.readStream.format("text").name(folder.name).load(str(folder))


def send(folder: Path, number: int, *shown: tuple[int, str, int]) -> None:
    folder.mkdir(exist_ok=True)
    partial = folder / f".{number}"
    partial.write_text(lines(*shown))
    partial.rename(folder / f"{number}.tnq")


def found(out: Path) -> Counter[tuple[str, str, str]]:
    """How often each query gave each answer at each time."""
    told = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    return Counter(
        (line["query"], line["at"][-4:], ",".join(term["value"][-1] for term in line["bindings"].values()))
        for line in told
    )


def wait_for(job: RunningJob, out: Path, *expected: tuple[str, str, str]) -> None:
    until = time.monotonic() + 120
    while found(out) != Counter(expected):
        job.wait(1)
        assert time.monotonic() < until, found(out)


def observed(spark: SparkSession, *names: str) -> dict[str, int]:
    """What the running job tells Spark, over all its batches since it was started."""
    (query,) = [query for query in spark.streams.active if query.name == "weir"]
    told = [
        progress["observedMetrics"]["weir"] for progress in query.recentProgress if progress["numInputRows"]
    ]
    return {name: sum(row[name] for row in told) for name in names}


@pytest.mark.spark
@pytest.mark.timeout(400)
def test_dataframes_beside_files_in_a_running_engine(spark: SparkSession, tmp_path: Path) -> None:
    """files    0     1     2     read by Weir
    frames      0     1     2     a DataFrame from the start
    more              1     2     a DataFrame that is added to the running job
    more is dropped again after a restart
    """
    files, frames, more, out = (tmp_path / name for name in ("files", "frames", "more", "out.jsonl"))
    for folder in (files, frames, more):
        folder.mkdir()
    before = dict(spark.conf.getAll)

    def engine(*names: str) -> weir.Engine:
        made = weir.Engine(checkpoint=tmp_path / "checkpoint", spark=spark)
        made.stream("files", files, watch=True)
        for name in names:
            made.stream(name, named(spark, tmp_path / name))
        made.register(COUNT.format(name="a", stream="files"))
        made.register(BOTH)
        return made

    job = engine("frames").start(out=out)
    assert isinstance(job, Job) and not job.finite
    send(files, 0, (1, "a", 1), (2, "b", 2), (12, "c", 3))
    send(frames, 0, (3, "d", 2), (4, "e", 3), (13, "f", 3))
    first = [("a", "010Z", "2"), ("both", "010Z", "b,d")]
    wait_for(job, out, *first)
    with pytest.raises(UsageError, match="a source without a name"):
        job.add_stream("more", DataFrameStream(spark.readStream.format("text").load(str(more))))
    with pytest.raises(UsageError, match="the name 'frames', which another source has"):
        job.add_stream("more", DataFrameStream(named(spark, frames)))
    job.add_stream("more", DataFrameStream(named(spark, more)))
    assert [(entry.iri, entry.source is None) for entry in job.streams()] == [
        ("files", False),
        ("frames", True),
        ("more", True),
    ]
    job.register(COUNT.format(name="m", stream="more"))
    send(more, 1, (5, "g", 1), (6, "h", 1), (7, "i", 1), (14, "j", 1))
    send(files, 1, (24, "k", 4))
    send(frames, 1, (25, "l", 4))
    second = [*first, ("a", "020Z", "1"), ("both", "020Z", "c,f"), ("m", "010Z", "3")]
    wait_for(job, out, *second)
    job.stop()
    with pytest.raises(CheckpointError, match="reads the stream <more> from a DataFrame, which is not given"):
        engine("frames").start(out=out, resume=True)
    job = engine("frames", "more").start(out=out, resume=True)
    send(files, 2, (31, "n", 5), (2, "late", 5))
    send(frames, 2, (32, "o", 5))
    send(more, 2, (23, "p", 1))
    third = [*second, ("a", "030Z", "1"), ("both", "030Z", "k,l"), ("m", "020Z", "1")]
    wait_for(job, out, *third)
    expected = {"triples": 4, "results": 3, "evaluations": 3, "late": 1, "rejected": 0}
    until = time.monotonic() + 20
    while observed(spark, *expected) != expected:
        time.sleep(0.1)
        assert time.monotonic() < until, observed(spark, *expected)
    job.drop("m")
    job.drop_stream("more")
    send(more, 3, (33, "q", 1))
    send(files, 3, (41, "r", 6))
    send(frames, 3, (42, "s", 6))
    wait_for(job, out, *third, ("a", "040Z", "1"), ("both", "040Z", "n,o"))
    job.stop()
    assert dict(spark.conf.getAll) == before
    assert job.metrics.triples == 6 and job.metrics.rejected == 0 and job.metrics.late == 1
