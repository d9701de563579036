"""Everything that is asked of a disk, one function for each request: what it refuses is a ``StorageError``.

The other modules of the room call these and nothing of the operating system's that changes a file, so a test
can make any of them fail. A file that could not be synced is not to be trusted: Linux says so once and then
takes the pages for written, so whoever appended cuts off what was not synced and writes it again.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from weir.errors import StorageError

APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


@contextmanager
def _asked(request: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        full = error.errno in _FULL
        raise StorageError(
            f"{path} could not be {request}: {error.strerror or error}",
            hint=("make room there" if full else "see to the disk")
            + ", then start again: what was promised is kept, and a checkpoint goes on from there",
        ) from error


def open_file(path: Path, flags: int = APPEND) -> int:
    """Open a file for writing."""
    with _asked("opened", path):
        return os.open(path, flags, 0o644)


def close(file: int) -> None:
    """Close a file; nothing is synced by that, and nothing is promised either."""
    with suppress(OSError):
        os.close(file)


def write(file: int, data: bytes | memoryview, path: Path) -> int:
    """Write some of ``data``; how many bytes. ``path`` is for the message here and below."""
    with _asked("written", path):
        return os.write(file, data)


def truncate(file: int, size: int, path: Path) -> None:
    """Cut a file to a size."""
    with _asked("cut", path):
        os.ftruncate(file, size)


def sync(file: int, path: Path) -> None:
    """Make what was written to a file survive a crash of the machine."""
    with _asked("synced", path):
        os.fdatasync(file)


def sync_folder(folder: Path) -> None:
    """Make names that were added to or removed from a folder survive a crash of the machine."""
    with _asked("synced", folder):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def rename(old: Path, new: Path) -> None:
    """Give a file another name, in place of what had it."""
    with _asked("renamed", old):
        os.replace(old, new)


def link(old: Path, new: Path) -> bool:
    """Give a file a second name; False where something has it already.

    A file system without hard links gives it a new name instead; two that do so at once need a lock.
    """
    with _asked("named", new):
        try:
            os.link(old, new)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if new.exists():
                return False
            os.rename(old, new)
        return True


def remove(path: Path) -> None:
    """Remove a file, if it is there."""
    with _asked("removed", path):
        path.unlink(missing_ok=True)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, if it is there."""
    with _asked("removed", folder), suppress(FileNotFoundError):
        shutil.rmtree(folder)


def make_folder(folder: Path) -> bool:
    """Make a folder; False where it was there."""
    with _asked("made", folder):
        try:
            os.mkdir(folder)
        except FileExistsError:
            if not folder.is_dir():
                raise
            return False
        return True
