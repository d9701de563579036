"""A job's counters as metrics of Spark's own: aggregates over the rows that groups send to the driver.

Spark computes them while the rows pass (``DataFrame.observe``), without a job or a shuffle for it. They stand
in the progress of the query, and so come to every ``StreamingQueryListener``, under the name ``weir``: what
each batch brought, and the state after it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weir.runtime.output.counters import SUMS

NAME = "weir"


def observed(rows: DataFrame, name: str = NAME) -> DataFrame:
    """The rows, which have a column ``counts``, under observation."""
    sums = [F.sum(F.col("counts")[place]).alias(name) for place, name in enumerate(SUMS)]
    return rows.observe(name, *sums, F.max(F.col("counts")[len(SUMS)]).alias("lag_ms"))
