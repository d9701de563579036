"""Frames on their way to the slots: rows of (key of the slot, frame) that Spark shuffles."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import pyarrow as pa

from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.parts import Part
from weir.runtime.ingest.stage import part_frames
from weir.runtime.worker.partitioning import slot_keys
from weir.runtime.worker.workers import workplace
from weir.spark.task import current_batch

FRAME_SCHEMA = "slot bigint, frame binary"
_FRAME_ARROW = pa.schema([("slot", pa.int64()), ("frame", pa.binary())])


def frame_rows(folder: str, parts: Iterable[str]) -> Iterator[pa.RecordBatch]:
    """The frames of parts, which are given as JSON texts, for the shuffle."""
    place, batch = workplace(folder), current_batch()
    keys, spool = slot_keys(place.checkpoint.slots), place.checkpoint.spool()
    for text in parts:
        sent: tuple[Frame, bytes] | None = None
        for slot, frame in part_frames(place, batch, Part(**json.loads(text))):
            if sent is None or sent[0] is not frame:
                sent = frame, spool.put(batch, *frame.pieces())
            yield frame_row(keys[slot], sent[1])


def frame_row(key: int, frame: bytes) -> pa.RecordBatch:
    """A frame for the slot with this key, as the shuffle takes it."""
    columns = [pa.array([key], pa.int64()), pa.array([frame], pa.binary())]
    return pa.record_batch(columns, schema=_FRAME_ARROW)
