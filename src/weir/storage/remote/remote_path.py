"""A path on a store: it joins, compares and names as any ``Path`` does, and the store says what is there.

Its parts are ``/``, the scheme with a colon, the bucket or host, and the key's; its text is the URI. What the
operating system is asked by such a path would be found nowhere: it is refused before.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import PosixPath
from typing import Any
from urllib.parse import urlsplit

from weir.errors import UsageError
from weir.extras import load
from weir.storage.remote.stores import Status, Store

SCHEMES = {
    "s3": ("s3_store", "S3Store"),
    "s3a": ("s3_store", "S3Store"),
    "hdfs": ("hdfs_store", "HdfsStore"),
}
"""What speaks each scheme: a module and its class."""


@cache
def _store(scheme: str, authority: str, process: int) -> Store:
    module, name = SCHEMES[scheme]
    made: Store = getattr(load(f"weir.storage.remote.{module}"), name)(scheme, authority)
    return made


class RemotePath(PosixPath):
    """An object, or the folder of those whose names begin with it."""

    @staticmethod
    def of(uri: str) -> RemotePath:
        """The path of a URI of a known scheme."""
        parts = urlsplit(uri, allow_fragments=False)
        key = parts.path + (f"?{parts.query}" if parts.query else "")
        if not parts.netloc:
            raise UsageError(f"no bucket or host in {uri}", hint=f"{parts.scheme}://NAME/path")
        # Hadoop, which keeps Spark's part, knows s3 by the name of s3a.
        scheme = "s3a" if parts.scheme == "s3" else parts.scheme
        return RemotePath(f"/{scheme}:/{parts.netloc}", *key.split("/"))

    @property
    def store(self) -> Store:
        """Who is asked; a process has its own connections."""
        return _store(self.parts[1][:-1], self.parts[2], os.getpid())

    @property
    def key(self) -> str:
        return "/".join(self.parts[3:])

    def __str__(self) -> str:
        return f"{self.parts[1]}//{'/'.join(self.parts[2:])}" if len(self.parts) > 2 else "/"

    def __fspath__(self) -> str:
        raise UsageError(
            f"{self} is not on a disk, and what is wanted of it works on one only", hint="give a local path"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return RemotePath, self.parts

    def absolute(self) -> RemotePath:
        return self

    def resolve(self, strict: bool = False) -> RemotePath:
        return self

    def as_uri(self) -> str:
        return str(self)

    def status(self) -> Status | None:
        """What is there, None where nothing is."""
        return self.store.status(self.key)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        found = self.status()
        if found is None:
            raise FileNotFoundError(str(self))
        mode = 0o40755 if found.folder else 0o100644
        times = {"st_mtime": found.modified, "st_mtime_ns": int(found.modified * 1e9)}
        return os.stat_result((mode, 0, 0, 1, 0, 0, found.size, *(int(found.modified),) * 3), times)

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        return self.status() is not None

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        found = self.status()
        return found is not None and found.folder

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        found = self.status()
        return found is not None and not found.folder

    def read_range(self, begin: int, end: int | None = None) -> bytes:
        """Some of its bytes."""
        return self.store.read(self.key, begin, end)

    def read_bytes(self) -> bytes:
        return self.read_range(0)

    def read_text(
        self, encoding: str | None = None, errors: str | None = None, newline: str | None = None
    ) -> str:
        return str(self.read_bytes(), encoding or "utf-8", errors or "strict")

    def open(self, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        """The object in memory, to be read only; ``weir.storage.files`` writes."""
        if mode not in ("r", "rb"):
            raise UsageError(f"{self} is not written piece by piece")
        return io.BytesIO(self.read_bytes()) if mode == "rb" else io.StringIO(self.read_text())

    def iterdir(self) -> Iterator[RemotePath]:  # type: ignore[override]
        return (self / name for name, _ in self.store.children(self.key))

    def glob(self, pattern: str, **options: Any) -> Iterator[RemotePath]:  # type: ignore[override]
        first, _, rest = pattern.partition("/")
        plain = not re.search(r"[*?\[]", first)
        if plain and rest:
            yield from (self / first).glob(rest)
            return
        for name, status in self.store.children(self.key):
            if fnmatchcase(name, first) and (not rest or status.folder):
                yield from (self / name).glob(rest) if rest else (self / name,)

    def rglob(self, pattern: str, **options: Any) -> Iterator[RemotePath]:  # type: ignore[override]
        for name, status in self.store.children(self.key):
            if fnmatchcase(name, pattern):
                yield self / name
            if status.folder:
                yield from (self / name).rglob(pattern)
