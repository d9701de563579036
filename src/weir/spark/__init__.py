"""Spark: the session, the source, the processor and the job. The only room that imports pyspark."""

from pyspark.sql import DataFrame, SparkSession

__all__ = ["DataFrame", "SparkSession"]
