"""The durable log as a source: what was pushed and acknowledged is read exactly once.

Offsets are (segment, byte) at the ends of blocks, and only what the writer has synced is offered, so a batch
is the same when it is planned again. A segment is removed once Spark has committed past it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from weir.errors import CheckpointError, UsageError
from weir.runtime.ingest.parts import Part, part_size
from weir.runtime.ingest.sources import segments as disk
from weir.runtime.ingest.sources.base import Place, Reached
from weir.runtime.ingest.sources.log_writer import LIMIT, SEGMENT, LogWriter
from weir.runtime.ingest.sources.segments import Block, Mark

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
            disk.log_folder(place, self.folder),
            predicate=self.time,
            limit_bytes=self.limit_bytes,
            segment_bytes=self.segment_bytes,
        )


class LogFeed:
    """Plans batches over a log, from its files alone."""

    def __init__(self, source: LogSource, place: Place) -> None:
        self.stream = place.stream
        self.folder = disk.log_folder(place, source.folder)
        self.parallelism = max(1, place.parallelism)
        self.room = source.bytes_per_batch

    def latest(self, start: Reached, finishing: bool) -> Reached:
        """All that is synced, up to as many bytes as a batch may have."""
        begin = _mark(start)
        synced = disk.get_mark(self.folder, disk.SYNCED)
        if start.get("end") or (synced <= begin and not finishing):
            return start
        reached = self._within(begin, max(synced, begin))
        over = {"end": True} if finishing and reached >= synced else {}
        return {"segment": reached.segment, "byte": reached.byte, **over}

    def parts(self, start: Reached, end: Reached) -> list[Part]:
        """Ranges of blocks, about as many as there are cores; at the end of the input, the end of each
        lane."""
        begin, reached = _mark(start), _mark(end)
        blocks = list(self._blocks(begin, reached))
        total = sum(block.end - block.begin for _, block in blocks)
        size = part_size(total, self.parallelism)
        parts: list[Part] = []
        for number, block in blocks:
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
        if not self.folder.exists() or mark == disk.get_mark(self.folder, disk.READ):
            return
        disk.set_mark(self.folder, disk.READ, mark)
        for number in disk.segments(self.folder):
            if number < mark.segment:
                with suppress(FileNotFoundError):
                    disk.segment_path(self.folder, number).unlink()

    def refuse_more(self, reached: Reached) -> None:
        """Raise where more was appended after the end was reported."""
        if reached.get("end") and disk.get_mark(self.folder, disk.SYNCED) > _mark(reached):
            raise CheckpointError(
                f"the input of this checkpoint has ended, but there is more: {self.folder}",
                hint="the end of the input ends its checkpoint: start again with a new one",
            )

    def lanes(self, reached: Mark) -> list[str]:
        """All lanes up to a mark; one without a name where nothing came."""
        path = disk.segment_path(self.folder, reached.segment)
        found = disk.read_blocks(path, 0, reached.byte) if path.exists() else []
        return disk.lanes_of(block.header for block in found) or [""]

    def _part(self, number: int, begin: int, end: int) -> Part:
        path = str(disk.segment_path(self.folder, number))
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
            path = disk.segment_path(self.folder, number)
            first = begin.byte if number == begin.segment else 0
            last = end.byte if number == end.segment else None
            if path.exists():
                yield from ((number, block) for block in disk.read_blocks(path, first, last))
            elif last is None or last > first:
                raise CheckpointError(f"a segment of the log is missing: {path}")


def _mark(reached: Reached) -> Mark:
    return Mark(reached.get("segment", 0), reached.get("byte", 0))
