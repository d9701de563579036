"""Where things are kept, from what a user wrote: a path, ``file:`` with one, or the URI of a store; and files
for any name.

Other schemes are refused: as paths, ``gs://bucket/ck`` would be a local folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

from weir.errors import UsageError, kind_of
from weir.storage.remote import SCHEMES, RemotePath

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")
_MARKED = re.compile(r"-[0-9a-f]{32}$")
_ODD = re.compile(r"[^A-Za-z0-9_-]+")
_SHOWN = 40


def path_at(place: str | Path, what: str = "data") -> Path:
    """The path of a place, which may be on a store; ``what`` is kept there, for the message where its scheme
    is refused."""
    found = _SCHEME.match(str(place))
    if found is not None and found[1].lower() in SCHEMES and not isinstance(place, RemotePath):
        return RemotePath.of(str(place))
    return place if isinstance(place, RemotePath) else local_path(place, what)


def local_path(place: str | Path, what: str) -> Path:
    """The same of what has to be on a disk."""
    if not isinstance(place, (str, Path)):
        raise UsageError(f"{what} is at a path, not at {kind_of(place)}")
    text = str(place)
    found = _SCHEME.match(text)
    if found is None:
        return Path(place)
    scheme = found[1].lower()
    if scheme in SCHEMES:
        raise UsageError(f"{what} cannot be at {text}: it is on a disk", hint="give a path, or file:///path")
    if scheme != "file":
        raise UsageError(
            f"{what} cannot be at {text}: {found[1]}: does not work",
            hint="give a path or file:///path, on a disk or a mount that driver and workers see, "
            f"or {', '.join(f'{each}://' for each in SCHEMES)}",
        )
    parts = urlsplit(text)
    if parts.netloc not in ("", "localhost"):
        raise UsageError(f"{what} cannot be on another host: {text}", hint="file:///path has three slashes")
    return Path(unquote(parts.path))


def beside_driver(own: Path) -> Path:
    """Where processes of one machine leave each other word about the folder ``own``: there, or where that is
    on a store, in a folder for what is temporary."""
    if not isinstance(own, RemotePath):
        return own
    digest = hashlib.sha256(f"{os.getuid()} {own}".encode()).hexdigest()[:24]
    return Path(tempfile.gettempdir()) / f"weir-{digest}"


def file_name(name: str) -> str:
    """A name for files, topics and addresses: letters, digits, ``.``, ``_`` and ``-``.

    A name that is plain stands for itself; another one has its last part in front and a digest behind. What
    looks as if it had a digest is not plain, so names that differ stay different.
    """
    if _PLAIN.fullmatch(name) and not _MARKED.search(name):
        return name
    tail = _ODD.sub("-", re.split(r"[/#]", name.rstrip("/#"))[-1]).strip("-_")[:_SHOWN] or "x"
    return f"{tail}-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:32]}"
