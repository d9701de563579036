"""The conference written to files by Spark: a block of the library, or a day of the stream, is a task's work.

What is written depends on the seed and the sizes alone, not on how many tasks there are. A task writes its
file aside and renames it, so that a task that is run twice leaves one file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import polars as pl
import pyarrow as pa
from pyspark.sql import SparkSession

from weir_bench.data.conference import DAY, LV, ROOMS, Conference, day, room_text
from weir_bench.data.library import DBLP, Triples

_LINE = " ".join(("{}", "{}", "{}", ".")) + "\n"


def write_conference(
    spark: SparkSession,
    world: Conference,
    folder: Path,
    sightings: int = 0,
    rate: float = 100.0,
    seed: int = 1,
) -> None:
    """``library/*.nt``, ``floorplan.nt`` and, where there are sightings, ``rfid/*.tnq`` in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "floorplan.nt", lines(world.floorplan))
    write_library(spark, world, folder / "library")
    if sightings:
        write_sightings(spark, world, folder / "rfid", sightings, rate, seed)


def write_library(spark: SparkSession, world: Conference, folder: Path) -> None:
    """The library as a folder of N-Triples files, one a block."""
    library, quota = world.library, world.library.references()

    def write(number: int) -> None:
        write_text(folder / f"part-{number:05d}.nt", lines(library.part(number, quota[number])))

    each_on_workers(spark, library.blocks, folder, write)


def write_sightings(
    spark: SparkSession, world: Conference, folder: Path, count: int, rate: float = 100.0, seed: int = 1
) -> None:
    """The stream as a folder of ``.tnq`` files, one a day, in the order of their names."""

    def write(number: int) -> None:
        time, author, room = day(world, number, count, rate, seed)
        rooms = pl.Series([room_text(each) for each in range(ROOMS)])
        text = pl.select(
            pl.format(
                f"{{}}\t<{DBLP}author{{}}> <{LV}detectedAt> {{}} .\n",
                stamps(pl.Series(time)),
                pl.Series(author),
                rooms.gather(room),
            )
        )
        write_text(folder / f"day-{number:05d}.tnq", text.to_series())

    each_on_workers(spark, -(-count // DAY), folder, write)


def lines(triples: Triples) -> pl.Series:
    """Triples as lines of N-Triples."""
    return pl.select(pl.format(_LINE, triples["s"], triples["p"], triples["o"])).to_series()


def stamps(microseconds: pl.Series) -> pl.Series:
    """Times as xsd:dateTime with microseconds, as integers in stream files count milliseconds."""
    return microseconds.cast(pl.Datetime("us")).dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ")


def write_text(path: Path, text: pl.Series) -> None:
    """The texts one after the other; the file is there whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    with open(partial, "wb") as file:
        for part in text.to_frame().iter_slices(200_000):
            file.write("".join(part.to_series().to_list()).encode())
    partial.replace(path)


def each_on_workers(spark: SparkSession, count: int, folder: Path, write: Callable[[int], None]) -> None:
    """``write`` of every number below ``count``, each once, on the workers."""
    folder.mkdir(parents=True, exist_ok=True)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                write(number)
            yield pa.record_batch([pa.array([batch.num_rows], pa.int64())], names=["done"])

    tasks = spark.range(0, count, 1, min(count, spark.sparkContext.defaultParallelism * 4))
    done = tasks.mapInArrow(run, "done bigint").groupBy().sum("done").collect()[0][0]
    if done != count:
        raise RuntimeError(f"{done} of {count} files were written to {folder}")
