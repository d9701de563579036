"""What is registered as of a batch: streams and queries, replayed from the control log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from weir.errors import CheckpointError
from weir.runtime.control.entries import (
    Entry,
    GraphEntry,
    Registration,
    ServiceEntry,
    StreamEntry,
    UpdateEntry,
)

_FAREWELL = 4
_HINT = "go on with the version that wrote it, or start again with a new folder"


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
