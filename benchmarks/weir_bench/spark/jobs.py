"""Weir's own runs in ``weir bench spark``: a backlog read to its end, a live stream, a million live rows."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import SparkSession

from weir.engine import Engine
from weir.runtime.ingest.sources import FileSource
from weir.runtime.output.metrics import Metrics
from weir.runtime.output.sinks.base import Results
from weir.spark.job import Job
from weir_bench.spark.baselines import EmptyJob, breakdown, durations
from weir_bench.spark.data import FLOORPLAN, MILLION, QUERIES, RFID, Generator

BATCH = 256 << 20
"""Bytes of a batch where a backlog is read: a batch costs half a second whatever it does."""

_SKIPPED = 10
"""Batches at the beginning of a live run, while workers start and the JVM warms up."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """A finite stream read to its end, ``BATCH`` bytes at a time; the first batch starts everything, and is
    left out."""

    triples_per_second: float
    results_per_second: float
    results_per_triple: float
    seconds_per_batch: list[float]

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def backlog(spark: SparkSession, query: str, stream: Path, floorplan: Path, out: Path) -> Backlog:
    """End to end: from files to a result file written exactly once."""
    engine = Engine(spark=spark)
    engine.stream(RFID, FileSource(str(stream), bytes_per_batch=BATCH))
    engine.graph(FLOORPLAN, floorplan)
    engine.register(QUERIES[query], name=query)
    marks: list[tuple[float, int, int]] = []

    def observe(metrics: Metrics) -> None:
        marks.append((time.perf_counter(), metrics.triples, metrics.results))

    engine.run(out=out, dead_letters=out.with_suffix(".dead"), observer=observe)
    seconds, triples, results = (np.array(column) for column in zip(*marks, strict=True))
    span = float(seconds[-1] - seconds[0])
    return Backlog(
        float(triples[-1] - triples[0]) / span,
        float(results[-1] - results[0]) / span,
        float(results[-1]) / float(triples[-1]),
        np.diff(seconds).tolist(),
    )


@dataclass(slots=True)
class Latencies:
    """A sink that measures: from the time in the data to the moment its result is handed over."""

    form = "jsonl"
    promise = "at least once"
    seconds: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self) -> None:
        """Nothing to open."""

    def write(self, batch: int, results: Sequence[Results]) -> None:
        now = time.time()
        with self.lock:
            for result in results:
                self.seconds.extend((now - result.table["at"].to_numpy() / 1e6).tolist())

    def close(self) -> None:
        """Nothing to close."""


@dataclass(slots=True)
class Live:
    """A live run: the latencies of its results, the durations of its batches, and where these go."""

    latencies: list[float]
    batches: list[float]
    steps: dict[str, float]


def live(spark: SparkSession, query: str, folder: Path, floorplan: Path, seconds: float, rate: int) -> Live:
    """A steady stream for so many seconds after the warm-up."""
    stream = folder / "stream"
    stream.mkdir(parents=True)
    engine = Engine(spark=spark, checkpoint=folder / "checkpoint")
    engine.stream(RFID, stream, watch=True)
    engine.graph(FLOORPLAN, floorplan)
    engine.register(QUERIES[query], name=query)
    sink = Latencies()
    generator = Generator(stream, rate)
    generator.write([time.time()])
    job = engine.start(sinks=[sink])
    while not job.metrics.batches:
        job.wait(1)
    generator.start()
    _wait_for(lambda: job.metrics.batches >= _SKIPPED)
    with sink.lock:
        sink.seconds.clear()
    time.sleep(seconds)
    generator.stop()
    job.stop()
    assert isinstance(job, Job) and job._query is not None
    return Live(sink.seconds, durations(job._query, _SKIPPED), breakdown(job._query, _SKIPPED))


def empty(spark: SparkSession, folder: Path, slots: int, seconds: float) -> Live:
    """The job that does nothing, for as long."""
    job = EmptyJob.started(spark, folder, slots)
    _wait_for(lambda: len(job.query.recentProgress) > _SKIPPED)
    time.sleep(seconds)
    job.stop()
    return Live([], durations(job.query, _SKIPPED), breakdown(job.query, _SKIPPED))


def _wait_for(reached: Any, limit: float = 120.0) -> None:
    until = time.monotonic() + limit
    while not reached() and time.monotonic() < until:
        time.sleep(0.05)


@dataclass(frozen=True, slots=True)
class Million:
    """A join over a window of a million rows: seconds of each batch, and the rows alive after it."""

    seconds: list[float]
    rows: list[int]

    def growth(self, full: int) -> float:
        """The batches of the last third against those of the first, once the window is full."""
        kept = [took for took, rows in zip(self.seconds, self.rows, strict=True) if rows >= full]
        third = max(1, len(kept) // 3)
        return float(np.median(kept[-third:]) / np.median(kept[:third])) if len(kept) > 2 else float("nan")


def million(spark: SparkSession, stream: Path) -> Million:
    """One file a batch; rows of state are what the query's own statistics tell."""
    engine = Engine(spark=spark)
    engine.stream(RFID, stream, files_per_batch=1)
    engine.register(MILLION, name="million")
    marks: list[tuple[float, int]] = []

    def observe(metrics: Metrics) -> None:
        marks.append((time.perf_counter(), int(metrics.queries["million"].get("live_rows", 0))))

    engine.run(observer=observe)
    seconds = np.diff([at for at, _ in marks]).tolist()
    return Million(seconds[:-1], [rows for _, rows in marks[1:-1]])
