"""The right to write to a folder: one process has it, and one that has lost it is told before it commits.

    DIR/lock        held by the writer, with its name in it; another one is refused
    DIR/epochs/N    the N-th writer there ever was; each takes the next number, and one number is taken once

The lock keeps two writers of one machine apart, and those of several where the file system has locks. The
epoch holds also where it has none, or where a writer was cut off and came back: the newest counts, and every
older one finds that out before its next commit. A store has epochs alone: there whoever comes later takes
over.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from weir.errors import CheckpointError, StorageError
from weir.storage import disk
from weir.storage.files import make_folder, numbered, put_if_absent, remove
from weir.storage.remote import RemotePath

_LOCK, _EPOCHS = "lock", "epochs"
_KEPT = 8
"""Epochs that are kept, for people to read."""
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)


class Lease:
    """Taken by being made; ``folder`` is what is written to."""

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        self.folder = folder
        make_folder(folder / _EPOCHS, durable=durable)
        on_disk = not isinstance(folder, RemotePath)
        self._lock = locked(folder / _LOCK) if on_disk else None
        if on_disk and self._lock is None:
            raise CheckpointError(
                f"another job runs with the checkpoint {folder.parent}",
                detail=_said(folder / _LOCK),
                hint="stop it first, or give this one a checkpoint of its own",
            )
        try:
            own = f"process {os.getpid()} on {socket.gethostname()}, since {_now()}".encode()
            if self._lock is not None:
                os.ftruncate(self._lock, 0)
                os.pwrite(self._lock, own, 0)
            self.epoch = newest(folder) + 1
            while not put_if_absent(self._path(self.epoch), own, durable=durable):
                self.epoch = newest(folder) + 1
            with suppress(StorageError):
                for number in numbered(folder / _EPOCHS)[:-_KEPT]:
                    remove(self._path(number))
        except BaseException:
            self.close()
            raise

    def check(self) -> None:
        """Raise where another writer came later."""
        check(self.folder, self.epoch)

    def close(self) -> None:
        """Let another writer have it."""
        if self._lock is not None:
            disk.close(self._lock)
            self._lock = None

    def _path(self, number: int) -> Path:
        return self.folder / _EPOCHS / str(number)


def newest(folder: Path) -> int:
    """The epoch of the latest writer of a folder, 0 where there was none."""
    return max(numbered(folder / _EPOCHS), default=0)


def check(folder: Path, epoch: int) -> None:
    """Raise where ``folder`` has a later writer than that of ``epoch``."""
    latest = newest(folder)
    if latest > epoch:
        raise CheckpointError(
            f"another job has taken over the checkpoint {folder.parent}",
            detail=_said(folder / _EPOCHS / str(latest)),
            hint="this one has stopped and writes nothing more; go on with the other one",
        )


def locked(path: Path) -> int | None:
    """Lock a file, which is made; None where another process has it. The lock goes with the process, and is
    none where the file system has no locks."""
    lock = disk.open_file(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        disk.close(lock)
        return None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            disk.close(lock)
            raise
    return lock


def _said(path: Path) -> str | None:
    with suppress(OSError):
        return path.read_text(errors="replace") or None
    return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
