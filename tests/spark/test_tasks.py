"""Slots land in partitions of their own; frames are rows for them; a task knows its batch."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from weir.spark.tasks import check_partitions, current_batch, frame_row, slot_keys, spark_hash


@pytest.mark.spark
def test_hash_is_sparks_own(spark: SparkSession) -> None:
    values = [0, 1, -1, 2**31, 2**63 - 1, -(2**63), 12345678901]
    rows = spark.createDataFrame([(v,) for v in values], "v bigint").select(F.hash("v")).collect()
    assert [row[0] for row in rows] == [spark_hash(v) for v in values]


@pytest.mark.parametrize("slots", [1, 2, 3, 8, 200])
def test_every_slot_has_a_partition_of_its_own(slots: int) -> None:
    assert [spark_hash(key) % slots for key in slot_keys(slots)] == list(range(slots))


def test_a_frame_is_a_row_for_its_slot() -> None:
    assert frame_row(7, b"frame").to_pylist() == [{"slot": 7, "frame": b"frame"}]


def test_outside_a_streaming_query_there_is_no_batch() -> None:
    with pytest.raises(RuntimeError, match="streaming query"):
        current_batch()
    check_partitions(2)
