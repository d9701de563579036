"""What a task of Spark knows of the batch that it belongs to."""

from __future__ import annotations

from pyspark import TaskContext

from weir.errors import CheckpointError

BATCH_PROPERTY = "streaming.sql.batchId"
PARTITIONS = "spark.sql.streaming.internal.stateStore.partitions"


def check_partitions(slots: int) -> None:
    """Raise where Spark's checkpoint has another number of partitions: no slot would find its state."""
    context = TaskContext.get()
    told = context.getLocalProperty(PARTITIONS) if context is not None else None
    if told is not None and int(told) != slots:
        raise CheckpointError(
            f"the checkpoint of Spark has {told} partitions, that of Weir {slots} slots",
            hint="run on as many cores as before, or give the folder that Weir had before, or start anew",
        )


def current_batch() -> int:
    """The id of the micro-batch that this task belongs to."""
    context = TaskContext.get()
    value = context.getLocalProperty(BATCH_PROPERTY) if context is not None else None
    if value is None:
        raise RuntimeError("not inside a task of a streaming query")
    return int(value)
