"""Objects that are there whole or not at all: written aside, synced, then given their name.

Law: after a call has returned, what it wrote survives a crash of the machine, and at no moment does a reader
find a part of it under its name. What need not survive that, such as a cache or a flag, is not ``durable``:
it still appears whole. On a store (``remote``) every object is durable, and there are no folders to make.
"""

from __future__ import annotations

import io
import mmap
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, cast

from weir.errors import StorageError
from weir.storage import disk
from weir.storage.remote import RemotePath

_HELD = 16 << 20
"""Bytes of an object that are in memory before it goes to a store; of a larger one they are on disk."""


class _Aside(io.RawIOBase):
    """A new file that is written to from its beginning."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = disk.open_file(path, disk.NEW)

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        whole = rest = memoryview(data).cast("B")
        while len(rest):
            rest = rest[disk.write(self.file, rest, self.path) :]
        return len(whole)

    def close(self) -> None:
        if not self.closed:
            disk.close(self.file)
        super().close()


@contextmanager
def _written(path: Path, durable: bool) -> Iterator[_Aside]:
    """A file aside, synced when the block ends; it is gone where the block raises."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        with _Aside(aside) as file:
            yield file
            if durable:
                disk.sync(file.file, aside)
    except BaseException:
        with suppress(StorageError):
            disk.remove(aside)
        raise


@contextmanager
def writing(path: Path, *, durable: bool = True) -> Iterator[IO[bytes]]:
    """An open file that takes the name ``path`` when the block ends, in place of what had it.

    Where the block raises, nothing has changed.
    """
    if isinstance(path, RemotePath):
        with SpooledTemporaryFile(_HELD) as held:
            yield cast("IO[bytes]", held)
            size = held.tell()
            held.seek(0)
            path.store.put(path.key, cast("IO[bytes]", held), size)
        return
    with _written(path, durable) as aside:
        yield cast("IO[bytes]", aside)
    move(aside.path, path, durable=durable)


def replace_file(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Make ``data`` the content of ``path``, whether or not it is there."""
    with writing(path, durable=durable) as file:
        file.write(data)


def put_if_absent(path: Path, data: bytes, *, durable: bool = True) -> bool:
    """Make an object that is never changed again; False where there is one of that name."""
    if isinstance(path, RemotePath):
        return path.store.put_if_absent(path.key, data)
    with _written(path, durable) as file:
        file.write(data)
    try:
        made = disk.link(file.path, path)
    finally:
        with suppress(StorageError):
            disk.remove(file.path)
    if made and durable:
        try:
            disk.sync_folder(path.parent)
        except StorageError:
            with suppress(StorageError):
                disk.remove(path)
            raise
    return made


def add_lines(path: Path, lines: bytes) -> None:
    """Add lines to a file that others may add to as well, at the same time. Nothing is cut off that is there:
    a last line without an end, which a crash may have left, gets one."""
    file = disk.open_file(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        found = os.fstat(file).st_size
        rest = memoryview(lines)
        if found and os.pread(file, 1, found - 1) != b"\n":
            rest = memoryview(b"\n" + lines)
        while len(rest):
            rest = rest[disk.write(file, rest, path) :]
        disk.sync(file, path)
        if not found:
            disk.sync_folder(path.parent)
    finally:
        disk.close(file)


def move(old: Path, new: Path, *, durable: bool = True) -> None:
    """Give a file or folder another name, in place of a file that had it."""
    if isinstance(old, RemotePath):
        old.store.move(old.key, cast("RemotePath", new).key)
        return
    try:
        disk.rename(old, new)
    except StorageError:
        if old.name.endswith(".partial"):
            with suppress(StorageError):
                disk.remove(old)
        raise
    if durable:
        disk.sync_folder(new.parent)
        if old.parent != new.parent:
            disk.sync_folder(old.parent)


def keep(path: Path, name: Path) -> None:
    """Give a file that somebody wrote a second name, in place of a file that had it, and make it survive a
    crash of the machine under that."""
    disk.remove(name)
    file = disk.open_file(path, os.O_RDONLY)
    try:
        disk.sync(file, path)
    finally:
        disk.close(file)
    disk.link(path, name)
    disk.sync_folder(name.parent)


def remove(path: Path) -> None:
    """Remove a file, if it is there. It may be there again after a crash of the machine."""
    if isinstance(path, RemotePath):
        path.store.remove(path.key)
    else:
        disk.remove(path)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, if it is there; as ``remove``."""
    if isinstance(folder, RemotePath):
        folder.store.remove_tree(folder.key)
    else:
        disk.remove_folder(folder)


def make_folder(folder: Path, *, durable: bool = True) -> None:
    """Make a folder, and those above it that are missing."""
    if isinstance(folder, RemotePath) or folder.is_dir():
        return
    if folder.parent != folder:
        make_folder(folder.parent, durable=durable)
    if disk.make_folder(folder) and durable:
        disk.sync_folder(folder.parent)


def sync_tree(folder: Path) -> None:
    """Make a folder that others wrote survive a crash of the machine, with all that is in it."""
    if isinstance(folder, RemotePath):
        return
    for path, _, names in os.walk(folder, topdown=False):
        for name in names:
            file = disk.open_file(Path(path) / name, os.O_RDONLY)
            try:
                disk.sync(file, Path(path) / name)
            finally:
                disk.close(file)
        disk.sync_folder(Path(path))


def names(folder: Path) -> list[str]:
    """The names in a folder, none where it is not there."""
    if isinstance(folder, RemotePath):
        return [name for name, _ in folder.store.children(folder.key)]
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def file_names(folder: Path) -> list[str]:
    """The names of the files in a folder."""
    if isinstance(folder, RemotePath):
        return [name for name, status in folder.store.children(folder.key) if not status.folder]
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries if entry.is_file()]


def read_range(path: Path, begin: int, end: int) -> bytes:
    """Some bytes of a file, fewer where it ends before."""
    if isinstance(path, RemotePath):
        return path.read_range(begin, end)
    with open(path, "rb") as file:
        file.seek(begin)
        return file.read(end - begin)


def opened(path: Path) -> IO[bytes]:
    """A file to read from."""
    return cast("IO[bytes]", path.open("rb"))


def mapped(path: Path) -> mmap.mmap | bytes:
    """The bytes of a file, which may be removed meanwhile: mapped, or from a store as they are."""
    if isinstance(path, RemotePath):
        return path.read_bytes()
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def numbered(folder: Path, suffix: str = "") -> list[int]:
    """The numbers that name objects of a folder (``12.seg`` has the suffix ``.seg``), ascending."""
    stems = (name.removesuffix(suffix) for name in names(folder) if name.endswith(suffix))
    return sorted(int(stem) for stem in stems if stem.isdigit())


class Scratch:
    """A few bytes that are written over in place, as often as somebody likes: they outlive the process, and
    need not outlive the machine."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = disk.open_file(path, os.O_RDWR | os.O_CREAT)

    def read(self) -> bytes:
        return os.pread(self.file, os.fstat(self.file).st_size, 0)

    def write(self, data: bytes) -> None:
        """Put ``data`` in place of what is there."""
        disk.truncate(self.file, os.pwrite(self.file, data, 0), self.path)

    def close(self) -> None:
        disk.close(self.file)
