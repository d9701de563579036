"""A running job: the pipeline as Spark draws it, and the loop that hands each batch to the sinks."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from weir import errors
from weir.errors import EvaluationError, WeirError
from weir.language.update import Update
from weir.runtime.control.catalog import StreamEntry, entry_of
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.extracts import Extractor
from weir.runtime.control.graph_updates import GraphUpdates, When
from weir.runtime.control.planning import (
    FINISH,
    HOLD,
    SOURCE_NAME,
    STOP,
    ControlWriter,
    feed_key,
    planning_held,
)
from weir.runtime.control.registry import QueryInfo, Registry, StreamInfo
from weir.runtime.ingest.receivers import Receivers
from weir.runtime.ingest.sources import Source, source_of
from weir.runtime.output.metrics import Metrics
from weir.runtime.output.outputs import OUTPUT_SCHEMA, Output
from weir.runtime.output.sinks.base import Sink
from weir.runtime.output.sinks.result_files import ExactFile
from weir.runtime.pipeline import Delivery
from weir.spark.dataframes import DataFrameStream
from weir.spark.datasource import WeirSource
from weir.spark.processor import GroupProcessor, observed
from weir.spark.session import named_sources, settle

_FAILED = re.compile(r"weir\.errors\.(\w+): (.*?)(?=\n\n|\nSQLSTATE|\s*SQLSTATE|\Z)", re.DOTALL)

_STOPPING = 0.2
"""Seconds in which Spark is told to stop."""


class Job:
    """One Structured Streaming query over one checkpoint.

    ``rows`` are streams that come by DataFrames. A job that ``ends`` does so with its sources; another one
    goes on: queries and streams may still come.
    """

    def __init__(
        self,
        spark: SparkSession,
        checkpoint: Checkpoint,
        extractor: Extractor,
        sinks: Sequence[Sink],
        rows: dict[str, DataFrameStream],
        *,
        ends: bool,
        dead_letters: Path | None,
        late: Path | None,
    ) -> None:
        self.spark = spark
        self.rows = rows
        self._sinks = sinks
        self._ends = ends
        self._query: StreamingQuery | None = None
        control = ControlWriter(
            checkpoint,
            lambda: self._query is not None and not self.active,
            held=lambda: planning_held(checkpoint.own, lambda: self.active),
        )
        self.graphs = GraphUpdates(control, extractor)
        self.registry = Registry(control, extractor)
        self.registry.keep_late = late is not None
        self.checkpoint = checkpoint
        self.observers: list[Callable[[Metrics], None]] = []
        self.afterwards: list[Callable[[], None]] = []
        self._failure: BaseException | None = None
        self.receivers = Receivers(checkpoint.own)
        self._spool = checkpoint.spool()
        self.registry.opened.append(self._receive)
        self.registry.closed.append(lambda entry: self.receivers.close(entry.iri))
        own = checkpoint.own / "sinks"
        aside = {"dead": dead_letters, "late": late}
        self._asides = {kind: ExactFile(path, own / f"{kind}.log") for kind, path in aside.items() if path}
        self._delivery = Delivery(sinks, self._asides)

    @property
    def metrics(self) -> Metrics:
        """What has happened so far, in numbers."""
        return self._delivery.metrics

    @property
    def finite(self) -> bool:
        """Whether the job ends by itself, with its sources."""
        return self._ends and not self.rows

    def start(self) -> None:
        """Start the query; the first batch is planned at once."""
        settle(self.spark, self.checkpoint.slots)
        self.spark.dataSource.register(WeirSource)
        for flag in (STOP, HOLD):
            (self.checkpoint.own / flag).unlink(missing_ok=True)
        self._spool.clear()
        for sink in self._sinks:
            sink.open()
        for aside in self._asides.values():
            aside.open(lazy=True)
        self.metrics.started = time.time()
        try:
            for entry in self.registry.catalog().streams.values():
                self._receive(entry)
            self._launch()
        except BaseException:
            self.receivers.close_all()
            raise

    def _launch(self) -> None:
        """Start Spark's query, from the checkpoint where that has something."""
        folder = str(self.checkpoint.folder)
        with named_sources(self.spark):
            answered = GroupProcessor(folder, self._delivery.forms).over(self._frames(), OUTPUT_SCHEMA)
            writer = (
                observed(answered)
                .writeStream.queryName("weir")
                .foreachBatch(self._take)
                .option("checkpointLocation", str(self.checkpoint.spark))
            )
            if self.finite:
                writer = writer.trigger(availableNow=True)
            self._query = writer.start()

    def wait(self, timeout: int | None = None) -> bool:
        """Wait for the end; whether it has come. A failure is raised as Weir's own error."""
        assert self._query is not None
        query = self._query
        try:
            over = query.awaitTermination(timeout) if timeout else query.awaitTermination()
        except StreamingQueryException as error:
            self._close()
            raise self._failure or translated(str(error)) from None
        with self.graphs.lock:
            if query is not self._query:
                return self.wait(timeout) if timeout is None else False
            if not query.isActive:
                self._close()
        return True if timeout is None else bool(over)

    def stop(self) -> None:
        """Stop at a batch boundary, and close the sinks."""
        if self._query is None:
            return
        self.receivers.close_all()
        self._halt(self._query)
        self._close()

    def _halt(self, query: StreamingQuery) -> None:
        """Stop Spark's query at a batch boundary: it makes noise when it is stopped in mid-batch.

        The sources are told to offer nothing more; once the batch under way is done, Spark is idle. Sources
        of Spark's own cannot be told: it is stopped while it plans, which Weir's source holds up meanwhile.
        """
        if self.rows:
            stopping = threading.Thread(target=query.stop)
            with planning_held(self.checkpoint.own, lambda: query.isActive):
                stopping.start()
                time.sleep(_STOPPING)
            stopping.join()
            return
        flag = self.checkpoint.own / STOP
        flag.touch()
        idle = 0
        while query.isActive and idle < 3:
            status = query.status
            idle = 0 if status["isDataAvailable"] or "batch" in status["message"] else idle + 1
            time.sleep(0.02)
        query.stop()
        flag.unlink(missing_ok=True)

    def finish(self) -> None:
        """Declare the input of all sources over: what is there is read, then every window is reported."""
        self.receivers.close_all()
        (self.checkpoint.own / FINISH).touch()

    def update(self, request: str | Sequence[Update], at: When = None) -> int:
        """Change static graphs by INSERT DATA and DELETE DATA; the number of the update.

        It counts from ``at`` (µs since 1970, an xsd:dateTime or a ``datetime``) or from each query's
        present, whichever is later; it is an evaluation time under the ticks CHANGE and TIME alone.
        """
        return self.graphs.update(request, at)

    def insert(self, graph: str | None, source: str | Path, at: When = None) -> int:
        """Add the triples of a file or folder to a graph, None for the default graph; as ``update``."""
        return self.graphs.insert(graph, Path(source), at)

    def register(
        self, text: str, *, name: str | None = None, dialect: str = "auto", evaluator: str = "auto"
    ) -> str:
        """Register a query while the job runs; its name, which is that of REGISTER where it has one.

        It is durable when this returns, and sees the messages of all batches that were not planned by then.
        """
        return self.registry.register(text, name, dialect, evaluator)

    def register_all(
        self, texts: Mapping[str, str], *, dialect: str = "auto", evaluator: str = "auto"
    ) -> list[str]:
        """Register queries by name, all from the same batch on; where one is refused, none is registered."""
        return self.registry.register_all(texts, dialect, evaluator)

    def drop(self, name: str) -> None:
        """Drop a query, and its state; refused while another one reads its output."""
        self.metrics.forget(name, self.registry.drop(name))

    def pause(self, name: str) -> None:
        """Pause a query: as ``drop``, but it stays registered and can be resumed."""
        batch = self.registry.pause(name)
        if batch is not None:
            self.metrics.forget(name, batch)

    def resume(self, name: str) -> None:
        """Resume a paused query: as registered anew. What came while it was paused it never sees, and its
        windows begin empty."""
        batch = self.registry.resume(name)
        if batch is not None:
            self.metrics.forget(name, batch)

    def add_stream(self, iri: str, source: Source | DataFrameStream) -> None:
        """Add a stream while the job runs. A finite source waits for the first query that reads it.

        A streaming DataFrame (``DataFrameStream``) is a source of Spark's own: the job stops between two
        batches and goes on with it from its checkpoint.
        """
        if not isinstance(source, DataFrameStream):
            self.registry.add_stream(iri, source)
            return
        with self.graphs.lock:
            source.check_named(self.rows.values())
            entry = self.registry.fresh_stream(iri)
            if self._query is not None:
                self._halt(self._query)
            self.checkpoint.control().append([entry_of(entry, self.checkpoint.next_batch())])
            self.rows[iri] = source
            if self._query is not None:
                self._launch()

    def drop_stream(self, iri: str) -> None:
        """Drop a stream; refused while a query reads it, also a paused one. For a DataFrame the job stops
        between two batches, and goes on without it."""
        with self.graphs.lock:
            self.registry.drop_stream(iri)
            if iri in self.rows:
                if self._query is not None:
                    self._halt(self._query)
                del self.rows[iri]
                if self._query is not None:
                    self._launch()

    def queries(self) -> list[QueryInfo]:
        """What is registered, counting changes whose batch is still to come."""
        return self.registry.queries()

    def streams(self) -> list[StreamInfo]:
        """The streams that have a source, with what reads them."""
        return self.registry.streams()

    @property
    def active(self) -> bool:
        return self._query is not None and self._query.isActive

    def _frames(self) -> DataFrame:
        folder = str(self.checkpoint.folder)
        frames = (
            self.spark.readStream.format(SOURCE_NAME)
            .name(SOURCE_NAME)
            .option("folder", folder)
            .option("parallelism", str(self.spark.sparkContext.defaultParallelism))
            .load()
        )
        for iri, rows in self.rows.items():
            frames = frames.unionByName(rows.frames(folder, iri))
        return frames

    def _take(self, frame: DataFrame, batch: int) -> None:
        """One batch: everything that came out of the groups, to the sinks and into the metrics."""
        try:
            forms = self._delivery.forms
            rows = [self._output(row, forms) for row in frame.toArrow().to_pylist()]
            self._delivery.take(batch, rows)
            del rows
            self._spool.clear(batch)
            for observer in self.observers:
                observer(self.metrics)
        except WeirError as error:
            self._failure = error
            raise

    def _output(self, row: dict[str, Any], forms: Sequence[str]) -> Output:
        """A row, with what workers left in a file; answers stay mapped."""
        data = self._spool.get(row.pop("data"))
        return Output(**row, data=data if row["kind"] in forms else data[:])

    def _receive(self, entry: StreamEntry) -> None:
        """Open what a stream needs in the driver: a log that messages are pushed into, a connection."""
        if entry.source is not None:
            self.receivers.open(entry.iri, source_of(entry.source), feed_key(entry))

    def _close(self) -> None:
        self.receivers.close_all()
        self.graphs.close()
        self._spool.clear()
        for sink in self._sinks:
            sink.close()
        for aside in self._asides.values():
            aside.close()
        while self.afterwards:
            self.afterwards.pop()()


def translated(text: str) -> WeirError:
    """The error that a worker raised, from the text that Spark made of it."""
    found = _FAILED.search(text)
    if found:
        kind = getattr(errors, found[1], EvaluationError)
        primary, _, rest = found[2].strip().partition("\n")
        made: WeirError = kind(primary) if kind is errors.SyntaxError else kind(primary, detail=rest or None)
        return made
    cause = text.partition("\n=== Streaming Query ===")[0]
    lines = [line for line in cause.splitlines() if line.strip()]
    return EvaluationError("the job failed in Spark", detail="\n".join(lines[-12:]))
