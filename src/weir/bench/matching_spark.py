"""The whole pipeline under ``weir bench matching``: stream files through Spark, each query's results kept.

The stream lies in files, the queries are registered as texts, and the results of every batch are written to a
folder (``runtime.sinks.folder``). Time is wall clock between the ends of batches, the first ones left out:
they load compiled code and start Python workers.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from weir.bench.data.energy import STREAM, Energy
from weir.bench.matching_queries import text
from weir.bench.matching_systems import Patterns, Speed
from weir.engine import Engine
from weir.runtime.metrics import Metrics
from weir.runtime.session import open_session
from weir.runtime.sinks.folder import ResultsFolder

CORES = 2


@dataclass(frozen=True, slots=True)
class SparkRun:
    """What one run told: speed once it is under way, and how long queries took to register."""

    speed: Speed
    registered: float
    batch_seconds: tuple[float, ...]


def write_stream(energy: Energy, folder: Path, files: int) -> None:
    """The stream as ``files`` files of equal length."""
    lines, size = energy.lines(), len(energy) // files
    for number in range(files):
        part = lines[number * size : (number + 1) * size]
        (folder / f"{number:04}.tnq").write_text("\n".join(part.to_list()) + "\n", encoding="utf-8")


def run_spark(
    patterns: Sequence[Patterns], window: int, stream: Path, per_batch: int = 1, warm: int = 2
) -> SparkRun:
    """Queries over the files of ``stream``, ``per_batch`` of them in a batch."""
    spark = _session()
    with tempfile.TemporaryDirectory() as name:
        engine = Engine(spark=spark)
        engine.stream(STREAM, stream, files_per_batch=per_batch)
        began = time.perf_counter()
        for number, each in enumerate(patterns):
            engine.register(text(each, window, f"q{number}"))
        registered = time.perf_counter() - began
        ends: list[tuple[float, int, int]] = []

        def observe(metrics: Metrics) -> None:
            ends.append((time.perf_counter(), metrics.triples, metrics.results))

        engine.run(sinks=[ResultsFolder(Path(name) / "results")], observer=observe)
    full = [end for place, end in enumerate(ends) if not place or end[1] > ends[place - 1][1]]
    first, last = full[warm - 1], full[-1]
    seconds, triples = last[0] - first[0], last[1] - first[1]
    each = tuple(b[0] - a[0] for a, b in zip(full, full[1:], strict=False))
    return SparkRun(Speed(triples / seconds, (last[2] - first[2]) / triples), registered, each)


def _session() -> SparkSession:
    return SparkSession.getActiveSession() or open_session(f"local[{CORES}]")
