"""The first stage, in the readers of Weir's source: read parts, parse, encode, match, and send frames to
the slots."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from weir.runtime.frames import Frame
from weir.runtime.partitioning import slot_keys
from weir.runtime.parts import Part
from weir.runtime.reading import FILE_SHIFT, read_messages
from weir.runtime.sources.kafka import POSITION_SHIFT
from weir.runtime.sources.kafka_reading import read_kafka_part
from weir.runtime.sources.log_reading import read_log_part
from weir.runtime.workers import Workplace, current_batch, workplace

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


def part_frames(place: Workplace, batch: int, part: Part) -> Iterator[tuple[int, Frame]]:
    """What each slot gets of a part."""
    if part.log:
        yield from _log_frames(place, batch, part)
        return
    if part.kafka is not None:
        yield from _kafka_frames(place, batch, part)
        return
    plan = place.match_plan(batch)
    position = part.number << FILE_SHIFT
    if part.path is None:
        for slot in plan.active:
            yield slot, Frame(part.stream, part.lane, position, ended=part.final)
        return
    read = read_messages(part, place.checkpoint.key)
    messages = read.messages
    side: dict[str, Any] = {"triples": len(messages.message), "bytes": read.size}
    if read.dead:
        side["rejected"] = read.dead
    first = int(messages.position[0]) if len(messages.position) else position
    yield from plan.frames(part.stream, part.lane, messages, first, ended=part.final, side=side)


def _kafka_frames(place: Workplace, batch: int, part: Part) -> Iterator[tuple[int, Frame]]:
    """What each slot gets of a range of offsets; a heartbeat says how far the lane is in any case."""
    assert part.kafka is not None
    plan = place.match_plan(batch)
    messages, size = read_kafka_part(part, place.checkpoint.key)
    side: dict[str, Any] = {"triples": len(messages.message), "bytes": size}
    if messages.rejected:
        source = f"{part.kafka['topic']}/{part.lane}"
        side["rejected"] = [
            {"stream": part.stream, "source": source, "reason": item.reason, "text": item.text}
            for item in messages.rejected
        ]
    beat = part.kafka["beat"]
    for slot, frame in plan.frames(part.stream, part.lane, messages, part.start << POSITION_SHIFT, side=side):
        yield slot, frame if beat is None else replace(frame, high=beat)


def _log_frames(place: Workplace, batch: int, part: Part) -> Iterator[tuple[int, Frame]]:
    """A frame for each lane that the part of a log holds."""
    plan = place.match_plan(batch)
    size = (part.end or 0) - part.start
    for found in read_log_part(part, place.checkpoint.key):
        messages = found.messages
        side: dict[str, Any] = {"triples": len(messages.message), "bytes": size}
        size = 0
        if messages.rejected:
            side["rejected"] = [
                {"stream": part.stream, "source": found.lane, "reason": item.reason, "text": item.text}
                for item in messages.rejected
            ]
        first = int(messages.position[0]) if len(messages.position) else part.number << FILE_SHIFT
        yield from plan.frames(part.stream, found.lane, messages, first, side=side)


def frame_row(key: int, frame: bytes) -> pa.RecordBatch:
    """A frame for the slot with this key, as the shuffle takes it."""
    columns = [pa.array([key], pa.int64()), pa.array([frame], pa.binary())]
    return pa.record_batch(columns, schema=_FRAME_ARROW)
