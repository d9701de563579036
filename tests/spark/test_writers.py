"""Results that tasks write are those that the driver writes, and the driver hears the rest: on Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from cli_kit import json_lines, weir
from fault_kit import ARGUMENTS, undisturbed
from weir import Engine
from weir.errors import UsageError
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.ingest.sources import FileSource
from weir.runtime.output.sinks.part_folders import PartFolder
from weir.spark.writers import PartsWriter, SparkSink, bindings_of, writer_at

FILES = 3


@pytest.mark.parametrize(
    ("text", "writer"),
    [
        ("jsonl:/a/b", PartsWriter("/a/b", "jsonl")),
        ("parquet:file:///a/b", PartsWriter("/a/b", "parquet")),
        ("tasks:kafka://h:9092/t", PartsWriter("kafka://h:9092/t")),
        ("console", SparkSink("console")),
        (
            "delta:s3a://b/c?mergeSchema=true",
            SparkSink("delta", {"path": "s3a://b/c", "mergeSchema": "true"}),
        ),
        (
            "kafka?topic=t&kafka.bootstrap.servers=h",
            SparkSink("kafka", {"topic": "t", "kafka.bootstrap.servers": "h"}),
        ),
        ("mqtt://h/x", None),
        ("kafka://h/x", None),
        ("files:/a", None),
    ],
)
def test_addresses(text: str, writer: object) -> None:
    assert writer_at(text) == writer


def test_addresses_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="into a folder"):
        writer_at("csv:")
    engine = Engine()
    with pytest.raises(UsageError, match="the driver writes to"):
        engine.start(writer="mqtt://h/x", live=True)
    with pytest.raises(UsageError, match="go nowhere else"):
        engine.start(writer="console", out=tmp_path / "x", live=True)


def test_rows_for_a_sink() -> None:
    table = pa.table(
        {"at": [1, 2, 3], "op": ["R", "R", None], "?at": ["<a>", None, None], "y": ["b", "c", None]}
    )
    (batch,) = bindings_of("q", table)
    rows = batch.to_pylist()
    assert [dict(row["bindings"]) for row in rows] == [{"at": "<a>", "y": "b"}, {"y": "c"}, {}]
    assert [row["query"] for row in rows] == ["q"] * 3
    (none,) = bindings_of("q", table.select(["at", "op"]))
    assert [row["bindings"] for row in none.to_pylist()] == [[], [], []]


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_tasks_write_what_the_driver_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    """JSON Lines and Parquet as folders of parts, and a sink of Spark's; garbage is set aside."""
    monkeypatch.chdir(tmp_path)
    whole = undisturbed(tmp_path, FILES, "--dead-letters", "whole.dead")
    expected = sorted((tmp_path / "whole.jsonl").read_text().splitlines())
    counted = whole.stderr.split(",")[:3]
    for to in ("jsonl:parts", "parquet:tables", "orc:rows"):
        name = to.partition(":")[0]
        done = weir(
            "run", *ARGUMENTS, "--to", to, "--checkpoint", f"ck-{name}", "--dead-letters", f"{name}.dead"
        )
        assert done.exit_code == 0, done.stderr
        assert done.stderr.split(",")[:3] == counted, "the driver knows how many results there are"
        assert (tmp_path / f"{name}.dead").read_text() == (tmp_path / "whole.dead").read_text()
    parts = sorted((tmp_path / "parts").glob("batch-*.jsonl"))
    assert sorted(line for part in parts for line in part.read_text().splitlines()) == expected
    for part in parts:
        found = [(line["query"], line["at"]) for line in json_lines(part)]
        assert found == sorted(found), "each part is in order"
    folder = PartFolder(tmp_path / "parts", "jsonl")
    told = [part for batch in folder.batches() for part in folder.parts(batch)]
    assert sorted(part.name for part in told) == [part.name for part in parts]
    assert sum(part.rows for part in told) == len(expected)
    counts = [json.loads(line) for line in expected if json.loads(line)["query"] == "counts"]
    tables = [pq.read_table(path, partitioning=None) for path in (tmp_path / "tables" / "counts").iterdir()]
    assert sum(map(len, tables)) == len(counts)
    rows = spark.read.orc(str(tmp_path / "rows")).where("query = 'counts'").collect()
    assert sorted(row["bindings"]["room"] for row in rows) == sorted(
        f"<{line['bindings']['room']['value']}>" for line in counts
    )


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.parametrize("to", ["jsonl", "orc"])
def test_a_query_that_fails_is_told_where_tasks_write(spark: SparkSession, tmp_path: Path, to: str) -> None:
    """And before the next batch is planned: nothing of it comes later."""
    (tmp_path / "s").mkdir()
    for number in range(5):
        second = "" if number != 2 else '25\t<http://e/a> <http://e/address> "no endpoint" .\n'
        text = f"{10 * number}\t<http://e/a> <http://e/p> <http://e/{number}> .\n" + second
        (tmp_path / "s" / f"{number}.tnq").write_text(text)
    query = """PREFIX : <http://e/> REGISTER RSTREAM <{}> AS SELECT ?x ?y
    FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] WHERE {{ WINDOW <w> {{ {} }} }}"""
    engine = Engine(checkpoint=tmp_path / "ck", spark=spark)
    engine.stream("s", FileSource(str(tmp_path / "s"), files_per_batch=1))
    engine.register(query.format("good", "?x :p ?y"))
    engine.register(query.format("bad", "?x :address ?e").replace("} }", "} SERVICE ?e { ?x :q ?y } }"))
    metrics = engine.run(writer=f"{to}:{tmp_path / 'parts'}")
    assert list(metrics.failures) == ["bad"] and "no endpoint" in metrics.failures["bad"].reason
    failed = [
        entry for entry in Checkpoint.read(tmp_path / "ck").control().entries() if entry.operation == "fail"
    ]
    assert [entry.values["name"] for entry in failed] == ["bad"]
    assert metrics.results == 5 and metrics.batches == 5
    if to == "jsonl":
        lines = [line for part in sorted((tmp_path / "parts").glob("batch-*")) for line in json_lines(part)]
        assert [line["query"] for line in lines] == ["good"] * 5


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_sink_that_spark_lacks_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "s.tnq").write_text("0\t<http://e/a> <http://e/p> <http://e/b> .\n")
    engine = Engine(spark=spark)
    engine.stream("s", tmp_path / "s.tnq")
    engine.register("SELECT ?x FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?x ?p ?y } }")
    with pytest.raises(UsageError, match=r"Spark does not write the results(.|\n)*nowhere"):
        engine.start(writer="nowhere:/x")
