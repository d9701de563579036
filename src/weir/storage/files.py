"""Objects that are there whole or not at all: written aside, synced, then given their name.

Law: after ``replace_file`` has returned, the object survives a crash of the machine, and
at no moment does a reader find a part of it under its name.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def sync_folder(folder: Path) -> None:
    """Make names that were added to or removed from a folder survive a crash of the machine."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def writing(path: Path, *, durable: bool = True) -> Iterator[IO[bytes]]:
    """An open file that takes the name ``path`` when the block ends, in place of what had it.

    Where the block raises, nothing has changed. What need not survive a crash of the machine, such as a cache
    or a flag, is not ``durable``: it still appears whole.
    """
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        with open(aside, "wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def replace_file(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Make ``data`` the content of ``path``, whether or not it is there."""
    with writing(path, durable=durable) as file:
        file.write(data)


def numbered(folder: Path, suffix: str = "") -> list[int]:
    """The numbers that name objects of a folder (``12.seg`` has the suffix ``.seg``), ascending."""
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    stems = (name.removesuffix(suffix) for name in names if name.endswith(suffix))
    return sorted(int(stem) for stem in stems if stem.isdigit())
