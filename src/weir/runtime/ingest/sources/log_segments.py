"""The durable log of a stream on disk: segments of blocks, and two marks beside them.

    DIR/0000000000.seg …   blocks, one after the other; a new file once one is large enough
    DIR/synced             how far the log is on stable storage: (segment, byte), set by the writer
    DIR/read               how far Spark has committed, set by the planner; older segments are removed
    DIR/lock               held by the one writer

A block is what one sync brought: a header line ``#{json}``, then payloads as they came, one after the
other. The header says where each ends, its lane, format and time: so lines of equal time from two pushes
stay two messages, and workers parse many payloads at once. Parsing is left to them: in the one driver it
would cost nearly as much again as logging (measured: 16 µs to log a small message, 10 µs to parse Turtle).
"""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, field, fields, replace
from pathlib import Path

from weir.errors import CheckpointError
from weir.runtime.ingest.sources.feeds import Place
from weir.storage import AppendFile, numbered, replace_file

SUFFIX = ".seg"
SYNCED = "synced"
READ = "read"
LOCK = "lock"
SHIFT = 40
"""A position in the log is (segment << SHIFT) + byte."""


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A place in the log: all before byte ``byte`` of segment ``segment``."""

    segment: int = 0
    byte: int = 0


@dataclass(frozen=True, slots=True)
class Dead:
    """A payload that was refused: where it came from, why, and how it begins."""

    lane: str
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Header:
    """What a block holds: ``length`` bytes of body and their CRC, and its records: the length of each, the
    time (µs, None where it is in the payload), and as runs (lane, format, how many) what is the same.

    ``predicate`` states the time of those payloads that have none. ``lanes`` lists, in the first block of a
    segment, every lane that was there before. ``notes`` is what receivers remember (such as the last event
    id), complete in a segment's first block.
    """

    length: int = 0
    crc: int = 0
    records: tuple[int, ...] = ()
    times: tuple[int | None, ...] = ()
    runs: tuple[tuple[str, str, int], ...] = ()
    predicate: str | None = None
    lanes: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict)
    dead: tuple[Dead, ...] = ()

    def to_bytes(self) -> bytes:
        """The header as a line; what has nothing to say is left out."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        if all(time is None for time in self.times):
            del values["times"]
        values["dead"] = [astuple(item) for item in self.dead]
        told = {name: value for name, value in values.items() if value}
        return b"#" + json.dumps(told, separators=(",", ":")).encode() + b"\n"

    @staticmethod
    def from_bytes(line: bytes) -> Header:
        """The inverse; ``ValueError``, ``TypeError`` or ``AttributeError`` where a line is no header."""
        values = json.loads(line[1:])
        values.setdefault("times", [None] * len(values.get("records", ())))
        lists = {name: tuple(each) for name, each in values.items() if isinstance(each, list)}
        return Header(**{**values, **lists, "dead": tuple(Dead(*item) for item in values.get("dead", ()))})


@dataclass(frozen=True, slots=True)
class Block:
    """A header, and where its block begins, where its body begins, and where it ends."""

    header: Header
    begin: int
    body: int
    end: int


def block_bytes(header: Header, body: bytes) -> bytes:
    """A block as it is written; length and CRC are filled in."""
    return replace(header, length=len(body), crc=zlib.crc32(body)).to_bytes() + body


def blocks(data: mmap.mmap | bytes, begin: int, end: int, *, check: bool = False) -> Iterator[Block]:
    """The whole blocks of ``data[begin:end]``; stops at the first that is torn.

    ``check`` compares CRCs too: needed only for what was not known to be synced.
    """
    while begin < end:
        body = data.find(b"\n", begin, end) + 1
        if body == 0:
            return
        try:
            header = Header.from_bytes(data[begin:body])
        except (ValueError, TypeError, AttributeError):
            return
        after = body + header.length
        if after > end or (check and zlib.crc32(data[body:after]) != header.crc):
            return
        yield Block(header, begin, body, after)
        begin = after


def read_blocks(path: Path, begin: int, end: int | None = None, *, check: bool = False) -> list[Block]:
    """The blocks of a range of a segment; ``end`` None is the end of the file."""
    size = path.stat().st_size
    last = size if end is None else min(end, size)
    if begin >= last:
        return []
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return list(blocks(data, begin, last, check=check))


