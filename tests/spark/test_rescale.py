"""A job that is stopped, given another number of tasks and started again answers as if nothing had been."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from weir import Engine
from weir.errors import CheckpointError, UsageError
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.ingest.sources import FileSource
from weir.spark.job import Job
from weir.spark.rescale import rescale

QUERIES = [
    """PREFIX : <http://e/> REGISTER ISTREAM <pairs> AS SELECT ?x ?y ?z
    FROM NAMED WINDOW <w> ON <s> [RANGE 40 STEP 10] WHERE { WINDOW <w> { ?x :p ?y . ?x :q ?z } }""",
    """PREFIX : <http://e/> REGISTER RSTREAM <count> AS SELECT (COUNT(*) AS ?n)
    FROM NAMED WINDOW <w> ON <s> [RANGE 30 STEP 10] WHERE { WINDOW <w> { ?x :p ?y } }""",
]
SLOTS = 8


def engine(spark: SparkSession, folder: Path, stream: Path, **options: int) -> Engine:
    made = Engine(checkpoint=folder, spark=spark, slots=SLOTS, **options)
    made.stream("s", FileSource(str(stream), watch=True))
    for text in QUERIES:
        made.register(text)
    return made


def send(stream: Path, number: int) -> None:
    """20 units of time; pairs lie up to 30 apart, so they span what is sent at once."""
    lines = []
    for at in range(20 * number, 20 * number + 20):
        lines.append(f"{at}\t<http://e/s{at % 23}> <http://e/p> <http://e/a{at}> .\n")
        lines.append(f"{at}\t<http://e/s{(at * 7) % 23}> <http://e/q> <http://e/b{at}> .\n")
    partial = stream / f"{number}.partial"
    partial.write_text("".join(lines))
    partial.rename(stream / f"{number}.tnq")


def go_on(made: Engine, out: Path, done: Callable[[Job], bool]) -> None:
    """Run until it is ``done``, then stop between two batches."""
    job = made.start(out=out)
    until = time.monotonic() + 300
    while not done(job):
        assert time.monotonic() < until
        job.wait(1)
    job.stop()


def lines(path: Path) -> list[str]:
    return sorted(path.read_text().splitlines())


@pytest.mark.spark
@pytest.mark.timeout(900)
def test_two_then_eight_then_three_partitions(spark: SparkSession, tmp_path: Path) -> None:
    stream, folder = tmp_path / "s", tmp_path / "ck"
    stream.mkdir()
    partitions = 2
    for number, following in enumerate((8, 3, None)):
        send(stream, number)
        asked = {"partitions": partitions} if number != 1 else {}
        # A batch for what was sent, and one that Spark makes where it deals the state anew.
        go_on(
            engine(spark, folder, stream, **asked),
            tmp_path / "out.jsonl",
            lambda job, last=2 * number: job.checkpoint.committed() >= last,
        )
        assert lines(tmp_path / "out.jsonl")
        if following:
            assert rescale(folder, following) == partitions
            assert Checkpoint.read(folder).partitions == following
            partitions = following
    states = {int(path.name) for path in (folder / "spark" / "state" / "0").iterdir() if path.name.isdigit()}
    assert states == set(range(8)), "Spark did spread it"
    found, whole = lines(tmp_path / "out.jsonl"), tmp_path / "whole.jsonl"
    other = engine(spark, tmp_path / "other", stream, partitions=2)
    go_on(other, whole, lambda job: len(lines(whole)) >= len(found))
    assert found == lines(whole)
    names = {json.loads(line)["query"] for line in lines(tmp_path / "whole.jsonl")}
    assert names == {"pairs", "count"}


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a checkpoint of Weir"):
        rescale(tmp_path / "nothing", 2)
    folder = tmp_path / "ck"
    lease = Checkpoint.take(folder)
    made = Checkpoint.open(folder, version="1", slots=4, partitions=2)
    with pytest.raises(CheckpointError, match="another job runs"):
        rescale(folder, 3)
    lease.close()
    with pytest.raises(UsageError, match="5 partitions for 4 slots"):
        rescale(folder, 5)
    assert rescale(folder, 3) == 2, "nothing was planned yet"
    assert Checkpoint.read(folder).partitions == 3
    offsets = made.spark / "offsets"
    offsets.mkdir(parents=True)
    (offsets / "0").write_text('v1\n{"conf":{"spark.sql.shuffle.partitions":"4"}}\n{}\n')
    assert rescale(folder, 4) == 3, "Spark had done its part"
