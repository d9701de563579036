"""A log that is read while it grows and goes away behind its readers: blocks in segments, with two marks.

    DIR/0000000000.seg …   blocks, one after the other; a new file once one is large enough
    DIR/synced             how far the log is on stable storage: (segment, byte), set by the writer
    DIR/read               how far it was read for good, set by the reader; older segments are removed
    DIR/lock               held by the one writer

A block is what one sync brought: its length and CRC, then its body.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weir.errors import CheckpointError
from weir.storage import disk
from weir.storage.files import make_folder, numbered, replace_file
from weir.storage.lease import locked
from weir.storage.log import AppendFile

_SUFFIX, _SYNCED, _READ, _LOCK = ".seg", "synced", "read", "lock"
_HEAD = struct.Struct("<II")


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A place in the log: all before byte ``byte`` of segment ``segment``."""

    segment: int = 0
    byte: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """Where a block begins, where its body does, and where both end."""

    begin: int
    body: int
    end: int


def block_bytes(body: bytes) -> bytes:
    """A block as it is written."""
    return _HEAD.pack(len(body), zlib.crc32(body)) + body


def blocks(data: mmap.mmap | bytes, begin: int, end: int, *, check: bool = False) -> Iterator[Block]:
    """The whole blocks of ``data[begin:end]``; stops at the first that is torn.

    ``check`` compares CRCs too: needed only for what was not known to be synced.
    """
    while begin + _HEAD.size <= end:
        length, crc = _HEAD.unpack_from(data, begin)
        body, after = begin + _HEAD.size, begin + _HEAD.size + length
        if after > end or (check and zlib.crc32(data[body:after]) != crc):
            return
        yield Block(begin, body, after)
        begin = after


class Segments:
    """The log in ``folder``, as its readers see it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, number: int) -> Path:
        """The file of a segment."""
        return self.folder / f"{number:010d}{_SUFFIX}"

    @property
    def numbers(self) -> list[int]:
        """The segments that are there, ascending."""
        return numbered(self.folder, _SUFFIX)

    @property
    def synced(self) -> Mark:
        return self._mark(_SYNCED)

    @property
    def read(self) -> Mark:
        return self._mark(_READ)

    def blocks(self, begin: Mark, end: Mark) -> Iterator[tuple[int, Block]]:
        """The blocks between two marks, each with its segment. One before the last is read to its end: it was
        closed when the next one began."""
        for number in range(begin.segment, end.segment + 1):
            path = self.path(number)
            first = begin.byte if number == begin.segment else 0
            last = end.byte if number == end.segment else None
            if path.exists():
                yield from ((number, block) for block in _blocks_of(path, first, last))
            elif last is None or last > first:
                raise CheckpointError(f"a segment of the log is missing: {path}")

    def forget(self, before: Mark) -> None:
        """Everything before a mark was read for good: let the writer know, and remove what is behind."""
        if not self.folder.exists() or before == self.read:
            return
        self._set_mark(_READ, before)
        for number in self.numbers:
            if number < before.segment:
                disk.remove(self.path(number))

    def _mark(self, name: str) -> Mark:
        """A mark, the beginning where there is none yet."""
        try:
            segment, byte = (self.folder / name).read_text().split()
        except (FileNotFoundError, ValueError):
            return Mark()
        return Mark(int(segment), int(byte))

    def _set_mark(self, name: str, mark: Mark) -> None:
        replace_file(self.folder / name, f"{mark.segment} {mark.byte}\n".encode(), durable=False)


class SegmentWriter(Segments):
    """The one writer of a log: locked, recovered after a crash, synced. ``found`` are the bodies of the last
    segment's blocks as they were on opening, and ``mark`` is how far the log is synced. Where it is not
    ``durable``, nothing is: the mark says what is written."""

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        super().__init__(folder)
        self._durable = durable
        self.found: list[bytes] = []
        self._lock = _locked(folder)
        self._done = self.read
        try:
            self._sizes = {number: self.path(number).stat().st_size for number in self.numbers}
            self._file, self.mark = self._recovered()
        except BaseException:
            disk.close(self._lock)
            raise

    def append(self, body: bytes) -> None:
        """Write, sync, and only then move the mark: readers never see what could still be lost.

        Where any of it fails nothing is appended: no reader was told of it.
        """
        before = self.mark
        after = Mark(before.segment, self._file.append([block_bytes(body)]))
        try:
            self._set_mark(_SYNCED, after)
        except BaseException:
            self._file.undo(before.byte)
            raise
        self.mark = after
        self._sizes[after.segment] = after.byte

    def roll(self) -> None:
        """Go on in a new segment."""
        number = self.mark.segment + 1
        file = AppendFile(self.path(number), 0, durable=self._durable)
        self._file.close()
        self._file, self.mark = file, Mark(number, 0)
        for gone in set(self._sizes) - set(self.numbers):
            del self._sizes[gone]

    def unread(self, *, look: bool = False) -> int:
        """Bytes that were not read for good; ``look`` asks again how far that is."""
        if look:
            self._done = self.read
        sizes = list(self._sizes.items())
        return sum(size for number, size in sizes if number >= self._done.segment) - self._done.byte

    def close(self) -> None:
        """Let the log go to another writer."""
        self._file.close()
        disk.close(self._lock)

    def _recovered(self) -> tuple[AppendFile, Mark]:
        """Go on after the last whole block; what a crash left half-written was never acknowledged."""
        known = self.synced
        number, end = max(self._sizes, default=max(known.segment, self._done.segment)), 0
        path = self.path(number)
        if self._sizes:
            sure = known.byte if number == known.segment else 0
            old = _blocks_of(path, 0, sure)
            if (old[-1].end if old else 0) != sure:
                raise CheckpointError(
                    f"{path} is damaged before byte {sure}", hint="start with a new checkpoint"
                )
            data = path.read_bytes()
            whole = [*old, *blocks(data, sure, len(data), check=True)]
            self.found = [data[block.body : block.end] for block in whole]
            end = whole[-1].end if whole else 0
        file = AppendFile(path, end, durable=self._durable)
        file.sync()
        self._sizes[number] = end
        self._set_mark(_SYNCED, Mark(number, end))
        return file, Mark(number, end)


def _blocks_of(path: Path, begin: int, end: int | None) -> list[Block]:
    """The blocks of a range of a segment; ``end`` None is the end of the file."""
    size = path.stat().st_size
    last = size if end is None else min(end, size)
    if begin >= last:
        return []
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return list(blocks(data, begin, last))


def _locked(folder: Path) -> int:
    make_folder(folder)
    lock = locked(folder / _LOCK)
    if lock is None:
        raise CheckpointError(
            f"another process writes to {folder}", hint="a checkpoint has one running job at a time"
        )
    return lock
