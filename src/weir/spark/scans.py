"""Large parts of a graph store scanned by Spark: each task reads some of its files, on its own host.

The ids that are left of a variable go to the executors as a broadcast, distinct ids and what is left at the
end come back to the driver; the triples themselves stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from weir.kernel.contract import GraphTable
from weir.linked.graphs.large_scans import StreamedScan, among, table_of
from weir.linked.graphs.parquet_store import REST, GraphStore
from weir.linked.graphs.triple_tables import Kept, LargeScan
from weir.rdf.columns import Ids, sorted_set

_COLUMNS = {"subject": "s", "object": "o"}


def scanner(spark: SparkSession) -> Callable[[GraphStore, int, int], LargeScan]:
    """What scans stores on this session. Where all cores are on this host, one process that reads ahead is
    as fast as tasks are, and starts none."""
    if str(spark.sparkContext.master).startswith("local"):
        return StreamedScan
    return partial(SparkScan, spark)


class SparkScan:
    """The triples of one predicate, as ``StreamedScan`` has them."""

    def __init__(self, spark: SparkSession, store: GraphStore, graph: int, predicate: int) -> None:
        self._spark = spark
        self._count = store.manifest.predicates.get(str(predicate), 0)
        self._predicate = predicate
        part = store.manifest.partitions.get(str(predicate), REST)
        every = spark.read.parquet(str(store.folder / "triples"))
        one = (F.col("part") == part) & (F.col("p") == predicate) & (F.col("g") == graph)
        self._triples = every.where(one).select("s", "o")

    def __len__(self) -> int:
        return self._count

    def _left(self, alternatives: Sequence[Kept]) -> DataFrame:
        if not all(alternatives):
            return self._triples
        told = self._spark.sparkContext.broadcast([dict(kept) for kept in alternatives])
        return self._triples.mapInArrow(lambda batches: _filtered(batches, told.value), "s long, o long")

    def count(self, kept: Kept) -> int:
        return self._left([kept]).count()

    def values(self, place: str, kept: Kept) -> Ids:
        name = _COLUMNS[place]
        column = self._left([kept]).select(name)
        found = column.mapInArrow(_distinct, f"{name} long").distinct().toArrow()
        return np.sort(_numbers(found, name))

    def rows(self, alternatives: Sequence[Kept]) -> GraphTable:
        found = self._left(alternatives).orderBy("s", "o").toArrow()
        return table_of(self._predicate, [(_numbers(found, "s"), _numbers(found, "o"))])


def _filtered(batches: Iterable[pa.RecordBatch], alternatives: Sequence[Kept]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        columns = {place: batch[name].to_numpy() for place, name in _COLUMNS.items()}
        masks = [among(columns, kept) for kept in alternatives]
        left = np.logical_or.reduce([mask for mask in masks if mask is not None])
        yield batch.filter(pa.array(left))


def _distinct(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.record_batch([pa.array(sorted_set(batch.column(0).to_numpy()))], names=batch.schema.names)


def _numbers(table: pa.Table, name: str) -> Ids:
    column: Ids = table[name].to_numpy()
    return column
