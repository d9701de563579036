"""Where messages begin in a ``.tnq`` file, block by block, without reading what they say."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weir.rdf.columns import Ids
from weir.rdf.formats.tnq import BOM, timed_lines
from weir.rdf.formats.tnq_split import padded
from weir.runtime.ingest.parts import line_end, message_start

BLOCK = 1 << 22
"""Bytes that are looked through at a time."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The messages that begin in a block: their first bytes and times, the lines with a time before each, and
    how many of those the block has."""

    start: Ids
    time: Ids
    before: Ids
    lines: int


def marks(path: Path, begin: int) -> Iterator[Marks]:
    """The messages that begin at byte ``begin`` or later, as ``message_start`` finds them."""
    if not path.stat().st_size:
        return
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        place, last = message_start(data, begin), None
        if place == 0 and data[: len(BOM)] == BOM:
            place = len(BOM)
        while place < len(data):
            end = place + BLOCK
            end = len(data) if end >= len(data) else line_end(data, end - 1)
            found = _block(data[place:end], place, last)
            last = found[1] if found[1] is not None else last
            yield found[0]
            place = end


def _block(data: bytes, place: int, last: int | None) -> tuple[Marks, int | None]:
    split, time, timed, _ = timed_lines(padded(data))
    rows = np.flatnonzero(timed)
    time, starts = time[rows], split.starts[rows] + place
    if not len(rows):
        return Marks(starts, time, rows, 0), None
    parted = np.concatenate([[last is None or time[0] != last], time[1:] != time[:-1]])
    before = np.flatnonzero(parted)
    return Marks(starts[parted], time[parted], before, len(rows)), int(time[-1])
