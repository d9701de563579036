"""Progress and metrics of a job: what a group tells after each batch, and what the driver makes of it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weir.rdf.columns import NEVER
from weir.runtime.control.failure import Failure
from weir.runtime.ingest.frames import Frame
from weir.runtime.worker.group import Group, Step

_RECENT = 20
"""Batches over which the rate is taken."""

_LEAVES = 40
_ROUTES = 3
_DETAILS = ("operators", "times", "origins")
_FEW = 500
"""Queries of a group up to which all details are told."""
"""The most leaves and routes of a query that are told."""

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


@dataclass(frozen=True, slots=True)
class LatestBatch:
    """One batch: when it was planned, handed to the sinks and done, and what each query told of it."""

    batch: int
    times: tuple[float, float, float]
    results: int
    triples: int
    queries: Mapping[str, Mapping[str, Any]]


@dataclass(slots=True, repr=False)
class Metrics:
    """Counts since the job started; per stream and per query as of the last batch. ``failures`` are those of
    queries that failed and were not resumed."""

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
    failures: dict[str, Failure] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    batch_seconds: float = 0.0
    latest: LatestBatch | None = None
    left: dict[str, int] = field(default_factory=dict, repr=False)
    arrivals: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=_RECENT), repr=False)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def __repr__(self) -> str:
        failed = f", failed: {', '.join(self.failures)}" if self.failures else ""
        return (
            f"<Metrics: {self.triples:,} triples in, {self.evaluations:,} evaluations, "
            f"{self.results:,} results, {self.batches:,} batches{failed}>"
        )

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

    def take(
        self, batch: int, told: Sequence[Mapping[str, Any]], results: int, times: tuple[float, float, float]
    ) -> None:
        """Add what the groups told after one batch (``told_by``), and when it was planned, handed to the
        sinks and done."""
        planned, handed, done = times
        with self.lock:
            self.batch = batch
            self.batches += 1
            self.results += results
            self.seconds.append(done - handed)
            self.batch_seconds += done - planned
            before = self.triples
            for group in told:
                self.triples += group["input"]["triples"]
                self.bytes += group["input"]["bytes"]
                self.rejected += group["rejected"]
            for stream, values in _together(told).items():
                self.streams[stream] = _larger(self.streams.get(stream, {}), values)
            seen: dict[str, list[dict[str, Any]]] = {}
            for group in told:
                for query, values in group["queries"].items():
                    seen.setdefault(query, []).append(values)
            # A batch that was planned before a query left, or began anew, tells of what it was.
            self.left = {query: first for query, first in self.left.items() if first > batch}
            told_of = {query: _summed(values) for query, values in seen.items() if query not in self.left}
            for query, values in told_of.items():
                before_it = self.queries.get(query, {}).get("total_seconds", 0.0)
                values["total_seconds"] = before_it + values.get("seconds", 0.0)
            self.queries |= told_of
            self.latest = LatestBatch(batch, times, results, self.triples - before, told_of)
            self.arrivals.append((time.monotonic(), self.triples - before))
            self.ended = bool(told) and all(group["ended"] for group in told)

    def fail(self, failure: Failure, batch: int) -> None:
        """A query failed; it does not run from ``batch`` on. One that has left by then, because it was paused
        meanwhile, has not failed."""
        with self.lock:
            self.queries.pop(failure.name, None)
            if self.left.get(failure.name) != batch:
                self.left[failure.name] = batch
                self.failures[failure.name] = failure

    def forget(self, query: str, batch: int) -> None:
        """Leave out what a query told, and tells before ``batch``: it runs no longer then, or begins anew."""
        with self.lock:
            self.queries.pop(query, None)
            self.failures.pop(query, None)
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

    def lag(self, query: str, streams: Collection[str] | None = None) -> float | None:
        """Seconds of event time between the latest message of these streams, by default of any, and what a
        query is done with."""
        through = self.queries.get(query, {}).get("through")
        highs = [
            told["high"]
            for iri, told in self.streams.items()
            if told.get("high") is not None and (streams is None or iri in streams)
        ]
        if through is None or not highs:
            return None
        return max(0.0, float(max(highs) - through) / 1_000_000)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        with self.lock:
            return {
                "batch": self.batch,
                "batches": self.batches,
                "batch_seconds": self.batch_seconds,
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
                "failures": {name: each.reason for name, each in self.failures.items()},
                "streams": {name: dict(values) for name, values in self.streams.items()},
                "queries": {name: {**values, "lag": self.lag(name)} for name, values in self.queries.items()},
            }


def _summed(slots: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the slots of a query tell, together. Where they are evaluated on one grid of times, the slot that
    has been evaluated most often tells how often."""
    total = dict(slots[0])
    for told in slots[1:]:
        for name, value in told.items():
            known = total.get(name)
            if name == "through" or (name == "evaluations" and told["on_one_grid"]):
                total[name] = _most(known, value)
            elif name == "operators" and known is not None and len(known) == len(value):
                total[name] = [_both(*pair) for pair in zip(known, value, strict=True)]
            elif isinstance(value, bool):
                continue
            elif isinstance(value, (int, float)):
                total[name] = (known or 0) + value
    return total


