"""The durable log as a source: what was pushed and acknowledged is read exactly once.

Offsets are (segment, byte) at the ends of blocks, and only what the writer has synced is offered, so a batch
is the same when it is planned again. A segment is removed once Spark has committed past it. A worker parses
the payloads of one format at once, then parts them by lanes.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from weir.errors import CheckpointError, UsageError
from weir.rdf.formats.media import format_of
from weir.rdf.formats.payloads import parse_payloads
from weir.rdf.messages import Parsed, Rejected
from weir.runtime.ingest.parts import LaneInput, Part, dead_letters, part_size
from weir.runtime.ingest.sources.feeds import Place, Reached
from weir.runtime.ingest.sources.log_segments import (
    READ,
    SHIFT,
    SYNCED,
    Block,
    Mark,
    blocks,
    get_mark,
    lanes_of,
    log_folder,
    read_blocks,
    segment_path,
    segments,
    set_mark,
)
from weir.runtime.ingest.sources.log_writer import LIMIT, SEGMENT, LogWriter

DEFAULT_BATCH_BYTES = 64 << 20


HEARTBEATS = ("", "clock", "last", "run", "off")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSource:
    """A stream that others push into, through ``writer``.

    ``folder`` is where the log is kept, None for the checkpoint: on a cluster the workers must see it too.
    ``time`` is the predicate that states a message's time; None where the message came with one, or counts
    from its arrival.

    ``heartbeat`` says how time goes on while nothing comes: ``last``, a message after the last one's time is
    not waited for any longer than a second; ``run``, the last one's time runs on with the clock; ``clock``,
    the wall clock is the time; ``off``.
    """

    kind: ClassVar[str] = "log"
    endless: ClassVar[bool] = True
    promise: ClassVar[str] = "exactly once from the acknowledgement on"

    folder: str | None = None
    time: str | None = None
    limit_bytes: int = LIMIT
    segment_bytes: int = SEGMENT
    bytes_per_batch: int = DEFAULT_BATCH_BYTES
    heartbeat: str = ""

    @property
    def beats(self) -> str:
        """The heartbeats that the source has."""
        return self.heartbeat or "last"

    def check(self) -> None:
        if min(self.limit_bytes, self.segment_bytes, self.bytes_per_batch) < 1:
            raise UsageError("the limits of a log must be at least 1 byte")
        if self.heartbeat not in HEARTBEATS:
            raise UsageError(
                f"unknown heartbeat {self.heartbeat!r}", hint=f"one of {', '.join(HEARTBEATS[1:])}"
            )

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self)}

    def feed(self, place: Place) -> LogFeed:
        return LogFeed(self, place)

    def writer(self, place: Place) -> LogWriter:
        """The one writer of the stream's log."""
        return LogWriter(
            log_folder(place, self.folder),
            predicate=self.time,
            limit_bytes=self.limit_bytes,
            segment_bytes=self.segment_bytes,
        )


class LogFeed:
    """Plans batches over a log, from its files alone."""

    def __init__(self, source: LogSource, place: Place) -> None:
        self.stream = place.stream
        self.folder = log_folder(place, source.folder)
        self.parallelism = max(1, place.parallelism)
        self.room = source.bytes_per_batch

    def latest(self, start: Reached, finishing: bool) -> Reached:
        """All that is synced, up to as many bytes as a batch may have."""
        begin = _mark(start)
        synced = get_mark(self.folder, SYNCED)
        if start.get("end") or (synced <= begin and not finishing):
            return start
        reached = self._within(begin, max(synced, begin))
        over = {"end": True} if finishing and reached >= synced else {}
        return {"segment": reached.segment, "byte": reached.byte, **over}

    def parts(self, start: Reached, end: Reached) -> list[Part]:
        """Ranges of blocks, about as many as there are cores; at the end of the input, the end of each
        lane."""
        begin, reached = _mark(start), _mark(end)
        every = list(self._blocks(begin, reached))
        total = sum(block.end - block.begin for _, block in every)
        size = part_size(total, self.parallelism)
        parts: list[Part] = []
        for number, block in every:
            last = parts[-1] if parts else None
            if last is not None and last.number == number and block.end - last.start <= size:
                parts[-1] = self._part(number, last.start, block.end)
            else:
                parts.append(self._part(number, block.begin, block.end))
        if end.get("end") and not start.get("end"):
            parts += [
                Part(self.stream, lane, number=reached.segment + 1, final=True)
                for lane in self.lanes(reached)
            ]
        return parts

    def committed(self, reached: Reached) -> None:
        """Let the writer know, and remove what is behind."""
        mark = _mark(reached)
        if not self.folder.exists() or mark == get_mark(self.folder, READ):
            return
        set_mark(self.folder, READ, mark)
        for number in segments(self.folder):
            if number < mark.segment:
                with suppress(FileNotFoundError):
                    segment_path(self.folder, number).unlink()

    def refuse_more(self, reached: Reached) -> None:
        """Raise where more was appended after the end was reported."""
        if reached.get("end") and get_mark(self.folder, SYNCED) > _mark(reached):
            raise CheckpointError(
                f"the input of this checkpoint has ended, but there is more: {self.folder}",
                hint="the end of the input ends its checkpoint: start again with a new one",
            )

    def lanes(self, reached: Mark) -> list[str]:
        """All lanes up to a mark; one without a name where nothing came."""
        path = segment_path(self.folder, reached.segment)
        found = read_blocks(path, 0, reached.byte) if path.exists() else []
        return lanes_of(block.header for block in found) or [""]

    def _part(self, number: int, begin: int, end: int) -> Part:
        path = str(segment_path(self.folder, number))
        return Part(self.stream, "", path, number, begin, end, log=True)

    def _within(self, begin: Mark, end: Mark) -> Mark:
        """The end of the last block that a batch has room for, and of one in any case."""
        if begin.segment == end.segment and end.byte - begin.byte <= self.room:
            return end
        room = self.room
        reached = begin
        for number, block in self._blocks(begin, end):
            room -= block.end - block.begin
            if room < 0 and reached != begin:
                return reached
            reached = Mark(number, block.end)
        return end

    def _blocks(self, begin: Mark, end: Mark) -> Iterator[tuple[int, Block]]:
        """A segment before the last is read to its end: it was closed when the next one began."""
        for number in range(begin.segment, end.segment + 1):
            path = segment_path(self.folder, number)
            first = begin.byte if number == begin.segment else 0
            last = end.byte if number == end.segment else None
            if path.exists():
                yield from ((number, block) for block in read_blocks(path, first, last))
            elif last is None or last > first:
                raise CheckpointError(f"a segment of the log is missing: {path}")


