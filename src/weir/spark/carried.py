"""What Weir keeps of a query, carried with its tasks: workers need not see the folder in which it was made.

The control log and the extracts of graphs are read by the tasks of ``weir.continuous`` and never written, so
bytes will do. They are put into a folder of Spark's on the worker, once for all its processes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from pyspark import SparkFiles

from weir.storage.files import make_folder, replace_file

LIMIT = 64 << 20
"""Bytes that are carried at most: a plan of Spark Connect may have 128 MB."""
_OWN, _FIRST_READ = "weir", "meta.json"
_SKIPPED = ("lock", "epochs")


def carried(folder: Path) -> dict[str, bytes]:
    """The files of a checkpoint by their paths in it; none where they are too large for that."""
    own = folder / _OWN
    every = [path for path in sorted(own.rglob("*")) if path.is_file()]
    names = {path.relative_to(own).as_posix(): path for path in every}
    kept = {name: path for name, path in names.items() if name.partition("/")[0] not in _SKIPPED}
    if sum(path.stat().st_size for path in kept.values()) > LIMIT:
        return {}
    return {name: path.read_bytes() for name, path in kept.items()}


def unpacked(folder: str, files: Mapping[str, bytes]) -> str:
    """In a task: the folder of the checkpoint, the one where it was made if it is seen here."""
    if not files or (Path(folder) / _OWN / _FIRST_READ).exists():
        return folder
    digest = hashlib.blake2b(digest_size=16)
    for name, data in files.items():
        digest.update(f"{name} {len(data)}\n".encode() + data)
    here = Path(SparkFiles.getRootDirectory()) / f"weir-{digest.hexdigest()}"
    if not (here / _OWN / _FIRST_READ).exists():
        # Who looks for a checkpoint waits for this file, so it is the last.
        for name in sorted(files, key=lambda name: name == _FIRST_READ):
            path = here / _OWN / name
            make_folder(path.parent, durable=False)
            replace_file(path, files[name], durable=False)
    return str(here)
