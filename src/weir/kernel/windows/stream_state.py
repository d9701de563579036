"""What is kept of the streams of a query: messages in order, windows, live triples; and the same as bytes.

Rows are ids under the dictionary's key, so a state is read in any process that has the same key and query;
texts travel with the dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from weir.storage import numbers, pack, unpack


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


_KIND = "interval state 2"
_PENDING = ("time", "triples", "message", "place", "subject", "predicate", "object", "graph")
_MESSAGES = 2
"""The first columns of pending messages are theirs, the others those of their triples."""


def dump(streams: Streams, clock: Clock, through: int | None, ended: bool, *, core: bool = False) -> bytes:
    """Everything that the next slab depends on, readable in any process that has the dictionary's key; its
    ``core`` is everything but the logs of messages and the live triples, which are tables."""
    kept = {} if core else tables(streams)
    rows = {name: table_rows(streams, name, first, end) for name, (first, end) in kept.items()}
    header = {
        "through": through,
        "ended": ended,
        "cursor": clock.cursor,
        "last": clock.last,
        "windows": {name: [each.first, *each.base] for name, each in streams.windows.items()},
        "streams": {name: [each.total, each.late, each.last] for name, each in streams.arrivals.items()},
        "tables": {name: first for name, (first, _) in kept.items()},
    }
    content: dict[str, dict[str, Ids]] = {
        name: {str(place): column for place, column in enumerate(columns)} for name, columns in rows.items()
    }
    for name, arrivals in streams.arrivals.items():
        columns = {column: getattr(arrivals.pending, column) for column in _PENDING}
        content[f"messages {name}"] = {column: columns.pop(column) for column in _PENDING[:_MESSAGES]}
        content[f"triples {name}"] = columns
    return bytes(pack(_KIND, header, content).to_pybytes())


def load(
    state: bytes, streams: Streams, clock: Clock, rows: Mapping[str, Stretch] | None = None
) -> tuple[int | None, bool]:
    """Put a state into an evaluator of the same query; returns its T and whether input has ended.

    A core comes with the ``rows`` of every table, all or those that are new (``contract.Segmented``)."""
    found = unpack(state, _KIND)
    resume = rows is not None
    if rows is None:
        rows = {
            name: Stretch(first, first, [numbers(column) for column in found.table(name).values()])
            for name, first in found.header["tables"].items()
        }
    header = found.header
    if list(header["streams"]) != list(streams.arrivals) or set(rows) != set(tables(streams)):
        raise CheckpointError(
            "the state belongs to another query", hint="restore with the query that made the snapshot"
        )
    for name, arrivals in streams.arrivals.items():
        arrivals.total, arrivals.late, arrivals.last = header["streams"][name]
        pending = {**found.table(f"messages {name}"), **found.table(f"triples {name}")}
        arrivals.pending = Messages(*(numbers(pending[column]) for column in _PENDING))
        stretch = rows[f"log {name}"]
        if resume and _continues(arrivals.log, stretch):
            arrivals.log.append(stretch.columns)
            arrivals.log.drop(stretch.first - arrivals.log.first)
        else:
            arrivals.log.restore(stretch.first, stretch.columns)
    for key, triples in streams.triples.items():
        stretch = rows[f"track {key!r}"]
        if resume and _continues(triples.rows, stretch):
            triples.add(stretch.columns)
            triples.drop(stretch.first - triples.rows.first)
        else:
            triples.restore(stretch.first, stretch.columns)
    for name, (first, message, triple) in header["windows"].items():
        streams.windows[name].first = first
        streams.windows[name].base = (message, triple)
    clock.cursor = Cursor(*header["cursor"])
    clock.last = None if header["last"] is None else Cursor(*header["last"])
    return header["through"], header["ended"]


def tables(streams: Streams) -> dict[str, tuple[int, int]]:
    """First and next row number of every log of messages and of the live triples of every pattern."""
    return {name: (rows.first, rows.end) for name, rows in _buffers(streams).items()}


def _buffers(streams: Streams) -> dict[str, Buffer]:
    found = {f"log {name}": each.log for name, each in streams.arrivals.items()}
    return found | {f"track {key!r}": each.rows for key, each in streams.triples.items()}


def table_rows(streams: Streams, table: str, first: int, end: int) -> list[Ids]:
    """The columns of some rows of a table, copied."""
    rows = _buffers(streams)[table]
    kept = slice(first - rows.first, end - rows.first)
    return [rows.column(place)[kept].copy() for place, name in enumerate(rows.names) if name != "later"]


def _continues(buffer: Buffer, stretch: Stretch) -> bool:
    return buffer.end > 0 and stretch.start == buffer.end and buffer.first <= stretch.first
