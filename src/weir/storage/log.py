"""Logs: files that only grow. What an append has synced is promised; what a crash left beyond it is cut off.

``AppendFile`` is the file itself, whose owner knows how far it is good. ``RecordLog`` needs nobody to know:
its records have checksums and numbers.
"""

from __future__ import annotations

import os
import secrets
import zlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from weir.errors import CheckpointError, StorageError
from weir.storage import disk
from weir.storage.files import make_folder, numbered, put_if_absent, remove

Piece = bytes | bytearray | memoryview
_RECORDS = ".log"
_FEW, _TOGETHER = 4, 16
"""Files that are synced one by one, and at most how many of more at once."""


class AppendFile:
    """A file open for appending. On opening it is cut to ``size`` bytes; None takes all there is.

    A file that is shorter than ``size`` has lost what was promised: a ``CheckpointError``. An append that
    fails leaves nothing behind: what it wrote is cut off, at the latest before the next one. Nothing is
    synced in a file that is not ``durable``.
    """

    def __init__(self, path: Path, size: int | None = None, *, durable: bool = True) -> None:
        self.path = path
        self.durable = durable
        new = not path.exists()
        self._file = disk.open_file(path)
        try:
            found = os.fstat(self._file).st_size
            self.size = found if size is None else size
            if found < self.size:
                raise CheckpointError(
                    f"{path} is shorter than the checkpoint knows it ({found} bytes of {size})",
                    hint="put it back, or start again with a new checkpoint",
                )
            self._torn = found > self.size
            self._cut()
            if new and durable:
                disk.sync_folder(path.parent)
        except BaseException:
            disk.close(self._file)
            raise

    def append(self, pieces: Iterable[Piece], *, sync: bool = True) -> int:
        """Write the pieces one after the other; the size then. Without ``sync`` they are promised once
        ``sync`` was called."""
        self._cut()
        size = self.size
        self._alone(size)
        self._torn = True
        try:
            for piece in pieces:
                rest = memoryview(piece).cast("B")
                size += len(rest)
                while len(rest):
                    rest = rest[disk.write(self._file, rest, self.path) :]
            if sync:
                self.sync()
        except BaseException:
            with suppress(StorageError):
                self._cut()
            raise
        self._torn = False
        self._alone(size)
        self.size = size
        return size

    def sync(self) -> None:
        """Promise what was appended."""
        if self.durable:
            disk.sync(self._file, self.path)

    @staticmethod
    def sync_all(files: Sequence[AppendFile]) -> None:
        """Promise what was appended to several files; the disk does better with many at once."""
        if len(files) < _FEW:
            for file in files:
                file.sync()
            return
        with ThreadPoolExecutor(_TOGETHER) as pool:
            list(pool.map(AppendFile.sync, files))

    def undo(self, size: int) -> None:
        """Take back what was appended behind ``size``; where the disk refuses, before the next append. Where
        another process has written behind it, nothing is: what is there is not this one's."""
        if not self._torn and os.fstat(self._file).st_size != self.size:
            return
        self.size = size
        self._torn = True
        with suppress(StorageError):
            self._cut()

    def close(self) -> None:
        """Close the file; nothing is synced by that."""
        disk.close(self._file)

    def _alone(self, size: int) -> None:
        """Raise where the file has another size than this writer gave it."""
        found = os.fstat(self._file).st_size
        if found != size:
            raise CheckpointError(
                f"another process has written to {self.path} ({found} bytes instead of {size})",
                hint="stop it: what a job writes to has one writer",
            )

    def _cut(self) -> None:
        if self._torn:
            disk.truncate(self._file, self.size, self.path)
            self.sync()
            self._torn = False


