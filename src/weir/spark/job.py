"""A running job: the pipeline as Spark draws it, and the loop that hands each batch to the sinks."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from weir import errors
from weir.errors import CheckpointError, EvaluationError, UsageError, WeirError
from weir.runtime.control.catalog import entry_of
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.extracts import Extractor
from weir.runtime.control.failure import UNLIMITED, QueryLimits
from weir.runtime.control.planning import FINISH, HOLD, SOURCE_NAME, STOP, ControlWriter, PlanningHold
from weir.runtime.ingest.sources import Source
from weir.runtime.output.outputs import OUTPUT_SCHEMA, Output
from weir.runtime.output.report_rows import rows_of
from weir.runtime.output.sinks.base import Sink
from weir.runtime.output.sinks.result_files import Asides
from weir.runtime.output.task_reports import Reports
from weir.runtime.running import RunningJob
from weir.spark.dataframes import DataFrameStream, stream_of
from weir.spark.datasource import WeirSource
from weir.spark.processor import CONTROL, GroupProcessor, observed
from weir.spark.scans import scanner
from weir.spark.session import named_sources, open_session, refuse_connect, settled
from weir.spark.writers import Writer
from weir.storage.files import remove, replace_file
from weir.storage.places import beside_driver

_FAILED = re.compile(r"weir\.errors\.(\w+): (.*?)(?=\n\n|\nSQLSTATE|\s*SQLSTATE|\Z)", re.DOTALL)
_SAID = re.compile(r"\[[A-Z][A-Z_.]+\].*")
"""The class of an error of Spark's, and what it says."""
_FRAME = re.compile(r"\s+(at |\.\.\. \d+ more)")
"""A line of a stack trace of Java's that says only where."""

_STOPPING = 0.2
"""Seconds in which Spark is told to stop."""
_LOOK, _SHARE, _MOST = 0.01, 0.02, 0.05
"""Seconds between two looks for reports: a share of the time since the last one, so that long batches are
not looked for more often than short ones; the least and the most."""


