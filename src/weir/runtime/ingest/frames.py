"""Frames: what one source partition sends to one group in one batch, as one container of columns.

A frame is a part of one lane: all its messages (time, number of triples), those of its triples that the
group's queries can use, once each the texts of the terms they may need, and how far the lane has come.
Columns that are constant or count upwards travel as a number in the header, so a stream of one
triple per message costs little more than its ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from weir.rdf.columns import NEVER, Ids
from weir.rdf.messages import Messages
from weir.storage import numbers, pack, unpack
from weir.storage.spool import Buffer

_KIND = "weir frame 1"
_NONE = np.empty(0, np.int64)
_NO_TEXTS = pa.array([], pa.large_string())
_SMALL = ("message", "place", "triples")
"""Columns whose values mostly fit half the width."""


@dataclass(frozen=True, slots=True)
class Frame:
    """``position`` orders the parts of a lane; ``high`` is a time that the lane has reached in any case.

    ``ended`` says that the lane ends here. ``side`` carries what is not for the kernel: records for the
    dead-letter file, and counts.
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

    def to_buffer(self) -> pa.Buffer:
        """The frame as bytes. Marks of its messages stay behind."""
        plain: dict[str, tuple[int, int]] = {}
        tables: dict[str, dict[str, Ids | pa.Array]] = {"messages": {}, "triples": {}}
        for name, column in self.messages.columns.items():
            if name not in self.messages.marks:
                told = _counted(column)
                if told is not None:
                    plain[name] = told
                else:
                    table = tables["messages" if name in ("time", "triples") else "triples"]
                    table[name] = _narrow(column) if name in _SMALL else column
        if len(self.text_ids):
            tables["texts"] = {"id": self.text_ids, "text": self.texts}
        header = {
            "stream": self.stream,
            "lane": self.lane,
            "position": self.position,
            "high": self.high,
            "ended": self.ended,
            "side": self.side,
            "messages": len(self.messages),
            "triples": len(self.messages.message),
            "plain": plain,
        }
        return pack(_KIND, header, tables)

    def to_bytes(self) -> bytes:
        """A copy of ``to_buffer``."""
        return bytes(self.to_buffer())

    @staticmethod
    def from_bytes(data: Buffer) -> Frame:
        """The inverse of ``to_bytes``; columns are views of ``data`` where their width allows."""
        found = unpack(data, _KIND)
        header, texts = found.header, found.table("texts")
        columns = {name: numbers(each) for name, each in found.table("messages").items()}
        columns |= {name: numbers(each) for name, each in found.table("triples").items()}
        for name, (first, step) in header["plain"].items():
            length = header["messages" if name in ("time", "triples") else "triples"]
            columns[name] = np.arange(first, first + length) if step else np.full(length, first, np.int64)
        return Frame(
            header["stream"],
            header["lane"],
            header["position"],
            header["high"],
            header["ended"],
            Messages.of_columns(columns),
            numbers(texts["id"]) if texts else _NONE,
            texts["text"] if texts else _NO_TEXTS,
            header["side"],
        )


def _counted(column: Ids) -> tuple[int, int] | None:
    """(first value, step 0 or 1) of a column that is constant or counts upwards."""
    if not len(column):
        return 0, 0
    first, last = int(column[0]), int(column[-1])
    if first == last and (column == first).all():
        return first, 0
    if last - first == len(column) - 1 and (np.diff(column) == 1).all():
        return first, 1
    return None


def _narrow(column: Ids) -> np.ndarray:
    return column.astype(np.int32) if int(column.max()) < 2**31 else column
