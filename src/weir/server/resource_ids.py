"""Ids for addresses: a short text that is safe in a path, the same for the same name always."""

from __future__ import annotations

import hashlib
import re

ID = r"^[A-Za-z0-9_][A-Za-z0-9_.~-]{0,79}$"
"""What an id looks like, as a pattern for parameters."""

_PLAIN = re.compile(ID)
_ODD = re.compile(r"[^A-Za-z0-9_~-]+")


def slug(name: str) -> str:
    """The id of a name: the name itself where it is plain, else its last part and a digest of the whole."""
    if _PLAIN.match(name):
        return name
    tail = _ODD.sub("-", re.split(r"[/#]", name.rstrip("/#"))[-1]).strip("-_~")[:40] or "x"
    return f"{tail}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def is_id(text: str) -> bool:
    """Whether a text may be an id."""
    return _PLAIN.match(text) is not None and "\n" not in text
