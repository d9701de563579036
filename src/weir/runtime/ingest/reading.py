"""A part of stream files as messages, and what was set aside in it as dead letters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weir.rdf.formats.media import format_of
from weir.rdf.formats.tnq import parse_lines
from weir.rdf.formats.tnq_split import PADDING, padded
from weir.rdf.formats.units import Document, parse_documents
from weir.rdf.messages import Messages, Rejected
from weir.runtime.ingest.parts import LineCounter, Part, is_packed, read_part, unpacked, without_mark

FILE_SHIFT = 40
"""A position in a lane of files: the number of the file above, the byte in it below."""

_counter = LineCounter()


@dataclass(frozen=True, slots=True)
class Read:
    """``size`` counts the bytes that were read, unpacked; ``dead`` are lines of the dead-letter file."""

    messages: Messages
    size: int
    dead: list[dict[str, Any]]


def read_messages(part: Part, key: bytes) -> Read:
    """The messages of a part."""
    found = _lines(part, key) if format_of(part.format).timed else _documents(part, key)
    if not part.shift:
        return found
    return replace(found, messages=replace(found.messages, time=found.messages.time + part.shift))


def _lines(part: Part, key: bytes) -> Read:
    assert part.path is not None
    path = Path(part.path)
    if is_packed(path):
        whole, damage = unpacked(path)
        data, begin = without_mark(whole, 0)
        room, lines = padded(data), data.count(b"\n")
    else:
        (room, begin), damage, lines = read_part(part), None, 0
    base, size = (part.number << FILE_SHIFT) + begin, len(room) - PADDING
    messages = parse_lines(room, scope=_scope(part), key=key, base=base)
    if not messages.rejected and damage is None:
        return Read(messages, size, [])
    before = 0 if is_packed(path) or not begin else _counter.before(part.path, begin)
    dead = _letters(part, messages.rejected, before)
    if damage is not None:
        dead += _letters(part, [Rejected(lines + 1, damage, "")])
    return Read(messages, size, dead)


def _documents(part: Part, key: bytes) -> Read:
    """Files that are read whole; one that is damaged is set aside as a whole."""
    assert part.time is not None
    documents, damaged = [], []
    for place, name in enumerate(part.paths):
        path = Path(name)
        data, damage = unpacked(path) if is_packed(path) else (path.read_bytes(), None)
        if damage is not None:
            damaged.append(Rejected(data.count(b"\n") + 1, damage, "", place))
            data = b""
        documents.append(Document(data, (part.number + place) << FILE_SHIFT, path.absolute().as_uri()))
    messages = parse_documents(
        documents,
        format_of(part.format),
        time_predicate=part.time,
        scope=_scope(part),
        key=key,
        unit=part.unit,
    )
    dead = _letters(part, sorted([*messages.rejected, *damaged], key=lambda item: item.record))
    return Read(messages, sum(len(document.data) for document in documents), dead)


def _scope(part: Part) -> str:
    return f"{part.stream} {part.lane}"


def _letters(part: Part, rejected: Iterable[Rejected], before: int = 0) -> list[dict[str, Any]]:
    paths = part.paths
    return [
        {
            "stream": part.stream,
            "file": paths[item.record],
            "line": before + item.line,
            "reason": item.reason,
            "text": item.text,
        }
        for item in rejected
    ]
