"""Inside a task of Spark: which batch it belongs to, and its frames as rows for the shuffle."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark import TaskContext

from weir.errors import CheckpointError
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.parts import Part
from weir.runtime.ingest.stage import part_frames
from weir.runtime.worker.worker_cache import worker_cache
from weir.spark.partitioning import slot_keys

FRAME_SCHEMA = "slot bigint, frame binary"
_FRAME_ARROW = pa.schema([("slot", pa.int64()), ("frame", pa.binary())])
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


def frame_rows(folder: str, parts: Iterable[str]) -> Iterator[pa.RecordBatch]:
    """The frames of parts, which are given as JSON texts, for the shuffle."""
    place, batch = worker_cache(folder), current_batch()
    keys, spool = slot_keys(place.checkpoint.slots), place.checkpoint.spool()
    for text in parts:
        sent: tuple[Frame, bytes] | None = None
        for slot, frame in part_frames(place, batch, Part(**json.loads(text))):
            if sent is None or sent[0] is not frame:
                sent = frame, spool.put(batch, memoryview(frame.to_buffer()))
            yield frame_row(keys[slot], sent[1])


def frame_row(key: int, frame: bytes) -> pa.RecordBatch:
    """A frame for the slot with this key, as the shuffle takes it."""
    columns = [pa.array([key], pa.int64()), pa.array([frame], pa.binary())]
    return pa.record_batch(columns, schema=_FRAME_ARROW)
