"""The engine: register streams, graphs and queries, then run them as one Spark job."""

from __future__ import annotations

import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from weir.errors import UsageError
from weir.language import Query
from weir.linked.graphs import GraphSources, RemoteGraph
from weir.linked.service import HINT, config_of, hinted
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
from weir.runtime.control.graph_updates import BASE
from weir.runtime.control.planning import SOURCE_NAME, feed_key, feed_of
from weir.runtime.control.registration import offer, refuse_changes, registrations_of
from weir.runtime.control.registry import IDLE, stream_entry
from weir.runtime.ingest.sources import Source, path_source, source_from, source_of
from weir.runtime.output.metrics import Metrics
from weir.runtime.output.sinks.base import Sink
from weir.runtime.output.sinks.making import SinkMaker
from weir.runtime.output.sinks.result_files import ExactFile, json_lines_sink
from weir.spark import DataFrame, SparkSession
from weir.spark.dataframes import DataFrameStream
from weir.spark.job import Job
from weir.spark.session import open_session


@dataclass(slots=True)
class Engine:
    """Streams, graphs and queries of one job.

    ``checkpoint`` is a folder to which the job can come back; without one the run cannot be resumed.
    ``spark`` is a session to use; without one the active session is used, or one is started on ``master``.
    ``routing`` is how joins are ordered while they run, by ``cost`` or by ``cardinality``; a query keeps the
    one with which it was registered.
    """

    checkpoint: str | Path | None = None
    master: str | None = None
    spark: SparkSession | None = None
    routing: str = "cost"
    _streams: dict[str, Source] = field(default_factory=dict)
    _graphs: GraphSources = field(default_factory=GraphSources)
    _queries: dict[str, Registration] = field(default_factory=dict)
    _services: dict[str, dict[str, Any]] = field(default_factory=dict)
    _frames: dict[str, DataFrameStream] = field(default_factory=dict)
    _given: list[GraphEntry] = field(default_factory=list)

    def service(self, endpoint: str, **settings: Any) -> None:
        """What is declared about a SERVICE endpoint, ``"*"`` for all others: ``budget=10``,
        ``change_interval="5s"``, ``policy="ibm"`` and whatever else ``ServiceConfig`` has.

        A hint in the endpoint's own IRI (``…#weir:budget=10&interval=5s``) is taken too.
        """
        address, _ = hinted(endpoint, {})
        hint = endpoint[len(address) :].removeprefix(HINT)
        told = {**dict(parse_qsl(hint, keep_blank_values=True)), **settings}
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
        if isinstance(source, (DataFrameStream, DataFrame)):
            rows = (
                source
                if isinstance(source, DataFrameStream)
                else DataFrameStream(source, format or "tnq", time)
            )
            rows.check_named(self._frames.values())
            self._frames[iri] = rows
            return
        made = source_from(source) if isinstance(source, str) else source
        if made is None or isinstance(made, Path):
            told = {"files_per_batch": files_per_batch, "format": format, "time": time, "unit": unit}
            made = path_source(str(source), {**told, "watch": watch or None})
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
        if isinstance(source, str) and "://" in source:
            self._graphs.add_remote(iri, RemoteGraph(source, refresh=refresh, **limits))
            self._given.append(GraphEntry(iri, source, {"refresh": refresh, **limits}))
            return
        if refresh is not None or limits:
            raise UsageError(f"only a graph from a URL is refreshed, and {source} is none")
        self._graphs.add(iri, Path(source))
        self._given.append(GraphEntry(iri, str(Path(source).absolute())))

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
        sinks: Sequence[Sink | SinkMaker] = (),
        dead_letters: str | Path | None = None,
        late: str | Path | None = None,
        observer: Callable[[Metrics], None] | None = None,
    ) -> Metrics:
        """Run to the end of finite sources, or until interrupted; ``out`` is a JSON Lines file."""
        with _interruptible() as interrupted:
            job = self.start(out=out, sinks=sinks, dead_letters=dead_letters, late=late, observer=observer)
            while not job.wait(1):
                if interrupted.is_set():
                    job.stop()
                    job.metrics.interrupted = True
                    break
        return job.metrics

    def start(
        self,
        *,
        out: str | Path | None = None,
        sinks: Sequence[Sink | SinkMaker] = (),
        dead_letters: str | Path | None = None,
        late: str | Path | None = None,
        observer: Callable[[Metrics], None] | None = None,
        live: bool = False,
        resume: bool = False,
    ) -> Job:
        """Start the job and return at once; ``Job.wait`` and ``Job.stop`` end it.

        A ``live`` job may begin with nothing, takes queries and streams while it runs, and goes on until it
        is stopped. ``resume`` goes on with whatever the checkpoint has, beside what is given here; without
        it both have to be the same.
        """
        self._check(live or resume)
        with ExitStack() as undone:
            folder = Path(self.checkpoint or tempfile.mkdtemp(prefix="weir-")).absolute()
            if not self.checkpoint:
                undone.callback(shutil.rmtree, folder, ignore_errors=True)
            spark = self.spark or open_session(self.master)
            cores = spark.sparkContext.defaultParallelism
            checkpoint = Checkpoint.open(
                folder, version=metadata.version("weir"), slots=cores, key=self._graphs.key
            )
            extractor = self._enrol(checkpoint, cores, resume, late is not None)
            logs = checkpoint.own / "sinks"
            every = [make(logs) if callable(make) else make for make in sinks]
            if out is not None:
                every.append(json_lines_sink(ExactFile(Path(out).absolute(), logs / "jsonl.log")))
            job = Job(
                spark,
                checkpoint,
                extractor,
                every,
                dict(self._frames),
                ends=not live and all(not source.endless for source in self._streams.values()),
                dead_letters=Path(dead_letters).absolute() if dead_letters else None,
                late=Path(late).absolute() if late else None,
            )
            job.registry.routing = self.routing
            if observer is not None:
                job.observers.append(observer)
            job.start()
            job.graphs.keep_fresh(self._graphs.remotes)
            job.afterwards.append(undone.pop_all().close)
        return job

    @property
    def _known(self) -> list[str]:
        """All streams that are given."""
        return [*self._streams, *self._frames]

    def _check(self, may_be_empty: bool) -> None:
        """Everything that can be refused before Spark starts."""
        if may_be_empty:
            return
        if not self._queries:
            raise UsageError("no query is registered")
        refuse_bad_chains({name: item.query for name, item in self._queries.items()}, self._known)
        if not self._known:
            raise UsageError("no stream is given", hint="give one with --stream IRI=SOURCE")

    def _enrol(self, checkpoint: Checkpoint, cores: int, resume: bool, keep_late: bool) -> Extractor:
        """Write what is new to the control log; refuse what does not fit the checkpoint. The static graphs
        stay open for updates."""
        log = checkpoint.control()
        catalog = Catalog.of(log.entries())
        batch = checkpoint.next_batch()
        refuse_changes(catalog, self._queries, self._streams, self._frames, resume)
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
        graphs = self._graphs.open(Dictionary(checkpoint.key), checkpoint.graphs / BASE)
        extractor = Extractor(graphs, checkpoint)
        new = [item for name, item in self._queries.items() if name not in catalog.every_query]
        finite = {iri for iri, source in self._streams.items() if not source.endless}
        made = registrations_of(new, catalog, tuple(self._known), checkpoint.slots, extractor, finite)
        log.append([*entries, *(entry_of(each, batch) for each in made)])
        return extractor

    def _take_back(self, catalog: Catalog) -> None:
        """Streams and graphs of the checkpoint that were not given again."""
        for iri, entry in catalog.streams.items():
            if iri not in self._known and entry.source is not None:
                self._streams[iri] = source_of(entry.source)
        if not self._given:
            for graph in catalog.graphs:
                self.graph(graph.iri, graph.source, **graph.settings)


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
