"""What is too large to pass through the JVM: it goes by file, and a row carries the name.

Frames of a large batch and the answers of a productive one would be copied half a dozen times on their way
through Spark's rows, and a few of them fill its heap. Where the checkpoint's folder can be written to,
whatever exceeds ``INLINE`` bytes is a file in it until the batch is done; small batches never touch the disk.
A file is complete before anybody knows its name, so a task that is run again leaves one that nobody reads.
"""

from __future__ import annotations

import contextlib
import mmap
import secrets
import shutil
from pathlib import Path

Buffer = bytes | mmap.mmap
INLINE = 1 << 18
_MARK = b"weir-spool\x00"


class Spool:
    """The files of a checkpoint, by batch."""

    def __init__(self, own: Path) -> None:
        self._folder = own / "spool"

    def put(self, batch: int, data: Buffer) -> bytes:
        """What a row carries in place of ``data``: itself, or a name."""
        if len(data) <= INLINE:
            return data[:]
        path = self._folder / str(batch) / secrets.token_hex(12)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError:
            with contextlib.suppress(OSError):
                path.unlink()
            return data[:]
        return _MARK + f"{batch}/{path.name}".encode()

    def get(self, carried: bytes) -> Buffer:
        """What ``put`` was given; a file is mapped, and may be removed while it is."""
        if not carried.startswith(_MARK):
            return carried
        batch, _, name = carried[len(_MARK) :].decode().partition("/")
        with open(self._folder / batch / name, "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def clear(self, batch: int | None = None) -> None:
        """Remove the files of a batch that is done, or all."""
        shutil.rmtree(self._folder if batch is None else self._folder / str(batch), ignore_errors=True)
