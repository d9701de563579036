"""The results of every query as a log of lines, exactly once also across ``kill -9``.

A line's position is its number since the query's name was first used. Lines of a batch are written to the
query's tail, a file a segment, and synced; then one record of the commit log says how long each tail is. A
batch that the commit log has is not written again, and on opening tails are cut to what it says. Where a disk
fails in between, the batch was not written, and can be once the disk is back. When the segments of a tail
hold more than they may, the oldest goes whole, and readers are told how many lines are missing.

A large batch is a segment of its own, and stays in the files of slots until somebody reads it
(``result_parts``).
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, field
from pathlib import Path

from weir.errors import StorageError
from weir.runtime.output.sinks.base import Results, Sink
from weir.runtime.output.sinks.result_files import joined
from weir.runtime.output.subscriptions import Chunk
from weir.server.resources import slug
from weir.server.result_parts import (
    is_large,
    kept_parts,
    last_lines,
    parts_by_position,
    put_together,
    size_of,
)
from weir.storage import AppendFile, Commits
from weir.storage.files import make_folder, numbered, remove, remove_folder

CHUNK = 1 << 18
"""About how many bytes a reader gets at once."""


@dataclass(slots=True)
class Segment:
    """Lines ``[first, end)`` in a file of ``size`` bytes; batches begin at ``marks`` (position, byte). Where
    there are ``parts``, the lines are in those, and the file is yet to be made."""

    path: Path
    first: int
    end: int
    size: int = 0
    marks: list[tuple[int, int]] = field(default_factory=list)
    parts: Sequence[Path] = ()

    def remove(self) -> None:
        for path in (self.path, *self.parts):
            remove(path)


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a tail is known to be written: the current segment, its length, the next position; and the
    position before which everything was erased."""

    first: int = 0
    size: int = 0
    end: int = 0
    erased: int = 0


class Tail:
    """Appended to by one thread, read by any number."""

    def __init__(self, folder: Path, *, segment: int, keep: int, name: str = "") -> None:
        self.folder = folder
        self.name = name
        self.segment_bytes = segment
        self.keep_bytes = keep
        self._lock = threading.Lock()
        self._putting = threading.Lock()
        self._segments: list[Segment] = []
        self._recent: tuple[int, bytes] = (0, b"")
        self._erased = 0
        self.end = 0

    @property
    def start(self) -> int:
        """The oldest position that is kept."""
        return self._segments[0].first if self._segments else self.end

    @property
    def size(self) -> int:
        """Bytes kept."""
        return sum(segment.size for segment in self._segments)

    def open(self, mark: Mark) -> None:
        """Cut to what ``mark`` says; what a crash left beyond it never happened."""
        make_folder(self.folder)
        self.end, self._erased = mark.end, mark.erased
        for first in numbered(self.folder, ".jsonl"):
            path = self._path(first)
            if first < mark.erased or first > mark.first or (first == mark.first and not mark.size):
                remove(path)
                continue
            if first == mark.first:
                AppendFile(path, mark.size).close()
            self._segments.append(Segment(path, first, mark.end, path.stat().st_size, [(first, 0)]))
        made = {segment.first for segment in self._segments}
        for first, parts in parts_by_position(self.folder).items():
            left = Segment(self._path(first), first, mark.end, size_of(parts), parts=parts)
            if first in made or not mark.erased <= first < mark.end:
                for path in parts:
                    remove(path)
            else:
                self._segments.append(left)
        self._segments.sort(key=lambda segment: segment.first)
        for before, after in zip(self._segments, self._segments[1:], strict=False):
            before.end = after.first

    def append(self, data: bytes, count: int) -> Mark:
        """Write and sync whole lines; they are readable once ``published``."""
        first, size = self._room()
        file = AppendFile(self._path(first), size)
        try:
            size = file.append([data])
        finally:
            file.close()
        return Mark(first, size, self.end + count, self._erased)

    def keep(self, answers: Results) -> tuple[Mark, list[Path]]:
        """As ``append`` for a large batch, whose files are kept as they are."""
        end = self.end + len(answers)
        return Mark(end, 0, end, self._erased), kept_parts(answers, self.folder, self.end)

    def _room(self) -> tuple[int, int]:
        """The segment that is written to, and how long it is."""
        current = self._segments[-1] if self._segments else None
        if current is None or current.parts or current.size >= self.segment_bytes:
            return self.end, 0
        return current.first, current.size

    def publish(self, mark: Mark, data: bytes | list[Path]) -> None:
        """Make what was appended or kept readable, and let go of what is too much."""
        with self._lock:
            if isinstance(data, list):
                kept = Segment(self._path(self.end), self.end, mark.end, size_of(data), parts=data)
                self._segments.append(kept)
                self._recent, self.end = (mark.end, b""), mark.end
            else:
                self._extend(mark, data)
            while len(self._segments) > 1 and self.size > self.keep_bytes:
                with suppress(StorageError):
                    self._segments.pop(0).remove()

    def _extend(self, mark: Mark, data: bytes) -> None:
        if not self._segments or self._segments[-1].first != mark.first:
            self._segments.append(Segment(self._path(mark.first), mark.first, mark.first))
        current = self._segments[-1]
        current.marks.append((self.end, current.size))
        self._recent = self.end, data
        current.size, current.end, self.end = mark.size, mark.end, mark.end

    def read(self, position: int, most: int = CHUNK) -> Chunk:
        """Lines from ``position`` on, about ``most`` bytes and at least one line if there is one; chunks that
        begin at equal positions are equal as long as nothing is appended."""
        with self._lock:
            start = self.start
            first = min(max(position, start), self.end)
            missed = max(0, first - max(position, 0))
            if first == self.end:
                return Chunk(first, first, b"", missed)
            if first == self._recent[0] and 0 < len(self._recent[1]) <= most:
                return Chunk(first, self.end, self._recent[1], missed)
            place = bisect_right([segment.first for segment in self._segments], first) - 1
            segment = self._segments[place]
            mark = segment.marks and segment.marks[bisect_right(segment.marks, (first, 1 << 62)) - 1]
            path, size, end = segment.path, segment.size, segment.end
        if not mark:
            self._put_together(segment)
            return self.read(position, most)
        return _read(path, mark, (size, end), first, missed, most) or self.read(position, most)

    def latest(self, most: int) -> list[bytes]:
        """Some of the last lines; of a large batch those of one slot, which has not to be put together."""
        with self._lock:
            parts = self._segments[-1].parts if self._segments else ()
        if parts:
            with suppress(FileNotFoundError):
                return last_lines(self.name, parts[0], most)
        return self.read(max(self.start, self.end - most)).data.splitlines()

    def _put_together(self, segment: Segment) -> None:
        """Make the file of a large batch, for its first reader; others wait."""
        with self._putting:
            if not segment.parts:
                return
            try:
                marks = put_together(self.name, segment.parts, segment.path)
            except FileNotFoundError:
                if segment in self._segments:
                    raise
                return
            with self._lock:
                segment.parts = ()
                if segment not in self._segments:
                    remove(segment.path)
                    return
                segment.marks = [(segment.first + lines, size) for lines, size in marks]
                segment.size = segment.path.stat().st_size

    @property
    def erased(self) -> Mark:
        """How far it is written without all lines that there are; positions go on from where they are."""
        return Mark(self.end, 0, self.end, self.end)

    def erase(self) -> None:
        """Remove all lines."""
        with self._lock:
            self._erased = self.end
            self._segments.clear()
            self._recent = (0, b"")
            remove_folder(self.folder)
            make_folder(self.folder)

    def _path(self, first: int) -> Path:
        return self.folder / f"{first:016d}.jsonl"


