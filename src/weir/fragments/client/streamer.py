"""The streamer (section 5): evaluate, say what changed, wait until the first fact expires, again.

At an instant τ the results are those of the query over the facts with ``start ≤ τ < end``. The next τ is
the earliest time at which a fact that was read ends or a known one starts, or NOW() passes a time in the
data, moved into the polling interval that the user set. Where nothing tells when, the greatest interval
decides. Each evaluation asks again for what is dynamic: facts can be taken back before their time.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weir.errors import RemoteError, UsageError
from weir.fragments.client.detect import Dynamics, detect_annotations
from weir.fragments.client.evaluation import Gatherer, answer, changes
from weir.fragments.client.matcher import Matcher, StaticCache
from weir.fragments.client.now_horizon import now_horizon
from weir.fragments.client.page import BeyondLimit, ClientLimits, Pages
from weir.fragments.client.quad_source import QuadSource
from weir.fragments.client.withdrawal_listener import WithdrawalListener, predicates_of
from weir.fragments.protocol.annotation import FOREVER, Annotation
from weir.kernel.reference.query_forms import Row
from weir.language import Query, parse
from weir.linked.http import Clock, WallClock
from weir.linked.http.allowed_hosts import Allowed, following_session
from weir.linked.http.headers import SECOND
from weir.rdf.terms import json_term
from weir.rdf.xsd.moments import civil_text

if TYPE_CHECKING:
    import httpx

_PAUSES = (0.02, 0.08, 0.32)


@dataclass(frozen=True, slots=True)
class Options:
    """How to follow. Times are seconds; ``annotation`` None is found out by metadata queries.

    ``cache`` False fetches everything at every evaluation. ``plain`` uses nothing that a server offers beside
    quad pattern fragments. ``stop_when_static`` False goes on polling a source that shows nothing dynamic.
    ``failures`` evaluations in a row may fail before following ends with the last error. An evaluation
    starts up to ``jitter`` seconds after it is due, and at most a tenth of the wait before it: all clients of
    a fact would ask at the instant at which it ends. With ``listen`` a server that offers it tells at once
    when facts are taken back before their time: a connection that stays open.
    """

    annotation: Annotation | None = None
    min_interval: float = 0.1
    max_interval: float = 60.0
    cache: bool = True
    plain: bool = False
    stop_when_static: bool = True
    failures: int = 5
    jitter: float = 0.5
    listen: bool = False
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
        self.source.within = self.options.max_interval
        self.static = StaticCache(self.source, enabled=self.options.cache)
        self.results: list[Row] = []
        self._dynamics: Dynamics | None = None
        self._learned = 0
        self._idle = 0
        self._http = client
        self._listener: WithdrawalListener | None = None

    def now(self) -> int:
        """The present by the server's clock, as far as it is known."""
        return self.clock.now() + self.pages.skew.offset

    async def updates(self) -> AsyncGenerator[Update, None]:
        """Every evaluation, until nothing is dynamic; waits in between."""
        due: int | None = None
        listening: asyncio.Future[None] | None = None
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
                wait = min(self.options.jitter * SECOND, (due - update.at) / 10)
                if listening is None and (listener := self._listening()) is not None:
                    listening = asyncio.ensure_future(listener.listen())
                if await self._sleep(due - self.pages.skew.offset + int(random.uniform(0, wait))):
                    due = self.now()
        finally:
            if listening is not None:
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)
            await self.pages.close()

    def _listening(self) -> WithdrawalListener | None:
        """The listener, where one is wanted and the server offers it."""
        url = self.source.withdrawals
        if self._listener is None and self.options.listen and url is not None:
            self._listener = WithdrawalListener(url, self._http, predicates_of(self.query), self.clock)
        return self._listener

    async def _sleep(self, instant: int) -> bool:
        """Wait until an instant; whether something was withdrawn before it."""
        listener = self._listener
        if listener is None:
            await self.clock.sleep_until(instant)
            return False
        waits = [
            asyncio.ensure_future(each) for each in (self.clock.sleep_until(instant), listener.woken.wait())
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
        if not listener.woken.is_set():
            return False
        await self._pause(random.uniform(0, self.options.jitter))
        listener.woken.clear()
        self.source.version = listener.version
        return True

    async def evaluate(self, due: int | None = None) -> Update:
        """Evaluate at ``due``, or now; what changed since the last evaluation."""
        self.pages.begin()
        began = self.clock.now()
        try:
            async with asyncio.timeout(self.options.limits.seconds):
                await self._learn()
                for pause in (*_PAUSES, None):
                    at = self._instant(due)
                    matcher, rows, moving = await self._once(at)
                    if pause is None or not self._outdated(matcher):
                        break
                    await self._pause(pause)
        except TimeoutError:
            told = f"an evaluation takes longer than {self.options.limits.seconds} s"
            raise BeyondLimit(told, "seconds") from None
        added, removed = changes(self.results, rows)
        self.results = rows
        return Update(
            at,
            added,
            removed,
            self._next(at, matcher, moving),
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

    async def _once(self, at: int) -> tuple[Matcher, list[Row], int]:
        """What was matched, the results, and when NOW() changes them."""
        assert self._dynamics is not None
        self.pages.look_again()
        self.static.begin(self.clock.now())
        matcher = Matcher(self.source, self._dynamics, self.static, at)
        gatherer = Gatherer(matcher)
        await gatherer.query(self.query)
        rows = answer(self.query, gatherer.quads, at, gatherer.solved)
        return matcher, rows, now_horizon(self.query, gatherer.quads, at)

    async def _learn(self) -> None:
        """Open the source and find its annotations, once; look again for new ones from time to time."""
        now = self.clock.now()
        if self._dynamics is None:
            await self.source.open()
        elif self._dynamics.annotations and now - self._learned < self.options.max_interval * SECOND:
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

    def _next(self, at: int, matcher: Matcher, moving: int) -> int | None:
        """When to evaluate again; without any valid fact to go by, later and later.

        ``moving`` is when NOW() changes the results; where nothing tells, that is ``at``.
        """
        if not matcher.found_dynamic and moving == FOREVER and self.options.stop_when_static:
            return None
        known = (matcher.earliest, matcher.horizon.expires, moving)
        wanted = min((t for t in known if t > at), default=FOREVER)
        if matcher.valid or wanted < FOREVER or moving == at:
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
    connections = following_session(Allowed.named(url), 17, 20.0) if client is None else nullcontext(client)
    async with connections as http:
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
