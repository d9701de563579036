"""Inside a task of Spark: which batch it belongs to, and its frames as rows for the shuffle.

There are as many shuffle partitions as slots, or fewer. The key of slot i is the one whose hash by Spark is
i, so Spark sends it to partition i modulo their number, whatever that is: every core gets its queries, no
partition has two slots more than another, and a slot keeps its key where their number changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from weir.errors import CheckpointError
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.ingest.stage import packed_part
from weir.runtime.worker.worker_cache import worker_cache
from weir.spark.task_shares import Share
from weir.storage.spool import INLINE

_FRAME_ARROW = pa.schema([("slot", pa.int64()), ("frame", pa.binary()), ("control", pa.int64())])
BATCH_PROPERTY = "streaming.sql.batchId"
PARTITIONS = "spark.sql.streaming.internal.stateStore.partitions"
_ENOUGH = 1 << 20
"""Bytes of a batch of rows."""
_SEED = 42
_32 = 0xFFFFFFFF


def check_partitions(checkpoint: Checkpoint) -> None:
    """Raise where Spark's checkpoint has another number of partitions: it is not the one of Weir's. A worker
    that knows the checkpoint from before it was rescaled looks again."""
    context = TaskContext.get()
    told = context.getLocalProperty(PARTITIONS) if context is not None else None
    if told is None or int(told) == checkpoint.partitions:
        return
    partitions = Checkpoint.read(checkpoint.folder).partitions
    if int(told) != partitions:
        raise CheckpointError(
            f"the checkpoint of Spark has {told} partitions, that of Weir {partitions}",
            hint=f"after a rescale that was cut short: weir rescale {checkpoint.folder} --partitions {told}; "
            "else give the folder that Weir had before, or start anew",
        )


def current_batch() -> int:
    """The id of the micro-batch that this task belongs to."""
    context = TaskContext.get()
    value = context.getLocalProperty(BATCH_PROPERTY) if context is not None else None
    if value is None:
        raise RuntimeError("not inside a task of a streaming query")
    return int(value)


def frame_rows(folder: str, share: Share) -> Iterator[pa.RecordBatch]:
    """The frames of parts, for the shuffle."""
    place, batch = worker_cache(folder), current_batch()
    place.log.expect(share.position)
    version, spool = place.catalog(batch).version, place.checkpoint.spool()
    for part in share.parts:
        frames = packed_part(place, batch, part)
        yield from packed(frames, place.checkpoint, version, lambda data: spool.put(batch, data))


def packed(
    frames: Iterable[tuple[int, bytes | memoryview]],
    checkpoint: Checkpoint,
    control: int,
    carried: Callable[[bytes | memoryview], bytes] = bytes,
) -> Iterator[pa.RecordBatch]:
    """Frames by slot as the shuffle takes them, many rows at a time; ``carried`` says what a row has in place
    of a frame that is large. One that several slots get is carried once."""
    keys = slot_keys(checkpoint.slots)
    made: dict[int, tuple[bytes | memoryview, bytes | memoryview]] = {}
    rows: list[tuple[int, bytes | memoryview]] = []
    size = 0
    for slot, frame in frames:
        row = frame
        if len(frame) > INLINE:
            known = made.get(id(frame))
            if known is None:
                known = made[id(frame)] = frame, carried(frame)
            row = known[1]
        rows.append((keys[slot], row))
        size += len(row)
        if size > _ENOUGH:
            yield _batch(rows, control)
            rows, size = [], 0
    if rows:
        yield _batch(rows, control)


def _batch(rows: Sequence[tuple[int, bytes | memoryview]], control: int) -> pa.RecordBatch:
    keys, frames = zip(*rows, strict=True)
    ends = np.cumsum([0, *map(len, frames)], dtype=np.int32)
    data = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(frames))]
    known = pa.array([control] * len(rows), pa.int64())
    columns = [pa.array(keys, pa.int64()), pa.Array.from_buffers(pa.binary(), len(rows), data), known]
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
    """The grouping key of each slot: slot i lands in partition i modulo their number."""
    return tuple(map(_key, range(slots)))


def slot_of(key: int) -> int:
    """The slot that has a key."""
    return spark_hash(key)


def _key(hash_: int) -> int:
    """The bigint whose lower half is 0 and whose hash this is: ``spark_hash``, step by step backwards."""
    hash_ ^= hash_ >> 16
    hash_ = hash_ * _inverse(0xC2B2AE35) & _32
    hash_ ^= (hash_ >> 13) ^ (hash_ >> 26)
    hash_ = hash_ * _inverse(0x85EBCA6B) & _32
    hash_ = (hash_ ^ (hash_ >> 16)) ^ 8
    word = _rotated((hash_ - 0xE6546B64) * _inverse(5) & _32, 19) ^ _mixed(_SEED, 0)
    word = _rotated(word * _inverse(0x1B873593) & _32, 17) * _inverse(0xCC9E2D51) & _32
    return (word - (1 << 32) if word >> 31 else word) << 32


def _inverse(factor: int) -> int:
    """What undoes a multiplication modulo 2³²."""
    return pow(factor, -1, 1 << 32)
