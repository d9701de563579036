"""The whole pipeline under ``weir bench matching``: stream files through Spark, each query's results kept.

The stream lies in files, one a batch, the queries are registered as texts, and the results of every batch are
written to a folder (``runtime.sinks.folder``). Time is wall clock between the ends of batches; the first ones
are left out, as they load compiled code and start Python processes, and the best of the others counts, as
elsewhere the best round does.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pyspark.sql import SparkSession

from weir.engine import Engine
from weir.runtime.output.metrics import Metrics
from weir.runtime.output.sinks.folders import ResultsFolder
from weir.spark.session import open_session
from weir_bench.data.energy import STREAM, Energy, energy
from weir_bench.matching.queries import text
from weir_bench.matching.systems import Patterns, Speed

CORES = 2


WARM = 2
"""Batches that do not count."""

MOST = 800_000
"""Triples in a batch, where they have few results."""

MOST_RESULTS = 40_000_000


@dataclass(frozen=True, slots=True)
class SparkRun:
    """``speed`` is that of the best batch; ``seconds`` are those of all, ``registered`` those it took to
    register the queries."""

    speed: Speed
    triples: int
    registered: float
    seconds: tuple[float, ...]


def run_spark(patterns: Sequence[Patterns], window: int, results: float, batches: int = 3) -> SparkRun:
    """Queries that have about ``results`` results a triple over ``batches`` batches after the warm ones."""
    size = int(min(MOST, MOST_RESULTS / max(results, 1)))
    with tempfile.TemporaryDirectory() as name:
        stream = Path(name) / "stream"
        write_stream(energy(size * (WARM + batches)), stream, WARM + batches)
        return _run(patterns, window, stream, Path(name) / "results")


def write_stream(data: Energy, folder: Path, files: int) -> None:
    """The stream as ``files`` files of equal length."""
    folder.mkdir()
    lines, size = data.lines(), len(data) // files
    for number in range(files):
        part = lines[number * size : (number + 1) * size]
        (folder / f"{number:04}.tnq").write_text("\n".join(part.to_list()) + "\n", encoding="utf-8")


def _run(patterns: Sequence[Patterns], window: int, stream: Path, results: Path) -> SparkRun:
    engine = Engine(spark=SparkSession.getActiveSession() or open_session(f"local[{CORES}]"))
    engine.stream(STREAM, stream, files_per_batch=1)
    began = time.perf_counter()
    for number, each in enumerate(patterns):
        engine.register(text(each, window, f"q{number}"))
    registered = time.perf_counter() - began
    ends: list[tuple[float, int, int]] = []

    def observe(metrics: Metrics) -> None:
        if not ends or metrics.triples > ends[-1][1]:
            ends.append((time.perf_counter(), metrics.triples, metrics.results))

    engine.run(sinks=[lambda logs: ResultsFolder(results, logs / "results.log")], observer=observe)
    steps = list(pairwise(ends))
    speeds = [
        Speed((end[1] - start[1]) / (end[0] - start[0]), (end[2] - start[2]) / (end[1] - start[1]))
        for start, end in steps[WARM - 1 :]
    ]
    best = max(speeds, key=lambda speed: speed.triples)
    return SparkRun(best, ends[-1][1], registered, tuple(end[0] - start[0] for start, end in steps))
