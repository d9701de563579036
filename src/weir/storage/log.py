"""Logs: files that only grow. What an append has synced is promised; what a crash left beyond it is cut off.

``AppendFile`` is the file itself, whose owner knows how far it is good. ``LineLog`` needs nobody to know: its
records are lines, and a last line without its end was never promised.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from weir.errors import CheckpointError
from weir.storage.files import replace_file, sync_folder

Piece = bytes | bytearray | memoryview


class AppendFile:
    """A file open for appending. On opening it is cut to ``size`` bytes; None takes all there is.

    A file that is shorter than ``size`` has lost what was promised: a ``CheckpointError``. One that is not
    ``durable`` may be gone after a crash of the machine, whatever was synced.
    """

    def __init__(self, path: Path, size: int | None = None, *, durable: bool = True) -> None:
        self.path = path
        new = not path.exists()
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            found = os.fstat(self._file).st_size
            self.size = found if size is None else size
            if found < self.size:
                raise CheckpointError(
                    f"{path} is shorter than the checkpoint knows it ({found} bytes of {size})",
                    hint="put it back, or start again with a new checkpoint",
                )
            if found > self.size:
                self.undo()
            if new and durable:
                sync_folder(path.parent)
        except BaseException:
            os.close(self._file)
            raise

    def append(self, *pieces: Piece, sync: bool = True) -> int:
        """Write the pieces one after the other; the size then. Without ``sync`` nothing is promised yet."""
        for piece in pieces:
            rest = memoryview(piece).cast("B")
            while len(rest):
                rest = rest[os.write(self._file, rest) :]
        if sync:
            self.sync()
        self.size += sum(memoryview(piece).nbytes for piece in pieces)
        return self.size

    def sync(self) -> None:
        """Promise what was appended."""
        os.fdatasync(self._file)

    def undo(self) -> None:
        """Cut off what a failed append has left behind ``size``."""
        os.ftruncate(self._file, self.size)

    def close(self) -> None:
        """Close the file; nothing is synced by that."""
        os.close(self._file)


class LineLog:
    """A log whose records are lines. It has one writer at a time and any number of readers.

    Appending needs no open file in between, so a log that grows seldom costs nothing meanwhile.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = 0

    def append(self, lines: Iterable[bytes], *, sync: bool = True) -> None:
        """Add records, which have no line end in them; all of them or, after a crash, the first few.

        Without ``sync`` they are promised once ``sync`` was called.
        """
        data = b"".join(line + b"\n" for line in lines)
        if not data:
            return
        file = AppendFile(self.path, self._whole(), durable=sync)
        try:
            file.append(data, sync=sync)
        finally:
            file.close()

    def sync(self) -> None:
        """Promise every record."""
        file = AppendFile(self.path)
        try:
            file.sync()
        finally:
            file.close()
        sync_folder(self.path.parent)

    def lines(self) -> list[bytes]:
        """Every record."""
        return self._since(0)

    def more(self) -> list[bytes]:
        """The records that this reader has not been given by ``more`` yet."""
        found = self._since(self._read)
        self._read += sum(len(line) + 1 for line in found)
        return found

    def rewrite(self, lines: Iterable[bytes]) -> None:
        """Put these records in place of all others. Readers that follow with ``more`` lose their place."""
        replace_file(self.path, b"".join(line + b"\n" for line in lines))

    def _since(self, begin: int) -> list[bytes]:
        try:
            if os.stat(self.path).st_size <= begin:
                return []
            with open(self.path, "rb") as file:
                file.seek(begin)
                data = file.read()
        except FileNotFoundError:
            return []
        return data.split(b"\n")[:-1]

    def _whole(self) -> int:
        """The bytes up to the end of the last whole line, found from the end of the file."""
        try:
            with open(self.path, "rb") as file:
                place = file.seek(0, os.SEEK_END)
                while place:
                    begin = max(0, place - (1 << 16))
                    file.seek(begin)
                    found = file.read(place - begin).rfind(b"\n")
                    if found >= 0:
                        return begin + found + 1
                    place = begin
        except FileNotFoundError:
            pass
        return 0
