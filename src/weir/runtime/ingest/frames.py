"""Frames: what one source partition sends to one group in one batch, as bytes of Arrow IPC.

A frame is a part of one lane: all its messages (time, number of triples), those of its triples that the
group's queries can use, once each the texts of the terms they may need, and how far the lane has come.
Columns that are constant or count upwards travel as a number in the header, so a stream of one
triple per message costs little more than its ids.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from weir.kernel.progress import NEVER
from weir.rdf.columns import Ids
from weir.runtime.worker.spool import Buffer

_NONE = np.empty(0, np.int64)
_NOTHING = memoryview(b"")
MESSAGE_COLUMNS = ("time", "triples")
TRIPLE_COLUMNS = ("message", "place", "subject", "predicate", "object", "graph")


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
    time: Ids = field(default_factory=lambda: _NONE)
    triples: Ids = field(default_factory=lambda: _NONE)
    message: Ids = field(default_factory=lambda: _NONE)
    place: Ids = field(default_factory=lambda: _NONE)
    subject: Ids = field(default_factory=lambda: _NONE)
    predicate: Ids = field(default_factory=lambda: _NONE)
    object: Ids = field(default_factory=lambda: _NONE)
    graph: Ids = field(default_factory=lambda: _NONE)
    text_ids: Ids = field(default_factory=lambda: _NONE)
    texts: Sequence[str] | pa.LargeStringArray = ()
    side: Mapping[str, Any] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """The pieces as one."""
        return b"".join(self.pieces())

    def pieces(self) -> list[bytes | memoryview]:
        """Header length, header, then one Arrow IPC stream each for messages, triples and texts."""
        plain: dict[str, Any] = {}
        messages = _pack({name: getattr(self, name) for name in MESSAGE_COLUMNS}, plain)
        triples = _pack({name: getattr(self, name) for name in TRIPLE_COLUMNS}, plain)
        texts = _ipc({"id": pa.array(self.text_ids), "text": column_of(self.texts)})
        header = json.dumps(
            {
                "stream": self.stream,
                "lane": self.lane,
                "position": self.position,
                "high": self.high,
                "ended": self.ended,
                "side": self.side,
                "messages": len(self.time),
                "triples": len(self.message),
                "plain": plain,
                "lengths": [len(messages), len(triples), len(texts)],
            }
        ).encode()
        return [len(header).to_bytes(4, "little"), header, messages, triples, texts]

    @staticmethod
    def from_bytes(data: Buffer) -> Frame:
        """The inverse of ``to_bytes``; columns are views of ``data`` where their width allows."""
        body = 4 + int.from_bytes(data[:4], "little")
        header = json.loads(data[4:body])
        tables = []
        view = memoryview(data)
        for length in header["lengths"]:
            tables.append(_table(view[body : body + length]))
            body += length
        messages, triples, texts = tables
        columns = {name: _unpack(name, header["messages"], header, messages) for name in MESSAGE_COLUMNS}
        columns |= {name: _unpack(name, header["triples"], header, triples) for name in TRIPLE_COLUMNS}
        return Frame(
            header["stream"],
            header["lane"],
            header["position"],
            header["high"],
            header["ended"],
            **columns,
            text_ids=texts["id"].to_numpy() if texts.num_rows else _NONE,
            texts=texts["text"] if texts.num_rows else (),
            side=header["side"],
        )


def column_of(texts: Sequence[str] | pa.LargeStringArray) -> pa.LargeStringArray:
    """Texts as a column, whatever they came in."""
    return texts if isinstance(texts, pa.LargeStringArray) else pa.array(texts, pa.large_string())


def _pack(columns: Mapping[str, Ids], plain: dict[str, Any]) -> memoryview:
    """The columns as IPC, but for those that ``plain`` takes as (first value, step 0 or 1)."""
    kept = {}
    for name, column in columns.items():
        if not len(column):
            plain[name] = [0, 0]
            continue
        first, last = int(column[0]), int(column[-1])
        if first == last and (column == first).all():
            plain[name] = [first, 0]
        elif last - first == len(column) - 1 and (np.diff(column) == 1).all():
            plain[name] = [first, 1]
        elif name in ("message", "place", "triples") and len(column) and int(column.max()) < 2**31:
            kept[name] = pa.array(column.astype(np.int32))
        else:
            kept[name] = pa.array(column)
    return _ipc(kept) if kept else _NOTHING


def _unpack(name: str, length: int, header: Mapping[str, Any], table: pa.RecordBatch) -> Ids:
    if name in header["plain"]:
        first, step = header["plain"][name]
        return np.arange(first, first + length) if step else np.full(length, first, np.int64)
    column: Ids = table[name].to_numpy().astype(np.int64, copy=False)
    return column


def _ipc(columns: Mapping[str, pa.Array]) -> memoryview:
    batch = pa.record_batch(list(columns.values()), names=list(columns))
    if not batch.num_rows:
        return _NOTHING
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return memoryview(sink.getvalue())


def _table(data: memoryview) -> pa.RecordBatch:
    if not len(data):
        return pa.record_batch([], names=[])
    return pa.ipc.open_stream(pa.py_buffer(data)).read_next_batch()
