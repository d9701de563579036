"""The counters of one slot in one batch, in a fixed order, so that a column of numbers can carry them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from weir.runtime.worker.group import Step

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
