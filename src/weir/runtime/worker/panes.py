"""Panes of tables, and where a worker finds them.

A pane is a run of a table's rows as bytes, never changed once written. New rows of each batch make a pane;
small neighbours are merged into larger ones, so that a table of n rows has few panes and a row is written
about log(n) times. Panes are found by the digest of their bytes, first in a directory of this host.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from weir.rdf.columns import Ids

MOST_ROWS = 1 << 16
_LEAST_CACHED = 1 << 14

Run = tuple[int, int]
"""Row numbers ``[first, end)``."""


def repaned(runs: Sequence[Run], first: int, end: int) -> tuple[list[Run], Run | None]:
    """The panes of a table whose live rows are ``[first, end)``, given those it had: what stays, what is new.

    Panes without live rows go. The new one takes in the rows not yet stored, and its smaller neighbours.
    """
    kept = [run for run in runs if run[1] > first]
    start = kept[-1][1] if kept else first
    if start >= end:
        return kept, None
    while kept:
        last = kept[-1]
        small = last[1] - last[0] <= 2 * (end - start) and end - last[0] <= MOST_ROWS
        if not small:
            break
        start = last[0]
        kept.pop()
    return kept, (max(start, first), end)


def pack(columns: Iterable[Ids]) -> bytes:
    """Columns of one length."""
    arrays = [np.ascontiguousarray(column, "<i8") for column in columns]
    header = json.dumps([len(arrays), len(arrays[0]) if arrays else 0]).encode()
    return len(header).to_bytes(4, "little") + header + b"".join(array.tobytes() for array in arrays)


def unpack(data: bytes | mmap.mmap) -> list[Ids]:
    """The columns, as views of ``data``."""
    place = 4 + int.from_bytes(data[:4], "little")
    count, length = json.loads(data[4:place])
    out = []
    for _ in range(count):
        out.append(np.frombuffer(data, "<i8", length, place))
        place += 8 * length
    return out


def digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=12).hexdigest()


def cache_root() -> Path:
    """The directory for panes on this host; ``WEIR_CACHE`` says otherwise."""
    named = os.environ.get("WEIR_CACHE")
    return Path(named) if named else Path(tempfile.gettempdir()) / f"weir-cache-{os.getuid()}"


class PaneCache:
    """Panes of one slot of one checkpoint on this host. What is missing here is in the state store."""

    def __init__(self, checkpoint: str, slot: int, root: Path | None = None) -> None:
        name = hashlib.sha256(checkpoint.encode()).hexdigest()[:16]
        self.folder = (root or cache_root()) / name / str(slot)

    def get(self, name: str, fetch: Callable[[], bytes]) -> bytes | mmap.mmap:
        """The pane with this digest: mapped where it is here, else fetched and kept."""
        path = self.folder / name
        try:
            with open(path, "rb") as file:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (FileNotFoundError, ValueError):
            data = fetch()
            self.put(name, data)
            return data

    def put(self, name: str, data: bytes) -> None:
        """Keep a pane; a full disk is no reason to fail."""
        if len(data) < _LEAST_CACHED:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            partial = self.folder / f".{name}.{os.getpid()}"
            partial.write_bytes(data)
            os.replace(partial, self.folder / name)
        except OSError:
            return

    def drop(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)


def forget_cache(checkpoint: str) -> None:
    """Remove what this host keeps of a checkpoint."""
    shutil.rmtree(PaneCache(checkpoint, 0).folder.parent, ignore_errors=True)
