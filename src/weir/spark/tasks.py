"""Inside a task of Spark: which batch it belongs to, and its frames as rows for the shuffle.

There are as many slots as shuffle partitions, and the key of slot i is chosen so that Spark's own hash
sends it to partition i: every core gets its queries and none gets two slots while another has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

import pyarrow as pa
from pyspark import TaskContext

from weir.errors import CheckpointError
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.parts import Part
from weir.runtime.ingest.stage import part_frames
from weir.runtime.worker.worker_cache import worker_cache

FRAME_SCHEMA = "slot bigint, frame binary"
_FRAME_ARROW = pa.schema([("slot", pa.int64()), ("frame", pa.binary())])
BATCH_PROPERTY = "streaming.sql.batchId"
PARTITIONS = "spark.sql.streaming.internal.stateStore.partitions"
_SEED = 42
_32 = 0xFFFFFFFF


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


def frame_rows(folder: str, parts: Iterable[Part]) -> Iterator[pa.RecordBatch]:
    """The frames of parts, for the shuffle."""
    place, batch = worker_cache(folder), current_batch()
    keys, spool = slot_keys(place.checkpoint.slots), place.checkpoint.spool()
    for part in parts:
        sent: tuple[Frame, bytes] | None = None
        for slot, frame in part_frames(place, batch, part):
            if sent is None or sent[0] is not frame:
                sent = frame, spool.put(batch, memoryview(frame.to_buffer()))
            yield frame_row(keys[slot], sent[1])


def frame_row(key: int, frame: bytes) -> pa.RecordBatch:
    """A frame for the slot with this key, as the shuffle takes it."""
    columns = [pa.array([key], pa.int64()), pa.array([frame], pa.binary())]
    return pa.record_batch(columns, schema=_FRAME_ARROW)


def _rotated(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (32 - bits))) & _32


def _mixed(hash_: int, word: int) -> int:
    word = _rotated(word * 0xCC9E2D51 & _32, 15) * 0x1B873593 & _32
    return (_rotated(hash_ ^ word, 13) * 5 + 0xE6546B64) & _32


def spark_hash(value: int) -> int:
    """Spark's Murmur3 hash of a bigint, as a signed 32-bit integer."""
    hash_ = _mixed(_mixed(_SEED, value & _32), (value >> 32) & _32) ^ 8
    hash_ = (hash_ ^ (hash_ >> 16)) * 0x85EBCA6B & _32
    hash_ = (hash_ ^ (hash_ >> 13)) * 0xC2B2AE35 & _32
    hash_ ^= hash_ >> 16
    return hash_ - (1 << 32) if hash_ >> 31 else hash_


@lru_cache(maxsize=64)
def slot_keys(slots: int) -> tuple[int, ...]:
    """The grouping key of each slot: slot i of ``slots`` lands in partition i."""
    keys: dict[int, int] = {}
    candidate = 0
    while len(keys) < slots:
        keys.setdefault(spark_hash(candidate) % slots, candidate)
        candidate += 1
    return tuple(keys[slot] for slot in range(slots))
