"""Parts of stream files: byte ranges that begin and end at messages.

A cut at any byte means the first message that starts there or later, which depends on the file alone. So a
file can be cut into parts anywhere, by batches and by workers, and no message is torn or read twice.
A message never spans two files.
"""

from __future__ import annotations

import gzip
import mmap
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weir.errors import DataError
from weir.rdf.columns import NEVER
from weir.rdf.formats.media import PACKED
from weir.rdf.formats.times import read_time
from weir.rdf.formats.tnq import BOM
from weir.rdf.formats.tnq_split import Bytes, padded, room_for
from weir.rdf.messages import Parsed, Rejected
from weir.storage.files import opened, read_range
from weir.storage.places import path_at
from weir.storage.remote import RemotePath

FILE_SHIFT = 40
"""A position in a lane of files, or in a log: the number of the file above, the byte in it below."""
OFFSET_SHIFT = 20
"""A position in a lane of payloads, as in Kafka, is theirs shifted by this: one may hold many messages."""

_NEWLINE = re.compile(b"\n")
_LEAST_PART, _MOST_PART = 1 << 18, 12 << 20
_AROUND = 1 << 16
"""Bytes before and behind a part of an object that are looked at for where messages begin."""
_MESSAGE, _DOCUMENTS = 128, 16
"""Bytes of a message of Kafka, as a guess; how much more work a byte of another format is."""


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes ``[start, end)`` of a file in a lane; ``number`` is the file's place in its lane.

    ``end`` None is the file's end, for files whose length is not that of their content (gzip).
    ``final`` says that the lane ends with this part; a part without a path is nothing but that.
    ``log`` says that the file is a segment of a durable log, whose lanes stand in it; with ``kafka``, the
    source, the lane is a partition, start and end are offsets, and ``high`` is a time that it has reached.

    Files of a ``format`` other than ``tnq`` are read whole: a part may have the next files of its lane
    ``also``. ``time`` is the predicate that states their messages' times, ``unit`` what is one message.
    ``shift`` is added to all times, in µs.
    """

    stream: str
    lane: str
    path: str | None = None
    number: int = 0
    start: int = 0
    end: int | None = None
    final: bool = False
    log: bool = False
    kafka: Any = None
    high: int = NEVER
    format: str = "tnq"
    time: str | None = None
    unit: str = "auto"
    also: Sequence[str] = ()
    shift: int = 0

    @property
    def paths(self) -> list[str]:
        """The files of the part; the first has the number of the part, the others those that follow."""
        return [] if self.path is None else [self.path, *self.also]

    @property
    def weight(self) -> int:
        """About how many bytes of stream lines would be as much work. Files that are gone do not count."""
        if self.kafka is not None:
            return _MESSAGE * ((self.end or 0) - self.start)
        if self.end is not None:
            return self.end - self.start
        size = sum(_size(path_at(path)) for path in self.paths)
        return size if self.format == "tnq" else _DOCUMENTS * size


@dataclass(frozen=True, slots=True)
class LaneInput:
    """What a part brought of one lane: its messages, and how many bytes were read for them.

    ``dead`` are lines of the dead-letter file. ``position`` is where the lane is if there are no messages,
    ``high`` a time that it has reached in any case; ``ended`` says that it ends here.
    """

    lane: str
    parsed: Parsed
    position: int = 0
    size: int = 0
    dead: Sequence[Mapping[str, Any]] = ()
    high: int = NEVER
    ended: bool = False


def dead_letters(
    stream: str,
    rejected: Iterable[Rejected],
    *,
    source: str = "",
    files: Sequence[str] = (),
    before: int = 0,
) -> list[dict[str, Any]]:
    """The one schema of dead letters: the stream, the source, the reason, and how the text begins. That of
    files is one of them, with the ``line``; ``before`` lines of it were not read."""
    return [
        {
            "stream": stream,
            "source": files[item.record] if files else source,
            **({"line": before + item.line} if files else {}),
            "reason": item.reason,
            "text": item.text,
        }
        for item in rejected
    ]


def part_size(total: int, parallelism: int) -> int:
    """How large the parts of so many bytes should be: one for each core, but none so small that it is not
    worth a worker's while, nor so large that its columns outgrow the memory that a worker keeps. Where each
    core has several, all have as many."""
    if total <= _MOST_PART * parallelism:
        return max(_LEAST_PART, -(-total // parallelism))
    return -(-total // (parallelism * -(-total // (_MOST_PART * parallelism))))


def shares_of(parts: Sequence[Part], workers: int) -> list[list[Part]]:
    """The parts in their order, in at most so many shares of about as much work; a share that is not worth a
    worker's while is none."""
    weights = [max(1, part.weight) for part in parts]
    whole, before = sum(weights), 0
    count = min(workers, -(-whole // _LEAST_PART))
    found: list[list[Part]] = [[] for _ in range(count)]
    for part, weight in zip(parts, weights, strict=True):
        found[(2 * before + weight) * count // (2 * whole)].append(part)
        before += weight
    return [share for share in found if share]


def read_part(part: Part) -> tuple[Bytes, int]:
    """The whole lines of a part of a plain file, ``padded``, and the byte at which they begin."""
    assert part.path is not None
    path = path_at(part.path)
    size = path.stat().st_size
    if not size:
        return room_for(0), 0
    if isinstance(path, RemotePath):
        lines, begin = _lines_of(path, size, part)
        return padded(lines), begin
    with open(path, "rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            begin = message_start(data, part.start)
            end = size if part.end is None else message_start(data, part.end)
            if begin == 0 and data[: len(BOM)] == BOM:
                begin = len(BOM)
        file.seek(begin)
        length = max(end - begin, 0)
        room = room_for(length)
        if file.readinto(room.data[:length]) < length:
            raise DataError(f"{path} became shorter while it was read", hint="files of a stream only grow")
    return room, begin


def _lines_of(path: RemotePath, size: int, part: Part) -> tuple[bytes, int]:
    """The same of an object, of which no more is fetched than what is around the part."""
    around = _AROUND
    while True:
        first = max(part.start - around, 0)
        last = size if part.end is None else min(part.end + around, size)
        data = path.read_range(first, last)
        # What is before the first line end may be the rest of a line.
        skipped = data.find(b"\n") + 1 if first else 0
        begins = part.start - first - skipped
        data = data[skipped:]
        known = not first or (begins > 0 and _time_before(data, line_end(data, begins - 1)) is not None)
        begin = message_start(data, begins) if known else 0
        end = len(data) if part.end is None else message_start(data, part.end - first - skipped)
        if known and (last == size or end < len(data)):
            if not first and not begin and data[: len(BOM)] == BOM:
                begin = len(BOM)
            return data[begin:end], begin + first + skipped
        around *= 8


def _size(path: Path) -> int:
    """A file's size; 0 where it is gone."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def unpacked(path: Path) -> tuple[bytes, str | None]:
    """What can be unpacked of a compressed file, and what is wrong with the rest of it."""
    out = bytearray()
    try:
        with opened(path) as file, gzip.open(file, "rb") as packed:
            while block := packed.read(1 << 20):
                out += block
    except (EOFError, OSError, zlib.error) as error:
        if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
            raise
        return bytes(out), f"the file cannot be unpacked from here on: {error}"
    return bytes(out), None


def is_packed(path: Path) -> bool:
    """Whether the file is compressed, and so cannot be read from the middle."""
    return path.suffix.lower() == PACKED


def message_start(data: mmap.mmap | bytes, cut: int) -> int:
    """The first byte at or after ``cut`` at which a message begins; the length of ``data`` if none does."""
    if cut <= 0:
        return 0
    size = len(data)
    if cut >= size:
        return size
    place = line_end(data, cut - 1)
    before = _time_before(data, place)
    while place < size:
        following = line_end(data, place)
        time = _time_of(data, place, following)
        if time is not None and time != before:
            return place
        place = following
    return size


def line_end(data: mmap.mmap | bytes, place: int) -> int:
    """Where the line that holds a byte ends, with its newline. A mapped file by itself is searched byte by
    byte, which for a line of many megabytes takes seconds."""
    found = _NEWLINE.search(data, place)
    return found.end() if found is not None else len(data)


def _time_before(data: mmap.mmap | bytes, place: int) -> int | None:
    """The time of the last line before ``place`` that has one."""
    while place > 0:
        begin = data.rfind(b"\n", 0, place - 1) + 1
        time = _time_of(data, begin, place)
        if time is not None:
            return time
        place = begin
    return None


def _time_of(data: mmap.mmap | bytes, begin: int, end: int) -> int | None:
    if begin == 0 and data[: len(BOM)] == BOM:
        begin = len(BOM)
    tab = data.find(b"\t", begin, min(end, begin + 64))
    if tab < 0:
        return None
    try:
        return read_time(data[begin:tab].decode("ascii"))
    except UnicodeDecodeError:
        return None


class LineCounter:
    """The number of lines before a byte of a file; what was counted is remembered."""

    def __init__(self) -> None:
        self._known: dict[str, list[tuple[int, int]]] = {}

    def before(self, path: str, offset: int) -> int:
        """Newlines in the first ``offset`` bytes."""
        marks = self._known.setdefault(path, [(0, 0)])
        place, lines = max(mark for mark in marks if mark[0] <= offset)
        while place < offset:
            block = read_range(path_at(path), place, min(place + (1 << 24), offset))
            if not block:
                break
            lines += int(np.count_nonzero(np.frombuffer(block, np.uint8) == 10))
            place += len(block)
        marks.append((place, lines))
        return lines
