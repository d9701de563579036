"""The engine: register streams, graphs and queries, then run them as one Spark job."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from pyspark.sql import SparkSession

from weir.errors import CheckpointError, UsageError
from weir.language import Query, parse
from weir.runtime.catalog import Catalog, GraphEntry, Registration, StreamEntry, entry_of
from weir.runtime.checkpoint import Checkpoint
from weir.runtime.control import Entry
from weir.runtime.feeds import FileFeed, FileSource, Offset
from weir.runtime.graphs import store_graph
from weir.runtime.group import evaluation_order
from weir.runtime.job import Job, Pipeline
from weir.runtime.layout import place
from weir.runtime.metrics import Metrics
from weir.runtime.session import open_session
from weir.runtime.sinks.base import Sink
from weir.runtime.sinks.lines import JsonLinesFile

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
    _streams: dict[str, FileSource] = field(default_factory=dict)
    _graphs: dict[str | None, list[Path]] = field(default_factory=dict)
    _queries: dict[str, _Registered] = field(default_factory=dict)

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

    def graph(self, iri: str | None, source: str | Path) -> None:
        """A static graph from a file; without an IRI it is the default graph."""
        path = Path(source)
        if not path.is_file():
            raise UsageError(f"no such graph file: {source}")
        self._graphs.setdefault(iri, []).append(path)

    def register(
        self, text: str, *, name: str | None = None, dialect: str = "auto", evaluator: str = "auto"
    ) -> Query:
        """A continuous query. Its name is that of REGISTER, or else ``name``."""
        if evaluator not in EVALUATORS:
            raise UsageError(f"unknown evaluator {evaluator!r}", hint=f"one of {', '.join(EVALUATORS)}")
        query = parse(text, dialect=dialect)
        chosen = query.output or name or f"query{len(self._queries) + 1}"
        if chosen in self._queries:
            raise UsageError(f"two queries are named {chosen!r}")
        self._queries[chosen] = _Registered(chosen, text, dialect, evaluator, query)
        return query

    def run(
        self,
        *,
        out: str | Path | None = None,
        sinks: Sequence[Sink] = (),
        dead_letters: str | Path | None = None,
        late: str | Path | None = None,
        observer: Callable[[Metrics], None] | None = None,
    ) -> Metrics:
        """Run to the end of finite sources, or until interrupted; ``out`` is a JSON Lines file."""
        self._check()
        temporary = None if self.checkpoint else Path(tempfile.mkdtemp(prefix="weir-"))
        try:
            job = self._job(temporary or Path(str(self.checkpoint)), out, sinks, dead_letters, late)
            if observer is not None:
                job.observers.append(observer)
            job.start()
            try:
                job.wait()
            except KeyboardInterrupt:
                job.stop()
                raise
            return job.metrics
        finally:
            if temporary is not None:
                shutil.rmtree(temporary, ignore_errors=True)

    def _job(
        self,
        folder: Path,
        out: str | Path | None,
        sinks: Sequence[Sink],
        dead_letters: str | Path | None,
        late: str | Path | None,
    ) -> Job:
        spark = self.spark or open_session(self.master)
        cores = spark.sparkContext.defaultParallelism
        checkpoint = Checkpoint.open(folder.absolute(), version=metadata.version("weir"), slots=cores)
        self._enrol(checkpoint, cores)
        every = list(sinks)
        if out is not None:
            every.append(JsonLinesFile(Path(out).absolute(), checkpoint.own / "sinks" / "jsonl.log"))
        pipeline = Pipeline(
            self._streams,
            every,
            Path(dead_letters).absolute() if dead_letters else None,
            Path(late).absolute() if late else None,
        )
        return Job(spark, checkpoint, pipeline)

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

    def _enrol(self, checkpoint: Checkpoint, cores: int) -> None:
        """Write what is new to the control log; refuse what does not fit the checkpoint."""
        log = checkpoint.control()
        catalog = Catalog.of(log.entries())
        batch = checkpoint.next_batch()
        known = {name: parse(r.text, dialect=r.dialect) for name, r in catalog.queries.items()}
        self._refuse_changes(catalog)
        entries: list[Entry] = []
        for iri, source in self._streams.items():
            idle = 10_000_000 if source.watch else None
            if iri not in catalog.streams:
                entries.append(entry_of(StreamEntry(iri, idle), batch))
            FileFeed(iri, source, checkpoint.own / "sources", cores).refuse_more(_reached(checkpoint, iri))
        for iri, paths in self._graphs.items():
            file = store_graph(paths[0], checkpoint.graphs, checkpoint.key)
            if iri not in catalog.graphs:
                entries.append(entry_of(GraphEntry(iri, file), batch))
        new = {name: item for name, item in self._queries.items() if name not in catalog.queries}
        slots = place({name: item.query for name, item in new.items()}, catalog, known, checkpoint.slots)
        for name, item in new.items():
            made = Registration(name, item.text, item.dialect, item.evaluator, (slots[name],))
            entries.append(entry_of(made, batch))
        log.append(entries)

    def _refuse_changes(self, catalog: Catalog) -> None:
        hint = "run with the same queries, or start again with a new checkpoint"
        for name, registration in catalog.queries.items():
            mine = self._queries.get(name)
            if mine is None:
                raise CheckpointError(f"the checkpoint runs a query {name!r} that is not given", hint=hint)
            if mine.text != registration.text or mine.evaluator != registration.evaluator:
                raise CheckpointError(f"the checkpoint runs another query under the name {name!r}", hint=hint)
        for iri in catalog.streams:
            if iri not in self._streams:
                raise CheckpointError(
                    f"the checkpoint reads the stream <{iri}>, which is not given", hint=hint
                )


def _reached(checkpoint: Checkpoint, stream: str) -> Offset:
    return Offset()
