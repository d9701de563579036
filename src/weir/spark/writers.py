"""Results that tasks write themselves: parts of a folder, or rows for any sink of Spark's.

They never pass the driver: what it is told of a batch are counters, failures and what was set aside, by
``runtime.output.task_reports``. A ``PartsWriter`` is Weir's own stream writer: tasks write parts and say how
they are called, and the commit of a batch publishes them. A ``SparkSink`` gives rows to a sink of Spark's,
whose promise is its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qsl

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from weir.errors import UsageError
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.output.outputs import OUTPUT_SCHEMA, Output, merged, written_row
from weir.runtime.output.report_rows import packed_rows, parts_in, parts_row
from weir.runtime.output.results import COLUMNS
from weir.runtime.output.sinks.base import Results, Sink
from weir.runtime.output.sinks.making import sink_at
from weir.runtime.output.sinks.part_folders import FORMATS, PartFolder, ResultPart
from weir.runtime.output.task_reports import Reports
from weir.runtime.worker.worker_cache import worker_cache
from weir.spark.part_writer import PARTS_NAME, WeirParts
from weir.spark.tasks import current_batch
from weir.storage.places import path_at
from weir.storage.spool import Spool

TASKS = "tasks:"
_SINK_SCHEMA = "query string, at timestamp, op string, bindings map<string,string>"
_AT = pa.timestamp("us", tz="UTC")
_SINK_ARROW = pa.schema(
    [
        ("query", pa.string()),
        ("at", _AT),
        ("op", pa.string()),
        ("bindings", pa.map_(pa.string(), pa.string())),
    ]
)


class Writer(Protocol):
    """Has tasks write results. ``form`` is what it takes of them; one that ``reports`` does so before it
    commits, else tasks have done so when Spark has committed."""

    @property
    def form(self) -> str: ...

    @property
    def reports(self) -> bool: ...

    def open(self, checkpoint: Checkpoint) -> None:
        """In the driver, before the job starts."""

    def stream(self, rows: DataFrame, checkpoint: Checkpoint) -> DataStreamWriter:
        """What writes the rows that come out of the slots."""
        ...

    def publish(self, batch: int, told: Sequence[Output]) -> None:
        """In the driver, once it has heard what tasks ``told`` of a batch, and before Spark commits it if the
        writer ``reports``."""


def writer_at(text: str) -> Writer | None:
    """The writer that an address names, None where it names a sink of the driver's.

    ``jsonl:DIR`` and the other formats of parts are folders; ``tasks:kafka://…`` a broker to which tasks
    send; ``NAME``, ``NAME:PATH`` or ``NAME:PATH?option=value&…`` any sink of Spark's.
    """
    if text.startswith(TASKS):
        sink_at(text.removeprefix(TASKS))
        return PartsWriter(text.removeprefix(TASKS))
    kind, _, rest = text.partition(":")
    address = text.partition("://")
    if (address[1] and ":" not in address[0]) or kind == "files":
        return None
    if kind in FORMATS:
        if not rest:
            raise UsageError(f"parts are written into a folder: {text}", hint=f"{kind}:DIR")
        return PartsWriter(str(path_at(rest, "results").absolute()), kind)
    name, _, told = text.partition("?")
    name, _, path = name.partition(":")
    options = dict(parse_qsl(told, keep_blank_values=True))
    if path:
        options["path"] = path if ":" in path else str(Path(path).absolute())
    return SparkSink(name, options)


@dataclass(frozen=True, slots=True)
class PartsWriter:
    """Parts in the folder ``place``; without a ``format`` it is the address of a sink that tasks send to."""

    place: str
    format: str = ""
    reports = True

    @property
    def form(self) -> str:
        return target_of(self.place, self.format).form

    def open(self, checkpoint: Checkpoint) -> None:
        if self.format:
            PartFolder(path_at(self.place), self.format).open(checkpoint.origin)

    def stream(self, rows: DataFrame, checkpoint: Checkpoint) -> DataStreamWriter:
        rows.sparkSession.dataSource.register(WeirParts)
        epoch = checkpoint.lease.epoch if checkpoint.lease else 0
        options = {
            "folder": str(checkpoint.folder),
            "epoch": str(epoch),
            "place": self.place,
            "form": self.format,
            "rows": OUTPUT_SCHEMA,
        }
        return rows.writeStream.format(PARTS_NAME).options(**options)

    def publish(self, batch: int, told: Sequence[Output]) -> None:
        if self.format:
            PartFolder(path_at(self.place), self.format).publish(batch, parts_in(told))


class SentByTasks:
    """A sink that each task opens for itself: what a task sends again is there twice."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.form = sink.form

    def write(self, batch: int, task: int, results: Sequence[Results]) -> list[ResultPart]:
        """Send the results of a task; there is nothing to publish."""
        if results:
            self._sink.open()
            try:
                self._sink.write(batch, results)
            finally:
                self._sink.close()
        return []


