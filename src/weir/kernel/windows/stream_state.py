"""What is kept of the streams of a query: messages in order, windows, the live triples of its patterns."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from weir.errors import CheckpointError
from weir.kernel.contract import Stretch
from weir.kernel.relations.relation import Slot
from weir.kernel.windows.arrivals import Arrivals
from weir.kernel.windows.buffer import Buffer
from weir.kernel.windows.evaluation_times import Clock, Cursor
from weir.kernel.windows.instants import LOWEST
from weir.kernel.windows.live_triples import Keeping, LiveTriples
from weir.kernel.windows.reduction import ReducedTriples
from weir.kernel.windows.window import Window
from weir.rdf.columns import Ids
from weir.rdf.messages import Messages


class Streams:
    """``default`` names the windows that are part of the default graph; ``triples`` are kept by pattern and
    ``readers`` are the windows that show them."""

    def __init__(self) -> None:
        self.arrivals: dict[str, Arrivals] = {}
        self.windows: dict[str, Window] = {}
        self.default: list[str] = []
        self.triples: dict[tuple[object, ...], LiveTriples] = {}
        self.readers: dict[int, dict[str, Window]] = {}
        self.triples_of: dict[str, list[LiveTriples]] = {}

    def seal(self) -> None:
        """Once everything is declared and compiled."""
        self.triples_of = {
            name: [each for key, each in self.triples.items() if key[0] == name] for name in self.arrivals
        }

    def windows_of(self, stream: str) -> list[Window]:
        """The windows over one stream."""
        return [window for window in self.windows.values() if window.spec.stream == stream]

    def forget_followers(self) -> None:
        """Before the plan is compiled anew; live triples stay."""
        for each in self.triples.values():
            each.followers.clear()

    def release(self, bounds: Mapping[str, tuple[Ids, Ids]], time: int) -> None:
        """Drop what no instant after the last of ``bounds`` (at ``time``) can show."""
        for whole in self.triples.values():
            windows = self.readers[id(whole)]
            for each in (whole, *(each for each in whole.followers if isinstance(each, ReducedTriples))):
                each.drop(min(_expired(each, window, bounds) for window in windows.values()))
        for name, arrivals in self.arrivals.items():
            times = arrivals.times
            count = int(times.searchsorted(time))
            for window in self.windows_of(name):
                spec = window.spec
                if spec.unit is not None:
                    # A report waits for the next tick.
                    count = min(count, int(times.searchsorted(time - spec.unit)))
                if spec.width is not None:
                    low = int(bounds[spec.name][0][-1])
                    kept = times.searchsorted(low) if spec.rows_by == "time" else low - arrivals.log.first
                    count = min(count, int(kept))
            arrivals.log.drop(count)

    def triples_for(
        self, window: Window, slots: Sequence[Slot | None], extra: Sequence[str], *, once: bool
    ) -> LiveTriples:
        """The live triples of a pattern whose variables are named by their slots."""
        spec = window.spec
        if spec.bag and not once:
            keeping = Keeping.BAG
        elif spec.width is None and spec.count is None and not extra:
            keeping = Keeping.FIRST
        else:
            keeping = Keeping.LATEST
        floor = window.floor if keeping is Keeping.FIRST else LOWEST
        needed = {each.spec.rows_by for each in self.windows_of(spec.stream)}
        coordinates = tuple(sorted(needed.union(extra)))
        key = (spec.stream, tuple(slots), keeping, floor, coordinates)
        found = self.triples.get(key)
        if found is None:
            found = self.triples[key] = LiveTriples(slots, coordinates, keeping, floor)
        self.readers.setdefault(id(found), {})[spec.name] = window
        return found

    def ids(self) -> list[Ids]:
        """The terms of live rows and of waiting messages."""
        found: list[Ids] = []
        for each in self.triples.values():
            found += [each.rows.column(place) for place in range(len(each.columns))]
        for arrivals in self.arrivals.values():
            waiting = arrivals.pending
            found += [waiting.subject, waiting.predicate, waiting.object, waiting.graph]
        return found


def _expired(triples: LiveTriples, window: Window, bounds: Mapping[str, tuple[Ids, Ids]]) -> int:
    """How many of the oldest rows the window no longer shows."""
    low = bounds[window.spec.name][0][-1]
    return int(triples.coordinate(window.spec.rows_by).searchsorted(low))


_MAGIC = b"WEIR-INTERVAL 1 "


_MESSAGES = ("time", "triples")


_ROWS = ("message", "place", "subject", "predicate", "object", "graph")


def dump(streams: Streams, clock: Clock, through: int | None, ended: bool) -> bytes:
    """Everything that the next slab depends on."""
    body = io.BytesIO()
    header: dict[str, Any] = {
        "through": through,
        "ended": ended,
        "cursor": _place(clock.cursor),
        "last": None if clock.last is None else _place(clock.last),
        "windows": {name: [each.first, *each.base] for name, each in streams.windows.items()},
        "streams": {},
        "tracks": [],
    }
    for name, arrivals in streams.arrivals.items():
        log = arrivals.log
        header["streams"][name] = {
            "first": log.first,
            "total": arrivals.total,
            "late": arrivals.late,
            "last": arrivals.last,
        }
        _write(body, [log.column(0), log.column(1)])
        _write(body, [getattr(arrivals.pending, column) for column in _MESSAGES])
        _write(body, [getattr(arrivals.pending, column) for column in _ROWS])
    for key, track in streams.triples.items():
        first, columns = track.saved()
        header["tracks"].append({"key": _shown(key), "first": first})
        _write(body, columns)
    text = json.dumps(header, separators=(",", ":")).encode()
    return _MAGIC + str(len(text)).encode() + b"\n" + text + body.getvalue()


def load(state: bytes, streams: Streams, clock: Clock) -> tuple[int | None, bool]:
    """Put a state into an evaluator of the same query; returns its T and whether input has ended."""
    header, body = _open(state)
    tracks = [_shown(key) for key in streams.triples]
    saved = [each["key"] for each in header["tracks"]]
    if saved != tracks or list(header["streams"]) != list(streams.arrivals):
        raise CheckpointError(
            "the state belongs to another query", hint="restore with the query that made the snapshot"
        )
    for name, arrivals in streams.arrivals.items():
        entry = header["streams"][name]
        arrivals.total, arrivals.late, arrivals.last = entry["total"], entry["late"], entry["last"]
        arrivals.log.restore(entry["first"], _read(body))
        messages, rows = _read(body), _read(body)
        arrivals.pending = Messages(*messages, *rows) if messages else Messages()
    for entry, track in zip(header["tracks"], streams.triples.values(), strict=True):
        track.restore(entry["first"], _read(body))
    for name, (first, message, triple) in header["windows"].items():
        window = streams.windows[name]
        window.first, window.base = first, (message, triple)
    clock.cursor = Cursor(*header["cursor"])
    clock.last = None if header["last"] is None else Cursor(*header["last"])
    return header["through"], header["ended"]


def _open(state: bytes) -> tuple[dict[str, Any], io.BytesIO]:
    if not state.startswith(_MAGIC):
        kind = state[:16].decode("ascii", "replace")
        raise CheckpointError(f"not a state of this version of the interval evaluator: {kind!r}")
    line = state.index(b"\n")
    length = int(state[len(_MAGIC) : line])
    header = json.loads(state[line + 1 : line + 1 + length])
    body = io.BytesIO(state)
    body.seek(line + 1 + length)
    return header, body


def _write(body: io.BytesIO, columns: Sequence[Ids]) -> None:
    batch = pa.record_batch(
        [pa.array(np.ascontiguousarray(column)) for column in columns],
        names=[str(place) for place in range(len(columns))],
    )
    with pa.ipc.new_stream(body, batch.schema) as writer:
        writer.write_batch(batch)


def _read(body: io.BytesIO) -> list[Ids]:
    with pa.ipc.open_stream(body) as reader:
        table = reader.read_all()
    return [np.array(column.to_numpy(), np.int64) for column in table.columns]


def _place(cursor: Cursor) -> list[int]:
    return [cursor.time, cursor.phase, cursor.stream, cursor.sequence]


def _shown(key: tuple[object, ...]) -> str:
    return repr(key)


# The same state as a small core and tables of rows (contract.Segmented)


def dump_core(streams: Streams, clock: Clock, through: int | None, ended: bool) -> bytes:
    """Everything but the logs of messages and the tracks of triples."""
    body = io.BytesIO()
    header: dict[str, Any] = {
        "through": through,
        "ended": ended,
        "cursor": _place(clock.cursor),
        "last": None if clock.last is None else _place(clock.last),
        "windows": {name: [each.first, *each.base] for name, each in streams.windows.items()},
        "streams": {name: [each.total, each.late, each.last] for name, each in streams.arrivals.items()},
    }
    for arrivals in streams.arrivals.values():
        _write(body, [getattr(arrivals.pending, column) for column in _MESSAGES])
        _write(body, [getattr(arrivals.pending, column) for column in _ROWS])
    text = json.dumps(header, separators=(",", ":")).encode()
    return _MAGIC + str(len(text)).encode() + b"\n" + text + body.getvalue()


def tables(streams: Streams) -> dict[str, tuple[int, int]]:
    """First and next row number of every log and track."""
    found = {f"log {name}": (each.log.first, each.log.end) for name, each in streams.arrivals.items()}
    for key, track in streams.triples.items():
        found[f"track {_shown(key)}"] = (track.rows.first, track.rows.end)
    return found


def table_rows(streams: Streams, table: str, first: int, end: int) -> list[Ids]:
    """The columns of some rows of a log or track, copied."""
    for name, arrivals in streams.arrivals.items():
        if table == f"log {name}":
            base = arrivals.log.first
            return [arrivals.log.column(place)[first - base : end - base].copy() for place in range(2)]
    for key, track in streams.triples.items():
        if table == f"track {_shown(key)}":
            base, columns = track.saved()
            return [column[first - base : end - base] for column in columns]
    raise KeyError(table)


def load_core(
    core: bytes, rows: Mapping[str, Stretch], streams: Streams, clock: Clock
) -> tuple[int | None, bool]:
    """The inverse: as ``load``, from a core and the rows of every table, all or those that are new."""
    header, body = _open(core)
    if list(header["streams"]) != list(streams.arrivals) or set(rows) != set(tables(streams)):
        raise CheckpointError(
            "the state belongs to another query", hint="restore with the query that made the snapshot"
        )
    for name, arrivals in streams.arrivals.items():
        arrivals.total, arrivals.late, arrivals.last = header["streams"][name]
        _resume(arrivals.log, rows[f"log {name}"])
        messages, triples = _read(body), _read(body)
        arrivals.pending = Messages(*messages, *triples) if messages else Messages()
    for key, track in streams.triples.items():
        stretch = rows[f"track {_shown(key)}"]
        if _continues(track.rows, stretch):
            track.add(stretch.columns)
            track.drop(stretch.first - track.rows.first)
        else:
            track.restore(stretch.first, stretch.columns)
    for name, (first, message, triple) in header["windows"].items():
        streams.windows[name].first = first
        streams.windows[name].base = (message, triple)
    clock.cursor = Cursor(*header["cursor"])
    clock.last = None if header["last"] is None else Cursor(*header["last"])
    return header["through"], header["ended"]


def _continues(buffer: Buffer, stretch: Stretch) -> bool:
    return buffer.end > 0 and stretch.start == buffer.end and buffer.first <= stretch.first


def _resume(buffer: Buffer, stretch: Stretch) -> None:
    if _continues(buffer, stretch):
        buffer.append(stretch.columns)
        buffer.drop(stretch.first - buffer.first)
    else:
        buffer.restore(stretch.first, stretch.columns)
