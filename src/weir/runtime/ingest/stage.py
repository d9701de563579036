"""The first stage: read a part, parse, encode, match, and make the frames of each slot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weir.extras import load
from weir.rdf.formats.media import format_of
from weir.rdf.formats.tnq import parse_lines
from weir.rdf.formats.tnq_split import PADDING, padded
from weir.rdf.formats.units import Document, parse_documents
from weir.rdf.messages import Messages, Rejected
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.matching import MatchPlan
from weir.runtime.ingest.parts import (
    FILE_SHIFT,
    OFFSET_SHIFT,
    LineCounter,
    Part,
    is_packed,
    read_part,
    unpacked,
    without_mark,
)
from weir.runtime.ingest.sources.log_source import read_log_part
from weir.runtime.worker.worker_cache import WorkerCache

_KAFKA = "weir.runtime.ingest.sources.kafka_client"


def part_frames(place: WorkerCache, batch: int, part: Part) -> Iterator[tuple[int, Frame]]:
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


def _kafka_frames(place: WorkerCache, batch: int, part: Part) -> Iterator[tuple[int, Frame]]:
    """What each slot gets of a range of offsets; a heartbeat says how far the lane is in any case."""
    assert part.kafka is not None
    plan = place.match_plan(batch)
    messages, size = load(_KAFKA).read_kafka_part(part, place.checkpoint.key)
    dead = dead_letters(part.stream, f"{part.kafka['topic']}/{part.lane}", messages.rejected)
    beat = part.kafka["beat"]
    start = part.start << OFFSET_SHIFT
    for slot, frame in lane_frames(plan, part.stream, part.lane, messages, start, size, dead=dead):
        yield slot, replace(frame, position=start, high=frame.high if beat is None else beat)


def _log_frames(place: WorkerCache, batch: int, part: Part) -> Iterator[tuple[int, Frame]]:
    """A frame for each lane that the part of a log holds."""
    plan = place.match_plan(batch)
    size = (part.end or 0) - part.start
    for found in read_log_part(part, place.checkpoint.key):
        dead = dead_letters(part.stream, found.lane, found.messages.rejected)
        start = part.number << FILE_SHIFT
        yield from lane_frames(plan, part.stream, found.lane, found.messages, start, size, dead=dead)
        size = 0


_counter = LineCounter()


@dataclass(frozen=True, slots=True)
class Read:
    """``size`` counts the bytes that were read, unpacked; ``dead`` are lines of the dead-letter file."""

    messages: Messages
    size: int
    dead: list[dict[str, Any]]


def read_messages(part: Part, key: bytes) -> Read:
    """The messages of a part."""
    found = _lines(part, key) if format_of(part.format).timed else _documents(part, key)
    if not part.shift:
        return found
    return replace(found, messages=replace(found.messages, time=found.messages.time + part.shift))


def _lines(part: Part, key: bytes) -> Read:
    assert part.path is not None
    path = Path(part.path)
    if is_packed(path):
        whole, damage = unpacked(path)
        data, begin = without_mark(whole, 0)
        room, lines = padded(data), data.count(b"\n")
    else:
        (room, begin), damage, lines = read_part(part), None, 0
    base, size = (part.number << FILE_SHIFT) + begin, len(room) - PADDING
    messages = parse_lines(room, scope=_scope(part), key=key, base=base)
    if not messages.rejected and damage is None:
        return Read(messages, size, [])
    before = 0 if is_packed(path) or not begin else _counter.before(part.path, begin)
    dead = _letters(part, messages.rejected, before)
    if damage is not None:
        dead += _letters(part, [Rejected(lines + 1, damage, "")])
    return Read(messages, size, dead)


def _documents(part: Part, key: bytes) -> Read:
    """Files that are read whole; one that is damaged is set aside as a whole."""
    assert part.time is not None
    documents, damaged = [], []
    for place, name in enumerate(part.paths):
        path = Path(name)
        data, damage = unpacked(path) if is_packed(path) else (path.read_bytes(), None)
        if damage is not None:
            damaged.append(Rejected(data.count(b"\n") + 1, damage, "", place))
            data = b""
        documents.append(Document(data, (part.number + place) << FILE_SHIFT, path.absolute().as_uri()))
    messages = parse_documents(
        documents,
        format_of(part.format),
        time_predicate=part.time,
        scope=_scope(part),
        key=key,
        unit=part.unit,
    )
    dead = _letters(part, sorted([*messages.rejected, *damaged], key=lambda item: item.record))
    return Read(messages, sum(len(document.data) for document in documents), dead)


def _scope(part: Part) -> str:
    return f"{part.stream} {part.lane}"


def _letters(part: Part, rejected: Iterable[Rejected], before: int = 0) -> list[dict[str, Any]]:
    paths = part.paths
    return [
        {
            "stream": part.stream,
            "file": paths[item.record],
            "line": before + item.line,
            "reason": item.reason,
            "text": item.text,
        }
        for item in rejected
    ]
