"""A job's counters as metrics of Spark's own: aggregates over the rows that groups send to the driver.

Spark computes them while the rows pass (``DataFrame.observe``), without a job or a shuffle for it. They stand
in the progress of the query, and so come to every ``StreamingQueryListener``, under the name ``weir``: what
each batch brought, and the state after it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weir.runtime.group import Step

NAME = "weir"
SUMS = (
    "triples",
    "bytes",
    "rejected",
    "late",
    "ahead",
    "evaluations",
    "results",
    "state_rows",
    "state_bytes",
)
"""Of all slots together; ``lag_ms``, which comes behind them, is that of the slot that is behind most."""


def counts(step: Step, told: Mapping[str, Any], counted: Collection[str] | None) -> list[int]:
    """The values of one slot, given what it tells of itself. Several slots may read a stream: what is
    dropped of it is counted by the one that has it among ``counted``, None for all."""
    dropped = {
        (item.reason, stream, item.lane, item.position)
        for stream, item in step.dropped
        if counted is None or stream in counted
    }
    queries = told["queries"].values()
    values = {
        **told["input"],
        "rejected": told["rejected"],
        "late": sum(reason == "late" for reason, *_ in dropped),
        "ahead": sum(reason == "ahead" for reason, *_ in dropped),
        "evaluations": step.evaluations,
        "results": step.results,
        "state_rows": sum(query.get("live_rows", 0) for query in queries),
        "state_bytes": sum(query.get("bytes", 0) for query in queries),
    }
    return [int(values[name]) for name in SUMS] + [_lag(told)]


def _lag(told: Mapping[str, Any]) -> int:
    """Milliseconds of event time between the latest message and what the slowest query is done with."""
    highs = [stream["high"] for stream in told["streams"].values() if stream["high"] is not None]
    done = [query["through"] for query in told["queries"].values() if query["through"] is not None]
    return max(0, (max(highs) - min(done)) // 1000) if highs and done else 0


def observed(rows: DataFrame, name: str = NAME) -> DataFrame:
    """The rows, which have a column ``counts``, under observation."""
    sums = [F.sum(F.col("counts")[place]).alias(name) for place, name in enumerate(SUMS)]
    return rows.observe(name, *sums, F.max(F.col("counts")[len(SUMS)]).alias("lag_ms"))
