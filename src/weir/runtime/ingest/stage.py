"""The first stage: read a part, parse, encode, match, and make the frames of each slot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from weir.extras import load
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.parts import Part
from weir.runtime.ingest.reading import FILE_SHIFT, read_messages
from weir.runtime.ingest.sources.kafka import POSITION_SHIFT
from weir.runtime.ingest.sources.log_reading import read_log_part
from weir.runtime.worker.workers import Workplace

_KAFKA = "weir.runtime.ingest.sources.kafka_client"


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
    messages, size = load(_KAFKA).read_kafka_part(part, place.checkpoint.key)
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
