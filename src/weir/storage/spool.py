"""What is too large to pass through the JVM: it goes by file, and a row carries the file's name.

Frames of a large batch and the answers of a productive one would be copied half a dozen times on their way
through Spark's rows, and a few of them fill its heap. Where the checkpoint's folder can be written to,
whatever exceeds ``INLINE`` bytes is a file in it until the batch is done; small batches never touch the disk.
A file is complete before anybody knows its name, so a task that is run again leaves one that nobody reads.
"""

from __future__ import annotations

import io
import mmap
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from weir.errors import StorageError
from weir.storage import disk
from weir.storage.files import make_folder, remove_folder, replace_file
from weir.storage.remote import RemotePath

Buffer = bytes | mmap.mmap
INLINE = 1 << 18
_MARK = b"weir-spool\x00"


class SpoolWriter(io.RawIOBase):
    """Takes data piece by piece, whose size nobody knows yet.

    Once it is large it goes to a file in ``folder``; None keeps it in memory.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._held: list[bytes] = []
        self._size = 0
        self._file: _SpoolFile | _SpoolObject | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        """Take one piece."""
        piece = memoryview(data).cast("B")
        self._size += len(piece)
        if self._file is None and self._folder is not None and self._size > INLINE:
            self._file = _new_file(self._folder)
            if self._file is None:
                self._folder = None
            else:
                for held in self._held:
                    self._file.write(held)
                self._held = []
        if self._file is None:
            self._held.append(bytes(piece))
        else:
            self._file.write(piece)
        return len(piece)

    def carried(self) -> bytes:
        """What a row carries: everything, or a name. No more can be written then."""
        if self._file is None:
            return b"".join(self._held)
        self._file.close()
        path = self._file.path
        return _MARK + f"{path.parent.name}/{path.name}".encode()


class _SpoolFile:
    """A new file that is written to until it is closed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = disk.open_file(path, disk.NEW)

    def write(self, data: bytes | memoryview) -> None:
        rest = memoryview(data)
        while len(rest):
            rest = rest[disk.write(self._file, rest, self.path) :]

    def close(self) -> None:
        disk.close(self._file)


class _SpoolObject:
    """The same on a store: it is there once it is closed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held: list[bytes] = []

    def write(self, data: bytes | memoryview) -> None:
        self._held.append(bytes(data))

    def close(self) -> None:
        replace_file(self.path, b"".join(self._held))


def _new_file(folder: Path) -> _SpoolFile | _SpoolObject | None:
    """A new file in a folder, None where none can be made."""
    if isinstance(folder, RemotePath):
        return _SpoolObject(folder / secrets.token_hex(12))
    try:
        make_folder(folder, durable=False)
        return _SpoolFile(folder / secrets.token_hex(12))
    except StorageError:
        return None


class Mapped(mmap.mmap):
    """A file's bytes; ``path`` says which."""

    path: Path


class Spool:
    """The files of a checkpoint, by batch."""

    def __init__(self, own: Path) -> None:
        self._folder = own / "spool"

    def writer(self, batch: int) -> SpoolWriter:
        """For answers, which are made piece by piece."""
        return SpoolWriter(self._folder / str(batch))

    def put(self, batch: int, *pieces: Buffer | memoryview) -> bytes:
        """What a row carries in place of all pieces: themselves, or a name."""
        writer = self.writer(batch)
        for piece in pieces:
            writer.write(piece)
        return writer.carried()

    def get(self, carried: bytes) -> Buffer:
        """What was written; a file is mapped, and may be removed while it is."""
        if not carried.startswith(_MARK):
            return carried
        path = self._folder / carried[len(_MARK) :].decode()
        if isinstance(path, RemotePath):
            return path.read_bytes()
        with open(path, "rb") as file:
            found = Mapped(file.fileno(), 0, access=mmap.ACCESS_READ)
        found.path = path
        return found

    def clear(self, batch: int | None = None) -> None:
        """Remove the files of a batch that is done, or all."""
        with suppress(StorageError):
            remove_folder(self._folder if batch is None else self._folder / str(batch))
