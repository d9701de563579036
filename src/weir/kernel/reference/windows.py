"""Messages of terms, a stream as one window sees it, and what that window holds at an instant (S2R).

Numbers in brackets are points of decision semantics-time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from weir.errors import UsageError
from weir.kernel.reference.datasets import Quad
from weir.language.algebra import windows as w


@dataclass(frozen=True, slots=True)
class Message:
    """An atomic dataset with one timestamp (µs). ``quads`` are in the order of the serialisation.

    Where triples that no pattern matches were left out, ``positions`` are the places of the others among
    all ``size`` triples; by default nothing was left out.
    """

    time: int
    quads: tuple[Quad, ...] = ()
    positions: tuple[int, ...] | None = None
    size: int | None = None

    @property
    def triples(self) -> int:
        """How many triples the message had; none makes it a heartbeat [1]."""
        return len(self.quads) if self.size is None else self.size

    def placed(self) -> Iterable[tuple[int, Quad]]:
        """The quads with their places in the message."""
        return (
            enumerate(self.quads) if self.positions is None else zip(self.positions, self.quads, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Instant:
    """A point at which windows are looked at: time τ, and for a tuple-driven query how many messages of
    time τ each stream has shown so far [21]. ``last`` is whether all of τ has been seen."""

    time: int
    shown: Mapping[str, int] | None = None
    last: bool = True


class Stream:
    """The messages of one stream in order, heartbeats left out. Old ones may be dropped: then
    ``dropped_triples`` and ``dropped_messages`` keep the counts right."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.first: int | None = None
        self.last: int | None = None
        self.dropped_triples = 0
        self.dropped_messages = 0

    def add(self, messages: Iterable[Message]) -> None:
        """Messages of one batch in order; equal times keep the order of arrival."""
        new = [message for message in messages if message.triples]
        if not new:
            return
        self.messages = sorted([*self.messages, *new], key=lambda message: message.time)
        oldest = min(message.time for message in new)
        self.first = oldest if self.first is None else min(self.first, oldest)
        self.last = self.messages[-1].time

    def seen(self, name: str, instant: Instant) -> list[Message]:
        """What has come by an instant, oldest first."""
        if instant.shown is None:
            return self.messages[: bisect_right(self.messages, instant.time, key=lambda m: m.time)]
        before = bisect_right(self.messages, instant.time - 1, key=lambda m: m.time)
        through = bisect_right(self.messages, instant.time, key=lambda m: m.time)
        return self.messages[: min(before + instant.shown.get(name, 0), through)]

    def at(self, time: int) -> list[Message]:
        """The messages of one timestamp."""
        return [message for message in self.messages if message.time == time]

    def drop_before(self, time: int, keep_triples: int, keep_messages: int) -> None:
        """Forget messages older than ``time``, as long as so many of their triples and messages remain."""
        settled = [message for message in self.messages if message.time < time]
        triples = sum(message.triples for message in settled)
        gone = 0
        for message in settled:
            triples -= message.triples
            if triples < keep_triples or len(settled) - gone - 1 < keep_messages:
                break
            self.dropped_triples += message.triples
            gone += 1
        self.dropped_messages += gone
        del self.messages[:gone]


@dataclass(frozen=True, slots=True)
class Held:
    """The content of a window: the triples that were kept, each with its time, and the number of all."""

    quads: tuple[tuple[int, Quad], ...]
    size: int


_NOTHING = Held((), 0)


def effective_report(window: w.WindowDeclaration) -> w.Report:
    """The report policy; WC, or CC for what cannot close, where the declaration names none [10]."""
    report = window.semantics.report
    if (report.window_close or report.closed) and not can_close(window):
        raise UsageError(
            f"window {window.name} never closes", hint="give it a STEP, or report it on CONTENT CHANGE"
        )
    if report.window_close or report.content_change or report.periodic is not None:
        return report
    closes = can_close(window)
    return w.Report(window_close=closes, content_change=not closes, non_empty=report.non_empty)


def can_close(window: w.WindowDeclaration) -> bool:
    """Whether the kind of window has closes at all."""
    kind = window.kind
    return isinstance(kind, w.Range | w.Past | w.Triples | w.Elements) and kind.step is not None


