"""What the pipeline is measured against: Spark reading the lines, parsing alone, a stateful job that does
nothing.

The empty job has the pipeline's shape (source, mapInArrow, shuffle by slot, transformWithStateInPandas with
one state value read and written, foreachBatch that fetches the rows) and the cheapest source Spark has.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from weir.runtime.ingest.parts import Part, part_size
from weir.runtime.ingest.stage import read_messages
from weir.spark.session import named_sources, settled
from weir.spark.tasks import slot_keys

_KEY = bytes(16)
_FRAMES = "slot bigint, frame binary"
_OUTPUT = "kind string, name string, slot bigint, data binary"


def line_rate(spark: SparkSession, paths: Sequence[Path], lines: int) -> float:
    """Lines a second that Spark merely reads."""
    began = time.perf_counter()
    spark.read.text([str(path) for path in paths]).write.format("noop").mode("overwrite").save()
    return lines / (time.perf_counter() - began)


def parse_rate(spark: SparkSession, paths: Sequence[Path], lines: int, cores: int) -> float:
    """Triples a second that are parsed and encoded, in the parts that the pipeline reads."""
    parts = []
    for path in paths:
        size = path.stat().st_size
        cuts = [*range(0, size, part_size(size, cores)), size]
        parts += [(str(path), start, end) for start, end in pairwise(cuts)]
    table = spark.createDataFrame(parts, "path string, first bigint, last bigint").repartition(cores)
    table = table.localCheckpoint()
    began = time.perf_counter()
    counted = table.mapInArrow(_parse, "triples bigint").toArrow()
    elapsed = time.perf_counter() - began
    found = sum(counted["triples"].to_pylist())
    assert found == lines, f"{found} triples of {lines} lines"
    return lines / elapsed


def _parse(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for row in batch.to_pylist():
            part = Part("bench", "bench", row["path"], start=row["first"], end=row["last"])
            columns = read_messages(part, _KEY).parsed.messages.quads
            yield pa.record_batch([pa.array([len(columns[0])])], names=["triples"])


class Nothing(StatefulProcessor):
    """Reads and writes one state value per call."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.value = handle.getValueState("value", "value binary")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
        count = sum(len(table) for table in rows)
        self.value.get()
        self.value.update((str(count).encode(),))
        yield pd.DataFrame({"kind": ["metrics"], "name": [""], "slot": [int(key[0])], "data": [b"nothing"]})

    def close(self) -> None:
        """Nothing to close."""


def _to_slots(slots: int) -> Any:
    keys = slot_keys(slots)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            frames = [pa.array(keys, pa.int64()), pa.array([b"nothing"] * len(keys), pa.binary())]
            yield pa.record_batch(frames, names=["slot", "frame"])

    return run


@dataclass(slots=True)
class EmptyJob:
    """The stateful job that does nothing, running."""

    query: StreamingQuery

    @staticmethod
    def started(spark: SparkSession, folder: Path, slots: int, rate: int = 1000) -> EmptyJob:
        def take(frame: DataFrame, batch: int) -> None:
            frame.toArrow().to_pylist()

        with settled(spark, slots), named_sources(spark):
            rows = spark.readStream.format("rate").name("rate").option("rowsPerSecond", rate).load()
            moved = rows.mapInArrow(_to_slots(slots), _FRAMES).groupBy("slot")
            made = moved.transformWithStateInPandas(Nothing(), _OUTPUT, "append", "processingTime")
            writer = made.writeStream.foreachBatch(take).option("checkpointLocation", str(folder))
            return EmptyJob(writer.start())

    def stop(self) -> None:
        self.query.stop()


def durations(query: StreamingQuery, skip: int) -> list[float]:
    """Seconds of each batch with input, after the first ``skip`` of them."""
    took = [progress["durationMs"]["triggerExecution"] / 1000 for progress in _busy(query)]
    return took[skip:]


def breakdown(query: StreamingQuery, skip: int) -> dict[str, float]:
    """The median milliseconds of each step of a batch, as Spark tells them."""
    kept = [progress["durationMs"] for progress in _busy(query)][skip:]
    names = sorted({name for each in kept for name in each})
    return {name: statistics.median(each.get(name, 0) for each in kept) for name in names}


def _busy(query: StreamingQuery) -> list[Any]:
    return [progress for progress in query.recentProgress if progress["numInputRows"] > 0]