def _read(
    path: Path, mark: tuple[int, int], limit: tuple[int, int], first: int, missed: int, most: int
) -> Chunk | None:
    """A chunk from a segment's file, None where the segment has gone in the meantime."""
    at, offset = mark
    size, end = limit
    try:
        with open(path, "rb") as file:
            file.seek(offset)
            while at < first:
                at += 1
                offset += len(file.readline())
            file.seek(offset)
            data = file.read(min(size - offset, most))
            if offset + len(data) < size:
                whole = data.rfind(b"\n") + 1
                data = data[:whole] if whole else data + file.readline()
    except FileNotFoundError:
        return None
    following = end if offset + len(data) >= size else first + data.count(b"\n")
    return Chunk(first, following, data, missed)


class ResultLog(Sink):
    """Tails by the names of queries. ``listeners`` are called with the names that have something new, from
    the thread of the sink, once it can be read."""

    form = "jsonl"
    promise = "exactly once"

    def __init__(self, folder: Path, *, segment: int = 8 << 20, keep: int = 64 << 20) -> None:
        self.folder = folder
        self.segment = segment
        self.keep = keep
        self.listeners: list[Callable[[Sequence[str]], None]] = []
        self._commits = Commits(folder / "commits")
        self._tails: dict[str, Tail] = {}
        self._opened = False
        self._lock = threading.RLock()

    def open(self) -> None:
        """Read the commit log; once."""
        with self._lock:
            if not self._opened:
                self._commits.open()
                self._opened = True

    def tail(self, name: str) -> Tail:
        """The tail of a query, made where it is new."""
        with self._lock:
            self.open()
            found = self._tails.get(name)
            if found is None:
                found = Tail(self.folder / slug(name), segment=self.segment, keep=self.keep, name=name)
                found.open(Mark(*self._commits.marks.get(name, ())))
                self._tails[name] = found
            return found

    def write(self, batch: int, results: Sequence[Results]) -> None:
        with self._lock:
            self.open()
            if self._commits.has(batch):
                return
            written: dict[str, tuple[Mark, bytes | list[Path]]] = {}
            for answers in results:
                if len(answers) and is_large(answers):
                    written[answers.name] = self.tail(answers.name).keep(answers)
                elif len(answers):
                    data = joined([answers])
                    written[answers.name] = self.tail(answers.name).append(data, len(answers)), data
            if not written:
                return
            self._commits.commit(batch, {name: astuple(mark) for name, (mark, _) in written.items()})
            for name, published in written.items():
                self._tails[name].publish(*published)
        for listener in self.listeners:
            listener(tuple(written))

    def erase(self, name: str) -> None:
        """Forget the results of a query that was dropped; a later one of its name goes on counting."""
        with self._lock:
            tail = self.tail(name)
            self._commits.commit(self._commits.last, {name: astuple(tail.erased)})
            tail.erase()
