"""The durable log on disk: segments of blocks, and two marks beside them.

    DIR/0000000000.seg …   blocks, one after the other; a new file once one is large enough
    DIR/synced             how far the log is on stable storage: (segment, byte), set by the writer
    DIR/read               how far Spark has committed, set by the planner; older segments are removed
    DIR/lock               held by the one writer

A block is what one fsync brought: a header line ``#{json}``, then payloads as they came, one after the
other. The header says where each ends, its lane, format and time: so lines of equal time from two pushes
stay two messages, and workers parse many payloads at once. Parsing is left to them: in the one driver it
would cost nearly as much again as logging (measured: 16 µs to log a small message, 10 µs to parse Turtle).
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weir.runtime.ingest.sources.base import Place

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
        values: dict[str, Any] = {"n": self.length, "crc": self.crc, "r": self.records, "l": self.runs}
        values["t"] = None if all(time is None for time in self.times) else self.times
        if self.predicate:
            values["p"] = self.predicate
        if self.lanes:
            values["lanes"] = self.lanes
        if self.notes:
            values["notes"] = self.notes
        if self.dead:
            values["dead"] = [[item.lane, item.reason, item.text] for item in self.dead]
        return b"#" + json.dumps(values, separators=(",", ":")).encode() + b"\n"

    @staticmethod
    def from_bytes(line: bytes) -> Header:
        values = json.loads(line[1:])
        records = tuple(values["r"])
        return Header(
            values["n"],
            values["crc"],
            records,
            tuple(values["t"] or [None] * len(records)),
            tuple((lane, form, count) for lane, form, count in values["l"]),
            values.get("p"),
            tuple(values.get("lanes", ())),
            values.get("notes", {}),
            tuple(Dead(*item) for item in values.get("dead", ())),
        )


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
        except (ValueError, KeyError, TypeError):
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
    with suppress(FileNotFoundError):
        return sorted(int(name[: -len(SUFFIX)]) for name in os.listdir(folder) if name.endswith(SUFFIX))
    return []


def lanes_of(headers: Iterable[Header]) -> list[str]:
    """All lanes that some headers name, in the order of first mention."""
    seen: dict[str, None] = {}
    for header in headers:
        seen.update(dict.fromkeys(header.lanes))
        seen.update(dict.fromkeys(lane for lane, *_ in header.runs))
    return list(seen)


def set_mark(folder: Path, name: str, mark: Mark) -> None:
    """Replace a mark: readers see the old one or the new one, never a mixture."""
    partial = folder / f"{name}.partial"
    partial.write_text(f"{mark.segment} {mark.byte}\n")
    partial.replace(folder / name)


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
