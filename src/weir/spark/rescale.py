"""Another number of tasks for a job that is stopped: its state is dealt anew, its slots stay what they are.

Spark does it offline: it writes one more batch into its checkpoint, which reads nothing and has all state in
the new partitions. A slot is found there because its key lands in partition i modulo their number, whatever
that is (``spark.tasks``). Weir's own part of the checkpoint then says the new number. After a crash in
between Spark's part says which one counts, and the same command brings the rest to its end.
"""

from __future__ import annotations

import json
from pathlib import Path

from pyspark.sql import SparkSession

from weir.errors import CheckpointError, UsageError
from weir.extras import old_pyspark
from weir.runtime.control.checkpoint import Checkpoint
from weir.spark.session import PARTITIONS, open_session, settled


def rescale(folder: Path, partitions: int, *, master: str | None = None) -> int:
    """Spread the slots of the checkpoint in ``folder`` over so many tasks; over how many they were."""
    if not hasattr(SparkSession, "_streamingCheckpointManager"):
        raise old_pyspark("weir rescale")
    if not (folder / "weir").is_dir():
        raise UsageError(f"{folder} is not a checkpoint of Weir")
    lease = Checkpoint.take(folder)
    try:
        checkpoint = Checkpoint.read(folder, patience=0)
        if partitions > checkpoint.slots:
            raise UsageError(
                f"{partitions} partitions for {checkpoint.slots} slots: some would have nothing to do",
                hint=f"give at most {checkpoint.slots}; slots are fixed when a checkpoint is made",
            )
        if _partitions_of(checkpoint) not in (None, partitions):
            _repartition(open_session(master), checkpoint, partitions)
        lease.check()
        checkpoint.with_partitions(partitions)
        return checkpoint.partitions
    finally:
        lease.close()


def _partitions_of(checkpoint: Checkpoint) -> int | None:
    """Over how many partitions Spark's state is spread; None where no batch was planned yet."""
    planned = checkpoint.next_batch() - 1
    if planned < 0:
        return None
    lines = (checkpoint.spark / "offsets" / str(planned)).read_text(encoding="utf-8").splitlines()
    for line in lines:
        if line.startswith("{") and PARTITIONS in line:
            return int(json.loads(line)["conf"][PARTITIONS])
    raise CheckpointError(f"Spark's checkpoint {checkpoint.spark} does not say how it is partitioned")


def _repartition(spark: SparkSession, checkpoint: Checkpoint, partitions: int) -> None:
    if checkpoint.committed() < checkpoint.next_batch() - 1:
        raise CheckpointError(
            f"batch {checkpoint.next_batch() - 1} of the job is planned and not done",
            hint="start the job again and stop it, or let it end; then rescale",
        )
    # What state stores report to comes with the manager of queries, which Spark makes when it is first used.
    _ = spark.streams.active
    try:
        with settled(spark, partitions):
            spark._streamingCheckpointManager.repartition(str(checkpoint.spark), partitions)
    except Exception as error:
        raise CheckpointError("Spark did not repartition the state", detail=str(error)) from error
