"""What is too large to pass through the JVM: it goes by file, and a row carries the name.

Frames of a large batch and the answers of a productive one would be copied half a dozen times on their way
through Spark's rows, and a few of them fill its heap. Where the checkpoint's folder can be written to,
whatever exceeds ``INLINE`` bytes is a file in it until the batch is done; small batches never touch the disk.
A file is complete before anybody knows its name, so a task that is run again leaves one that nobody reads.

Files of answers are written over in later batches where nobody looks at them any more: pages that the system
has to find anew cost far more than the bytes in them, above all on a virtual machine.
"""

from __future__ import annotations

import contextlib
import io
import mmap
import os
import secrets
import shutil
import weakref
from pathlib import Path
from typing import IO, Any

Buffer = bytes | mmap.mmap
INLINE = 1 << 18
_MARK = b"weir-spool\x00"
_FREE = "free"
_MOST_FREE = 16


class Pile(io.RawIOBase):
    """Something that is written piece by piece, without anybody knowing how large it will be.

    ``folder`` is where it goes once it is large; None keeps it in memory. ``free`` has files that may be
    written over.
    """

    def __init__(self, folder: Path | None = None, free: Path | None = None) -> None:
        self._folder = folder
        self._free = free
        self._held: list[bytes] = []
        self._size = 0
        self._file: IO[bytes] | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        """Take one piece."""
        piece = memoryview(data).cast("B")
        self._size += len(piece)
        if self._file is None and self._folder is not None and self._size > INLINE:
            self._file = _opened(self._folder, self._free)
            if self._file is None:
                self._folder = None
            else:
                _write(self._file, b"".join(self._held))
                self._held = []
        if self._file is None:
            self._held.append(bytes(piece))
        else:
            _write(self._file, piece)
        return len(piece)

    def carried(self) -> bytes:
        """What a row carries: everything, or a name. No more can be written then."""
        if self._file is None:
            return b"".join(self._held)
        self._file.close()
        path = Path(self._file.name)
        return _MARK + f"{path.parent.name}/{path.name}/{self._size}".encode()


def _write(file: IO[bytes], piece: bytes | memoryview) -> None:
    """All of it: a file without a buffer may take a part, as where the disk is nearly full."""
    rest = memoryview(piece)
    while len(rest):
        rest = rest[file.write(rest) :]


def _opened(folder: Path, free: Path | None) -> IO[bytes] | None:
    """A file to write from its beginning, None where none can be made."""
    path = folder / secrets.token_hex(12)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if free is not None and free.exists():
            for known in free.iterdir():
                with contextlib.suppress(FileNotFoundError):  # Another task was quicker.
                    known.rename(path)
                    return open(path, "r+b", buffering=0)
        return open(path, "wb", buffering=0)
    except OSError:
        return None


class Spool:
    """The files of a checkpoint, by batch. Where workers and driver are on one machine, what the driver has
    read may be ``reused``; elsewhere a file system might show it what was there before."""

    def __init__(self, own: Path, *, reused: bool = False) -> None:
        self._folder = own / "spool"
        self._free = self._folder / _FREE
        self._reused = reused
        self._mapped: list[tuple[Path, weakref.ref[mmap.mmap]]] = []

    def pile(self, batch: int) -> Pile:
        """For answers, which are made piece by piece."""
        return Pile(self._folder / str(batch), self._free)

    def put(self, batch: int, *pieces: Buffer | memoryview) -> bytes:
        """What a row carries in place of all pieces: themselves, or a name."""
        pile = Pile(self._folder / str(batch))
        for piece in pieces:
            pile.write(piece)
        return pile.carried()

    def get(self, carried: bytes) -> Buffer:
        """What was put or piled up; a file is mapped, and may be removed while it is."""
        if not carried.startswith(_MARK):
            return carried
        batch, name, size = carried[len(_MARK) :].decode().split("/")
        path = self._folder / batch / name
        with open(path, "rb") as file:
            mapped = mmap.mmap(file.fileno(), int(size), access=mmap.ACCESS_READ)
        if self._reused:
            self._mapped.append((path, weakref.ref(mapped)))
        return mapped

    def clear(self, batch: int | None = None) -> None:
        """Remove the files of a batch that is done, or all; a few that nobody looks at are kept for later."""
        mapped, self._mapped = self._mapped, []
        if batch is not None:
            with contextlib.suppress(OSError):
                self._set_free(mapped)
        shutil.rmtree(self._folder if batch is None else self._folder / str(batch), ignore_errors=True)

    def _set_free(self, mapped: list[tuple[Path, weakref.ref[mmap.mmap]]]) -> None:
        done = [path for path, each in mapped if each() is None]  # Sinks may keep what they were given.
        if not done:
            return
        self._free.mkdir(parents=True, exist_ok=True)
        room = _MOST_FREE - len(os.listdir(self._free))
        for path in done[: max(room, 0)]:
            path.rename(self._free / path.name)
