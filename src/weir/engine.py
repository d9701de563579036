"""The engine: register streams, graphs and queries, then run them as one job, on Spark or in this process."""

from __future__ import annotations

import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir.errors import UsageError, kind_of, warn
from weir.extras import load
from weir.language import Query
from weir.linked.graphs import GraphSources, RemoteGraph
from weir.linked.graphs.graph_files import is_url
from weir.linked.graphs.large_scans import Scanner, StreamedScan
from weir.linked.service import config_of, refuse_bad_hints, settings_of
from weir.plan.analysis.chain import refuse_bad_chains
from weir.plan.querysets import parse_queries
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.control.catalog import (
    Catalog,
    Entry,
    GraphEntry,
    Registration,
    ServiceEntry,
    StreamEntry,
    entry_of,
)
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.extracts import Extractor
from weir.runtime.control.failure import UNLIMITED, QueryLimits
from weir.runtime.control.graph_updates import BASE
from weir.runtime.control.planning import SOURCE_NAME, feed_key, feed_of
from weir.runtime.control.registration import offer, refuse_changes, registrations_of
from weir.runtime.control.registry import IDLE, stream_entry
from weir.runtime.ingest.sources import Source, source_at, source_of
from weir.runtime.output.metrics import Metrics
from weir.runtime.output.sinks.base import Sink
from weir.runtime.output.sinks.making import SinkMaker, any_sink
from weir.runtime.output.sinks.result_files import asides_at, exact_file, json_lines_sink
from weir.runtime.running import RunningJob
from weir.storage.places import path_at

if TYPE_CHECKING:
    from weir.spark import DataFrame, SparkSession
    from weir.spark.dataframes import DataFrameStream
    from weir.spark.writers import Writer

RUNNERS = {"spark": ("weir.spark.job", "SparkRunner"), "direct": ("weir.runtime.direct_loop", "DirectRunner")}
"""What starts jobs, by the names of the runners; loaded when it is chosen."""


