"""The first stage: read a part, parse, encode, match, and make the frames of each slot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from weir.extras import load
from weir.rdf.messages import Messages, Rejected
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.matching import MatchPlan
from weir.runtime.ingest.parts import Part
from weir.runtime.ingest.sources.kafka_source import POSITION_SHIFT
from weir.runtime.ingest.sources.log_source import read_log_part
from weir.runtime.ingest.stage import FILE_SHIFT, read_messages
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
    yield from lane_frames(
        plan, part.stream, part.lane, read.messages, position, read.size, dead=read.dead, ended=part.final
    )


def lane_frames(
    plan: MatchPlan,
    stream: str,
    lane: str,
    messages: Messages,
    position: int,
    size: int,
    *,
    dead: Sequence[Mapping[str, Any]] = (),
    ended: bool = False,
) -> Iterator[tuple[int, Frame]]:
    """What each slot gets of messages of one lane, whatever they came from: the one maker of frames.

    ``size`` counts the bytes that were read, ``dead`` are the dead letters among them; ``position`` is where
    the lane is if there are no messages.
    """
    side: dict[str, Any] = {"triples": len(messages.message), "bytes": size}
    if dead:
        side["rejected"] = dead
    first = int(messages.position[0]) if len(messages.position) else position
    yield from plan.frames(stream, lane, messages, first, ended=ended, side=side)


def dead_letters(stream: str, source: str, rejected: Iterable[Rejected]) -> list[dict[str, Any]]:
    """The dead letters of messages that came in payloads; ``source`` says from where."""
    return [
        {"stream": stream, "source": source, "reason": item.reason, "text": item.text} for item in rejected
    ]


def _kafka_frames(place: Workplace, batch: int, part: Part) -> Iterator[tuple[int, Frame]]:
    """What each slot gets of a range of offsets; a heartbeat says how far the lane is in any case."""
    assert part.kafka is not None
    plan = place.match_plan(batch)
    messages, size = load(_KAFKA).read_kafka_part(part, place.checkpoint.key)
    dead = dead_letters(part.stream, f"{part.kafka['topic']}/{part.lane}", messages.rejected)
    beat = part.kafka["beat"]
    start = part.start << POSITION_SHIFT
    for slot, frame in lane_frames(plan, part.stream, part.lane, messages, start, size, dead=dead):
        yield slot, replace(frame, position=start, high=frame.high if beat is None else beat)


def _log_frames(place: Workplace, batch: int, part: Part) -> Iterator[tuple[int, Frame]]:
    """A frame for each lane that the part of a log holds."""
    plan = place.match_plan(batch)
    size = (part.end or 0) - part.start
    for found in read_log_part(part, place.checkpoint.key):
        dead = dead_letters(part.stream, found.lane, found.messages.rejected)
        start = part.number << FILE_SHIFT
        yield from lane_frames(plan, part.stream, found.lane, found.messages, start, size, dead=dead)
        size = 0
