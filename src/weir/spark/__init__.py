"""Everything that talks to Spark, and the only room that imports pyspark.

``session`` starts Spark, ``job`` runs a checkpoint as one streaming query, ``continuous`` makes a query a
streaming DataFrame, ``dataframes`` makes a streaming DataFrame a stream, ``writers`` have tasks write
results, ``rescale`` spreads state over another number of tasks, ``load`` writes static graphs.
"""

from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "DataFrame",
    "SparkSession",
    "continuous",
    "dataframes",
    "job",
    "load",
    "rescale",
    "session",
    "writers",
]
