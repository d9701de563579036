"""Streaming DataFrames as streams: rows of triples or of messages, made into frames like any other input.

A row is a triple (columns ``time``, ``subject``, ``predicate``, ``object`` and maybe ``graph``, as N-Triples
texts) or a text (``value``) of ``.tnq`` lines or of one message in a declared format. ``lane`` and
``position`` say where it stands; a Kafka partition and offset are just that. Rows of one lane and position
are one message; without positions, triples of one time in one partition are. Law: given the same rows in
the same partitions a batch gives the same frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weir.errors import UsageError, kind_of
from weir.rdf.formats.media import format_of
from weir.rdf.formats.times import predicate_iri
from weir.rdf.terms import XSD
from weir.runtime.control.planning import SOURCE_NAME
from weir.runtime.ingest.stage import TRIPLE, row_frames
from weir.runtime.worker.worker_cache import worker_cache
from weir.spark.carried import unpacked
from weir.spark.session import EVOLUTION
from weir.spark.task_shares import FRAME_SCHEMA
from weir.spark.tasks import current_batch, packed

_TIMES = (T.TimestampType, T.TimestampNTZType, T.IntegralType, T.StringType)
_DATATYPES: Mapping[type[T.DataType], str] = {
    **dict.fromkeys((T.ByteType, T.ShortType, T.IntegerType, T.LongType), "integer"),
    **dict.fromkeys((T.FloatType, T.DoubleType), "double"),
    T.DecimalType: "decimal",
    T.BooleanType: "boolean",
}
_NAMED = 'name="'
_PARTITION, _BATCH = 28, 40
"""Bits: positions of rows that have none are (batch, partition, row)."""


@dataclass(frozen=True, slots=True)
class DataFrameStream:
    """A streaming DataFrame as a stream; ``format`` and ``time`` (a predicate) are for rows with a value."""

    frame: DataFrame
    format: str = "tnq"
    time: str | None = None

    @property
    def triples(self) -> bool:
        return all(name in self.frame.columns for name in TRIPLE)

    def __post_init__(self) -> None:
        """Raise where the columns or the format do not say what the messages are."""
        if not self.frame.isStreaming:
            raise UsageError("the DataFrame is not a streaming one", hint="make it by spark.readStream")
        columns = self.frame.columns
        kinds = {field.name: field.dataType for field in self.frame.schema.fields}
        if not self.triples and not isinstance(kinds.get("value"), (T.StringType, T.BinaryType)):
            raise UsageError(
                f"the DataFrame has the columns {', '.join(columns)}, which make no messages",
                hint="time, subject, predicate, object, maybe graph; or a text, value; maybe lane, position",
            )
        for name, kind in kinds.items():
            self._check_type(name, kind)
        if self.triples:
            timed = "time" in columns
        else:
            timed = format_of(self.format).timed or self.time is not None or "time" in columns
        if not timed:
            raise UsageError(
                "nothing tells the time of the DataFrame's messages",
                hint="give it a column time, or say which predicate does with time=",
            )

    def _check_type(self, name: str, kind: T.DataType) -> None:
        """Raise where a column that is taken has a type that no row of it can be read from."""
        if name == "time" and not isinstance(kind, _TIMES):
            raise UsageError(
                f"the column 'time' is of type {kind.simpleString()}, which is no time",
                hint="a timestamp, integer milliseconds, or a text of xsd:dateTime",
            )
        if name == "position" and not isinstance(kind, T.IntegralType):
            raise UsageError(f"the column 'position' is of type {kind.simpleString()}, not an integer")
        if self.triples and name in (*TRIPLE, "graph") and not isinstance(kind, T.StringType):
            raise UsageError(
                f"the column {name!r} is of type {kind.simpleString()}, not a text of a term as in N-Triples",
                hint=f"""format_string('"%s"^^<{XSD}{_DATATYPES.get(type(kind), "string")}>', {name})"""
                if name == "object"
                else f"format_string('<http://example.org/%s>', {name})",
            )

    def check_named(self, others: Iterable[DataFrameStream] = ()) -> None:
        """Raise where a source has no name by which a checkpoint can find it again, or one that is taken."""
        given = self.names
        if not all(given):
            raise UsageError(
                "a streaming DataFrame has a source without a name, by which a checkpoint can find it again",
                hint=f"set {EVOLUTION} to true and make it by spark.readStream.format(…).name(NAME)…",
            )
        twice = set(given) & {SOURCE_NAME, *(name for each in others for name in each.names)}
        if twice:
            raise UsageError(
                f"a source of a streaming DataFrame has the name {min(twice)!r}, which another source has",
                hint="give each source a name of its own",
            )

    @property
    def names(self) -> list[str]:
        """The names of its sources, empty where one has none. Spark tells them only in its plan."""
        plan: Any = self.frame
        leaves = plan._jdf.queryExecution().analyzed().collectLeaves()
        told = [leaves.apply(place) for place in range(leaves.size())]
        said = [leaf.sourceIdentifyingName().toString() for leaf in told if leaf.isStreaming()]
        return [name[len(_NAMED) : -1] if name.startswith(_NAMED) else "" for name in said]

    def frames(self, folder: str, stream: str, files: Mapping[str, bytes] | None = None) -> DataFrame:
        """The first stage over these rows; ``files`` are what tasks need of the folder, where they may not
        see it."""
        columns = {**_times(self.frame), **_places(self.frame)}
        if self.triples:
            names = (*TRIPLE, "graph") if "graph" in self.frame.columns else TRIPLE
            columns |= {name: F.col(name).cast("string") for name in names}
        else:
            columns["value"] = F.col("value").cast("binary")
        chosen = self.frame.select(*(column.alias(name) for name, column in columns.items()))
        predicate = None if self.time is None else predicate_iri(self.time)
        run = rows_to_frames(folder, stream, self.format, predicate, files or {})
        return chosen.mapInArrow(run, FRAME_SCHEMA)


def stream_of(source: DataFrameStream | DataFrame, format: str, time: str | None) -> DataFrameStream:
    """The stream that a DataFrame is, or the one that was made of it already."""
    if isinstance(source, DataFrameStream):
        return source
    if not isinstance(source, DataFrame):
        raise UsageError(
            f"{kind_of(source)} is no stream", hint="give a path, an address or a streaming DataFrame"
        )
    return DataFrameStream(source, format, time)


def _times(frame: DataFrame) -> dict[str, Column]:
    """Microseconds where Spark knows them, else the text of a time."""
    if "time" not in frame.columns:
        return {}
    kind, column = frame.schema["time"].dataType, F.col("time")
    if isinstance(kind, (T.TimestampType, T.TimestampNTZType)):
        return {"time": F.unix_micros(column.cast("timestamp"))}
    if isinstance(kind, T.IntegralType):
        return {"time": column.cast("long") * 1000}
    return {"clock": column.cast("string")}


def _places(frame: DataFrame) -> dict[str, Column]:
    kinds = {"lane": "string", "position": "long"}
    return {name: F.col(name).cast(kind) for name, kind in kinds.items() if name in frame.columns}


def rows_to_frames(
    folder: str, stream: str, format: str, predicate: str | None, files: Mapping[str, bytes]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function of the stage for rows as ``DataFrameStream.frames`` selects them."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        place, batch = worker_cache(unpacked(folder, files)), current_batch()
        tables = [pa.Table.from_batches([each]) for each in batches if each.num_rows]
        if not tables:
            return
        context = TaskContext.get()
        partition = context.partitionId() if context is not None else 0
        rows = pl.DataFrame(pl.from_arrow(pa.concat_tables(tables)))
        base = (batch << _BATCH) + (partition << _PARTITION)
        frames = row_frames(place, batch, rows, stream, base, format, predicate)
        yield from packed(frames, place.checkpoint, place.catalog(batch).version)

    return run
