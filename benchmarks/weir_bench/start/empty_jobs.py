"""Jobs of Spark as a process of their own: the README's query by Weir, and stateful jobs that do nothing.

``python -m weir_bench.start.empty_jobs KIND FOLDER TIMES`` runs a job so many times in one session, each with
a checkpoint of its own, and prints a line of JSON when the first batch of each has come out. The empty jobs
have the pipeline's shape (``spark.baselines``): source, shuffle, one state value, foreachBatch.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

from weir import Engine
from weir.spark.session import open_session, settled
from weir_bench.spark.baselines import Nothing

_OUTPUT = "kind string, name string, slot bigint, data binary"
KINDS = ("weir", "file", "python")


class OneRow(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A stream of one row."""

    def initialOffset(self) -> dict[str, int]:
        return {"row": 0}

    def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:
        return {"row": 1}

    def prepareForTriggerAvailableNow(self) -> None:
        """Nothing to prepare."""

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return [InputPartition(number) for number in range(start["row"], end["row"])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch([pa.array(["nothing"])], names=["value"])


class OneRowSource(DataSource):
    """``spark.readStream.format("one-row")``: a source in Python that does nothing."""

    @classmethod
    def name(cls) -> str:
        return "one-row"

    def schema(self) -> str:
        return "value string"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        return OneRow()


def empty(spark: SparkSession, kind: str, folder: Path, told: Callable[[], None]) -> None:
    """Run an empty job to its end; ``told`` is called with its first batch."""
    if kind == "python":
        spark.dataSource.register(OneRowSource)
        rows = spark.readStream.format("one-row").load()
    else:
        source = folder / "source"
        source.mkdir(parents=True)
        (source / "lines.txt").write_text("nothing\n")
        rows = spark.readStream.text(str(source))

    def take(frame: DataFrame, batch: int) -> None:
        frame.toArrow().to_pylist()
        told()

    slots = rows.selectExpr("length(value) AS slot", "value").groupBy("slot")
    made = slots.transformWithStateInPandas(Nothing(), _OUTPUT, "append", "processingTime")
    writer = made.writeStream.foreachBatch(take).option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()


def weir(spark: SparkSession, inputs: Path, folder: Path, told: Callable[[], None]) -> None:
    """Run the query of ``inputs`` (``README.md``) to its end."""
    engine = Engine(spark=spark, checkpoint=folder / "checkpoint")
    engine.stream("badges", inputs / "badges.tnq")
    engine.graph("plan", inputs / "plan.nt")
    engine.register((inputs / "reach.rspql").read_text())
    engine.run(out=folder / "out.jsonl", observer=lambda metrics: told())


def main(kind: str, folder: Path, times: int, inputs: Path) -> None:
    spark = open_session()
    with settled(spark, int(spark.sparkContext.defaultParallelism)):
        for number in range(times):
            first: list[float] = []
            began = time.perf_counter()

            def told(first: list[float] = first) -> None:
                first.append(time.perf_counter())

            place = folder / str(number)
            if kind == "weir":
                weir(spark, inputs, place, told)
            else:
                empty(spark, kind, place, told)
            print(json.dumps({"first": first[0] - began}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