@dataclass(slots=True, repr=False)
class Engine:
    """Streams, graphs and queries of one job.

    ``checkpoint`` is a folder to which the job can come back; without one the run cannot be resumed.
    ``spark`` is a session to use; without one the active session is used, or one is started on ``master``.
    ``routing`` is how joins are ordered while they run, by ``cost`` or by ``cardinality``; a query keeps the
    one with which it was registered. ``slots`` is into how many parts queries and their state can be split,
    ``partitions`` how many tasks work on them side by side; both are fixed when a checkpoint is made, and are
    the number of cores then where nothing is said. A job goes on with them on any number of cores.
    A query that takes more than ``limits`` allow fails. A query that names a graph nobody gave, or uses a
    variable that can never be bound, draws a ``WeirWarning`` at the start; ``strict`` refuses it.

    The ``runner`` is ``spark``, durable and distributed, or ``direct``: the same results from one process
    without Spark, which starts at once and keeps nothing, so that it has no checkpoint.
    """

    checkpoint: str | Path | None = None
    master: str | None = None
    spark: SparkSession | None = None
    routing: str = "cost"
    slots: int | None = None
    partitions: int | None = None
    limits: QueryLimits = UNLIMITED
    runner: str = "spark"
    strict: bool = False
    _streams: dict[str, Source] = field(default_factory=dict)
    _graphs: GraphSources = field(default_factory=GraphSources)
    _queries: dict[str, Registration] = field(default_factory=dict)
    _services: dict[str, dict[str, Any]] = field(default_factory=dict)
    _frames: dict[str, DataFrameStream] = field(default_factory=dict)
    _given: list[GraphEntry] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.runner not in RUNNERS:
            raise UsageError(f"unknown runner {self.runner!r}", hint=f"one of {', '.join(RUNNERS)}")
        if self.runner == "direct" and self.checkpoint is not None:
            raise UsageError(
                "the direct runner keeps nothing, so it cannot go on from a checkpoint",
                hint='use runner="spark", or leave out the checkpoint',
            )

    def __repr__(self) -> str:
        streams, queries = self._known, list(self._queries)
        given = [f"{len(found)} {what}" for found, what in ((streams, "streams"), (queries, "queries"))]
        return f"<weir.Engine on {self.runner}: {', '.join(given)}, {len(self._given)} graphs>"

    def service(self, endpoint: str, **settings: Any) -> None:
        """What is declared about a SERVICE endpoint, ``"*"`` for all others: ``budget=10``,
        ``change_interval="5s"``, ``policy="ibm"`` and whatever else ``ServiceConfig`` has.

        A hint in the endpoint's own IRI (``…#weir:budget=10&interval=5s``) is taken too.
        """
        address, hint = settings_of(endpoint)
        told = {**hint, **settings}
        config_of(told)
        self._services[address] = {**self._services.get(address, {}), **told}

    def stream(
        self,
        iri: str,
        source: str | Path | Source | DataFrameStream | DataFrame,
        *,
        watch: bool = False,
        files_per_batch: int | None = None,
        format: str | None = None,
        time: str | None = None,
        unit: str | None = None,
    ) -> None:
        """A stream: a file of messages, or a directory of them in name order; an address such as
        ``mqtt://host/topic`` or ``replay:FILE?rate=100``, a source that is made already, or a streaming
        DataFrame, whose sources have names (``spark.dataframes``).

        Files other than ``.tnq`` need the predicate that states the ``time`` of their messages. ``format``
        and ``unit`` are for files whose name or content does not tell; options may stand behind the path.
        """
        if iri in self._streams or iri in self._frames:
            raise UsageError(f"the stream <{iri}> is given twice")
        if not isinstance(source, (str, Path, Source)):
            rows_of_spark = hasattr(source, "isStreaming") or hasattr(source, "frames")
            if self.runner != "spark" or not rows_of_spark:
                raise UsageError(
                    f"the stream <{iri}> is given {kind_of(source)}, which is no source",
                    hint="give a path, an address or a streaming DataFrame; weir.query takes frames",
                )
            rows = load("weir.spark.dataframes").stream_of(source, format or "tnq", time)
            rows.check_named(self._frames.values())
            self._frames[iri] = rows
            return
        told = {"files_per_batch": files_per_batch, "format": format, "time": time, "unit": unit}
        made = source_at(source, {**told, "watch": watch or None})
        made.check()
        self._streams[iri] = made

    def graph(
        self, iri: str | None, source: str | Path, *, refresh: float | None = None, **limits: Any
    ) -> None:
        """A static graph: a file, a folder of files, a store that ``weir load`` made, or a URL.

        Without an IRI it is the default graph; a store then brings all its graphs under their own names.
        A URL is fetched once, within ``timeout`` seconds and ``max_bytes``, and with ``refresh`` again after
        so many seconds: what has changed is then an update of the running job.
        """
        if is_url(str(source)):
            self._graphs.add_remote(iri, RemoteGraph(str(source), refresh=refresh, **limits))
            self._given.append(GraphEntry(iri, str(source), {"refresh": refresh, **limits}))
            return
        path = path_at(source, "a graph")
        if refresh is not None or limits:
            raise UsageError(f"only a graph from a URL is refreshed, and {source} is none")
        self._graphs.add(iri, path)
        self._given.append(GraphEntry(iri, str(path.absolute())))

    def register(
        self,
        text: str,
        *,
        name: str | None = None,
        dialect: str = "auto",
        evaluator: str = "auto",
        file: str | None = None,
    ) -> Query:
        """A continuous query. Its name is that of REGISTER, or else ``name``; ``file`` is for messages."""
        made = offer(
            text,
            self._queries,
            name=name,
            dialect=dialect,
            evaluator=evaluator,
            routing=self.routing,
            file=file,
        )
        self._queries[made.name] = made
        return made.query

    def register_all(
        self,
        text: str,
        *,
        name: str = "query",
        dialect: str = "auto",
        evaluator: str = "auto",
        file: str | None = None,
    ) -> list[str]:
        """The queries of a text in which lines of three hyphens part them; their names.

        A query that is not REGISTERed is called ``name``, with a number where there are several.
        """
        found = parse_queries(text, name, dialect, file)
        for own, query in found.items():
            self.register(query.text, name=own, dialect=dialect, evaluator=evaluator, file=file)
        return list(found)

    def run(
        self,
        *,
        out: str | Path | None = None,
        sinks: Sequence[Sink | SinkMaker | str] | str = (),
        dead_letters: str | Path | None = None,
        late: str | Path | None = None,
        observer: Callable[[Metrics], None] | None = None,
        writer: Writer | str | None = None,
        waiting: Callable[[RunningJob], None] = lambda job: None,
    ) -> Metrics:
        """Run to the end of finite sources, or until interrupted; ``out`` is a JSON Lines file, ``sinks`` are
        where results go as well, also addresses such as ``mqtt://host/topic``, ``writer`` as in ``start``.

        ``waiting`` is called about once a second while the job runs, and once at its start.

        A query that fails ends alone: ``failures`` of what this returns tell which did, and why."""
        with _interruptible() as interrupted:
            job = self.start(
                out=out, sinks=sinks, dead_letters=dead_letters, late=late, observer=observer, writer=writer
            )
            waiting(job)
            while not job.wait(1):
                waiting(job)
                if interrupted.is_set():
                    job.stop()
                    job.metrics.interrupted = True
                    break
        return job.metrics

    def start(
        self,
        *,
        out: str | Path | None = None,
        sinks: Sequence[Sink | SinkMaker | str] | str = (),
        dead_letters: str | Path | None = None,
        late: str | Path | None = None,
        observer: Callable[[Metrics], None] | None = None,
        live: bool = False,
        resume: bool = False,
        writer: Writer | str | None = None,
    ) -> RunningJob:
        """Start the job and return at once; its ``wait`` and ``stop`` end it.

        With a ``writer`` tasks write the results, and nothing of their size passes the driver: parts in a
        folder (``"jsonl:DIR"``), or any sink of Spark's (``"delta:PATH"``, ``SparkSink(name, options)``).
        There are no other sinks then.

        A ``live`` job may begin with nothing, takes queries and streams while it runs, and goes on until it
        is stopped. ``resume`` goes on with whatever the checkpoint has, beside what is given here; without
        it both have to be the same.
        """
        self._check(live or resume)
        if writer is not None and self.runner != "spark":
            raise UsageError("only tasks of Spark write results themselves", hint="give sinks instead")
        told = load("weir.spark.writers").writer_at(writer) if isinstance(writer, str) else writer
        if writer is not None and told is None:
            raise UsageError(
                f"the driver writes to {writer}", hint="give it to sinks; for tasks, tasks:ADDRESS"
            )
        if told is not None and (sinks or out is not None):
            raise UsageError("results that tasks write go nowhere else", hint="leave out other sinks")
        if self.slots and self.partitions and self.partitions > self.slots:
            raise UsageError(
                f"{self.partitions} partitions for {self.slots} slots: some would have nothing to do",
                hint="give at least as many slots as partitions",
            )
        with ExitStack() as undone:
            folder = path_at(self.checkpoint or tempfile.mkdtemp(prefix="weir-"), "a checkpoint").absolute()
            if not self.checkpoint:
                undone.callback(shutil.rmtree, folder, ignore_errors=True)
            for source in self._streams.values():
                source.check_place(folder)
            files = {name: _file(where) for name, where in (("dead", dead_letters), ("late", late))}
            results = _file(out)
            module, name = RUNNERS[self.runner]
            kind = getattr(load(module), name)
            lease = None
            if kind.durable:
                lease = Checkpoint.take(folder)
                undone.callback(lease.close)
            runner = kind(self.master, self.spark)
            cores = runner.cores
            checkpoint = Checkpoint.open(
                folder,
                version=metadata.version("weir"),
                slots=self.slots or self.partitions or cores,
                key=self._graphs.key,
                durable=kind.durable,
                lease=lease,
                partitions=self.partitions,
            )
            checkpoint.refuse_other(self.slots, self.partitions)
            extractor = self._enrol(checkpoint, cores, resume, late is not None, runner.scanner)
            logs = checkpoint.own / "sinks"
            given = [any_sink(each) for each in ([sinks] if isinstance(sinks, str) else sinks)]
            every = [make(logs) if callable(make) else make for make in given]
            if results is not None:
                every.append(json_lines_sink(exact_file(results, logs / "out.commits")))
            job: RunningJob = runner.job(
                checkpoint,
                extractor,
                every,
                dict(self._frames),
                ends=not live and all(not source.endless for source in self._streams.values()),
                asides=asides_at(files, logs if self.checkpoint else None),
                limits=self.limits,
                **({} if told is None else {"writer": told}),
            )
            job.registry.routing = self.routing
            if observer is not None:
                job.observers.append(observer)
            job.start()
            job.graphs.keep_fresh(self._graphs.remotes)
            job.afterwards.append(undone.pop_all().close)
        return job

    @property
    def sources(self) -> dict[str, Source]:
        """The streams that are given here, by IRI; not those that are DataFrames."""
        return dict(self._streams)

    @property
    def queries(self) -> dict[str, Query]:
        """The queries that are registered here, by name."""
        return {name: item.query for name, item in self._queries.items()}

    @property
    def _known(self) -> list[str]:
        """All streams that are given."""
        return [*self._streams, *self._frames]

    def _check(self, may_be_empty: bool) -> None:
        """Everything that can be refused before the runner starts."""
        configs = {endpoint: config_of(settings) for endpoint, settings in self._services.items()}
        for item in self._queries.values():
            refuse_bad_hints(item.query, configs)
        if may_be_empty:
            return
        if not self._queries:
            raise UsageError("no query is registered")
        refuse_bad_chains({name: item.query for name, item in self._queries.items()}, self._known)
        if not self._known:
            raise UsageError("no stream is given", hint="give one with --stream IRI=SOURCE")

    def _enrol(
        self,
        checkpoint: Checkpoint,
        cores: int,
        resume: bool,
        keep_late: bool,
        scanner: Scanner = StreamedScan,
    ) -> Extractor:
        """Write what is new to the control log; refuse what does not fit the checkpoint. The static graphs
        stay open for updates."""
        log = checkpoint.control()
        catalog = log.catalog()
        batch = checkpoint.next_batch()
        refuse_changes(catalog, self._queries, self._streams, self._frames, resume)
        log.compact(checkpoint.committed())
        entries: list[Entry] = []
        if resume:
            self._take_back(catalog)
        elif not catalog.version:
            entries += [entry_of(graph, batch) for graph in self._given]
        numbered = catalog.numbered
        for iri, source in self._streams.items():
            known = catalog.streams.get(iri)
            stream = stream_entry(iri, source, known.number if known else numbered, keep_late)
            numbered += not known
            if stream != known:
                entries.append(entry_of(stream, batch))
            reached = (checkpoint.offset(SOURCE_NAME) or {}).get(feed_key(stream), {})
            feed_of(stream, checkpoint.own, cores).refuse_more(reached)
        for iri in self._frames:
            if iri not in catalog.streams:
                entries.append(entry_of(StreamEntry(iri, IDLE, keep_late, number=numbered), batch))
                numbered += 1
        for endpoint, settings in self._services.items():
            service = ServiceEntry(endpoint, settings)
            if catalog.services.get(endpoint) != service:
                entries.append(entry_of(service, batch))
        graphs = self._graphs.open(Dictionary(checkpoint.key), checkpoint.graphs / BASE, scanner)
        extractor = Extractor(graphs, checkpoint)
        self._warn(extractor)
        new = [item for name, item in self._queries.items() if name not in catalog.every_query]
        finite = {iri for iri, source in self._streams.items() if not source.endless}
        declared = {endpoint: ServiceEntry(endpoint, told) for endpoint, told in self._services.items()}
        so_far = replace(catalog, services={**catalog.services, **declared})
        slots, tasks, names = checkpoint.slots, checkpoint.partitions, tuple(self._known)
        made = registrations_of(
            new, so_far, names, slots, extractor, finite, tasks, stages=True, sources=self._streams
        )
        log.append([*entries, *(entry_of(each, batch) for each in made)])
        extractor.sweep(log.entries())
        return extractor

    def _warn(self, extractor: Extractor) -> None:
        """Say what is hardly meant, or refuse it."""
        for name, item in self._queries.items():
            for text in extractor.warnings(item.query):
                if self.strict:
                    raise UsageError(
                        f"the query {name!r}: {text}", hint="mend that, or run it without strict"
                    )
                warn(f"the query {name!r}: {text}")

    def _take_back(self, catalog: Catalog) -> None:
        """Streams and graphs of the checkpoint that were not given again."""
        for iri, entry in catalog.streams.items():
            if iri not in self._known and entry.source is not None:
                self._streams[iri] = source_of(entry.source)
        if not self._given:
            for graph in catalog.graphs:
                self.graph(graph.iri, graph.source, **graph.settings)


def _file(place: str | Path | None) -> Path | None:
    """Where a file of results is to be, None where none is asked for."""
    return path_at(place, "results").absolute() if place else None


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set, so that a job stops between batches and not in a call to Java."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    kept = {
        number: signal.signal(number, lambda *_: event.set()) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield event
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