def target_of(place: str, format: str) -> PartFolder | SentByTasks:
    """What tasks write to."""
    return PartFolder(path_at(place), format) if format else SentByTasks(sink_at(place)(Path()))


def write_parts(options: Mapping[str, str], batches: Iterable[pa.RecordBatch]) -> bytes:
    """Write what the slots of one task answered; what the driver is told of it."""
    batch, target = current_batch(), target_of(options["place"], options["form"])
    spool = worker_cache(options["folder"]).checkpoint.spool()
    answers, told = apart(batches, target.form, spool)
    results = merged(answers)
    context = TaskContext.get()
    parts = target.write(batch, context.partitionId() if context is not None else 0, results)
    return packed_rows([*told, written_row(sum(map(len, results))), parts_row(parts)])


@dataclass(frozen=True, slots=True)
class SparkSink:
    """A sink of Spark's, by name and options; its rows are ``query``, ``at``, ``op`` and ``bindings``."""

    name: str
    options: Mapping[str, str] = field(default_factory=dict)
    form = COLUMNS
    reports = False

    def open(self, checkpoint: Checkpoint) -> None:
        """Nothing to open."""

    def stream(self, rows: DataFrame, checkpoint: Checkpoint) -> DataStreamWriter:
        answers = rows.mapInArrow(sink_rows(str(checkpoint.folder)), _SINK_SCHEMA)
        return answers.writeStream.outputMode("append").format(self.name).options(**self.options)

    def publish(self, batch: int, told: Sequence[Output]) -> None:
        """The sink has done so."""


def sink_rows(folder: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What makes rows for a sink of what slots said; the rest is told to the driver."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        batch, checkpoint = current_batch(), worker_cache(folder).checkpoint
        answers, told = apart(batches, COLUMNS, checkpoint.spool())
        results = merged(answers)
        for result in results:
            for block in result.blocks():
                yield from bindings_of(result.name, block)
        if told:
            context = TaskContext.get()
            name = str(context.partitionId() if context is not None else 0)
            count = written_row(sum(map(len, results)))
            Reports(checkpoint.own).tell(batch, name, [packed_rows([*told, count])])

    return run


def bindings_of(query: str, table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Columns of texts as rows for a sink; what is unbound is left out."""
    names, count = [name.removeprefix("?") for name in table.column_names[2:]], len(table)
    columns = [column.combine_chunks().cast(pa.string()) for column in table.columns[2:]]
    places = np.arange(len(names) * count).reshape(len(names), count).T.ravel()
    every = pa.concat_arrays(columns) if columns else pa.array([], pa.string())
    bound = every.is_valid().to_numpy(zero_copy_only=False)[places]
    ends = (
        np.cumsum(bound.reshape(count, len(names)).sum(axis=1, dtype=np.int64)) if names else np.zeros(count)
    )
    offsets = pa.array(np.concatenate([[0], ends]).astype(np.int32))
    kept = places[bound]
    keys = pa.array(names, pa.string()).take(pa.array(kept // max(count, 1)))
    bindings = pa.MapArray.from_arrays(offsets, keys, every.take(pa.array(kept)))
    rows = [
        pa.array([query], pa.string()).take(pa.array(np.zeros(count, np.int64))),
        table["at"].combine_chunks().cast(_AT),
        table["op"].combine_chunks().cast(pa.string()),
        bindings,
    ]
    yield pa.RecordBatch.from_arrays(rows, schema=_SINK_ARROW)


def apart(batches: Iterable[pa.RecordBatch], form: str, spool: Spool) -> tuple[list[Output], list[Output]]:
    """The rows of slots: answers, mapped where they are files, and the rest as it is carried."""
    answers: list[Output] = []
    told: list[Output] = []
    for each in batches:
        for row in each.to_pylist():
            if row["kind"] == form:
                answers.append(Output(**{**row, "data": spool.get(row["data"])}))
            else:
                told.append(Output(**row))
    return answers, told
