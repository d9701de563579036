"""What is registered as of a batch: streams, queries, graphs, their updates; and the entries that say so.

Whatever changes is an entry of the control log (``control_log``), and the catalog is what entries amount to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, TypeAlias

from weir.errors import CheckpointError
from weir.language.algebra.query import Query
from weir.plan.analysis.chain import parsed
from weir.plan.analysis.split import BY_PREDICATE, Places, places_of, stages_of
from weir.plan.analysis.templates import Instance, instance
from weir.plan.analysis.two_stages import Stages
from weir.runtime.control.failure import Failure, earliest

SHARED = "shared"
"""The evaluator of a registration whose query is evaluated with others."""

FAIL = "fail"
FAREWELL = 4
"""Batches for which a slot that has lost its last query is still called."""
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

    Several that follow each other can be put together: ``number`` is then the last one, ``inserted`` has the
    events of all, ``merged`` the number and time of each, and the queries that it concerns.
    """

    number: int
    at: int | None
    inserted: str
    deleted: str
    parts: Mapping[str, str]
    merged: Sequence[tuple[int, int | None, Sequence[str]]] = ()

    @property
    def each(self) -> Sequence[tuple[int, int | None, Sequence[str]]]:
        """The number, time and queries of each update in it."""
        return self.merged or ((self.number, self.at, tuple(self.parts)),)


