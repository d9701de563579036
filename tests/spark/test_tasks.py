"""Slots land in partitions of their own; frames are rows for them; a task knows its batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from weir.errors import CheckpointError
from weir.spark.tasks import (
    BATCH_PROPERTY,
    PARTITIONS,
    check_partitions,
    current_batch,
    frame_row,
    slot_keys,
    spark_hash,
)


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


@pytest.fixture
def task() -> Iterator[Callable[..., None]]:
    """Be inside a task with local properties of Spark's."""

    def begin(**properties: str) -> None:
        context: Any = TaskContext._getOrCreate()
        context._localProperties = properties

    yield begin
    TaskContext._setTaskContext(None)


def test_a_task_knows_its_batch(task: Callable[..., None]) -> None:
    with pytest.raises(RuntimeError, match="streaming query"):
        current_batch()
    task(**{BATCH_PROPERTY: "7"})
    assert current_batch() == 7


def test_slots_need_a_partition_each(task: Callable[..., None]) -> None:
    check_partitions(2)
    task(**{PARTITIONS: "3"})
    check_partitions(3)
    with pytest.raises(CheckpointError, match="3 partitions, that of Weir 2 slots"):
        check_partitions(2)
