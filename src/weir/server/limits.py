"""What the service refuses to spend on one request, one client, one query."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from weir.errors import UsageError
from weir.language.algebra.query import Query
from weir.language.algebra.windows import All, Elements, Past, Range, Triples


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes are bytes, times seconds. Every bound is checked before the work is done, or while it is."""

    body: int = 32 << 20
    """A request's body; beyond it, 413."""
    requests: float = 1_000.0
    """Requests a second of one client, on average; beyond it, 429."""
    burst: float = 2_000.0
    """Requests that a client may make at once after a pause."""
    query_text: int = 65_536
    """Characters of a query; beyond it, 422."""
    queries: int = 1_000
    streams: int = 1_000
    subscribers: int = 5_000
    """Open event streams and WebSockets; beyond it, 503."""
    wait: float = 60.0
    """How long a long poll may last."""
    sparql: float = 10.0
    """How long a SPARQL query may take; beyond it, 503."""
    sparql_memory: int = 4 << 30
    """Memory of the process that answers SPARQL queries."""
    fetch: float = 30.0
    """How long a graph may take to be fetched from a URL."""
    fetch_bytes: int = 64 << 20
    window: float = 7 * 86_400.0
    """The longest time a window may hold."""
    window_items: int = 10_000_000
    """The most triples or messages that a window may count."""
    unbounded: bool = True
    """Whether windows without an end (ALL) are allowed."""
    state_rows: int = 5_000_000
    """Rows that a query may keep; beyond it, it is paused."""
    batch_seconds: float = 300.0
    """How long one batch of the engine may take before the query that costs most is paused."""

    @staticmethod
    def of(values: dict[str, Any]) -> Limits:
        """Limits from a configuration."""
        known = {item.name: item for item in fields(Limits)}
        for name, value in values.items():
            if name not in known:
                raise UsageError(f"unknown limit {name!r}", hint=f"known: {', '.join(sorted(known))}")
            if not isinstance(value, (int, float)) or value < 0:
                raise UsageError(f"the limit {name} is a number, not {value!r}")
        return Limits(**values)


def check_query(query: Query, limits: Limits) -> None:
    """Refuse a query whose windows may hold too much."""
    longest = round(limits.window * 1_000_000)
    for window in query.dataset.windows:
        held, counted = 0, 0
        match window.kind:
            case Range(width, _) | Past(width, _, _):
                held = width
            case Triples(count, _) | Elements(count, _):
                counted = count
            case All() if not limits.unbounded:
                raise UsageError(
                    f"the window <{window.name}> holds everything for ever", hint="use RANGE or TRIPLES"
                )
        held += window.semantics.lateness
        if held > longest:
            raise UsageError(
                f"the window <{window.name}> is longer than {limits.window:g} s", hint="make it shorter"
            )
        if counted > limits.window_items:
            raise UsageError(f"the window <{window.name}> counts more than {limits.window_items:,} items")


class Rates:
    """A bucket of requests per client, filled at ``rate`` a second up to ``burst``."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.burst = burst
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> float:
        """Take one request; 0, or how many seconds the client has to wait."""
        now = self._clock()
        left, then = self._left.pop(client, (self.burst, now))
        left = min(self.burst, left + (now - then) * self.rate)
        allowed = left >= 1
        self._left[client] = (left - 1 if allowed else left, now)
        while len(self._left) > 10_000:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self.rate if self.rate else 60.0
