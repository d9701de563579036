"""The first stage, in ``mapInArrow``: read parts, parse, encode, match, and send frames to the slots."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from weir.rdf.lines import parse_lines
from weir.rdf.messages import Messages, Rejected
from weir.runtime.frames import Frame
from weir.runtime.partitioning import slot_keys
from weir.runtime.parts import LineCounter, Part, is_packed, read_part
from weir.runtime.sources.log_reading import read_log_part
from weir.runtime.workers import Workplace, current_batch, workplace

PART_SCHEMA = "part string"
FRAME_SCHEMA = "slot bigint, frame binary"
_FRAME_ARROW = pa.schema([("slot", pa.int64()), ("frame", pa.binary())])
_FILE_SHIFT = 40

_counter = LineCounter()


def parts_to_frames(folder: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function of the stage for sources whose rows name parts of files."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        place, batch = workplace(folder), current_batch()
        for rows in batches:
            for text in rows.column(0).to_pylist():
                yield from _frames(place, batch, Part(**json.loads(text)))

    return run


def _frames(place: Workplace, batch: int, part: Part) -> Iterator[pa.RecordBatch]:
    if part.log:
        yield from _log_frames(place, batch, part)
        return
    plan = place.match_plan(batch)
    messages, side = (None, {}) if part.path is None else _parse(part, place.checkpoint.key)
    position = part.number << _FILE_SHIFT
    for slot in plan.active:
        if messages is None:
            frame = Frame(part.stream, part.lane, position, ended=part.final)
        else:
            first = int(messages.position[0]) if len(messages.position) else position
            frame = plan.frame(slot, part.stream, part.lane, messages, first, ended=part.final, side=side)
        side = {}
        yield _row(slot_keys(place.checkpoint.slots)[slot], frame)


def _log_frames(place: Workplace, batch: int, part: Part) -> Iterator[pa.RecordBatch]:
    """A frame for each lane that the part of a log holds."""
    plan = place.match_plan(batch)
    keys = slot_keys(place.checkpoint.slots)
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
        first = int(messages.position[0]) if len(messages.position) else part.number << _FILE_SHIFT
        for slot in plan.active:
            yield _row(keys[slot], plan.frame(slot, part.stream, found.lane, messages, first, side=side))
            side = {}


def _row(key: int, frame: Frame) -> pa.RecordBatch:
    columns = [pa.array([key], pa.int64()), pa.array([frame.to_bytes()], pa.binary())]
    return pa.record_batch(columns, schema=_FRAME_ARROW)


def _parse(part: Part, key: bytes) -> tuple[Messages, dict[str, Any]]:
    data, begin = read_part(part)
    scope = f"{part.stream} {part.lane}"
    messages = parse_lines(data, scope=scope, key=key, base=(part.number << _FILE_SHIFT) + begin)
    side: dict[str, Any] = {"triples": len(messages.message), "bytes": len(data)}
    if messages.rejected:
        side["rejected"] = _dead_letters(part, begin, messages.rejected)
    return messages, side


def _dead_letters(part: Part, begin: int, rejected: Iterable[Rejected]) -> list[dict[str, Any]]:
    assert part.path is not None
    packed = is_packed(Path(part.path))
    before = 0 if packed or not begin else _counter.before(part.path, begin)
    return [
        {
            "stream": part.stream,
            "file": part.path,
            "line": before + item.line,
            "reason": item.reason,
            "text": item.text,
        }
        for item in rejected
    ]
