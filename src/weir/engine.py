"""The engine: register streams, graphs and queries, then run them as one Spark job."""

from __future__ import annotations

import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import IO, Any
from urllib.parse import parse_qsl

from pyspark.sql import SparkSession
from rich.console import Console

from weir.background.graphs.library import Library
from weir.background.graphs.remote import RemoteGraph
from weir.background.service.config import HINT, config_of, hinted
from weir.background.service.resolver import ServiceResolver
from weir.errors import CheckpointError, UsageError
from weir.kernel.background import Background
from weir.kernel.evaluator import choose_evaluator
from weir.language import Query, parse
from weir.rdf.dictionary import Dictionary
from weir.runtime.catalog import Catalog, Registration, ServiceEntry, StreamEntry, entry_of
from weir.runtime.checkpoint import Checkpoint
from weir.runtime.control import Entry
from weir.runtime.datasource import NAME, feed_key, feed_of
from weir.runtime.group import evaluation_order
from weir.runtime.job import Job, Pipeline
from weir.runtime.layout import place
from weir.runtime.live_graphs import BASE
from weir.runtime.metrics import Metrics
from weir.runtime.session import open_session
from weir.runtime.sharing import MANY, SHARED, shareable
from weir.runtime.sinks.base import Sink
from weir.runtime.sinks.lines import ExactFile, JsonLinesFile, JsonLinesOutput
from weir.runtime.sinks.text import Render, TextSink, csv_text, nquads_text, table_text
from weir.runtime.sources import FileSource, Source
from weir.runtime.updates import Curator

FORMATS = ("table", "jsonl", "csv", "nquads")
SinkMaker = Callable[[Path], Sink]
"""Makes a sink, given the folder for its log."""
EVALUATORS = ("auto", "interval", "reference")


@dataclass(slots=True)
class _Registered:
    name: str
    text: str
    dialect: str
    evaluator: str
    query: Query


