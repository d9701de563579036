"""A stream written by Spark is the one that is made at once, and the product's job answers it."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from weir_bench.suites.auctions import AUCTIONS
from weir_bench.suites.benchmark import replayed
from weir_bench.suites.large import through_spark, write_stream
from weir_bench.suites.suite import BLOCK


def test_a_stream_of_files_is_written_and_asked(spark: SparkSession, tmp_path: Path) -> None:
    events = BLOCK + 100
    write_stream(spark, AUCTIONS, tmp_path / "stream", events)
    files = sorted((tmp_path / "stream").iterdir())
    made = AUCTIONS.lines(events)
    assert "".join(path.read_text() for path in files) == "".join(made) and len(files) == 2
    question = next(each for each in AUCTIONS.questions if each.name == "Q8")
    told = through_spark(spark, AUCTIONS, question, tmp_path / "stream", tmp_path)
    assert told["triples"] == sum(text.count("\n") for text in made)
    assert told["results"] == replayed(AUCTIONS, question, made, None)[0].count(b"\n") > 0
