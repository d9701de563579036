"""Counters that groups send along are metrics of Spark's own."""

from __future__ import annotations

from pyspark.sql import Observation, SparkSession

from weir.runtime.output.metrics import SUMS
from weir.spark.processor import GroupProcessor, observed


def test_counts_are_summed_while_the_rows_pass(spark: SparkSession) -> None:
    counts = [[*range(len(SUMS)), 5], [*range(len(SUMS)), 3], None]
    rows = spark.createDataFrame([(each,) for each in counts], "counts array<bigint>")
    told = Observation("weir")
    assert observed(rows, told).count() == 3
    assert told.get == {**{name: 2 * place for place, name in enumerate(SUMS)}, "lag_ms": 5}


def test_a_processor_knows_the_forms_that_sinks_take() -> None:
    assert GroupProcessor("folder", ["jsonl", "columns"]).forms == ("jsonl", "columns")