@dataclass(slots=True)
class Engine:
    """Streams, graphs and queries of one job.

    ``checkpoint`` is a folder to which the job can come back; without one the run cannot be resumed.
    ``spark`` is a session to use; without one the active session is used, or one is started on ``master``.
    """

    checkpoint: str | Path | None = None
    master: str | None = None
    spark: SparkSession | None = None
    _streams: dict[str, Source] = field(default_factory=dict)
    _graphs: Library = field(default_factory=Library)
    _queries: dict[str, _Registered] = field(default_factory=dict)
    _services: dict[str, dict[str, Any]] = field(default_factory=dict)

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
        source: str | Path,
        *,
        watch: bool = False,
        files_per_batch: int | None = None,
    ) -> None:
        """A stream: a ``.tnq`` file, or a directory of them, read in name order."""
        if iri in self._streams:
            raise UsageError(f"the stream <{iri}> is given twice")
        if files_per_batch is not None and files_per_batch < 1:
            raise UsageError("files per batch must be at least 1")
        made = FileSource(str(Path(source).absolute()), watch, files_per_batch)
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
            return
        if refresh is not None or limits:
            raise UsageError(f"only a graph from a URL is refreshed, and {source} is none")
        self._graphs.add(iri, Path(source))

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
        if evaluator not in EVALUATORS:
            raise UsageError(f"unknown evaluator {evaluator!r}", hint=f"one of {', '.join(EVALUATORS)}")
        query = parse(text, dialect=dialect, file=file)
        chosen = query.output or name or f"query{len(self._queries) + 1}"
        if chosen in self._queries:
            raise UsageError(f"two queries are named {chosen!r}")
        self._queries[chosen] = _Registered(chosen, text, dialect, evaluator, query)
        return query

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
    ) -> Job:
        """Start the job and return at once; ``Job.wait`` and ``Job.stop`` end it."""
        self._check()
        temporary = None if self.checkpoint else Path(tempfile.mkdtemp(prefix="weir-"))
        try:
            job = self._job(temporary or Path(str(self.checkpoint)), out, sinks, dead_letters, late)
            if temporary is not None:
                job.afterwards.append(lambda: shutil.rmtree(temporary, ignore_errors=True))
            if observer is not None:
                job.observers.append(observer)
            job.start()
            job.graphs.keep_fresh(self._graphs.remotes)
        except BaseException:
            if temporary is not None:
                shutil.rmtree(temporary, ignore_errors=True)
            raise
        return job

    def _job(
        self,
        folder: Path,
        out: str | Path | None,
        sinks: Sequence[Sink | SinkMaker],
        dead_letters: str | Path | None,
        late: str | Path | None,
    ) -> Job:
        spark = self.spark or open_session(self.master)
        cores = spark.sparkContext.defaultParallelism
        checkpoint = Checkpoint.open(
            folder.absolute(), version=metadata.version("weir"), slots=cores, key=self._graphs.key
        )
        curator = self._enrol(checkpoint, cores)
        logs = checkpoint.own / "sinks"
        every = [make(logs) if callable(make) else make for make in sinks]
        if out is not None:
            every.append(JsonLinesFile(Path(out).absolute(), logs / "jsonl.log"))
        pipeline = Pipeline(
            self._streams,
            every,
            Path(dead_letters).absolute() if dead_letters else None,
            Path(late).absolute() if late else None,
        )
        return Job(spark, checkpoint, pipeline, curator)

    def _check(self) -> None:
        """Everything that can be refused before Spark starts."""
        if not self._queries:
            raise UsageError("no query is registered")
        queries = {name: item.query for name, item in self._queries.items()}
        evaluation_order(queries)
        outputs = {query.output for query in queries.values()}
        for name, query in queries.items():
            for stream in query.streams:
                if isinstance(stream, str) and stream not in self._streams and stream not in outputs:
                    known = ", ".join(f"<{iri}>" for iri in self._streams) or "none"
                    raise UsageError(
                        f"query {name!r} reads the unknown stream <{stream}>",
                        detail=f"known streams: {known}",
                        hint=f"give it with --stream {stream}=SOURCE",
                    )
        if not self._streams:
            raise UsageError("no stream is given", hint="give one with --stream IRI=SOURCE")

    def _enrol(self, checkpoint: Checkpoint, cores: int) -> Curator:
        """Write what is new to the control log; refuse what does not fit the checkpoint. The static graphs
        stay open for updates."""
        log = checkpoint.control()
        catalog = Catalog.of(log.entries())
        batch = checkpoint.next_batch()
        known = {name: parse(r.text, dialect=r.dialect) for name, r in catalog.queries.items()}
        chosen = self._evaluators(catalog)
        self._refuse_changes(catalog, chosen)
        entries: list[Entry] = []
        reached = checkpoint.offset(NAME) or {}
        for number, (iri, source) in enumerate(self._streams.items()):
            known_as = catalog.streams.get(iri)
            stream = StreamEntry(
                iri,
                10_000_000 if source.endless else None,
                source=source.as_json(),
                number=known_as.number if known_as else len(catalog.streams) + number,
            )
            if stream != known_as:
                entries.append(entry_of(stream, batch))
            feed_of(stream, checkpoint.own, cores).refuse_more(reached.get(feed_key(stream), {}))
        for endpoint, settings in self._services.items():
            service = ServiceEntry(endpoint, settings)
            if catalog.services.get(endpoint) != service:
                entries.append(entry_of(service, batch))
        new = {name: item for name, item in self._queries.items() if name not in catalog.queries}
        slots = place({name: item.query for name, item in new.items()}, catalog, known, checkpoint.slots)
        shelf = self._graphs.open(Dictionary(checkpoint.key), checkpoint.graphs / BASE)
        curator = Curator(shelf, checkpoint)
        for name, item in new.items():
            graphs, updates = curator.extract(item.query, tuple(self._streams))
            made = Registration(name, item.text, item.dialect, chosen[name], (slots[name],))
            entries.append(entry_of(replace(made, graphs=graphs, updates=updates), batch))
        log.append(entries)
        return curator

    def _evaluators(self, catalog: Catalog) -> dict[str, str]:
        """The evaluator of each query: what it was before, or its own choice, or together with others."""
        together = {
            name: item
            for name, item in self._queries.items()
            if item.evaluator == "auto" and shareable(item.query)
        }
        known = {name: catalog.queries[name].evaluator for name in together if name in catalog.queries}
        shared = dict.fromkeys(together, SHARED) if len(together) >= MANY else {}
        rest = {
            name: self._evaluator(item)
            for name, item in self._queries.items()
            if name not in shared and name not in known
        }
        return {**rest, **shared, **known}

    def _evaluator(self, item: _Registered) -> str:
        """The evaluator that the query gets; ``interval`` on a query it does not cover is an error."""
        streams = tuple(self._streams)
        dictionary = Dictionary()
        services = ServiceResolver(dictionary)
        return choose_evaluator(
            item.query, Background(), dictionary, item.evaluator, streams=streams, services=services
        ).name

    def _refuse_changes(self, catalog: Catalog, chosen: Mapping[str, str]) -> None:
        hint = "run with the same queries, or start again with a new checkpoint"
        for name, registration in catalog.queries.items():
            mine = self._queries.get(name)
            if mine is None:
                raise CheckpointError(f"the checkpoint runs a query {name!r} that is not given", hint=hint)
            if mine.text != registration.text or chosen[name] != registration.evaluator:
                raise CheckpointError(f"the checkpoint runs another query under the name {name!r}", hint=hint)
        for iri in catalog.streams:
            if iri not in self._streams:
                raise CheckpointError(
                    f"the checkpoint reads the stream <{iri}>, which is not given", hint=hint
                )


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


def sink_for(form: str, out: str | Path | None, stream: IO[bytes]) -> SinkMaker:
    """The sink of a format: into the file ``out`` exactly once, or to ``stream``."""
    if form not in FORMATS:
        raise UsageError(f"unknown format {form!r}", hint=f"one of {', '.join(FORMATS)}")
    path = None if out is None else Path(out).absolute()
    if form == "jsonl":
        if path is None:
            return lambda logs: JsonLinesOutput(stream)
        return lambda logs: JsonLinesFile(path, logs / "jsonl.log")
    renders: dict[str, Render] = {"csv": csv_text, "nquads": nquads_text, "table": table_text(Console())}
    if path is None:
        return lambda logs: TextSink(renders[form], stream)
    return lambda logs: TextSink(renders[form], ExactFile(path, logs / f"{form}.log"))