class RecordLog:
    """Records with numbers, from 0 in the order in which they were appended: a number is written once.

    The log is a folder.

        N        somebody took the log over for writing, as the N-th, and has a name; a number is given once
        N.log    from then on: the records there were, and those that were appended since

    A record is a line with its checksum in front. The first line says which number the first record has, for
    a log can be written anew with fewer records. There is one writer at a time, and any number of readers:
    each is given what is new, or, where the log was written anew, everything that is left.

    A writer appends and then looks whether another one has taken over: only where none has, it promises. One
    that takes over reads what there is after it has said so. So whatever was promised is read, however long
    the earlier writer was held up, and whatever it appends later is in a file that nobody reads any more.

    A last line that is torn was never promised. One that is damaged, with good ones behind it, is a
    ``CheckpointError``.
    """

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        self.path = path
        self.durable = durable
        self.first = 0
        self.end = 0
        self.version = 0
        self._head = b""
        self._read = 0
        self._seen = (0, 0, 0)
        self._name = secrets.token_hex(8).encode()
        self._turn: int | None = None
        self._own: Path | None = None
        self._good = 0, 0
        self._torn = False

    def append(self, records: Sequence[bytes], at: int | None = None) -> None:
        """Add records, which have no line end in them; all of them, or after a crash the first few. The first
        one gets the number ``at``, where that is given. A ``CheckpointError`` says that another writer has
        taken over, or has given that number."""
        if not records:
            return
        if self._own is None:
            self._take_over()
        self._alone()
        assert self._own is not None
        size, end = self._good
        if at not in (None, end):
            raise self._taken()
        file = AppendFile(self._own, size if self._torn else None, durable=self.durable)
        self._torn = True
        try:
            if file.size != size:
                raise self._taken()
            good = file.append([_line(record) for record in records]), end + len(records)
            self._alone()
            self._good, self._torn = good, False
        except CheckpointError:
            # What is there belongs to somebody else.
            self._torn = False
            raise
        finally:
            file.close()

    def more(self) -> list[bytes]:
        """The records that this reader has not been given yet; ``end`` is the number behind the last one it
        knows. Where the log was written anew, ``version`` is another one, and they are all records that are
        left, from number ``first`` on."""
        while numbers := numbered(self.path, _RECORDS):
            # A file that is gone by now has been replaced.
            with suppress(FileNotFoundError):
                return self._more(self.path / f"{numbers[-1]}{_RECORDS}")
        return []

    def _more(self, path: Path) -> list[bytes]:
        status = os.stat(path)
        seen = status.st_ino, status.st_size, status.st_mtime_ns
        if seen == self._seen or not status.st_size:
            return []
        with open(path, "rb") as file:
            head = file.readline()
            begin = self._read if head == self._head else len(head)
            file.seek(begin)
            # What this writer could neither promise nor cut off is not there.
            torn = self._torn and path == self._own
            data = file.read(max(self._good[0] - begin, 0) if torn else -1)
        self._seen = seen
        if head != self._head:
            told = _record(head.removesuffix(b"\n")) if head.endswith(b"\n") else None
            if told is None:
                raise self._damaged(0)
            self.first = self.end = int(told.split()[0])
            self.version += 1
            self._head = head
        found, length = self._parsed(data, begin)
        self._read = begin + length
        self.end += len(found)
        return found

    def rewrite(self, records: Sequence[bytes], end: int) -> None:
        """Put these records in place of all others; the number behind the last one is ``end``. Raises as
        ``append`` does."""
        if len(records) > end:
            raise ValueError(f"{len(records)} records do not end at {end}")
        if self._own is None:
            self._take_over()
        if self._good[1] != end:
            raise self._taken()
        self._alone()
        if not self._take_turn():
            raise self._taken()
        self._put(records, end)

    def _take_over(self) -> None:
        """Become the one who writes. What was read before may be in memory only: all is written anew."""
        make_folder(self.path, durable=self.durable)
        while not self._take_turn():
            pass
        reader = RecordLog(self.path)
        self._put(reader.more(), reader.end)

    def _take_turn(self) -> bool:
        """Take the next number; False where somebody was faster."""
        turn = 1 + max(numbered(self.path), default=-1)
        if not put_if_absent(self.path / str(turn), self._name, durable=self.durable):
            return False
        self._turn = turn
        return True

    def _put(self, records: Sequence[bytes], end: int) -> None:
        """Put records into the file of this turn, and remove what it replaces."""
        turn = self._turn
        assert turn is not None
        data = b"".join([_head(end - len(records)), *(_line(record) for record in records)])
        own = self.path / f"{turn}{_RECORDS}"
        made = put_if_absent(own, data, durable=self.durable)
        self._alone()
        if not made:
            raise self._taken()
        self._own, self._good, self._torn = own, (len(data), end), False
        with suppress(StorageError):
            for suffix in (_RECORDS, ""):
                for old in numbered(self.path, suffix):
                    if old < turn:
                        remove(self.path / f"{old}{suffix}")

    def _alone(self) -> None:
        """Raise where another writer has taken over. A number that this one took and could not promise is its
        own all the same."""
        turn = max(numbered(self.path), default=-1)
        if turn != self._turn:
            with suppress(FileNotFoundError):
                if (self.path / str(turn)).read_bytes() == self._name:
                    self._turn = turn
                    return
            raise self._taken()

    def _taken(self) -> CheckpointError:
        return CheckpointError(
            f"another process has written to {self.path}",
            hint="stop it: a checkpoint has one running job at a time",
        )

    def _parsed(self, data: bytes, begin: int) -> tuple[list[bytes], int]:
        """The whole records of some bytes, and how many bytes they have."""
        lines = data.split(b"\n")[:-1]
        found: list[bytes] = []
        length = 0
        for place, line in enumerate(lines):
            record = _record(line)
            if record is None:
                if any(_record(later) is not None for later in lines[place + 1 :]):
                    raise self._damaged(begin + length)
                break
            found.append(record)
            length += len(line) + 1
        return found, length

    def _damaged(self, byte: int) -> CheckpointError:
        return CheckpointError(
            f"{self.path} is damaged at byte {byte}",
            hint="put the folder back as it was, or start again with a new one",
        )


def _line(record: bytes) -> bytes:
    return b"%08x %b\n" % (zlib.crc32(record), record)


def _record(line: bytes) -> bytes | None:
    """The record of a line, None where its checksum is another."""
    record = line[9:]
    return record if line[:9] == b"%08x " % zlib.crc32(record) else None


def _head(first: int) -> bytes:
    """The first line; it differs from that of every other version of the log."""
    return _line(f"{first} {secrets.token_hex(8)}".encode())