@dataclass(frozen=True, slots=True)
class Grid:
    """The windows of a RANGE or past window with a STEP [5–8]: number k opens at t0 + k·step, covers
    ``cover`` from there and is reported ``delay`` after its open."""

    t0: int
    step: int
    cover: int
    delay: int
    bounds: w.Bounds
    earliest: int | None
    """0 where ``STARTING AT`` an instant or FIRST forbids negative k."""
    first: int

    def opening(self, k: int) -> int:
        return self.t0 + k * self.step

    def report_time(self, k: int) -> int:
        return self.opening(k) + self.delay

    @property
    def least(self) -> int:
        """The first k that exists and could hold the first message [8]."""
        margin = 1 if self.bounds is w.Bounds.CLOSED_OPEN else 0
        k = -(-(self.first + margin - self.cover - self.t0) // self.step)
        return k if self.earliest is None else max(k, self.earliest)

    def covers(self, k: int, time: int) -> bool:
        start, end = self.opening(k), self.opening(k) + self.cover
        return start <= time < end if self.bounds is w.Bounds.CLOSED_OPEN else start < time <= end

    def latest_reported(self, time: int) -> int | None:
        """The last k whose report time is at or before ``time``."""
        k = (time - self.delay - self.t0) // self.step
        return k if k >= self.least else None

    def last_opened(self, time: int) -> int:
        """The last k whose open lies at or before ``time``, before it under ``(]``."""
        if self.bounds is w.Bounds.CLOSED_OPEN:
            return (time - self.t0) // self.step
        return -(-(time - self.t0) // self.step) - 1

    def last_holding(self, time: int) -> int | None:
        """The last k that covers ``time``."""
        k = self.last_opened(time)
        return k if self.covers(k, time) and k >= self.least else None

    def oldest_open(self, time: int) -> int:
        """The least k not closed at ``time`` [12]."""
        past = time - self.delay - self.t0
        k = past // self.step + 1 if self.bounds is w.Bounds.CLOSED_OPEN else -(-past // self.step)
        return k if self.earliest is None else max(k, self.earliest)

    def report_times(self, after: int, through: int) -> Iterator[int]:
        """Report times in ``(after, through]``."""
        k = max((after - self.delay - self.t0) // self.step + 1, self.least)
        while self.report_time(k) <= through:
            yield self.report_time(k)
            k += 1


class StreamWindow:
    """A declared window on one of its streams."""

    def __init__(self, declaration: w.WindowDeclaration, stream: str) -> None:
        self.declaration = declaration
        self.stream = stream
        self.kind = declaration.kind
        self.semantics = declaration.semantics
        self.report = effective_report(declaration)
        self.messages = Stream()

    @property
    def bag(self) -> bool:
        return self.semantics.content is w.Content.BAG

    def receive(self, messages: Iterable[Message]) -> None:
        """New messages of the stream; those before ``STARTING AT`` are not seen [3]."""
        start = self.semantics.start
        if isinstance(start, w.StartAt):
            margin = 0 if self.semantics.bounds is w.Bounds.CLOSED_OPEN else 1
            messages = [message for message in messages if message.time >= start.instant + margin]
        self.messages.add(messages)

    def origin(self) -> int:
        """t0 [5]."""
        start = self.semantics.start
        if isinstance(start, w.StartAt):
            return start.instant
        if self.messages.first is None or start is None:
            return 0
        first = self.messages.first
        return first // start.duration * start.duration if isinstance(start, w.AlignedTo) else first

    @property
    def begins(self) -> bool:
        """Whether its grid has a beginning: k ≥ 0 [5]."""
        return isinstance(self.semantics.start, w.StartAt | w.AtFirst)

    @property
    def unit(self) -> int | None:
        """The grain of time under a time-driven tick; under CHANGE a microsecond [18]."""
        return self.semantics.tick.unit

    def grid(self) -> Grid | None:
        """The windows by number, once there is a message, for kinds that have them."""
        kind, first = self.kind, self.messages.first
        if not isinstance(kind, w.Range | w.Past) or kind.step is None or first is None:
            return None
        cover = kind.range if isinstance(kind, w.Range) else kind.start - kind.end
        delay = kind.range if isinstance(kind, w.Range) else kind.start
        earliest = 0 if self.begins else None
        return Grid(self.origin(), kind.step, cover, delay, self.semantics.bounds, earliest, first)

    # w.Content

    def content(self, instant: Instant) -> Held:
        """What the window shows at an instant, by its row of the table [11–13]."""
        return self._closed(instant) if self._shows_closed(instant) else self._current(instant)

    def _shows_closed(self, instant: Instant) -> bool:
        report = self.report
        if not report.window_close and not report.closed:
            return False
        if not report.content_change and (report.periodic is None or report.closed):
            return True
        if report.window_close and self.closes_at(instant):
            return True
        return report.closed and instant.last and self.period_at(instant.time)

    def period_at(self, time: int) -> bool:
        """Whether the window reports periodically at this very time [15]."""
        first, period = self.messages.first, self.report.periodic
        if first is None or period is None or (time - self.origin()) % period:
            return False
        if self.begins and time < self.origin():
            return False
        timed = isinstance(self.kind, w.Range | w.Past) and self.semantics.bounds is w.Bounds.CLOSED_OPEN
        after_first = self.report.closed and timed
        return time > first if after_first else time >= first

    def closes_at(self, instant: Instant) -> bool:
        """Whether a close of the window falls on this very instant."""
        grid = self.grid()
        if grid is not None:
            k = grid.latest_reported(self._visible_close(instant))
            return k is not None and grid.report_time(k) == instant.time
        if not isinstance(self.kind, w.Triples | w.Elements) or not can_close(self.declaration):
            return False
        before = self.messages.seen(self.stream, Instant(instant.time - 1))
        return self._closes(self._items(before)) < self._closes(self._items(self._seen(instant)))

    def _seen(self, instant: Instant) -> list[Message]:
        return self.messages.seen(self.stream, instant)

    def _visible_close(self, instant: Instant) -> int:
        """Closes up to this time show; one under ``(]`` only after all messages of its time [21]."""
        shows = instant.last or self.semantics.bounds is w.Bounds.CLOSED_OPEN
        return instant.time if shows else instant.time - 1

    def _closed(self, instant: Instant) -> Held:
        """Row WC [11]."""
        seen = self._seen(instant)
        if isinstance(self.kind, w.Triples | w.Elements):
            assert self.kind.step is not None
            close = self._closes(self._items(seen)) * self.kind.step
            return self._slice(seen, close - self.kind.count, close)
        grid = self.grid()
        k = None if grid is None else grid.latest_reported(self._visible_close(instant))
        if grid is None or k is None:
            return _NOTHING
        return _whole(message for message in seen if grid.covers(k, message.time))

    def _closes(self, items: int) -> int:
        assert isinstance(self.kind, w.Triples | w.Elements) and self.kind.step is not None
        return items // self.kind.step

    def _current(self, instant: Instant) -> Held:
        """Row CC [12]."""
        seen, kind, now = self._seen(instant), self.kind, instant.time
        match kind:
            case w.Range(width, None):
                return _whole(m for m in seen if now - width < m.time)
            case w.Past(start, end, None):
                return _whole(m for m in seen if now - start < m.time <= now - end)
            case w.Range() | w.Past():
                grid = self.grid()
                if grid is None:
                    return _NOTHING
                opening = grid.opening(grid.oldest_open(now))
                if self.semantics.bounds is w.Bounds.OPEN_CLOSED:
                    opening += 1
                latest = now - kind.end if isinstance(kind, w.Past) else now
                return _whole(m for m in seen if opening <= m.time <= latest)
            case w.Now():
                return _whole(m for m in seen if now - (self.unit or 1) < m.time)
            case w.All():
                return _whole(seen)
            case w.Triples(count, _) | w.Elements(count, _):
                items = self._items(seen)
                return self._slice(seen, items - count, items)

    def stay(self, time: int) -> tuple[int, int | None] | None:
        """When a message of this time enters the window, seen by row CC, and when it leaves; it stays until
        others push it out where that is None. None where it never enters [12]."""
        kind = self.kind
        match kind:
            case w.Now():
                return self.next_tick(time), self.next_tick(time) + (self.unit or 1)
            case w.All() | w.Triples() | w.Elements():
                return time, None
            case w.Range(width, None):
                return time, time + width
            case w.Past(start, end, None):
                return time + end, time + start
            case w.Range() | w.Past():
                grid = self.grid()
                assert grid is not None
                k = grid.last_opened(time)
                if grid.earliest is not None and k < grid.earliest:
                    return None
                entered = time + (kind.end if isinstance(kind, w.Past) else 0)
                left = grid.report_time(k) + (self.semantics.bounds is w.Bounds.OPEN_CLOSED)
                return (entered, left) if entered < left else None

    def next_tick(self, time: int) -> int:
        """The next multiple of the unit at or after ``time`` [18]; ``time`` where there is none."""
        return time if self.unit is None else -(-time // self.unit) * self.unit

    def _items(self, seen: list[Message]) -> int:
        """Triples or elements so far, dropped ones included."""
        if isinstance(self.kind, w.Triples):
            return self.messages.dropped_triples + sum(message.triples for message in seen)
        return self.messages.dropped_messages + len(seen)

    def _slice(self, seen: list[Message], after: int, through: int) -> Held:
        """Items number ``after + 1`` to ``through``."""
        if isinstance(self.kind, w.Elements):
            skip = self.messages.dropped_messages
            return _whole(seen[max(after - skip, 0) : max(through - skip, 0)])
        number = self.messages.dropped_triples
        quads: list[tuple[int, Quad]] = []
        for message in seen:
            for place, quad in message.placed():
                if after < number + place + 1 <= through:
                    quads.append((message.time, quad))
            number += message.triples
        return Held(tuple(quads), max(through - max(after, 0), 0))


def _whole(messages: Iterable[Message]) -> Held:
    kept = list(messages)
    quads = tuple((message.time, quad) for message in kept for quad in message.quads)
    return Held(quads, sum(message.triples for message in kept))
