"""The first stage: read a part, parse, encode, match, and make the frames of each slot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from weir.extras import load
from weir.rdf.formats.media import format_of
from weir.rdf.formats.tnq import parse_lines
from weir.rdf.formats.tnq_split import PADDING, padded
from weir.rdf.formats.units import Document, parse_documents
from weir.rdf.messages import Rejected
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.parts import (
    FILE_SHIFT,
    LaneInput,
    LineCounter,
    Part,
    dead_letters,
    is_packed,
    read_part,
    unpacked,
    without_mark,
)
from weir.runtime.ingest.sources.log_source import read_log_part
from weir.runtime.worker.worker_cache import WorkerCache

_KAFKA = "weir.runtime.ingest.sources.kafka_client"
_counter = LineCounter()


def part_frames(place: WorkerCache, batch: int, part: Part) -> Iterator[tuple[int, Frame]]:
    """What each slot gets of a part."""
    plan = place.match_plan(batch)
    if part.path is None and part.kafka is None:
        for slot in plan.active:
            yield slot, Frame(part.stream, part.lane, part.number << FILE_SHIFT, ended=part.final)
        return
    for found in part_inputs(part, place.checkpoint.key):
        yield from plan.frames(part.stream, found)


def part_inputs(part: Part, key: bytes) -> list[LaneInput]:
    """What a part holds of each lane; several items of one lane are in order."""
    if part.log:
        return read_log_part(part, key)
    if part.kafka is not None:
        found: LaneInput = load(_KAFKA).read_kafka_part(part, key)
        return [found]
    return [read_messages(part, key)]


def read_messages(part: Part, key: bytes) -> LaneInput:
    """The messages of a part of files."""
    found = _lines(part, key) if format_of(part.format).timed else _documents(part, key)
    if not part.shift:
        return found
    messages = found.parsed.messages
    shifted = replace(messages, time=messages.time + part.shift)
    return replace(found, parsed=replace(found.parsed, messages=shifted))


def _lines(part: Part, key: bytes) -> LaneInput:
    assert part.path is not None
    path = Path(part.path)
    if is_packed(path):
        whole, damage = unpacked(path)
        data, begin = without_mark(whole, 0)
        room, lines = padded(data), data.count(b"\n")
    else:
        (room, begin), damage, lines = read_part(part), None, 0
    position = part.number << FILE_SHIFT
    parsed = parse_lines(room, scope=f"{part.stream} {part.lane}", key=key, base=position + begin)
    rejected = [*parsed.rejected, *([] if damage is None else [Rejected(lines + 1, damage, "")])]
    before = _counter.before(part.path, begin) if rejected and begin and not is_packed(path) else 0
    dead = dead_letters(part.stream, rejected, files=part.paths, before=before)
    return LaneInput(part.lane, parsed, position, len(room) - PADDING, dead, ended=part.final)


def _documents(part: Part, key: bytes) -> LaneInput:
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
    parsed = parse_documents(
        documents,
        format_of(part.format),
        time_predicate=part.time,
        scope=f"{part.stream} {part.lane}",
        key=key,
        unit=part.unit,
    )
    rejected = sorted([*parsed.rejected, *damaged], key=lambda item: item.record)
    size = sum(len(document.data) for document in documents)
    dead = dead_letters(part.stream, rejected, files=part.paths)
    return LaneInput(part.lane, parsed, part.number << FILE_SHIFT, size, dead, ended=part.final)
