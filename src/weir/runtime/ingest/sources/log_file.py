"""The end of a durable log, where its one writer appends: locked, recovered after a crash, synced."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from weir.errors import CheckpointError
from weir.runtime.ingest.sources import segments as disk
from weir.runtime.ingest.sources.segments import Header, Mark


class LogFile:
    """The last segment of the log in ``folder``. ``found`` are the headers that were in it on opening, and
    ``mark`` is how far the log is synced."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.found: list[Header] = []
        self._lock = self._locked()
        there = disk.segments(folder)
        self._sizes = {number: disk.segment_path(folder, number).stat().st_size for number in there}
        self._read = disk.get_mark(folder, disk.READ)
        try:
            self._file, self.mark = self._recovered(there)
        except BaseException:
            os.close(self._lock)
            raise

    def append(self, data: bytes) -> None:
        """Write, sync, and only then move the mark: readers never see what could still be lost."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._file, view) :]
        os.fdatasync(self._file)
        self.mark = Mark(self.mark.segment, self.mark.byte + len(data))
        self._sizes[self.mark.segment] = self.mark.byte
        disk.set_mark(self.folder, disk.SYNCED, self.mark)

    def roll(self) -> None:
        """Go on in a new segment."""
        number = self.mark.segment + 1
        file = self._created(number)
        os.close(self._file)
        self._file, self.mark = file, Mark(number, 0)
        for gone in set(self._sizes) - set(disk.segments(self.folder)):
            del self._sizes[gone]

    def undo(self) -> None:
        """Cut off what was written and not synced."""
        os.ftruncate(self._file, self.mark.byte)

    def unread(self, *, look: bool = False) -> int:
        """Bytes that Spark has not committed; ``look`` asks again how far it is."""
        if look:
            self._read = disk.get_mark(self.folder, disk.READ)
        sizes = list(self._sizes.items())
        return sum(size for number, size in sizes if number >= self._read.segment) - self._read.byte

    def close(self) -> None:
        os.close(self._file)
        os.close(self._lock)

    def _created(self, number: int) -> int:
        path = disk.segment_path(self.folder, number)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return file

    def _locked(self) -> int:
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.folder / disk.LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise CheckpointError(
                f"another process writes to {self.folder}", hint="a checkpoint has one running job at a time"
            ) from None
        return lock

    def _recovered(self, there: list[int]) -> tuple[int, Mark]:
        """Go on after the last whole block; what a crash left half-written was never acknowledged."""
        known = disk.get_mark(self.folder, disk.SYNCED)
        if not there:
            number = max(known.segment, self._read.segment)
            disk.set_mark(self.folder, disk.SYNCED, Mark(number, 0))
            return self._created(number), Mark(number, 0)
        number = there[-1]
        path = disk.segment_path(self.folder, number)
        sure = known.byte if number == known.segment else 0
        old = disk.read_blocks(path, 0, sure)
        if (old[-1].end if old else 0) != sure:
            raise CheckpointError(f"{path} is damaged before byte {sure}", hint="start with a new checkpoint")
        found = [*old, *disk.read_blocks(path, sure, check=True)]
        end = found[-1].end if found else 0
        file = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.ftruncate(file, end)
        os.fsync(file)
        self.found = [block.header for block in found]
        self._sizes[number] = end
        disk.set_mark(self.folder, disk.SYNCED, Mark(number, end))
        return file, Mark(number, end)
