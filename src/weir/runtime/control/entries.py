"""The control log: what changed, and from which batch on it counts.

Registrations, drops, graphs and streams are lines of one durable log beside the checkpoint. An entry names a
batch that was not yet planned when it was written, and every task applies exactly the entries up to the batch
it works on, so a replayed batch sees what it saw the first time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from weir.errors import CheckpointError
from weir.storage import LineLog

CONTROL_FILE = "control.jsonl"


@dataclass(frozen=True, slots=True)
class Entry:
    """``operation`` is effective from ``batch`` on."""

    batch: int
    operation: str
    values: Mapping[str, Any]

    def line(self) -> bytes:
        return json.dumps({"batch": self.batch, "op": self.operation, **self.values}).encode()

    @staticmethod
    def parse(line: bytes) -> Entry:
        try:
            values = json.loads(line)
            return Entry(values.pop("batch"), values.pop("op"), values)
        except (ValueError, LookupError, AttributeError) as error:
            raise CheckpointError(
                f"the control log is damaged: {line[:80]!r}",
                detail=str(error),
                hint="put the folder back as it was, or start again with a new one",
            ) from None


class ControlLog:
    """Reads and appends; a reader keeps what it has read and looks only at what is new."""

    def __init__(self, folder: Path, durable: bool = True) -> None:
        self._log = LineLog(folder / CONTROL_FILE)
        self._durable = durable
        self._entries: list[Entry] = []

    def append(self, entries: Iterable[Entry]) -> None:
        """Add entries; they are durable when this returns."""
        self._log.append([entry.line() for entry in entries], sync=self._durable)

    def entries(self, batch: int | None = None) -> list[Entry]:
        """All entries, or those effective in ``batch``, in the order they were written."""
        self._entries += [Entry.parse(line) for line in self._log.more()]
        return [entry for entry in self._entries if batch is None or entry.batch <= batch]


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """A registered stream. ``idle`` is in µs of wall clock, None where a silent lane is waited for.

    ``source`` is where its messages come from (``runtime.ingest.sources``), None where they come by a
    streaming DataFrame of Spark's. ``number`` tells a stream from one of the same name that was dropped
    before.
    """

    iri: str
    idle: int | None = None
    keep_late: bool = False
    source: Mapping[str, Any] | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class ServiceEntry:
    """What is declared about a SERVICE endpoint (``linked.service``), as plain settings."""

    endpoint: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class UpdateEntry:
    """An update of static graphs. ``at`` is the time it was asked for (µs), None for the present.

    ``inserted`` and ``deleted`` name the extracts that hold its triples; ``parts`` names, for each query that
    it concerns, what it adds to the query's extract. Numbers count from 1 in the order of the log.
    """

    number: int
    at: int | None
    inserted: str
    deleted: str
    parts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Registration:
    """A registered query. It lives in ``slots``: one, or all of them where it is split, by a variable or,
    where ``share`` is None, by time.

    ``graphs`` names its extract of the static graphs, None where that is empty; the first ``updates`` updates
    of the log are in it.
    ``share`` is the place (0 subject, 1 predicate, 2 object) of the variable that splits it. It sees only
    messages of batch ``since`` and later. ``reads`` are its streams; a variable ranges over those that were
    registered before it.
    """

    name: str
    text: str
    dialect: str = "auto"
    evaluator: str = "auto"
    slots: tuple[int, ...] = (0,)
    share: int | None = None
    graphs: str | None = None
    since: int = 0
    updates: int = 0
    reads: tuple[str, ...] = ()

    @property
    def by_time(self) -> bool:
        """Whether every slot has all of it, and evaluates its stretch of the evaluation times."""
        return self.share is None and len(self.slots) > 1

    def over(self, streams: Iterable[str]) -> tuple[str, ...]:
        """Which of the registered ``streams`` a variable in it ranges over."""
        return tuple(iri for iri in streams if not self.reads or iri in self.reads)


@dataclass(frozen=True, slots=True)
class GraphEntry:
    """A static graph as it was given: a path or URL, and ``settings`` of its refreshing."""

    iri: str | None
    source: str
    settings: Mapping[str, Any] = field(default_factory=dict)


_OPERATIONS: Mapping[type, str] = {
    StreamEntry: "stream",
    ServiceEntry: "service",
    Registration: "register",
    UpdateEntry: "update",
    GraphEntry: "graph",
}


def entry_of(item: StreamEntry | ServiceEntry | Registration | UpdateEntry | GraphEntry, batch: int) -> Entry:
    """The log entry that brings in ``item`` from ``batch`` on."""
    operation = _OPERATIONS[type(item)]
    values = asdict(item)
    values.pop("since", None)
    return Entry(batch, operation, values)


def drop_entry(name: str, batch: int) -> Entry:
    """The log entry that drops a query."""
    return Entry(batch, "drop", {"name": name})


def pause_entry(name: str, batch: int) -> Entry:
    """The log entry that pauses a query; it goes on by being registered anew."""
    return Entry(batch, "pause", {"name": name})


def drop_stream_entry(iri: str, batch: int) -> Entry:
    """The log entry that drops a stream."""
    return Entry(batch, "drop_stream", {"iri": iri})
