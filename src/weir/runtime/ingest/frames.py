"""Frames: what one part of a lane brings to one slot, as bytes that are made and read without a copy.

A frame has messages of one lane, of their triples those that the slot's queries can use, once each the texts
that they may need, and how far the lane has come. It has all messages of its part, or only those that
concern the slot; then its **watermark** says of the others what a slot has to know: which of them were
believed, and how far they brought the lane.

A part makes a frame for every slot, so that each learns how far time has come: they are small, and many.
Their layout is a line of numbers, a head as JSON, which frames of one part share, and the columns one after
the other. Columns that are constant or count upwards are numbers in the head. Of a text that stands in a
triple only the place is marked, since its id is there, and no text repeats what it shares with the one before
(``front_coding``): the bytes of a part grow little with the number of slots.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from weir.errors import CheckpointError
from weir.rdf.columns import NEVER, Ids, Mask
from weir.rdf.messages import Messages
from weir.runtime.ingest.front_coding import coded, decoded
from weir.storage.spool import Buffer

MAGIC = b"weirfrm3"
SIZES = struct.Struct("<8s7q")
"""Bytes of head and side, messages, triples, texts, bytes of texts and of columns."""
WORD = 8
_NONE = np.empty(0, np.int64)
_NO_TEXTS = pa.nulls(0, pa.large_string())
_AS_IT_IS = ("stream", "lane", "position", "high", "ended")
"""Fields that travel in the head as they are."""
OF_MESSAGES = ("time", "triples", "index", "home")
SMALL = ("message", "place", "triples", "index", "home")
"""Columns whose values mostly fit half the width."""

Plain = Mapping[str, tuple[int, int]]
"""Of columns that are constant (step 0) or count upwards (step 1) the first value and the step."""


@dataclass(frozen=True, slots=True)
class Watermark:
    """How far all messages of a part, also those that are not in the frame, bring their lane.

    ``lead`` has the times of the messages up to the earliest one, that included; ``rest`` is the largest time
    of those behind it. Law: where a message behind the earliest is at most AHEAD later than it, all of them
    are believed if the earliest is, and none of them otherwise.
    """

    lead: Ids
    rest: int = NEVER

    @staticmethod
    def of(times: Ids, ahead: int, most: int) -> Watermark | None:
        """The watermark of messages, None where it would not tell enough for an AHEAD as small as ``ahead``,
        or more than ``most`` times."""
        if not len(times):
            return Watermark(_NONE)
        earliest = int(times.argmin())
        latest = int(times[earliest + 1 :].max(initial=NEVER))
        if earliest >= most or (latest != NEVER and latest - int(times[earliest]) > ahead):
            return None
        return Watermark(times[: earliest + 1], latest)


@dataclass(frozen=True, slots=True)
class Frame:
    """``position`` orders the parts of a lane; ``high`` is a time that the lane has reached in any case.

    With a ``watermark`` only some messages of the part are there; ``index`` has the places of messages among
    all of the part, None where all are there. ``home`` marks those that this slot counts for all: a message
    has one home. ``ended`` says that the lane ends here. ``side`` carries what is not for the kernel: records
    for the dead-letter file, and counts. ``plain`` tells what is known of the columns, None for nothing;
    ``told`` of which triples the texts are, in bits by their places: first those of subjects, then of the
    other places. None where nobody knows.
    """

    stream: str
    lane: str
    position: int = 0
    high: int = NEVER
    ended: bool = False
    messages: Messages = field(default_factory=Messages)
    text_ids: Ids = field(default_factory=lambda: _NONE)
    texts: pa.LargeStringArray = field(default_factory=lambda: _NO_TEXTS)
    side: Mapping[str, Any] = field(default_factory=dict)
    watermark: Watermark | None = None
    index: Ids | None = None
    home: Mask | None = None
    plain: Plain | None = None
    told: NDArray[np.uint8] | None = None

    @property
    def positions(self) -> Ids:
        """Where each message stands in the lane."""
        return self.position + (np.arange(len(self.messages)) if self.index is None else self.index)

    @property
    def at_home(self) -> Mask:
        """Which messages are counted here."""
        return np.ones(len(self.messages), np.bool_) if self.home is None else self.home

    def to_bytes(self) -> bytes:
        """The frame as bytes. Marks of its messages stay behind."""
        columns = {
            name: column for name, column in self.messages.columns.items() if name not in self.messages.marks
        }
        if self.index is not None:
            columns["index"] = self.index
        if self.home is not None:
            columns["home"] = self.home.view(np.int8)
        if self.told is not None:
            columns["told"] = self.told.view(np.int8)
        plain = _plain(columns) if self.plain is None else self.plain
        pieces: list[Any] = []
        widths: list[tuple[str, int]] = []
        body = 0
        for name, column in columns.items():
            if name not in plain:
                written = np.ascontiguousarray(narrow(column) if name in SMALL else column)
                widths.append((name, written.itemsize))
                pieces += [written.data, _padding(written.nbytes)]
                body += written.nbytes + -written.nbytes % WORD
        texts, text_bytes = len(self.texts), 0
        if texts:
            shared, rest, following = coded(self.texts, np.arange(texts), np.zeros(texts, np.int64))
            rest = rest.astype(np.min_scalar_type(int(rest.max())))
            text_bytes = len(following)
            ids = b"" if self.told is not None else self.text_ids.data
            pieces += [ids, rest.data, shared.data, following.data]
            widths.append(("rest", rest.itemsize))
        told = self.head(plain, widths)
        side = json.dumps(self.side, separators=(",", ":")).encode() if self.side else b""
        side += _padding(len(side), b" ")
        messages, triples = len(self.messages), len(self.messages.message)
        sizes = SIZES.pack(MAGIC, len(told), len(side), messages, triples, texts, text_bytes, body)
        return b"".join([sizes, told, side, *pieces])

    def head(self, plain: Plain, widths: Sequence[tuple[str, int]]) -> bytes:
        """What is said before the columns, those that are plain and the widths of the others."""
        mark = self.watermark
        head = {
            "frame": {name: getattr(self, name) for name in _AS_IT_IS},
            "plain": plain,
            "widths": widths,
            "lead": None if mark is None else mark.lead.tolist(),
            "rest": NEVER if mark is None else mark.rest,
        }
        made = json.dumps(head, separators=(",", ":")).encode()
        return made + _padding(len(made), b" ")

    @staticmethod
    def from_bytes(data: Buffer) -> Frame:
        """The inverse of ``to_bytes``; columns are views of ``data`` where their width allows."""
        try:
            return _read(data)
        except (ValueError, LookupError, struct.error) as error:
            raise CheckpointError(
                "a frame is damaged, or of another version of Weir",
                detail=str(error),
                hint="start again from the checkpoint with one version on all hosts",
            ) from None


def _read(data: Buffer) -> Frame:
    magic, told, beside, messages, triples, texts, text_bytes, body = SIZES.unpack_from(data)
    if magic != MAGIC:
        raise ValueError(f"it begins with {magic!r}")
    at = SIZES.size + told
    head = json.loads(data[SIZES.size : at])
    side = json.loads(data[at : at + beside]) if beside else {}
    at += beside
    widths = dict(head["widths"])
    width, marked = widths.pop("rest", 0), "told" in widths or "told" in head["plain"]
    end = at + body + texts * (width + 1 + (0 if marked else WORD)) + text_bytes
    if len(data) != end:
        raise ValueError(f"it has {len(data)} bytes, and should have {end}")
    columns: dict[str, np.ndarray] = {}
    for name, bytes_ in widths.items():
        count = messages if name in OF_MESSAGES else triples
        found = np.frombuffer(data, f"<i{bytes_}", count, at)
        columns[name] = found if bytes_ == 1 else found.astype(np.int64, copy=False)
        at += found.nbytes + -found.nbytes % WORD
    for name, (first, step) in head["plain"].items():
        count = messages if name in OF_MESSAGES else triples
        columns[name] = np.arange(first, first + count) if step else np.full(count, first, np.int64)
    index, home, where = (columns.pop(name, None) for name in ("index", "home", "told"))
    kept = Messages.of_columns(columns)
    ids, column = _NONE, _NO_TEXTS
    if texts:
        if where is None:
            ids = np.frombuffer(data, np.int64, texts, at)
            at += ids.nbytes
        else:
            ids = np.concatenate([q[np.flatnonzero(where & (1 << p))] for p, q in enumerate(kept.quads)])
        rest = np.frombuffer(data, f"<u{width}", texts, at)
        shared = np.frombuffer(data, np.uint8, texts, at + rest.nbytes)
        column = decoded(shared, rest, np.frombuffer(data, np.uint8, text_bytes, at + rest.nbytes + texts))
    lead = head["lead"]
    return Frame(
        **head["frame"],
        messages=kept,
        text_ids=ids,
        texts=column,
        side=side,
        watermark=None if lead is None else Watermark(np.array(lead, np.int64), head["rest"]),
        index=index,
        home=None if home is None else home.astype(np.bool_),
    )


def _padding(size: int, fill: bytes = b"\0") -> bytes:
    """What is missing to a whole word."""
    return fill * (-size % WORD)


def _plain(columns: Mapping[str, np.ndarray]) -> Plain:
    return {name: told for name, column in columns.items() if (told := counted(column)) is not None}


def counted(column: np.ndarray) -> tuple[int, int] | None:
    """(first value, step 0 or 1) of a column that is constant or counts upwards."""
    if not len(column):
        return 0, 0
    first, last = int(column[0]), int(column[-1])
    if first == last and (column == first).all():
        return first, 0
    if last - first == len(column) - 1 and (np.diff(column) == 1).all():
        return first, 1
    return None


def narrow(column: np.ndarray) -> np.ndarray:
    if column.itemsize < WORD:
        return column
    return column.astype(np.int32) if int(column.max(initial=0)) < 2**31 else column