def segment_path(folder: Path, number: int) -> Path:
    return folder / f"{number:010d}{SUFFIX}"


def segments(folder: Path) -> list[int]:
    """The numbers of the segments that are there, ascending."""
    return numbered(folder, SUFFIX)


def lanes_of(headers: Iterable[Header]) -> list[str]:
    """All lanes that some headers name, in the order of first mention."""
    seen: dict[str, None] = {}
    for header in headers:
        seen.update(dict.fromkeys(header.lanes))
        seen.update(dict.fromkeys(lane for lane, *_ in header.runs))
    return list(seen)


def set_mark(folder: Path, name: str, mark: Mark) -> None:
    """Replace a mark: readers see the old one or the new one, never a mixture."""
    replace_file(folder / name, f"{mark.segment} {mark.byte}\n".encode(), durable=False)


def get_mark(folder: Path, name: str) -> Mark:
    """A mark, the beginning where there is none yet."""
    try:
        segment, byte = (folder / name).read_text().split()
    except (FileNotFoundError, ValueError):
        return Mark()
    return Mark(int(segment), int(byte))


def log_folder(place: Place, shared: str | None = None) -> Path:
    """Where a stream's log lives: in the checkpoint, or in a folder that a cluster shares."""
    return (Path(shared) if shared else place.own / "sources") / f"{place.log_name}.log"


class LogEnd:
    """The last segment of the log in ``folder``, where its one writer appends: locked, recovered after a
    crash, synced. ``found`` are the headers that were in it on opening, and ``mark`` is how far the log is
    synced."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.found: list[Header] = []
        self._lock = _locked(folder)
        there = segments(folder)
        self._sizes = {number: segment_path(folder, number).stat().st_size for number in there}
        self._read = get_mark(folder, READ)
        try:
            self._file, self.mark = self._recovered(there)
        except BaseException:
            os.close(self._lock)
            raise

    def append(self, data: bytes) -> None:
        """Write, sync, and only then move the mark: readers never see what could still be lost."""
        self.mark = Mark(self.mark.segment, self._file.append(data))
        self._sizes[self.mark.segment] = self.mark.byte
        set_mark(self.folder, SYNCED, self.mark)

    def roll(self) -> None:
        """Go on in a new segment."""
        number = self.mark.segment + 1
        file = AppendFile(segment_path(self.folder, number), 0)
        self._file.close()
        self._file, self.mark = file, Mark(number, 0)
        for gone in set(self._sizes) - set(segments(self.folder)):
            del self._sizes[gone]

    def undo(self) -> None:
        """Cut off what was written and not synced."""
        self._file.undo()

    def unread(self, *, look: bool = False) -> int:
        """Bytes that Spark has not committed; ``look`` asks again how far it is."""
        if look:
            self._read = get_mark(self.folder, READ)
        sizes = list(self._sizes.items())
        return sum(size for number, size in sizes if number >= self._read.segment) - self._read.byte

    def close(self) -> None:
        """Let the log go to another writer."""
        self._file.close()
        os.close(self._lock)

    def _recovered(self, there: list[int]) -> tuple[AppendFile, Mark]:
        """Go on after the last whole block; what a crash left half-written was never acknowledged."""
        known = get_mark(self.folder, SYNCED)
        number, end = max(known.segment, self._read.segment), 0
        if there:
            number = there[-1]
            path = segment_path(self.folder, number)
            sure = known.byte if number == known.segment else 0
            old = read_blocks(path, 0, sure)
            if (old[-1].end if old else 0) != sure:
                raise CheckpointError(
                    f"{path} is damaged before byte {sure}", hint="start with a new checkpoint"
                )
            found = [*old, *read_blocks(path, sure, check=True)]
            end = found[-1].end if found else 0
            self.found = [block.header for block in found]
        file = AppendFile(segment_path(self.folder, number), end)
        self._sizes[number] = end
        set_mark(self.folder, SYNCED, Mark(number, end))
        return file, Mark(number, end)


def _locked(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise CheckpointError(
            f"another process writes to {folder}", hint="a checkpoint has one running job at a time"
        ) from None
    return lock
