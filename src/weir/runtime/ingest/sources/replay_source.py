"""A stream file played as if it came live: at a rate, or at a multiple of the speed of its event time.

What is due depends on the wall clock, but offsets are bytes at which messages begin, so a batch that is
planned again is the same batch. After a restart the clock begins again where the checkpoint is.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from weir.errors import UsageError
from weir.rdf.columns import Ids
from weir.rdf.formats.media import PACKED
from weir.rdf.formats.tnq import BOM, timed_lines
from weir.rdf.formats.tnq_split import padded
from weir.runtime.ingest.parts import Part, line_end, message_start
from weir.runtime.ingest.sources.feeds import Feed, Place, Reached, Source
from weir.runtime.ingest.sources.file_source import FileFeed, FileSource
from weir.storage.places import beside_driver

UNITS = ("messages", "triples")
"""What a rate counts."""

_LOOK, _PATIENCE = 0.01, (0.05, 0.5)
"""Seconds: between two looks at the clock, and how long to wait for something to be due."""
_BLOCK = 1 << 22
"""Bytes that are looked through at a time."""


@dataclass(frozen=True, slots=True)
class ReplaySource(Source):
    """A ``.tnq`` file, or a directory of them, played at ``rate`` messages or triples (``unit``) a second, or
    at ``speed`` times its event time. With ``loop`` it begins again at its end, with later times."""

    kind: ClassVar[str] = "replay"

    path: str
    rate: float | None = None
    speed: float | None = None
    unit: str = UNITS[0]
    loop: bool = False
    times_distinct: bool = False

    @property
    def endless(self) -> bool:
        return self.loop

    @property
    def address(self) -> str:
        return f"replay:{self.path}"

    @property
    def files(self) -> FileSource:
        return FileSource(self.path)

    def check(self) -> None:
        self.files.check()
        if (self.rate is None) == (self.speed is None):
            raise UsageError("a replay has a rate or a speed", hint="replay:FILE?rate=1000 or ?speed=60")
        if not 0 < (self.rate or self.speed or 0) < float("inf"):
            raise UsageError("the rate or speed of a replay must be above 0")
        if self.unit not in UNITS:
            raise UsageError(f"unknown unit {self.unit!r} of a rate", hint=f"one of {', '.join(UNITS)}")
        if any(path.name.endswith(PACKED) for path in self.files.listing()):
            raise UsageError(f"a packed file cannot be played: {self.path}", hint="unpack it with gunzip")

    def feed(self, place: Place) -> ReplayFeed:
        return ReplayFeed(self, place)


@dataclass(frozen=True, slots=True)
class Played:
    """As ``Offset``, in a round of a loop; ``turn`` counts the batches in which nothing was due, which a
    finite source plans because Spark takes one without news for ended."""

    round: int = 0
    file: int = 0
    byte: int = 0
    turn: int = 0
    end: bool = False


class ReplayFeed(Feed):
    """Plans batches by the clock."""

    def __init__(
        self,
        source: ReplaySource,
        place: Place,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.source = source
        self.inner = FileFeed(source.files, place)
        here = beside_driver(place.own)
        self._flags = here / "stop", here / "hold", place.own / "finish"
        self._clock, self._sleep = clock, sleep
        self._patience = _PATIENCE[0]
        self._ahead: Iterator[tuple[Played, Ids, np.ndarray]] = iter(())
        self._block: tuple[Played, Ids, np.ndarray] | None = None
        self._at: Played | None = None
        self._began = 0.0
        self._span: int | None = None

    def latest(self, start: Reached, finishing: bool) -> Reached:
        """As far as messages are due by now; a replay that is told to finish ends where it is."""
        begin = Played(**start)
        if begin.end:
            return start
        if finishing:
            return asdict(replace(begin, end=True))
        if self._at is None or replace(self._at, turn=begin.turn) != begin:
            self.inner.look()
            self._ahead = self._blocks(begin)
            self._block = next(self._ahead, None)
            self._began = self._clock()
        until = self._clock() + self._patience
        while True:
            reached = replace(self._due(), turn=begin.turn)
            if reached != begin or self.source.endless:
                self._patience = _PATIENCE[0]
                break
            if self._clock() >= until or self._disturbed():
                self._patience = min(2 * self._patience, _PATIENCE[1])
                reached = replace(begin, turn=begin.turn + 1)
                break
            self._sleep(_LOOK)
        self._at = reached
        return asdict(reached)

    def parts(self, start: Reached, end: Reached) -> list[Part]:
        """The parts between two offsets, round by round; one that is empty where nothing was due."""
        first, last = Played(**start), Played(**end)
        files = len(self.inner.files)
        parts: list[Part] = []
        for number in range(first.round, last.round + 1):
            begin = {"file": first.file, "byte": first.byte} if number == first.round else {}
            until = {"file": last.file, "byte": last.byte} if number == last.round else {"file": files}
            shift = number * self._span_of_all() if number else 0
            for part in self.inner.parts(begin, until):
                parts.append(replace(part, number=part.number + number * files, shift=shift))
        if not parts or last.end:
            place = last.round * files + last.file
            parts.append(Part(self.inner.stream, self.inner.lane, number=place, final=last.end))
        return parts

    def beyond(self, reached: Reached) -> Path | None:
        return self.inner.beyond(reached)

    def _disturbed(self) -> bool:
        return any(flag.exists() for flag in self._flags)

    def _due(self) -> Played:
        """The first message that is not due yet."""
        elapsed = self._clock() - self._began
        while self._block is not None:
            place, starts, due = self._block
            count = int(np.searchsorted(due, elapsed, side="right"))
            if count < len(due):
                return replace(place, byte=int(starts[count]))
            self._block = next(self._ahead, None)
        return Played(0, len(self.inner.files), 0, end=True)

    def _blocks(self, begin: Played) -> Iterator[tuple[Played, Ids, np.ndarray]]:
        """Where messages begin from here on, and in how many seconds each is due."""
        counted = 0
        first: int | None = None
        high: int | None = None
        place = begin
        while True:
            for number in range(place.file, len(self.inner.files)):
                byte = place.byte if number == place.file else 0
                for found in marks(self.inner.files[number].path, byte):
                    times = found.time + place.round * (self._span_of_all() if place.round else 0)
                    first = int(times[0]) if first is None else first
                    highest = np.maximum.accumulate(times if high is None else np.maximum(times, high))
                    due = self._seconds(found, counted, highest - first)
                    yield Played(place.round, number), found.start, due
                    counted += found.lines if self.source.unit == "triples" else len(found.start)
                    high = int(highest[-1])
            if not self.source.loop or not counted:
                return
            place = Played(place.round + 1)

    def _seconds(self, found: Marks, counted: int, since: Ids) -> np.ndarray:
        if self.source.speed is not None:
            return since / 1e6 / self.source.speed
        assert self.source.rate is not None
        before = found.before if self.source.unit == "triples" else np.arange(len(found.start))
        return (counted + before) / self.source.rate

    def _span_of_all(self) -> int:
        """By how much a round of a loop is later than the one before: the length of the files in event time
        and the mean distance of two messages, in whole milliseconds."""
        if self._span is None:
            self.inner.look()
            every = (found for file in self.inner.files for found in marks(file.path, 0))
            told = [(int(each.time.min()), int(each.time.max()), len(each.time)) for each in every]
            least, most, counts = zip(*told, strict=True) if told else ((0,), (0,), (0,))
            length, steps = max(most) - min(least), max(1, sum(counts) - 1)
            self._span = -(-(length + length // steps) // 1000) * 1000 or 1000
        return self._span


@dataclass(frozen=True, slots=True)
class Marks:
    """The messages that begin in a block: their first bytes and times, the lines with a time before each, and
    how many of those the block has."""

    start: Ids
    time: Ids
    before: Ids
    lines: int


def marks(path: str, begin: int) -> Iterator[Marks]:
    """The messages that begin at byte ``begin`` or later, as ``message_start`` finds them; blocks in which
    none begins are left out."""
    if not Path(path).stat().st_size:
        return
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        place, last = message_start(data, begin), None  # type: int, int | None
        if place == 0 and data[: len(BOM)] == BOM:
            place = len(BOM)
        while place < len(data):
            end = place + _BLOCK
            end = len(data) if end >= len(data) else line_end(data, end - 1)
            split, time, timed, _ = timed_lines(padded(data[place:end]))
            rows = np.flatnonzero(timed)
            time, starts = time[rows], split.starts[rows] + place
            before = np.flatnonzero(np.diff(time, prepend=time[:1] - 1 if last is None else last))
            if len(before):
                yield Marks(starts[before], time[before], before, len(rows))
            last = int(time[-1]) if len(time) else last
            place = end
