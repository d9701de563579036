"""The streamer (section 5): evaluate, say what changed, wait until the first fact expires, again.

At an instant τ the results are those of the query over the facts with ``start ≤ τ < end``. The next τ is
the earliest time at which a fact that was read ends or a known one starts, moved into the polling
interval that the user set. Where nothing tells when, the greatest interval decides.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from weir.errors import RemoteError, UsageError
from weir.fragments.client.detect import Dynamics, detect_annotations
from weir.fragments.client.evaluation import Gatherer, answer, changes
from weir.fragments.client.matcher import Matcher, StaticCache
from weir.fragments.client.page import ClientLimits, Pages
from weir.fragments.client.quad_source import QuadSource
from weir.fragments.protocol.annotation import FOREVER, Annotation
from weir.kernel.reference.query_forms import Row
from weir.language import Query, parse
from weir.linked.http import Clock, WallClock
from weir.linked.http.headers import SECOND
from weir.rdf.terms import json_term
from weir.rdf.xsd.moments import civil_text

_RELEARN = 300 * SECOND
_PAUSES = (0.02, 0.08, 0.32)


@dataclass(frozen=True, slots=True)
class Options:
    """How to follow. Times are seconds; ``annotation`` None is found out by metadata queries.

    ``cache`` False fetches everything at every evaluation. ``plain`` uses nothing that a server offers beside
    quad pattern fragments. ``stop_when_static`` False goes on polling a source that shows nothing dynamic.
    ``failures`` evaluations in a row may fail before following ends with the last error.
    """

    annotation: Annotation | None = None
    min_interval: float = 0.1
    max_interval: float = 60.0
    cache: bool = True
    plain: bool = False
    stop_when_static: bool = True
    failures: int = 5
    limits: ClientLimits = field(default_factory=ClientLimits)

    def __post_init__(self) -> None:
        if not 0 <= self.min_interval <= self.max_interval:
            raise UsageError("the least polling interval must not exceed the greatest")


@dataclass(frozen=True, slots=True)
class Update:
    """One evaluation: at which instant, what changed, and when the next is due (None: nothing dynamic)."""

    at: int
    added: list[Row]
    removed: list[Row]
    next: int | None
    statistics: dict[str, Any]


class Streamer:
    """Follows one query over one source. ``updates`` yields every evaluation, also without changes."""

    def __init__(
        self,
        query: Query,
        url: str,
        client: httpx.AsyncClient,
        *,
        options: Options | None = None,
        clock: Clock | None = None,
    ) -> None:
        if query.dataset.windows:
            raise UsageError("fragments are queried in plain SPARQL", hint="leave out windows")
        if query.dataset.default or query.dataset.named:
            raise UsageError(
                "a query over fragments has no FROM", hint="the address names the data set: leave it out"
            )
        self.query = query
        self.options = options or Options()
        self.clock = clock or WallClock()
        self.pages = Pages(client, self.clock, self.options.limits, caching=self.options.cache)
        self.source = QuadSource(url, self.pages, plain=self.options.plain)
        self.static = StaticCache(self.source, enabled=self.options.cache)
        self.results: list[Row] = []
        self._dynamics: Dynamics | None = None
        self._learned = 0
        self._idle = 0

    def now(self) -> int:
        """The present by the server's clock, as far as it is known."""
        return self.clock.now() + self.pages.skew.offset

    async def updates(self) -> AsyncGenerator[Update, None]:
        """Every evaluation, until nothing is dynamic; waits in between."""
        due: int | None = None
        failed = 0
        try:
            while True:
                try:
                    update = await self.evaluate(due)
                except RemoteError:
                    failed += 1
                    if failed > self.options.failures or due is None:
                        raise
                    await self._pause(min(2.0**failed, self.options.max_interval))
                    continue
                failed = 0
                yield update
                if update.next is None:
                    return
                due = update.next
                await self.clock.sleep_until(due - self.pages.skew.offset)
        finally:
            await self.pages.close()

    async def evaluate(self, due: int | None = None) -> Update:
        """Evaluate at ``due``, or now; what changed since the last evaluation."""
        self.pages.begin()
        began = self.clock.now()
        try:
            async with asyncio.timeout(self.options.limits.seconds):
                await self._learn()
                for pause in (*_PAUSES, None):
                    at = self._instant(due)
                    matcher, rows = await self._once(at)
                    if pause is None or not self._outdated(matcher):
                        break
                    await self._pause(pause)
        except TimeoutError:
            raise RemoteError(
                f"an evaluation takes longer than {self.options.limits.seconds} s",
                hint="make the query more selective, or raise the limit on seconds",
            ) from None
        added, removed = changes(self.results, rows)
        self.results = rows
        return Update(
            at,
            added,
            removed,
            self._next(at, matcher),
            {
                "requests": self.pages.requests,
                "bytes": self.pages.bytes,
                "results": len(rows),
                "seconds": (self.clock.now() - began) / SECOND,
                "skew": self.pages.skew.offset / SECOND,
            },
        )

    def _outdated(self, matcher: Matcher) -> bool:
        """Whether what was read had expired before it could be used: the server's clock or its facts lag
        a little behind, or the present moved on while pages were fetched."""
        if matcher.horizon.suspect or (matcher.expired and not matcher.valid):
            return True
        return not self.source.timed and self.now() >= matcher.horizon.expires

    async def _pause(self, seconds: float) -> None:
        await self.clock.sleep_until(self.clock.now() + int(seconds * SECOND))

    def _instant(self, due: int | None) -> int:
        """τ: the present; where the server keeps history, the time that was due if it is not long past, so
        that clients of the same facts ask alike."""
        now = self.now()
        return due if self.source.timed and due is not None and now - SECOND <= due <= now else now

    async def _once(self, at: int) -> tuple[Matcher, list[Row]]:
        assert self._dynamics is not None
        self.pages.look_again()
        self.static.begin(self.clock.now())
        matcher = Matcher(self.source, self._dynamics, self.static, at)
        gatherer = Gatherer(matcher)
        await gatherer.query(self.query)
        return matcher, answer(self.query, gatherer.quads, at, gatherer.solved)

    async def _learn(self) -> None:
        """Open the source and find its annotations, once; look again for new ones from time to time."""
        now = self.clock.now()
        if self._dynamics is None:
            await self.source.open()
        elif self._dynamics.annotations and now - self._learned < _RELEARN:
            return
        if self.options.annotation is not None:
            annotations: tuple[Annotation, ...] = (self.options.annotation,)
        else:
            annotations = await detect_annotations(self.source)
        if self._dynamics is None or annotations != self._dynamics.annotations:
            self._dynamics = Dynamics(self.source, annotations)
        else:
            self._dynamics.forget()
        self._learned = now

    def _next(self, at: int, matcher: Matcher) -> int | None:
        """When to evaluate again; without any valid fact to go by, later and later."""
        if not matcher.found_dynamic and self.options.stop_when_static:
            return None
        wanted = min((t for t in (matcher.earliest, matcher.horizon.expires) if t > at), default=FOREVER)
        if matcher.valid or wanted < FOREVER:
            self._idle = 0
        else:
            self._idle += 1
            wanted = at + int(0.25 * 2 ** min(self._idle, 20) * SECOND)
        soonest = at + int(self.options.min_interval * SECOND)
        latest = at + int(self.options.max_interval * SECOND)
        return max(soonest, min(wanted, latest))


