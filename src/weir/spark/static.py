"""Basic graph patterns over a Parquet store by Spark SQL, for graphs that no single process should read.

A pattern is a scan restricted by its constants; patterns are joined on shared variables, connected ones
first and the rarest first among those. Ids go in and ids come out: texts play no part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from weir.language.algebra.patterns import TriplePattern
from weir.linked.graphs.parquet_store import REST, GraphStore
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import Variable

_SELECTIVITY = 1000
"""How much rarer a pattern is thought to be for each constant beside its predicate."""


def solve_patterns(
    spark: SparkSession, store: GraphStore, patterns: Sequence[TriplePattern], graph: int = 0
) -> Mapping[str, Ids]:
    """The solutions of a basic graph pattern (at least one triple pattern) as columns of the store's ids."""
    dictionary = Dictionary(store.key)
    ordered = _order(store, patterns, dictionary)
    scans = [_scan(spark, store, pattern, dictionary, graph) for pattern in ordered]
    found: pa.Table = reduce(_join, scans).toArrow()
    return {name[1:]: _numbers(found, name) for name in found.column_names if name != "_"}


def _order(
    store: GraphStore, patterns: Sequence[TriplePattern], dictionary: Dictionary
) -> list[TriplePattern]:
    rest = sorted(patterns, key=lambda pattern: _estimate(store, pattern, dictionary))
    ordered = [rest.pop(0)]
    while rest:
        bound = {name for pattern in ordered for name in _variables(pattern)}
        following = next((each for each in rest if bound & _variables(each)), rest[0])
        rest.remove(following)
        ordered.append(following)
    return ordered


def _estimate(store: GraphStore, pattern: TriplePattern, dictionary: Dictionary) -> float:
    rows: float = len(store)
    if not isinstance(pattern.predicate, Variable):
        rows = store.manifest.predicates.get(str(dictionary.encode(pattern.predicate)), 0)
    constants = sum(not isinstance(node, Variable) for node in (pattern.subject, pattern.object))
    return rows / float(_SELECTIVITY**constants)


def _variables(pattern: TriplePattern) -> set[str]:
    nodes = (pattern.subject, pattern.predicate, pattern.object)
    return {node.name for node in nodes if isinstance(node, Variable)}


def _scan(
    spark: SparkSession, store: GraphStore, pattern: TriplePattern, dictionary: Dictionary, graph: int
) -> DataFrame:
    rows = spark.read.parquet(str(store.folder / "triples")).where(F.col("g") == graph)
    columns: dict[str, str] = {}
    for column, node in (("s", pattern.subject), ("p", pattern.predicate), ("o", pattern.object)):
        if isinstance(node, Variable):
            first = columns.setdefault("v" + node.name, column)
            if first != column:
                rows = rows.where(F.col(first) == F.col(column))
            continue
        constant = dictionary.encode(node)
        rows = rows.where(F.col(column) == constant)
        if column == "p":
            rows = rows.where(F.col("part") == store.manifest.partitions.get(str(constant), REST))
    names = [F.col(column).alias(name) for name, column in columns.items()]
    return rows.select(*names) if names else rows.select(F.lit(1).alias("_")).limit(1)


def _join(left: DataFrame, right: DataFrame) -> DataFrame:
    shared = [name for name in right.columns if name in left.columns and name != "_"]
    if "_" in left.columns and "_" in right.columns:
        right = right.drop("_")
    return left.join(right, shared) if shared else left.crossJoin(right)


def _numbers(table: pa.Table, name: str) -> Ids:
    column: Ids = table[name].combine_chunks().to_numpy(zero_copy_only=False)
    return column
