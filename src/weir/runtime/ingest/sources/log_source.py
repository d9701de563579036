"""The durable log as a source: what was pushed and acknowledged is read exactly once.

Offsets are (segment, byte) at the ends of blocks, and only what the writer has synced is offered, so a batch
is the same when it is planned again. A segment is removed once Spark has committed past it. A worker parses
the payloads of one format at once, then parts them by lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import ClassVar

import numpy as np

from weir.errors import UsageError
from weir.rdf.formats.media import format_of
from weir.rdf.formats.payloads import parse_payloads
from weir.rdf.messages import Parsed, Rejected
from weir.runtime.ingest.parts import FILE_SHIFT, LaneInput, Part, dead_letters, part_size
from weir.runtime.ingest.sources.feeds import Feed, Place, Reached, Source
from weir.runtime.ingest.sources.log_writer import LIMIT, SEGMENT, LogWriter, header_of, lanes_of
from weir.storage.files import read_range
from weir.storage.places import local_path, path_at
from weir.storage.remote import RemotePath
from weir.storage.segments import Block, Mark, Segments, blocks

DEFAULT_BATCH_BYTES = 64 << 20
HEARTBEATS = ("", "clock", "last", "run", "off")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSource(Source):
    """A stream that others push into, through ``writer``.

    ``folder`` is where the log is kept, None for the checkpoint: on a cluster the workers must see it too.
    ``time`` is the predicate that states a message's time; None where the message came with one, or counts
    from its arrival.

    ``heartbeat`` says how time goes on while nothing comes: ``last``, a message after the last one's time is
    not waited for any longer than a second; ``run``, the last one's time runs on with the clock; ``clock``,
    the wall clock is the time; ``off``.
    """

    kind: ClassVar[str] = "log"
    promise: ClassVar[str] = "exactly once from the acknowledgement on"

    folder: str | None = None
    time: str | None = None
    limit_bytes: int = LIMIT
    segment_bytes: int = SEGMENT
    bytes_per_batch: int = DEFAULT_BATCH_BYTES
    heartbeat: str = ""
    times_distinct: bool = False

    @property
    def address(self) -> str:
        return "push:"

    @property
    def beats(self) -> str:
        """The heartbeats that the source has."""
        return self.heartbeat or "last"

    def check(self) -> None:
        if min(self.limit_bytes, self.segment_bytes, self.bytes_per_batch) < 1:
            raise UsageError("the limits of a log must be at least 1 byte")
        if self.folder:
            local_path(self.folder, "a log")
        if self.heartbeat not in HEARTBEATS:
            raise UsageError(
                f"unknown heartbeat {self.heartbeat!r}", hint=f"one of {', '.join(HEARTBEATS[1:])}"
            )

    def check_place(self, own: Path) -> None:
        if isinstance(own, RemotePath) and not self.folder:
            raise UsageError(
                f"messages of {self.address} cannot be kept at {own}: what is pushed is appended to a log",
                hint="put the checkpoint on a disk or a mount, or bring the messages by Kafka or files",
            )

    def feed(self, place: Place) -> LogFeed:
        return LogFeed(self, place)

    def writer(
        self, place: Place, *, durable: bool = True, news: Callable[[], None] = lambda: None
    ) -> LogWriter:
        """The one writer of the stream's log; ``durable`` and ``news`` are as in ``LogWriter``."""
        return LogWriter(
            log_folder(place, self.folder),
            predicate=self.time,
            limit_bytes=self.limit_bytes,
            segment_bytes=self.segment_bytes,
            durable=durable,
            news=news,
        )