@dataclass(frozen=True)
class Registration:
    """A registered query. It lives in ``slots``: one, or all of them where it is split, by a variable or,
    where ``share`` is None, by time.

    ``graphs`` names its extract of the static graphs, None where that is empty; the first ``updates`` updates
    of the log are in it.
    ``share`` is the place (0 subject, 1 predicate, 2 object) of the variable that splits it, or stands for
    all of them. It sees only
    messages of batch ``since`` and later. ``reads`` are its streams; a variable ranges over those that were
    registered before it. ``routing`` is how its joins are ordered, which changes no result. Where it is
    ``staged``, what its slots answer is put together (``output.putting_together``). ``shape`` is what queries
    have in common that can be evaluated together (``sharing``), ``mark`` what conjunctions have that are the
    same but for names. ``makes`` is the stream that it makes.
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
    staged: bool = False
    shape: str = ""
    mark: str = ""
    makes: str | None = None

    @cached_property
    def query(self) -> Query:
        """The query itself; its text is parsed once."""
        return parsed(self.text, self.dialect)

    @cached_property
    def instance(self) -> Instance | None:
        """What it is of its shape, where it is evaluated with others and reads static graphs."""
        found = instance(self.query) if self.evaluator == SHARED else None
        return found if isinstance(found, Instance) else None

    @cached_property
    def stages(self) -> Stages | None:
        """What its slots do and what is done after them, where that is staged."""
        return stages_of(self.query, self.share) if self.staged and self.share is not None else None

    @cached_property
    def places(self) -> Places:
        """The place that splits the triples of each predicate, where that is not the same for all."""
        mixed = self.share is not None and self.share >= BY_PREDICATE
        return places_of(self.query, self.share) if mixed and self.share is not None else {}

    @property
    def evaluated(self) -> Query:
        """What is evaluated in its slots: the query, or its first stage."""
        return self.query if self.stages is None else self.stages.first

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
    """``operation`` is effective from ``batch`` on: it brings in an item, or it is ``drop``, ``pause`` or
    ``fail`` (a query by its name, which goes on by being registered anew), ``drop_stream``, or ``numbered``,
    how many streams there ever were."""

    batch: int
    operation: str
    values: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Plain values for the log."""
        return {"batch": self.batch, "op": self.operation, **self.values}

    @staticmethod
    def of(values: Mapping[str, Any]) -> Entry:
        """The inverse of ``as_json``."""
        try:
            rest = dict(values)
            return Entry(rest.pop("batch"), rest.pop("op"), rest)
        except (ValueError, LookupError, TypeError) as error:
            raise CheckpointError(
                f"the control log is damaged: {str(values)[:80]}",
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


def failed(failure: Failure, batch: int) -> Entry:
    """The entry for a query that failed in ``batch``: it is evaluated there as far as the failure says, and
    does not run from the next one on."""
    return Entry(batch + 1, FAIL, failure.as_json())


@dataclass(slots=True)
class Catalog:
    """The state of the control log at some batch. ``version`` is the position in the log up to which changes
    count, and so tells catalogs of one log apart; ``load`` counts the queries of each slot,
    ``shapes`` those of each shape; ``twins`` has the slot and the number of those of each mark; ``made`` and
    ``read`` count who makes and reads each stream, of the queries that run and those that failed.

    ``paused`` are queries that are known and do not run, because somebody paused them or because of one of
    the ``failures``. ``vacated`` tells of slots that have lost their last query with which batch they did;
    ``numbered`` is how many streams there ever were.
    """

    streams: dict[str, StreamEntry] = field(default_factory=dict)
    queries: dict[str, Registration] = field(default_factory=dict)
    version: int = 0
    services: dict[str, ServiceEntry] = field(default_factory=dict)
    updates: list[UpdateEntry] = field(default_factory=list)
    graphs: list[GraphEntry] = field(default_factory=list)
    paused: dict[str, Registration] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    vacated: dict[int, int] = field(default_factory=dict)
    numbered: int = 0
    load: Counter[int] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)
    twins: dict[str, tuple[int, int]] = field(default_factory=dict)
    made: Counter[str] = field(default_factory=Counter)
    read: Counter[str] = field(default_factory=Counter)

    @staticmethod
    def of(entries: Iterable[Entry]) -> Catalog:
        """The catalog after ``entries``, each a change of its own."""
        return Catalog().after([entry] for entry in entries)

    def after(self, changes: Iterable[Sequence[Entry]]) -> Catalog:
        """The catalog after ``changes`` more; what an entry says may be more than this version knows."""
        found = Catalog(
            **{each.name: copy(getattr(self, each.name)) for each in fields(self)},
        )
        for change in changes:
            found.version += 1
            for entry in change:
                try:
                    found._take(entry)
                except (TypeError, KeyError) as error:
                    raise CheckpointError(
                        f"the control log has an entry {entry.operation!r} that this version of Weir "
                        "cannot read",
                        detail=str(error),
                        hint=_HINT,
                    ) from None
        return found

    def leaving(self, batch: int) -> list[int]:
        """The slots that have lost their last query not long before ``batch``: their state has to go.

        One batch would do, but it may be one without any input, and then Spark calls nobody."""
        return [slot for slot, since in self.vacated.items() if since <= batch < since + FAREWELL]

    @property
    def every_query(self) -> dict[str, Registration]:
        """Running, paused and failed."""
        return {**self.queries, **self.paused}

    @property
    def makers(self) -> dict[str, Registration]:
        """The queries whose output there is to read: those that run, and those that failed, whose output
        stands still."""
        return {**{name: self.paused[name] for name in self.failures}, **self.queries}

    def _take(self, entry: Entry) -> None:
        """One entry more."""
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
                self._leave(query.name, query.since)
                self._forget(query.name)
                self.queries[query.name] = query
                self.shapes[query.shape] += bool(query.shape)
                self._count(query, 1)
                if query.mark:
                    self.twins[query.mark] = query.slots[0], self.twins.get(query.mark, (0, 0))[1] + 1
                for slot in query.slots:
                    self.load[slot] += 1
                    self.vacated.pop(slot, None)
            case None:
                self._drop(entry)

    def _drop(self, entry: Entry) -> None:
        match entry.operation:
            case "numbered":
                self.numbered = max(self.numbered, entry.values["streams"])
            case "drop_stream":
                self.streams.pop(entry.values["iri"], None)
            case "drop":
                self._leave(entry.values["name"], entry.batch)
                self._forget(entry.values["name"])
            case "pause":
                left = self._leave(entry.values["name"], entry.batch)
                if left is not None:
                    self.paused[left.name] = left
            case "fail":
                self._fail(Failure(**entry.values), entry.batch)
            case unknown:
                raise CheckpointError(
                    f"the control log has an entry {unknown!r}, which this version of Weir does not know",
                    hint=_HINT,
                )

    def _fail(self, failure: Failure, batch: int) -> None:
        """A query that was dropped or registered anew meanwhile is not the one that failed; one that was
        paused stays so."""
        known = self.every_query.get(failure.name)
        if known is None or known.since != failure.since:
            return
        if failure.name in self.paused and failure.name not in self.failures:
            return
        left = self._leave(failure.name, batch)
        if left is not None:
            self._count(left, 1)
        self.paused[failure.name] = known
        before = self.failures.get(failure.name)
        self.failures |= earliest([failure] if before is None else [before, failure])

    def _count(self, query: Registration, change: int) -> None:
        """A query makes and reads streams, or (−1) does so no longer."""
        if query.makes is not None:
            self.made[query.makes] += change
        for stream in query.reads:
            self.read[stream] += change

    def _forget(self, name: str) -> None:
        if name in self.failures:
            self._count(self.paused[name], -1)
        self.paused.pop(name, None)
        self.failures.pop(name, None)

    def _leave(self, name: str, batch: int) -> Registration | None:
        left = self.queries.pop(name, None)
        if left is None:
            return None
        self._count(left, -1)
        if left.shape:
            self.shapes[left.shape] -= 1
        if left.mark:
            slot, count = self.twins.pop(left.mark)
            if count > 1:
                self.twins[left.mark] = slot, count - 1
        for slot in left.slots:
            self.load[slot] -= 1
            if not self.load[slot]:
                self.vacated[slot] = batch
        return left
