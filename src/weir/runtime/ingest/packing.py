"""The frames of a part as bytes, those of all slots that get their own messages in one pass.

Hundreds of small frames, each made by itself, would cost more than the triples in them. Here each column is
copied once, to the frames of all slots: the cost is that of the rows, and next to nothing for a slot.
Law: what is read from the bytes is what ``Frame.to_bytes`` of the slot's own frame says.
"""

from __future__ import annotations

import numpy as np

from weir.rdf.columns import Ids
from weir.rdf.compiled import njit
from weir.runtime.ingest.dealing import Cut, Texts
from weir.runtime.ingest.frames import MAGIC, OF_MESSAGES, SIZES, SMALL, WORD, Frame, counted, narrow
from weir.runtime.ingest.front_coding import Bytes, coded

Span = tuple[Ids, Ids]
"""Where what each slot gets begins and ends."""


def packed_frames(quiet: Frame, cut: Cut, texts: Texts) -> dict[int, memoryview]:
    """By slot that gets a message the bytes of its frame: ``quiet`` but for its messages and their texts."""
    columns, plain = cut.columns, dict(cut.plain)
    columns["told"] = texts.told[cut.mine].view(np.int8)
    if counted(columns["told"]) == (0, 0):
        plain["told"] = (0, 0)
    widths, pieces = [], []
    body = np.zeros(len(cut.slots), np.int64)
    for name, column in columns.items():
        if name not in plain:
            written = np.ascontiguousarray(narrow(column) if name in SMALL else column)
            widths.append((name, written.itemsize))
            span = _times(cut.messages if name in OF_MESSAGES else cut.rows, written.itemsize)
            pieces.append((written.view(np.uint8), span))
            body += _padded(span[1] - span[0])
    spoken = texts.slot.searchsorted(cut.slots), texts.slot.searchsorted(cut.slots, side="right")
    shared, rest, following = coded(texts.known, texts.code, texts.slot)
    ends = np.concatenate([[0], np.cumsum(rest)])
    rest = rest.astype(np.min_scalar_type(int(rest.max(initial=0))))
    widths.append(("rest", rest.itemsize))
    after = [
        (rest.view(np.uint8), _times(spoken, rest.itemsize)),
        (shared, spoken),
        (following, (ends[spoken[0]], ends[spoken[1]])),
    ]
    head = np.frombuffer(quiet.head(plain, widths), np.uint8)
    none = np.zeros(len(cut.slots), np.int64)
    counts = (len(head) + none, none, *(last - first for first, last in (cut.messages, cut.rows, spoken)))
    magic = np.frombuffer(MAGIC, np.int64)[0] + none
    lines = np.stack([magic, *counts, ends[spoken[1]] - ends[spoken[0]], body], axis=1)
    place = np.arange(len(cut.slots)) * SIZES.size
    before = [
        (lines.view(np.uint8).reshape(-1), (place, place + SIZES.size)),
        (head, (none, len(head) + none)),
    ]
    found = _joined([*before, *pieces], after)
    return {
        slot: data
        for slot, data, count in zip(cut.slots.tolist(), found, counts[2].tolist(), strict=True)
        if count
    }


def _joined(padded: list[tuple[Bytes, Span]], after: list[tuple[Bytes, Span]]) -> list[memoryview]:
    """What each slot gets of every piece, one after the other, at first in whole words."""
    whole = [_padded(last - first) for _, (first, last) in padded]
    sizes = [*whole, *(last - first for _, (first, last) in after)]
    ends = np.cumsum(sum(sizes))
    begins = np.concatenate([[0], ends[:-1]])
    out, at = np.zeros(int(ends[-1]), np.uint8), begins.copy()
    for (data, (first, last)), size in zip([*padded, *after], sizes, strict=True):
        _deal(out, at, data, first, last)
        at += size
    view = out.data
    return [view[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]


def _times(span: Span, width: int) -> Span:
    return span[0] * width, span[1] * width


def _padded(sizes: Ids) -> Ids:
    return sizes + -sizes % WORD


@njit(over=("at",), cache=True)
def _deal(out: Bytes, at: Ids, data: Bytes, first: Ids, last: Ids) -> None:
    for slot in range(len(at)):
        out[at[slot] : at[slot] + last[slot] - first[slot]] = data[first[slot] : last[slot]]
