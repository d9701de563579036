"""A suite's stream of any size, written by Spark and asked through the product's own job.

A block is a task's work and a file, in the order of its number: what is written depends on the number of
events alone, not on how many tasks there are.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from weir.engine import Engine
from weir.runtime.ingest.sources import FileSource
from weir.spark.session import open_session
from weir_bench.data.conference_files import each_on_workers, write_text
from weir_bench.report import Report
from weir_bench.suites.suite import BLOCK, STREAM, Question, Suite

_BATCH = 256 << 20
"""Bytes of a batch."""


def large(report: Report, suite: Suite, names: tuple[str, ...], folder: Path, triples: int) -> dict[str, Any]:
    """A stream of about so many triples, and some questions asked of it."""
    spark = open_session(None)
    sample = suite.lines(5_000)
    events = triples * len(sample) // sum(text.count("\n") for text in sample)
    try:
        report.step(f"{events:,} events are written by Spark")
        begin = time.perf_counter()
        write_stream(spark, suite, folder / "large", events)
        found: dict[str, Any] = {"events": events, "write_seconds": time.perf_counter() - begin}
        for question in suite.questions:
            if question.name in names:
                report.step(f"{question.name} through Spark")
                found[question.name] = through_spark(spark, suite, question, folder / "large", folder)
    finally:
        spark.stop()
    return found


def write_stream(spark: SparkSession, suite: Suite, folder: Path, events: int) -> None:
    """``part-*.tnq`` in ``folder``."""

    def write(number: int) -> None:
        made = suite.block(number, min(BLOCK, events - number * BLOCK))
        write_text(folder / f"part-{number:06d}.tnq", made["text"])

    each_on_workers(spark, -(-events // BLOCK), folder, write)


def through_spark(
    spark: SparkSession, suite: Suite, question: Question, stream: Path, folder: Path
) -> dict[str, Any]:
    """From files to a result file written exactly once; the start of the job counts."""
    engine = Engine(spark=spark)
    engine.stream(STREAM, FileSource(str(stream), bytes_per_batch=_BATCH))
    static = suite.write_static(folder)
    if static is not None:
        engine.graph(None, static)
    engine.register(question.rspql(suite.prefixes), name=question.name)
    out = folder / f"{question.name}.jsonl"
    begin = time.perf_counter()
    metrics = engine.run(out=out)
    seconds = time.perf_counter() - begin
    out.unlink()
    return {
        "seconds": seconds,
        "triples": metrics.triples,
        "results": metrics.results,
        "triples_a_second": metrics.triples / seconds,
    }