class Job(RunningJob):
    """One Structured Streaming query over one checkpoint.

    ``rows`` are streams that come by DataFrames. A job that ``ends`` does so with its sources; another one
    goes on: queries and streams may still come. A query that takes more than ``limits`` allow fails. Where
    there is a ``writer``, tasks write the results, and the driver hears of them by reports.
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
        asides: Asides,
        limits: QueryLimits = UNLIMITED,
        writer: Writer | None = None,
    ) -> None:
        self.spark = spark
        self._writer = writer
        self._reports = Reports(checkpoint.own)
        self._heard = -1
        self._over = threading.Event()
        self._listener: threading.Thread | None = None
        self._limits = limits
        self.rows = rows
        self._ends = ends
        self._query: StreamingQuery | None = None
        self._failure: BaseException | None = None
        self._spool = checkpoint.spool()
        self._starting = threading.Lock()
        self._restarting = False
        self._hold = PlanningHold(checkpoint.own, lambda: self._moving)
        control = ControlWriter(checkpoint, lambda: self._query is not None and not self.active, self._held)
        super().__init__(control, extractor, sinks, asides=asides)
        self._staged = False
        self.registry.staging = self._staging

    @property
    def finite(self) -> bool:
        """Whether the job ends by itself, with its sources."""
        return self._ends and not self.rows

    def start(self) -> None:
        self.spark.dataSource.register(WeirSource)
        for flag in (STOP, HOLD):
            remove(beside_driver(self.checkpoint.own) / flag)
        super().start()
        if self._writer is not None:
            self._listener = threading.Thread(target=self._listen, daemon=True)
            self._listener.start()

    def _prepare(self) -> None:
        self._hear(self.checkpoint.committed())
        self._reports.clear()
        self._spool.clear()
        if self._writer is not None:
            self._writer.open(self.checkpoint)

    def _launch(self) -> None:
        """Start Spark's query, from the checkpoint where that has something."""
        folder = str(self.checkpoint.folder)
        with self._starting, settled(self.spark, self.checkpoint.partitions), named_sources(self.spark):
            forms = self._delivery.forms if self._writer is None else [self._writer.form]
            processor = GroupProcessor(folder, forms, self._limits)
            processor.position = self.registry.control.position
            queries = self.registry.catalog().every_query.values()
            processor.staged = self._staged = any(each.staged for each in queries)
            answered = observed(processor.over(self._frames(), OUTPUT_SCHEMA))
            if self._writer is None:
                writing = answered.writeStream.foreachBatch(self._take)
            else:
                writing = self._writer.stream(answered, self.checkpoint)
            writing = writing.queryName("weir").option("checkpointLocation", str(self.checkpoint.spark))
            if self.finite:
                writing = writing.trigger(availableNow=True)
            try:
                self._query = writing.start()
            except Exception as error:
                if self._writer is None:
                    raise
                said = _SAID.search(str(error))
                raise UsageError(
                    "Spark does not write the results",
                    detail=said[0] if said else str(error),
                    hint="give a sink that Spark has, or add its package by spark.jars.packages",
                ) from None

    @contextmanager
    def _staging(self) -> Iterator[None]:
        """Queries in two stages come. A job without such a query has no second stage, which would cost each
        batch a shuffle: it stops between two batches, and goes on with one."""
        with nullcontext() if self._staged else self._restarted():
            yield

    @contextmanager
    def _restarted(self) -> Iterator[None]:
        """Spark's query, where it has begun, stops between two batches and goes on behind this block. To its
        user the job is active meanwhile: what does not wait for batches, as a pause, is taken."""
        query = self._query
        if query is None:
            yield
            return
        self._restarting = True
        try:
            self._halt(query)
            try:
                yield
            finally:
                self._launch()
        finally:
            self._restarting = False

    def wait(self, timeout: int | None = None) -> bool:
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
                if self._failure is not None:
                    raise self._failure
        return True if timeout is None else bool(over)

    def stop(self) -> None:
        if self._query is None:
            return
        self.receivers.close_all()
        with self.graphs.lock:
            self._halt(self._query)
            self._close()

    def _halt(self, query: StreamingQuery) -> None:
        """Stop Spark's query at a batch boundary: it makes noise when it is stopped in mid-batch.

        The sources are told to offer nothing more; once the batch under way is done, Spark is idle. Sources
        of Spark's own cannot be told: it is stopped while it plans, which Weir's source holds up meanwhile.
        """
        if self.rows:
            stopping = threading.Thread(target=query.stop)
            with self._hold():
                stopping.start()
                time.sleep(_STOPPING)
            stopping.join()
            return
        flag = beside_driver(self.checkpoint.own) / STOP
        replace_file(flag, b"", durable=False)
        idle = 0
        while query.isActive and idle < 3:
            status = query.status
            idle = 0 if status["isDataAvailable"] or "batch" in status["message"] else idle + 1
            time.sleep(0.02)
        query.stop()
        remove(flag)

    def finish(self) -> None:
        self.receivers.close_all()
        replace_file(self.checkpoint.own / FINISH, b"")

    def add_stream(self, iri: str, source: Source | str | Path | DataFrameStream | DataFrame) -> None:
        """Add a stream, as a path or an address, while the job runs. A finite source waits for the first
        query that reads it.

        A streaming DataFrame, maybe in a ``DataFrameStream``, is a source of Spark's own: the job stops
        between two batches and goes on with it from its checkpoint.
        """
        if isinstance(source, Source | str | Path):
            super().add_stream(iri, source)
            return
        source = stream_of(source, "tnq", None)
        with self.graphs.lock:
            source.check_named(self.rows.values())
            entry = self.registry.fresh_stream(iri)
            with self._restarted():
                self.registry.control.append(lambda batch: [entry_of(entry, batch)])
                self.rows[iri] = source

    def drop_stream(self, iri: str) -> None:
        """Drop a stream; refused while a query reads it, also a paused one. For a DataFrame the job stops
        between two batches, and goes on without it."""
        with self.graphs.lock:
            self.registry.drop_stream(iri)
            if iri in self.rows:
                with self._restarted():
                    del self.rows[iri]

    @contextmanager
    def _held(self, wait: bool) -> Iterator[int]:
        if wait:
            with self._hold():
                yield self.checkpoint.next_batch()
            return
        # The others wait for a restart by their lock. While Spark's query starts, nobody can tell whether it
        # plans.
        with self._starting, self._hold(self.checkpoint.under_way):
            yield self.checkpoint.next_batch()

    @property
    def active(self) -> bool:
        return self._restarting or self._moving

    @property
    def _moving(self) -> bool:
        return self._query is not None and self._query.isActive

    def _frames(self) -> DataFrame:
        folder = str(self.checkpoint.folder)
        frames = (
            self.spark.readStream.format(SOURCE_NAME)
            .name(SOURCE_NAME)
            .option("folder", folder)
            .option("parallelism", str(self.spark.sparkContext.defaultParallelism))
            .option("epoch", str(self.checkpoint.lease.epoch if self.checkpoint.lease else 0))
            .load()
        )
        for iri, rows in self.rows.items():
            frames = frames.unionByName(rows.frames(folder, iri))
        return frames

    def _take(self, frame: DataFrame, batch: int) -> None:
        """One batch: everything that came out of the groups, to the sinks and into the metrics."""
        try:
            self._deliver(batch, [Output(**row) for row in frame.toArrow().to_pylist()])
        except WeirError as error:
            self._failure = error
            raise

    def _deliver(self, batch: int, carried: Sequence[Output]) -> None:
        rows = [self._output(row) for row in carried]
        self._refuse_stale(batch, rows)
        self._delivery.take(batch, rows)
        del rows
        self._spool.clear(batch)
        self.checkpoint.overdue().clear()
        for observer in self.observers:
            observer(self.metrics)

    def _listen(self) -> None:
        """Hear the reports of tasks, as long as the job runs."""
        heard, since = self._heard, time.monotonic()
        while not self._over.wait(min(max(_LOOK, _SHARE * (time.monotonic() - since)), _MOST)):
            self._hear()
            if self._heard != heard:
                heard, since = self._heard, time.monotonic()

    def _hear(self, last: int | None = None) -> None:
        """Take in what tasks have reported, of batches up to ``last``: those that are done."""
        for batch in self._reports.batches():
            if last is None and not (self._writer is not None and self._writer.reports):
                last = self.checkpoint.committed()
            if last is not None and batch > last:
                return
            try:
                told = rows_of(self._reports.read(batch))
                # A task that Spark runs twice may tell of a batch that is over.
                if batch > self._heard:
                    self._deliver(batch, told)
                    self._heard = batch
                if self._writer is not None:
                    self.checkpoint.check()
                    self._writer.publish(batch, told)
                self._reports.heard(batch)
            except Exception as error:
                self._failure = error
                self._reports.refuse(str(error))
                self._over.set()
                return

    def _refuse_stale(self, batch: int, rows: Sequence[Output]) -> None:
        """Raise where a slot evaluated with less of the control log than counts in the batch."""
        known = self.registry.control.version(batch)
        stale = [row for row in rows if row.kind == CONTROL and int(row.name) != known]
        if stale:
            raise CheckpointError(
                f"batch {batch} was evaluated by {stale[0].name} changes of the control log of {known}",
                detail="the storage of the checkpoint showed a worker an old log",
                hint="start the job again: the batch is done again; for NFS mount with actimeo=1",
            )

    def _output(self, row: Output) -> Output:
        """A row, with what workers left in a file; answers stay mapped."""
        data = self._spool.get(row.data[:])
        return replace(row, data=data if row.kind in self._delivery.forms else data[:])

    def _close(self) -> None:
        self._over.set()
        if self._listener is not None and self._failure is None:
            self._listener.join()
            self._hear(self.checkpoint.committed())
        super()._close()
        self._spool.clear()


class SparkRunner:
    """What starts jobs on a Spark session: the given one, or else ``open_session(master)``."""

    durable = True

    def __init__(self, master: str | None, spark: SparkSession | None) -> None:
        self.spark = spark or open_session(master)
        refuse_connect(self.spark)
        self.cores = int(self.spark.sparkContext.defaultParallelism)
        self.scanner = scanner(self.spark)

    def job(
        self,
        checkpoint: Checkpoint,
        extractor: Extractor,
        sinks: Sequence[Sink],
        rows: dict[str, DataFrameStream],
        **how: Any,
    ) -> Job:
        """A job that is yet to be started."""
        return Job(self.spark, checkpoint, extractor, sinks, rows, **how)


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
    said = [line for line in lines if not _FRAME.match(line)]
    return EvaluationError("the job failed in Spark", detail="\n".join((said or lines)[-12:]))
