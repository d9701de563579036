"""The control log, and what is registered as of a batch: streams, queries, graphs, their updates.

Whatever changes is a line of one durable log beside the checkpoint. An entry names a batch that was not yet
planned when it was written, and every task applies exactly the entries up to the batch it works on, so a
replayed batch sees what it saw the first time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from weir.errors import CheckpointError
from weir.language.algebra.query import Query
from weir.plan.analysis.chain import parsed
from weir.storage import LineLog

CONTROL_FILE = "control.jsonl"
SHARED = "shared"
"""The evaluator of a registration whose query is evaluated with others."""

_FAREWELL = 4
_HINT = "go on with the version that wrote it, or start again with a new folder"


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

    @property
    def times_distinct(self) -> bool:
        """Whether its source promises that the times of each lane strictly increase."""
        return bool((self.source or {}).get("times_distinct"))


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


@dataclass(frozen=True)
class Registration:
    """A registered query. It lives in ``slots``: one, or all of them where it is split, by a variable or,
    where ``share`` is None, by time.

    ``graphs`` names its extract of the static graphs, None where that is empty; the first ``updates`` updates
    of the log are in it.
    ``share`` is the place (0 subject, 1 predicate, 2 object) of the variable that splits it. It sees only
    messages of batch ``since`` and later. ``reads`` are its streams; a variable ranges over those that were
    registered before it. ``routing`` is how its joins are ordered, which changes no result.
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
    routing: str = "cost"

    @cached_property
    def query(self) -> Query:
        """The query itself; its text is parsed once."""
        return parsed(self.text, self.dialect)

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


Item: TypeAlias = StreamEntry | ServiceEntry | Registration | UpdateEntry | GraphEntry
_ITEMS: Mapping[str, type[Item]] = {
    "stream": StreamEntry,
    "service": ServiceEntry,
    "register": Registration,
    "update": UpdateEntry,
    "graph": GraphEntry,
}
_OPERATIONS = {kind: operation for operation, kind in _ITEMS.items()}


@dataclass(frozen=True)
class Entry:
    """``operation`` is effective from ``batch`` on: it brings in an item, or it is ``drop`` or ``pause`` (a
    query by its name, which goes on by being registered anew) or ``drop_stream``."""

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

    @cached_property
    def item(self) -> Item | None:
        """What it brings in, None where something leaves."""
        kind = _ITEMS.get(self.operation)
        if kind is None:
            return None
        lists = {name: tuple(value) for name, value in self.values.items() if isinstance(value, list)}
        item = kind(**{**self.values, **lists})
        return replace(item, since=self.batch) if isinstance(item, Registration) else item


def entry_of(item: Item, batch: int) -> Entry:
    """The log entry that brings in ``item`` from ``batch`` on."""
    values = asdict(item)
    values.pop("since", None)
    return Entry(batch, _OPERATIONS[type(item)], values)


class ControlLog:
    """Reads and appends; a reader keeps what it has read and looks only at what is new."""

    def __init__(self, folder: Path, durable: bool = True) -> None:
        self._log = LineLog(folder / CONTROL_FILE)
        self._durable = durable
        self._entries: list[Entry] = []
        self._catalog = Catalog()

    def append(self, entries: Iterable[Entry]) -> None:
        """Add entries; they are durable when this returns."""
        self._log.append([entry.line() for entry in entries], sync=self._durable)

    def entries(self, batch: int | None = None) -> list[Entry]:
        """All entries, or those effective in ``batch``, in the order they were written."""
        self._entries += [Entry.parse(line) for line in self._log.more()]
        return [entry for entry in self._entries if batch is None or entry.batch <= batch]

    def catalog(self, batch: int | None = None) -> Catalog:
        """What they amount to; the same object as long as nothing changes."""
        entries = self.entries(batch)
        if self._catalog.version != len(entries):
            self._catalog = Catalog.of(entries)
        return self._catalog


@dataclass(slots=True)
class Catalog:
    """The state of the control log at some batch. ``version`` tells catalogs of one log apart.

    ``paused`` are queries that are known and do not run. ``vacated`` tells of slots that have lost their last
    query with which batch they did; ``numbered`` is how many streams there ever were.
    """

    streams: dict[str, StreamEntry] = field(default_factory=dict)
    queries: dict[str, Registration] = field(default_factory=dict)
    version: int = 0
    services: dict[str, ServiceEntry] = field(default_factory=dict)
    updates: list[UpdateEntry] = field(default_factory=list)
    graphs: list[GraphEntry] = field(default_factory=list)
    paused: dict[str, Registration] = field(default_factory=dict)
    vacated: dict[int, int] = field(default_factory=dict)
    numbered: int = 0

    @staticmethod
    def of(entries: Iterable[Entry]) -> Catalog:
        """The catalog after ``entries``; what one says may be more than this version knows."""
        found = Catalog()
        load: Counter[int] = Counter()
        for entry in entries:
            try:
                found._take(entry, load)
            except (TypeError, KeyError) as error:
                raise CheckpointError(
                    f"the control log has an entry {entry.operation!r} that this version of Weir cannot read",
                    detail=str(error),
                    hint=_HINT,
                ) from None
        return found

    def leaving(self, batch: int) -> list[int]:
        """The slots that have lost their last query not long before ``batch``: their state has to go.

        One batch would do, but it may be one without any input, and then Spark calls nobody."""
        return [slot for slot, since in self.vacated.items() if since <= batch < since + _FAREWELL]

    @property
    def every_query(self) -> dict[str, Registration]:
        """Running and paused."""
        return {**self.queries, **self.paused}

    def _take(self, entry: Entry, load: Counter[int]) -> None:
        """One entry more; ``load`` counts the queries of each slot."""
        self.version += 1
        match entry.item:
            case StreamEntry() as stream:
                self.streams[stream.iri] = stream
                self.numbered = max(self.numbered, stream.number + 1)
            case ServiceEntry() as service:
                self.services[service.endpoint] = service
            case UpdateEntry() as update:
                self.updates.append(update)
            case GraphEntry() as graph:
                self.graphs.append(graph)
            case Registration() as query:
                self._leave(query.name, query.since, load)
                self.paused.pop(query.name, None)
                self.queries[query.name] = query
                for slot in query.slots:
                    load[slot] += 1
                    self.vacated.pop(slot, None)
            case None:
                self._drop(entry, load)

    def _drop(self, entry: Entry, load: Counter[int]) -> None:
        match entry.operation:
            case "drop_stream":
                self.streams.pop(entry.values["iri"], None)
            case "drop":
                self._leave(entry.values["name"], entry.batch, load)
                self.paused.pop(entry.values["name"], None)
            case "pause":
                left = self._leave(entry.values["name"], entry.batch, load)
                if left is not None:
                    self.paused[left.name] = left
            case unknown:
                raise CheckpointError(
                    f"the control log has an entry {unknown!r}, which this version of Weir does not know",
                    hint=_HINT,
                )

    def _leave(self, name: str, batch: int, load: Counter[int]) -> Registration | None:
        left = self.queries.pop(name, None)
        for slot in left.slots if left is not None else ():
            load[slot] -= 1
            if not load[slot]:
                self.vacated[slot] = batch
        return left
