"""What is registered as of a batch: streams and queries, replayed from the control log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from weir.runtime.control import Entry


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
    """A registered query. It lives in ``slots``: one, or all of them where it is split.

    ``graphs`` names its extract of the static graphs, None where it reads none; the first ``updates`` updates
    of the log are in it.
    ``share`` is the place (0 subject, 1 predicate, 2 object) of the variable that splits it. It sees only
    messages of batch ``since`` and later.
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


@dataclass(frozen=True, slots=True)
class Catalog:
    """The state of the control log at some batch. ``version`` tells catalogs of one log apart."""

    streams: Mapping[str, StreamEntry] = field(default_factory=dict)
    queries: Mapping[str, Registration] = field(default_factory=dict)
    version: int = 0
    services: Mapping[str, ServiceEntry] = field(default_factory=dict)
    updates: tuple[UpdateEntry, ...] = ()

    @staticmethod
    def of(entries: Iterable[Entry]) -> Catalog:
        """The catalog after ``entries``."""
        catalog = Catalog()
        for entry in entries:
            catalog = catalog.after(entry)
        return catalog

    def reads_like(self, other: Catalog) -> bool:
        """Whether the same queries read the same streams, whatever else changed."""
        return self.streams == other.streams and self.queries == other.queries

    def after(self, entry: Entry) -> Catalog:
        """The catalog with one entry more."""
        grown = replace(self, version=self.version + 1)
        values: dict[str, Any] = dict(entry.values)
        match entry.operation:
            case "stream":
                stream = StreamEntry(**values)
                return replace(grown, streams={**self.streams, stream.iri: stream})
            case "service":
                service = ServiceEntry(**values)
                return replace(grown, services={**self.services, service.endpoint: service})
            case "register":
                query = Registration(**{**values, "slots": tuple(values["slots"]), "since": entry.batch})
                return replace(grown, queries={**self.queries, query.name: query})
            case "update":
                return replace(grown, updates=(*self.updates, UpdateEntry(**values)))
            case "drop_stream":
                left = {iri: stream for iri, stream in self.streams.items() if iri != values["iri"]}
                return replace(grown, streams=left)
            case "drop":
                kept = {name: query for name, query in self.queries.items() if name != values["name"]}
                return replace(grown, queries=kept)
        raise ValueError(f"unknown entry {entry.operation!r} in the control log")


_OPERATIONS: Mapping[type, str] = {
    StreamEntry: "stream",
    ServiceEntry: "service",
    Registration: "register",
    UpdateEntry: "update",
}


def entry_of(item: StreamEntry | ServiceEntry | Registration | UpdateEntry, batch: int) -> Entry:
    """The log entry that brings in ``item`` from ``batch`` on."""
    operation = _OPERATIONS[type(item)]
    values = asdict(item)
    values.pop("since", None)
    return Entry(batch, operation, values)


def drop_entry(name: str, batch: int) -> Entry:
    """The log entry that drops a query."""
    return Entry(batch, "drop", {"name": name})


def drop_stream_entry(iri: str, batch: int) -> Entry:
    """The log entry that drops a stream."""
    return Entry(batch, "drop_stream", {"iri": iri})