async def follow_async(
    query: str | Query,
    url: str,
    *,
    options: Options | None = None,
    clock: Clock | None = None,
    client: httpx.AsyncClient | None = None,
) -> AsyncGenerator[Update, None]:
    """Every evaluation of a query over the data set at ``url``, as it becomes due.

    The first update adds all results there are. Ends by itself where nothing is dynamic. A client given
    here is used and left open; it decides proxies, certificates and credentials.
    """
    parsed = query if isinstance(query, Query) else parse(query, dialect="sparql")
    async with _client(client) as http:
        streamer = Streamer(parsed, url, http, options=options, clock=clock)
        async with aclosing(streamer.updates()) as updates:
            async for update in updates:
                yield update


def follow(
    query: str | Query,
    url: str,
    *,
    options: Options | None = None,
    clock: Clock | None = None,
) -> Iterator[Update]:
    """As ``follow_async``, for code without an event loop. Waits between updates."""
    updates = follow_async(query, url, options=options, clock=clock)
    with asyncio.Runner() as runner:
        try:
            while True:
                update = runner.run(_next_of(updates))
                if update is None:
                    return
                yield update
        finally:
            runner.run(updates.aclose())


async def _next_of(updates: AsyncIterator[Update]) -> Update | None:
    return await anext(updates, None)


@asynccontextmanager
async def _client(given: httpx.AsyncClient | None) -> AsyncIterator[httpx.AsyncClient]:
    if given is not None:
        yield given
        return
    limits = httpx.Limits(max_connections=16, max_keepalive_connections=16, keepalive_expiry=30.0)
    async with httpx.AsyncClient(
        follow_redirects=True, max_redirects=5, limits=limits, timeout=20.0, headers={"User-Agent": "weir"}
    ) as client:
        yield client


def result_lines(update: Update, query: str) -> Iterator[dict[str, Any]]:
    """An update as result lines (docs/semantics.md, "Result lines"): removals, then additions."""
    stamp = f"{civil_text(update.at // 1000 * 1000, 3)}Z"
    for op, rows in (("D", update.removed), ("I", update.added)):
        triples = [row for row in rows if isinstance(row, tuple)]
        if triples:
            lines = [f"{s} {p} {o} ." for s, p, o in triples]
            yield {"query": query, "at": stamp, "op": op, "triples": lines}
        for row in rows:
            if isinstance(row, dict):
                bindings = {name: json_term(term) for name, term in row.items()}
                yield {"query": query, "at": stamp, "op": op, "bindings": bindings}
            elif isinstance(row, bool):
                yield {"query": query, "at": stamp, "op": op, "boolean": row}


def stream_lines(update: Update) -> Iterator[str]:
    """The triples that an update of a CONSTRUCT query adds, as lines of a ``.tnq`` stream file."""
    for row in update.added:
        if isinstance(row, tuple):
            yield f"{update.at // 1000}\t{row[0]} {row[1]} {row[2]} .\n"
