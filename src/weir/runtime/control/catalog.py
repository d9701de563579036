"""What is registered as of a batch: streams and queries, replayed from the control log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from weir.errors import CheckpointError
from weir.runtime.control.log import Entry

_FAREWELL = 4
_HINT = "go on with the version that wrote it, or start again with a new folder"


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """A registered stream. ``idle`` is in µs of wall clock, None where a silent lane is waited for.

    ``source`` is where its messages come from (``runtime.sources``), None where they come by a streaming
    DataFrame of Spark's. ``number`` tells a stream from one of the same name that was dropped before.
    """

    iri: str
    idle: int | None = None
    keep_late: bool = False
    source: Mapping[str, Any] | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class ServiceEntry:
    """What is declared about a SERVICE endpoint (``background.service.config``), as plain settings."""

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

    ``graphs`` names its extract of the static graphs, None where it reads none; the first ``updates`` updates
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


@dataclass(frozen=True, slots=True)
class Catalog:
    """The state of the control log at some batch. ``version`` tells catalogs of one log apart.

    ``paused`` are queries that are known and do not run. ``vacated`` tells of slots that have lost their last
    query with which batch they did; ``numbered`` is how many streams there ever were.
    """

    streams: Mapping[str, StreamEntry] = field(default_factory=dict)
    queries: Mapping[str, Registration] = field(default_factory=dict)
    version: int = 0
    services: Mapping[str, ServiceEntry] = field(default_factory=dict)
    updates: tuple[UpdateEntry, ...] = ()
    graphs: tuple[GraphEntry, ...] = ()
    paused: Mapping[str, Registration] = field(default_factory=dict)
    vacated: Mapping[int, int] = field(default_factory=dict)
    numbered: int = 0

    @staticmethod
    def of(entries: Iterable[Entry]) -> Catalog:
        """The catalog after ``entries``."""
        reader = _Reader()
        for entry in entries:
            reader.take(entry)
        return reader.catalog()

    def reads_like(self, other: Catalog) -> bool:
        """Whether the same queries read the same streams, whatever else changed."""
        return self.streams == other.streams and self.queries == other.queries

    def leaving(self, batch: int) -> list[int]:
        """The slots that have lost their last query not long before ``batch``: their state has to go.

        One batch would do, but it may be one without any input, and then Spark calls nobody."""
        return [slot for slot, since in self.vacated.items() if since <= batch < since + _FAREWELL]

    @property
    def every_query(self) -> dict[str, Registration]:
        """Running and paused."""
        return {**self.queries, **self.paused}


class _Reader:
    """Takes the entries of a log in their order."""

    def __init__(self) -> None:
        self.version = 0
        self.numbered = 0
        self.streams: dict[str, StreamEntry] = {}
        self.queries: dict[str, Registration] = {}
        self.paused: dict[str, Registration] = {}
        self.services: dict[str, ServiceEntry] = {}
        self.updates: list[UpdateEntry] = []
        self.graphs: list[GraphEntry] = []
        self.vacated: dict[int, int] = {}
        self.load: Counter[int] = Counter()

    def take(self, entry: Entry) -> None:
        """One entry; what it says may be more than this version knows."""
        try:
            self._take(entry)
        except (TypeError, KeyError) as error:
            raise CheckpointError(
                f"the control log has an entry {entry.operation!r} that this version of Weir cannot read",
                detail=str(error),
                hint=_HINT,
            ) from None

    def _take(self, entry: Entry) -> None:
        self.version += 1
        values: dict[str, Any] = dict(entry.values)
        match entry.operation:
            case "stream":
                stream = StreamEntry(**values)
                self.streams[stream.iri] = stream
                self.numbered = max(self.numbered, stream.number + 1)
            case "service":
                self.services[values["endpoint"]] = ServiceEntry(**values)
            case "register":
                lists = {name: tuple(values.get(name, ())) for name in ("slots", "reads")}
                self._arrive(Registration(**{**values, **lists, "since": entry.batch}))
            case "update":
                self.updates.append(UpdateEntry(**values))
            case "graph":
                self.graphs.append(GraphEntry(**values))
            case "drop_stream":
                self.streams.pop(values["iri"], None)
            case "drop":
                self._leave(values["name"], entry.batch)
                self.paused.pop(values["name"], None)
            case "pause":
                left = self._leave(values["name"], entry.batch)
                if left is not None:
                    self.paused[left.name] = left
            case unknown:
                raise CheckpointError(
                    f"the control log has an entry {unknown!r}, which this version of Weir does not know",
                    hint=_HINT,
                )

    def _arrive(self, query: Registration) -> None:
        self._leave(query.name, query.since)
        self.paused.pop(query.name, None)
        self.queries[query.name] = query
        for slot in query.slots:
            self.load[slot] += 1
            self.vacated.pop(slot, None)

    def _leave(self, name: str, batch: int) -> Registration | None:
        left = self.queries.pop(name, None)
        for slot in left.slots if left is not None else ():
            self.load[slot] -= 1
            if not self.load[slot]:
                self.vacated[slot] = batch
        return left

    def catalog(self) -> Catalog:
        return Catalog(
            self.streams,
            self.queries,
            self.version,
            self.services,
            tuple(self.updates),
            tuple(self.graphs),
            self.paused,
            self.vacated,
            self.numbered,
        )


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