def _both(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


def _most(*values: int | None) -> int | None:
    """The largest of values that are known."""
    return max((value for value in values if value is not None), default=None)


def _together(told: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What slots tell of each stream, together: the most that one has seen, or what all have counted, where
    none has seen every message."""
    streams: dict[str, dict[str, Any]] = {}
    counted: dict[tuple[str, str], int] = {}
    for group in told:
        for stream, values in group["streams"].items():
            streams[stream] = _larger(streams.get(stream, {}), values)
        for stream, values in group["counted"].items():
            for name, value in values.items():
                counted[stream, name] = counted.get((stream, name), 0) + value
    for (stream, name), value in counted.items():
        streams[stream][name] = max(streams[stream][name] or 0, value)
    return streams


def _larger(known: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _most(known.get(name), value) for name, value in told.items()}


def told_by(group: Group, step: Step, frames: Iterable[Frame]) -> dict[str, Any]:
    """What a group tells of itself after a step."""
    statistics: dict[str, Mapping[str, Any]] = {}
    for name, m in group.members.items():
        if m.evaluator is not None:
            with group.failures.of(m.registration):
                statistics[name] = m.evaluator.statistics()
                group.failures.kept(m.registration, statistics[name].get("live_rows", 0))
    for shared in group.shared.values():
        statistics |= _apportioned(sorted(shared.names), shared.evaluator.statistics())
    sides = [frame.side for frame in frames]
    return {
        "ended": step.ended,
        "input": {name: sum(side.get(name, 0) for side in sides) for name in ("triples", "bytes")},
        "rejected": sum(len(side.get("rejected", ())) for side in sides),
        "streams": _streams(group),
        "counted": _counted(group),
        "queries": {
            name: {
                **_told(statistics.get(name, {}), few=len(group.members) <= _FEW),
                "through": None if member.given == NEVER else member.given,
                "evaluations": member.evaluations,
                "on_one_grid": member.on_one_grid,
                "results": member.results,
                "seconds": group.failures.seconds.get(name, 0.0),
                **_services(group, name),
            }
            for name, member in group.members.items()
        },
    }


def _apportioned(names: Sequence[str], statistics: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The counters of an evaluator that queries share: with the first of their names, but for what is kept,
    of which each has an equal part."""
    kept = {name: divmod(int(statistics.get(name, 0)), len(names)) for name in ("live_rows", "bytes")}
    return {
        query: {
            **(statistics if not place else {}),
            **{name: each + (place < rest) for name, (each, rest) in kept.items()},
            "together": len(names),
        }
        for place, query in enumerate(names)
    }


def _streams(group: Group) -> dict[str, dict[str, int | None]]:
    """Each stream; where it is read with several latenesses, what is the most in any of them."""
    found: dict[str, dict[str, int | None]] = {}
    for (stream, *_), inbox in group.inboxes.items():
        values = {
            "complete": inbox.complete,
            "high": inbox.progress.high,
            "late": inbox.seen.late,
            "ahead": inbox.seen.ahead,
            "messages": inbox.seen.messages,
            "waiting": len(inbox.waiting),
        }
        known = found.setdefault(stream, {})
        for name, value in values.items():
            known[name] = _most(known.get(name), None if value == NEVER else value)
    return found


def _counted(group: Group) -> dict[str, dict[str, int]]:
    """What is counted here for all slots, as ``_streams``."""
    found: dict[str, dict[str, int]] = {}
    for (stream, *_), inbox in group.inboxes.items():
        known = found.setdefault(stream, {"messages": 0, "late": 0, "ahead": 0})
        for name in known:
            known[name] = max(known[name], getattr(inbox.counted, name))
    return found


def _told(statistics: Mapping[str, Any], *, few: bool) -> dict[str, Any]:
    """The counters of an evaluator, the rows of its leaves and those that its operators gave, its latest
    evaluation times, where its windows begin, and the routes that it takes most."""
    told: dict[str, Any] = {
        name: value for name, value in statistics.items() if isinstance(value, (int, float))
    }
    leaves, views, routes = (statistics.get(name, {}) for name in ("leaves", "views", "routes"))
    if leaves or views:
        told["leaves"] = {**dict(list(leaves.items())[:_LEAVES]), **dict(list(views.items())[:_LEAVES])}
    told |= {name: statistics[name] for name in _DETAILS[: 3 if few else 1] if statistics.get(name)}
    if routes:
        told["routes"] = dict(sorted(routes.items(), key=lambda each: -each[1])[:_ROUTES])
    return told


def _services(group: Group, name: str) -> dict[str, Any]:
    """How fresh what a query took from endpoints was at its latest evaluation, where it has any."""
    found = group.services.freshness(name)
    return {"services": [account.as_json() for account in found]} if found else {}


def counts(step: Step, told: Mapping[str, Any]) -> list[int]:
    """The values of one slot, given what it tells of itself. Several slots may tell of a message that was
    dropped: its home counts it."""
    dropped = {(item.reason, stream, item.lane, item.position) for stream, item in step.dropped if item.home}
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
