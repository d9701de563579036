"""Where things are kept, from what a user wrote: a path, or ``file:`` with one; and files for any name.

Other schemes do not work yet, and are refused: as paths, ``s3a://bucket/ck`` would be a local folder.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from weir.errors import UsageError, kind_of

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")
_MARKED = re.compile(r"-[0-9a-f]{32}$")
_ODD = re.compile(r"[^A-Za-z0-9_-]+")
_SHOWN = 40


def local_path(place: str | Path, what: str) -> Path:
    """The path of a place; ``what`` is kept there, for the message where its scheme is refused."""
    if not isinstance(place, (str, Path)):
        raise UsageError(f"{what} is at a path, not at {kind_of(place)}")
    text = str(place)
    found = _SCHEME.match(text)
    if found is None:
        return Path(place)
    if found[1].lower() != "file":
        raise UsageError(
            f"{what} cannot be at {text}: {found[1]}: does not work yet",
            hint="give a path, or file:///path, on a disk or a mount that driver and workers see",
        )
    parts = urlsplit(text)
    if parts.netloc not in ("", "localhost"):
        raise UsageError(f"{what} cannot be on another host: {text}", hint="file:///path has three slashes")
    return Path(unquote(parts.path))


def file_name(name: str) -> str:
    """A name for files, topics and addresses: letters, digits, ``.``, ``_`` and ``-``.

    A name that is plain stands for itself; another one has its last part in front and a digest behind. What
    looks as if it had a digest is not plain, so names that differ stay different.
    """
    if _PLAIN.fullmatch(name) and not _MARKED.search(name):
        return name
    tail = _ODD.sub("-", re.split(r"[/#]", name.rstrip("/#"))[-1]).strip("-_")[:_SHOWN] or "x"
    return f"{tail}-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:32]}"
