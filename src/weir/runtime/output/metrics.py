"""Progress and metrics of a job, gathered from what the groups tell after each batch."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weir.runtime.output.outputs import Output

_RECENT = 20
"""Batches over which the rate is taken."""


@dataclass(slots=True)
class Metrics:
    """Counts since the job started; per stream and per query as of the last batch."""

    started: float = 0.0
    batch: int = -1
    batches: int = 0
    triples: int = 0
    bytes: int = 0
    results: int = 0
    rejected: int = 0
    ended: bool = False
    interrupted: bool = False
    streams: dict[str, dict[str, Any]] = field(default_factory=dict)
    queries: dict[str, dict[str, Any]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict, repr=False)
    arrivals: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=_RECENT), repr=False)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def late(self) -> int:
        """Messages dropped as late, in all streams."""
        return sum(int(stream.get("late", 0)) for stream in self.streams.values())

    @property
    def ahead(self) -> int:
        """Messages set aside as too far ahead, in all streams."""
        return sum(int(stream.get("ahead", 0)) for stream in self.streams.values())

    @property
    def evaluations(self) -> int:
        return sum(int(query.get("evaluations", 0)) for query in self.queries.values())

    def take(self, batch: int, rows: Iterable[Output], results: int, seconds: float) -> None:
        """Add what one batch told."""
        told = [json.loads(row.data[:]) for row in rows if row.kind == "metrics"]
        with self.lock:
            self.batch = batch
            self.batches += 1
            self.results += results
            self.seconds.append(seconds)
            before = self.triples
            for group in told:
                self.triples += group["input"]["triples"]
                self.bytes += group["input"]["bytes"]
                self.rejected += group["rejected"]
                for stream, values in group["streams"].items():
                    self.streams[stream] = _larger(self.streams.get(stream, {}), values)
            seen: dict[str, list[dict[str, Any]]] = {}
            for group in told:
                for query, values in group["queries"].items():
                    seen.setdefault(query, []).append(values)
            # A batch that was planned before a query left, or began anew, tells of what it was.
            self.left = {query: first for query, first in self.left.items() if first > batch}
            told_of = {query: _summed(values) for query, values in seen.items() if query not in self.left}
            self.queries |= told_of
            self.arrivals.append((time.monotonic(), self.triples - before))
            self.ended = bool(told) and all(group["ended"] for group in told)

    def forget(self, query: str, batch: int) -> None:
        """Leave out what a query told, and tells before ``batch``: it runs no longer then, or begins anew."""
        with self.lock:
            self.queries.pop(query, None)
            self.left[query] = batch

    @property
    def rate(self) -> float:
        """Triples a second of wall clock, over the latest batches."""
        if len(self.arrivals) < 2:
            return 0.0
        span = self.arrivals[-1][0] - self.arrivals[0][0]
        return sum(count for _, count in list(self.arrivals)[1:]) / span if span > 0 else 0.0

    @property
    def state(self) -> dict[str, int]:
        """Rows that queries keep, and the bytes they take."""
        return {
            name: sum(int(query.get(key, 0)) for query in self.queries.values())
            for name, key in (("rows", "live_rows"), ("bytes", "bytes"))
        }

    def lag(self, query: str) -> float | None:
        """Seconds of event time between the latest message of any stream and what a query is done with."""
        through = self.queries.get(query, {}).get("through")
        highs = [stream["high"] for stream in self.streams.values() if stream.get("high") is not None]
        if through is None or not highs:
            return None
        return max(0.0, float(max(highs) - through) / 1_000_000)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        with self.lock:
            return {
                "batch": self.batch,
                "batches": self.batches,
                "triples": self.triples,
                "bytes": self.bytes,
                "results": self.results,
                "rejected": self.rejected,
                "late": self.late,
                "ahead": self.ahead,
                "evaluations": self.evaluations,
                "dead": self.rejected + self.ahead,
                "rate": self.rate,
                "state": self.state,
                "streams": {name: dict(values) for name, values in self.streams.items()},
                "queries": {name: {**values, "lag": self.lag(name)} for name, values in self.queries.items()},
            }


def _summed(slots: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the slots of a query tell, together."""
    total = dict(slots[0])
    for told in slots[1:]:
        for name, value in told.items():
            known = total.get(name)
            if name == "through":
                total[name] = max((v for v in (known, value) if v is not None), default=None)
            elif isinstance(value, (int, float)):
                total[name] = (known or 0) + value
    return total


def _larger(known: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: max((v for v in (known.get(name), value) if v is not None), default=None)
        for name, value in told.items()
    }
