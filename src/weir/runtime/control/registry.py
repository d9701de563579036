"""The queries and streams of a running job, as its user changes them.

A change is checked first, then logged for a batch that is not planned yet: when a method returns, the change
is durable, and it counts from that batch on. What is refused leaves no trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass
from typing import Any

from weir.errors import StorageError, UsageError
from weir.plan.analysis.chain import readers_of
from weir.runtime.control.catalog import SHARED, Catalog, Entry, Registration, StreamEntry, entry_of
from weir.runtime.control.extracts import Extractor
from weir.runtime.control.failure import Failure
from weir.runtime.control.planning import ControlWriter
from weir.runtime.control.registration import offer, registrations_of
from weir.runtime.control.samples import sources_of
from weir.runtime.ingest.sources import Source, source_of

IDLE = 10_000_000
"""Microseconds after which a silent lane of a live source is not waited for."""


@dataclass(frozen=True)
class QueryInfo(Registration):
    """A registered query, and why it does not run where it does not: it is ``paused``, or it failed.
    ``since`` is its first batch."""

    paused: bool = False
    failure: Failure | None = None

    @property
    def running(self) -> bool:
        return not self.paused and self.failure is None

    @property
    def output(self) -> str | None:
        """The stream that it makes, if it does."""
        return self.query.output


@dataclass(frozen=True, slots=True)
class StreamInfo:
    """A registered stream with the values of its source, None where that is a DataFrame."""

    iri: str
    source: Mapping[str, Any] | None
    endless: bool
    readers: tuple[str, ...]


class Registry:
    """What is registered with a job. ``opened`` and ``closed`` are told of streams that come and go;
    ``keep_late`` is for streams that come: whether the texts of late messages are asked for; ``routing`` for
    queries that come. ``staging`` is entered while queries in two stages come."""

    def __init__(self, control: ControlWriter, extractor: Extractor | None) -> None:
        self.extractor = extractor
        self.keep_late = False
        self.staging: Callable[[], AbstractContextManager[None]] = nullcontext
        self.routing = "cost"
        self.opened: list[Callable[[StreamEntry], None]] = []
        self.closed: list[Callable[[StreamEntry], None]] = []
        self.control = control
        self._lock = control.lock
        self._coming: Sequence[Registration] = ()
        self._infos: dict[str, tuple[Registration, QueryInfo]] = {}

    def catalog(self) -> Catalog:
        """What is registered, counting changes whose batch is still to come."""
        return self.control.catalog()

    def register(self, text: str, name: str | None, dialect: str, evaluator: str) -> str:
        """Register a query; its name."""
        return self._register_all([(name, text)], dialect, evaluator)[0]

    def register_all(self, texts: Mapping[str, str], dialect: str, evaluator: str) -> list[str]:
        """Register queries, all from the same batch on, or none of them; their names."""
        return self._register_all(texts.items(), dialect, evaluator)

    def _register_all(
        self, texts: Iterable[tuple[str | None, str]], dialect: str, evaluator: str
    ) -> list[str]:
        with self._lock:
            catalog = self._present()
            taken: dict[str, object] = dict(catalog.every_query)
            offers = []
            for name, text in texts:
                offers.append(
                    offer(text, taken, name=name, dialect=dialect, evaluator=evaluator, routing=self.routing)
                )
                taken[offers[-1].name] = text
            self._register(offers)
        return [each.name for each in offers]

    def drop(self, name: str) -> int:
        """Drop a query, running or not; the first batch without it."""
        with self._lock:
            catalog = self._present()
            if name not in catalog.paused or name in catalog.failures:
                self._refuse_while_read(self._known(name, catalog), catalog)
            return self.control.append(lambda batch: [Entry(batch, "drop", {"name": name})])

    def pause(self, name: str) -> int | None:
        """Stop a query but keep it registered; the first batch without it, None where it did not run. A batch
        that is under way is not waited for: workers that are at the query in it end it there."""

        def leaving(catalog: Catalog, batch: int) -> list[Entry]:
            if name in catalog.paused:
                return []
            self._refuse_while_read(self._known(name, catalog), catalog)
            return [Entry(batch, "pause", {"name": name})]

        if name in self._present().paused:
            return None
        batch = self.control.append_now(leaving)
        with suppress(StorageError):
            self.control.checkpoint.overdue().ask(batch - 1, name)
        return batch

    def resume(self, name: str) -> int | None:
        """Register a paused or failed query anew; its first batch, None where it is running."""
        with self._lock:
            catalog = self._present()
            known = catalog.paused.get(name)
            if known is None:
                self._known(name, catalog)
                return None
            evaluator = "auto" if known.evaluator == SHARED else known.evaluator
            again = Registration(name, known.text, known.dialect, evaluator, routing=known.routing)
            return self._register([again])

    def add_stream(self, iri: str, source: Source) -> None:
        """Add a stream."""
        with self._lock:
            source.check()
            source.check_place(self.control.checkpoint.own)
            entry = stream_entry(iri, source, self.fresh_stream(iri).number, self.keep_late)
            for tell in self.opened:
                tell(entry)
            self.control.append(lambda batch: [entry_of(entry, batch)])

    def fresh_stream(self, iri: str) -> StreamEntry:
        """The entry of a stream that is not there yet, and comes by a DataFrame."""
        catalog = self._present()
        if iri in catalog.streams:
            raise UsageError(f"the stream <{iri}> is given twice")
        makers = [name for name, each in catalog.every_query.items() if each.query.output == iri]
        if makers:
            raise UsageError(f"the stream <{iri}> is the output of the query {makers[0]!r}")
        return StreamEntry(iri, IDLE, self.keep_late, number=catalog.numbered)

    def drop_stream(self, iri: str) -> None:
        """Drop a stream; refused while a query reads it."""
        with self._lock:
            catalog = self._present()
            if iri not in catalog.streams:
                raise UsageError(f"there is no stream <{iri}>")
            readers = [name for name, each in catalog.every_query.items() if iri in each.reads]
            if readers:
                raise UsageError(
                    f"the stream <{iri}> is read by {', '.join(repr(name) for name in readers)}",
                    hint="drop what reads it first",
                )
            self.control.append(lambda batch: [Entry(batch, "drop_stream", {"iri": iri})])
            for tell in self.closed:
                tell(catalog.streams[iri])

    def queries(self) -> list[QueryInfo]:
        """Everything that is registered, in the order of registration."""
        catalog = self.catalog()
        infos: dict[str, tuple[Registration, QueryInfo]] = {}
        for name, each in catalog.every_query.items():
            failure = catalog.failures.get(name)
            paused = failure is None and name in catalog.paused
            known, info = self._infos.get(name, (None, None))
            if info is None or known is not each or (info.paused, info.failure) != (paused, failure):
                info = QueryInfo(**asdict(each), paused=paused, failure=failure)
            infos[name] = each, info
        self._infos = infos
        return [info for _, info in infos.values()]

    def streams(self) -> list[StreamInfo]:
        """Every stream that has a source."""
        catalog = self.catalog()
        return [_stream(entry, catalog) for entry in catalog.streams.values()]

    def _present(self) -> Catalog:
        if self.control.ended():
            raise UsageError("the job has ended: it takes no changes any more")
        return self.catalog()

    def _known(self, name: str, catalog: Catalog) -> Registration:
        found = catalog.every_query.get(name)
        if found is None:
            known = ", ".join(repr(each) for each in catalog.every_query) or "none"
            raise UsageError(f"there is no query {name!r}", detail=f"registered: {known}")
        return found

    def _refuse_while_read(self, registration: Registration, catalog: Catalog) -> None:
        queries = {each.name: each.query for each in (*catalog.queries.values(), *self._coming)}
        readers = readers_of(registration.query.output, queries)
        if readers:
            raise UsageError(
                f"the output of {registration.name!r} is read by {', '.join(map(repr, readers))}",
                hint="drop or pause what reads it first",
            )

    def _register(self, offers: Sequence[Registration]) -> int:
        self._coming = offers
        try:
            # What they read can be paused until they are known to come, and not from then on.
            catalog = self._present()
            finite = {iri for iri, entry in catalog.streams.items() if not _endless(entry)}
            slots, tasks = self.control.checkpoint.slots, self.control.checkpoint.partitions
            made = registrations_of(
                offers,
                catalog,
                tuple(catalog.streams),
                slots,
                self.extractor,
                finite,
                tasks,
                stages=True,
                sources=sources_of(catalog.streams),
            )
            with self.staging() if any(each.staged for each in made) else nullcontext():
                return self.control.append(lambda batch: [entry_of(each, batch) for each in made])
        finally:
            self._coming = ()


def stream_entry(iri: str, source: Source, number: int, keep_late: bool = False) -> StreamEntry:
    """The entry of a stream with a source of Weir's own."""
    idle = IDLE if source.endless else None
    return StreamEntry(iri, idle, keep_late, source.as_json(), number)


def _stream(entry: StreamEntry, catalog: Catalog) -> StreamInfo:
    readers = tuple(name for name, each in catalog.queries.items() if entry.iri in each.reads)
    return StreamInfo(entry.iri, entry.source, _endless(entry), readers)


def _endless(entry: StreamEntry) -> bool:
    """A DataFrame never ends."""
    return entry.source is None or source_of(entry.source).endless
