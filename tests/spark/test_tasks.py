"""Slots land in partitions of their own; frames are rows for them; a task knows its batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from weir.errors import CheckpointError
from weir.rdf.messages import Messages
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.ingest.frames import Frame
from weir.spark.tasks import (
    BATCH_PROPERTY,
    PARTITIONS,
    check_partitions,
    current_batch,
    packed,
    slot_keys,
    slot_of,
    spark_hash,
)
from weir.storage.spool import INLINE


@pytest.mark.spark
def test_hash_is_sparks_own(spark: SparkSession) -> None:
    values = [0, 1, -1, 2**31, 2**63 - 1, -(2**63), 12345678901]
    rows = spark.createDataFrame([(v,) for v in values], "v bigint").select(F.hash("v")).collect()
    assert [row[0] for row in rows] == [spark_hash(v) for v in values]


@pytest.mark.parametrize("slots", [1, 2, 3, 8, 200, 4096])
def test_the_hash_of_a_slots_key_is_the_slot(slots: int) -> None:
    """So it lands in partition slot modulo their number, whatever that is."""
    keys = slot_keys(slots)
    assert [spark_hash(key) for key in keys] == [slot_of(key) for key in keys] == list(range(slots))
    assert all(-(2**63) <= key < 2**63 for key in keys)


def test_frames_are_rows_for_their_slots(tmp_path: Path) -> None:
    times = np.random.default_rng(1).integers(2**62, size=INLINE // 8)
    large = Frame("s", "0", messages=Messages(times, times * 0))
    one, other = large.to_bytes(), Frame("t", "0", position=5).to_bytes()
    made: list[bytes | memoryview] = []

    def carried(data: bytes | memoryview) -> bytes:
        made.append(data)
        return bytes(data[:9])

    checkpoint = Checkpoint.open(tmp_path, version="1", slots=3, partitions=2)
    (batch,) = packed([(0, one), (2, one), (1, other)], checkpoint, 7, carried)
    rows, keys = batch.to_pylist(), slot_keys(3)
    assert [(row["slot"], row["control"]) for row in rows] == [(keys[0], 7), (keys[2], 7), (keys[1], 7)]
    assert [row["frame"] for row in rows] == [one[:9], one[:9], other]
    assert made == [one], "what is large is carried once"


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


def test_spark_and_weir_have_to_agree_on_partitions(task: Callable[..., None], tmp_path: Path) -> None:
    checkpoint = Checkpoint.open(tmp_path, version="1", slots=4, partitions=2)
    check_partitions(checkpoint)
    task(**{PARTITIONS: "2"})
    check_partitions(checkpoint)
    task(**{PARTITIONS: "3"})
    with pytest.raises(CheckpointError, match="3 partitions, that of Weir 2"):
        check_partitions(checkpoint)
    checkpoint.with_partitions(3)
    check_partitions(checkpoint)