def _mark(reached: Reached) -> Mark:
    return Mark(reached.get("segment", 0), reached.get("byte", 0))


@dataclass(frozen=True, slots=True)
class Record:
    """A payload at a position of the log."""

    lane: str
    form: str
    predicate: str | None
    time: int | None
    position: int
    payload: bytes


def read_log_part(part: Part, key: bytes) -> list[LaneInput]:
    """The messages of each lane; several items of one lane are in order.

    Blank nodes are told apart by the position of their payload, so labels do not depend on how the log is
    cut.
    """
    data = log_bytes(part)
    found = list(blocks(data, 0, len(data)))
    every = list(records(data, found, (part.number << SHIFT) + part.start))
    lanes: list[tuple[str, Parsed]] = []
    for _, group in groupby(every, key=lambda record: (record.form, record.predicate)):
        lanes += _by_lane(list(group), f"{part.stream} log", key)
    for block in found:
        for dead in block.header.dead:
            lanes.append((dead.lane, replace(_nothing(key), rejected=(Rejected(0, dead.reason, dead.text),))))
    return [
        LaneInput(
            lane,
            parsed,
            part.number << SHIFT,
            0 if place else len(data),
            dead_letters(part.stream, parsed.rejected, source=lane),
        )
        for place, (lane, parsed) in enumerate(lanes)
    ]


def log_bytes(part: Part) -> bytes:
    """The bytes of a part of a segment."""
    assert part.path is not None and part.end is not None
    with open(Path(part.path), "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as log:
        return log[part.start : part.end]


def records(data: bytes, found: Sequence[Block], base: int) -> Iterator[Record]:
    """The records of some blocks, in the order of the log."""
    for block in found:
        header = block.header
        place = block.body
        kinds = ((lane, form) for lane, form, count in header.runs for _ in range(count))
        for (lane, form), length, time in zip(kinds, header.records, header.times, strict=True):
            yield Record(lane, form, header.predicate, time, base + place, data[place : place + length])
            place += length


def _by_lane(group: Sequence[Record], scope: str, key: bytes) -> list[tuple[str, Parsed]]:
    """The messages of payloads of one format, lane by lane."""
    parsed = parse_payloads(
        [record.payload for record in group],
        format_of(group[0].form),
        scope=scope,
        key=key,
        positions=[record.position for record in group],
        times=[record.time for record in group],
        time_predicate=group[0].predicate,
    )
    numbers = {lane: number for number, lane in enumerate(dict.fromkeys(record.lane for record in group))}
    if len(numbers) == 1:
        return [(group[0].lane, parsed)]
    wrong: dict[str, list[Rejected]] = {}
    for item in parsed.rejected:
        wrong.setdefault(group[item.line - 1].lane, []).append(item)
    positions = np.array([record.position for record in group])
    lanes = np.array([numbers[record.lane] for record in group])
    lane = lanes[np.searchsorted(positions, parsed.position, side="right") - 1]
    return [(name, parsed.where(lane == number, wrong.get(name, ()))) for name, number in numbers.items()]


def _nothing(key: bytes) -> Parsed:
    return parse_payloads([], format_of("tnq"), scope="", key=key, positions=[])