class LogFeed(Feed):
    """Plans batches over a log, from its files alone."""

    def __init__(self, source: LogSource, place: Place) -> None:
        self.stream = place.stream
        self.log = Segments(log_folder(place, source.folder))
        self.parallelism = max(1, place.parallelism)
        self.room = source.bytes_per_batch

    def latest(self, start: Reached, finishing: bool) -> Reached:
        """All that is synced, up to as many bytes as a batch may have."""
        begin = _mark(start)
        synced = self.log.synced
        if start.get("end") or (synced <= begin and not finishing):
            return start
        reached = self._within(begin, max(synced, begin))
        over = {"end": True} if finishing and reached >= synced else {}
        return {"segment": reached.segment, "byte": reached.byte, **over}

    def parts(self, start: Reached, end: Reached) -> list[Part]:
        """Ranges of blocks, about as many as there are cores; at the end of the input, the end of each
        lane."""
        begin, reached = _mark(start), _mark(end)
        every = list(self.log.blocks(begin, reached))
        total = sum(block.end - block.begin for _, block in every)
        size = part_size(total, self.parallelism)
        parts: list[Part] = []
        for number, block in every:
            last = parts[-1] if parts else None
            if last is not None and last.number == number and block.end - last.start <= size:
                parts[-1] = replace(last, end=block.end)
            else:
                path = str(self.log.path(number))
                parts.append(Part(self.stream, "", path, number, block.begin, block.end, log=True))
        if end.get("end") and not start.get("end"):
            parts += [
                Part(self.stream, lane, number=reached.segment + 1, final=True)
                for lane in self.lanes(reached)
            ]
        return parts

    def committed(self, reached: Reached) -> None:
        """Let the writer know, and remove what is behind."""
        self.log.forget(_mark(reached))

    def beyond(self, reached: Reached) -> Path | None:
        """The log, where more was appended."""
        return self.log.folder if self.log.synced > _mark(reached) else None

    def lanes(self, reached: Mark) -> list[str]:
        """All lanes up to a mark; one without a name where nothing came."""
        path = self.log.path(reached.segment)
        data = path.read_bytes()[: reached.byte] if path.exists() else b""
        return lanes_of(header_of(data[each.body : each.end])[0] for each in _blocks(data)) or [""]

    def _within(self, begin: Mark, end: Mark) -> Mark:
        """The end of the last block that a batch has room for, and of one in any case."""
        if begin.segment == end.segment and end.byte - begin.byte <= self.room:
            return end
        room = self.room
        reached = begin
        for number, block in self.log.blocks(begin, end):
            room -= block.end - block.begin
            if room < 0 and reached != begin:
                return reached
            reached = Mark(number, block.end)
        return end


def _mark(reached: Reached) -> Mark:
    return Mark(reached.get("segment", 0), reached.get("byte", 0))


def _blocks(data: bytes) -> list[Block]:
    return list(blocks(data, 0, len(data)))


def log_folder(place: Place, shared: str | None = None) -> Path:
    """Where a stream's log lives: in the checkpoint, or in a folder that a cluster shares."""
    folder = local_path(shared, "a log") if shared else place.own / "sources"
    return folder / f"{place.log_name}.log"


@dataclass(frozen=True, slots=True)
class Record:
    """A payload at a position of the log. One with a ``reason`` was refused: it is how the text begins."""

    lane: str
    form: str
    predicate: str | None
    time: int | None
    position: int
    payload: bytes
    reason: str = ""


def read_log_part(part: Part, key: bytes) -> list[LaneInput]:
    """The messages of each lane; several items of one lane are in order.

    Blank nodes are told apart by the position of their payload, so labels do not depend on how the log is
    cut.
    """
    assert part.path is not None and part.end is not None
    data = read_range(path_at(part.path), part.start, part.end)
    every = list(records(data, (part.number << FILE_SHIFT) + part.start))
    lanes: list[tuple[str, Parsed]] = []
    told = (record for record in every if not record.reason)
    for _, group in groupby(told, key=lambda record: (record.form, record.predicate)):
        lanes += _by_lane(list(group), f"{part.stream} log", key)
    refused = [record for record in every if record.reason]
    if refused:
        nothing = parse_payloads([], format_of("tnq"), scope="", key=key, positions=[])
        for record in refused:
            letter = Rejected(0, record.reason, record.payload.decode())
            lanes.append((record.lane, replace(nothing, rejected=(letter,))))
    return [
        LaneInput(
            lane,
            parsed,
            part.number << FILE_SHIFT,
            0 if place else len(data),
            dead_letters(part.stream, parsed.rejected, source=lane),
        )
        for place, (lane, parsed) in enumerate(lanes)
    ]


def records(data: bytes, base: int) -> Iterator[Record]:
    """The records of some blocks, in the order of the log; what was refused comes behind its block."""
    for block in _blocks(data):
        header, begin = header_of(data[block.body : block.end])
        place, predicate = block.body + begin, header["predicate"]
        kinds = ((lane, form) for lane, form, count in header["runs"] for _ in range(count))
        for (lane, form), length, time in zip(kinds, header["records"], header["times"], strict=True):
            yield Record(lane, form, predicate, time, base + place, data[place : place + length])
            place += length
        for lane, reason, text in header["dead"]:
            yield Record(lane, "", predicate, None, base + place, text.encode(), reason)


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
