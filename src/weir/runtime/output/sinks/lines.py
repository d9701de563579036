"""JSON Lines: one file, exactly once also across ``kill -9``; or standard output, at least once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import IO

from weir.errors import CheckpointError
from weir.runtime.output.sinks.base import Results

_LARGE = 16 << 20
"""Bytes of a batch from which on it matters where they stay."""


class ExactFile:
    """An append-only file with a log of (batch, length) beside the checkpoint.

    The log is written after the data. On opening, the file is cut to the last length logged, so what a crash
    left half-done is gone; a batch that the log already has is not written again. Both are synced to disk
    while the next batch is computed. ``note`` is what its writer wanted to remember with the last batch.
    """

    def __init__(self, path: Path, log: Path) -> None:
        self.path = path
        self.log = log
        self._file: IO[bytes] | None = None
        self._syncing: Thread | None = None
        self._last = -1
        self._begin = 0
        self.note = ""

    def has(self, batch: int) -> bool:
        """Whether the batch was written before."""
        return batch <= self._last

    def open(self, *, lazy: bool = False) -> None:
        """Cut to what is known to be done; a lazy file is made when there is something to write."""
        length = self._recover()
        if lazy and not length:
            self.path.unlink(missing_ok=True)
            return
        self._open(length)

    def _open(self, length: int) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()
        self._file = self.path.open("r+b")
        size = os.fstat(self._file.fileno()).st_size
        if size < length:
            raise CheckpointError(
                f"{self.path} is shorter than the checkpoint knows it ({size} bytes of {length})",
                hint="put it back, or start again with a new checkpoint",
            )
        self._file.truncate(length)
        self._file.seek(length)
        self._begin = length

    def append(self, batch: int, data: bytes | Iterable[memoryview], note: str = "") -> bool:
        """Write a batch and log it; False where it was written before. A note is one line."""
        if self.has(batch):
            return False
        if self._file is None:
            self._open(0)
        assert self._file is not None
        self._synced()
        begin = self._file.tell()
        if begin - self._begin >= _LARGE:
            _let_go(self._file, self._begin, begin)
        self._begin = begin
        self._file.writelines([data] if isinstance(data, bytes) else data)
        self._file.flush()
        with open(self.log, "ab") as log:
            log.write(f"{batch} {self._file.tell()} {note}".rstrip().encode() + b"\n")
        self._syncing = Thread(target=self._sync, name="weir-sync", daemon=True)
        self._syncing.start()
        self._last, self.note = batch, note
        return True

    def _sync(self) -> None:
        assert self._file is not None
        os.fsync(self._file.fileno())
        with open(self.log, "rb") as log:
            os.fsync(log.fileno())

    def _synced(self) -> None:
        """Wait until what was written last is on disk."""
        if self._syncing is not None:
            self._syncing.join()
            self._syncing = None

    def close(self) -> None:
        self._synced()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _recover(self) -> int:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        data = self.log.read_bytes() if self.log.exists() else b""
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(self.log, whole)
        if not whole:
            return 0
        batch, length, *note = data[:whole].splitlines()[-1].split(maxsplit=2)
        self._last, self.note = int(batch), b"".join(note).decode()
        return int(length)


def _let_go(file: IO[bytes], begin: int, end: int) -> None:
    """The system need not keep these bytes, which are on disk, in memory: what is written next gets their
    pages. A long run would otherwise take page after page that had to be found, and push out what others
    read."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file.fileno(), begin, end - begin, os.POSIX_FADV_DONTNEED)


class JsonLinesFile:
    """Result lines in one file."""

    form = "jsonl"
    promise = "exactly once"

    def __init__(self, path: Path, log: Path) -> None:
        self._file = ExactFile(path, log)

    def open(self) -> None:
        self._file.open()

    def write(self, batch: int, results: Sequence[Results]) -> None:
        self._file.append(batch, pieces(results))

    def close(self) -> None:
        self._file.close()


class JsonLinesOutput:
    """Result lines on an open binary stream, such as standard output."""

    form = "jsonl"
    promise = "at least once"

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def open(self) -> None:
        """Nothing to open."""

    def write(self, batch: int, results: Sequence[Results]) -> None:
        self._stream.writelines(pieces(results))
        self._stream.flush()

    def close(self) -> None:
        """The stream is not ours."""


def pieces(results: Sequence[Results]) -> Iterator[memoryview]:
    """The lines of all results one after the other; Arrow holds them that way already."""
    for result in results:
        for block in result.blocks():
            for chunk in block["line"].chunks:
                offsets, data = chunk.buffers()[1:]
                starts = memoryview(offsets).cast("q")
                first, last = starts[chunk.offset], starts[chunk.offset + len(chunk)]
                if last > first:
                    yield memoryview(data)[first:last]


def joined(results: Sequence[Results]) -> bytes:
    """The same as one text."""
    return b"".join(pieces(results))


def lines_of(result: Results) -> list[bytes]:
    """The result lines one by one, without their ends."""
    return joined([result]).splitlines()
