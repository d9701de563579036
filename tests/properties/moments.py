"""When a query over windows is evaluated and what each window holds then, from docs/semantics.md, for input
that is at hand whole. Numbers in brackets are points of decision semantics-time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from properties.generate import Message, Quad
from weir.language.algebra.query import Query
from weir.language.algebra.windows import (
    AlignedTo,
    All,
    AtFirst,
    Bounds,
    Content,
    Elements,
    Now,
    Past,
    Range,
    Report,
    StartAt,
    TickKind,
    Triples,
    WindowDeclaration,
)

FOREVER = 2**62


@dataclass(frozen=True)
class Instant:
    """A time; tuple by tuple also how many messages of that time each stream has shown (None: all)."""

    time: int
    shown: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Closed:
    """One window of a grid: what it covers, and when it is reported."""

    opens: int
    ends: int
    reported: int


class View:
    """A declared window over all messages that got in."""

    def __init__(self, declaration: WindowDeclaration, stream: str, messages: Sequence[Message]) -> None:
        self.declaration = declaration
        self.stream = stream
        self.kind = declaration.kind
        self.half_open = declaration.semantics.bounds is Bounds.CLOSED_OPEN
        self.bag = declaration.semantics.content is Content.BAG
        start = declaration.semantics.start
        if isinstance(start, StartAt):
            later = 0 if self.half_open else 1
            messages = [each for each in messages if each.time >= start.instant + later]
        self.messages = messages
        self.report = self._report()
        self.t0 = 0
        if isinstance(start, StartAt):
            self.t0 = start.instant
        elif isinstance(start, AlignedTo) and messages:
            self.t0 = messages[0].time // start.duration * start.duration
        elif isinstance(start, AtFirst) and messages:
            self.t0 = messages[0].time
        self.begins = isinstance(start, StartAt | AtFirst)
        """Whether windows have numbers from 0 on alone."""
        tick = declaration.semantics.tick
        self.unit = 1 if tick.kind is TickKind.CHANGE else tick.every
        """The grain of time under the ticks CHANGE and TIME."""

    @property
    def closes(self) -> bool:
        return not isinstance(self.kind, Now | All) and self.kind.step is not None

    def _report(self) -> Report:
        """[10]"""
        report = self.declaration.semantics.report
        if report.window_close or report.content_change or report.periodic is not None:
            return report
        return Report(self.closes, not self.closes, non_empty=report.non_empty)

    @property
    def by_close_alone(self) -> bool:
        """Whether it reports only what closed."""
        report = self.report
        opened = report.content_change or (report.periodic is not None and not report.closed)
        return (report.window_close or report.closed) and not opened

    # The grid [5 to 8]

    def windows(self, through: int) -> list[Closed]:
        """The windows that are reported by ``through``, in order."""
        if not isinstance(self.kind, Range | Past) or self.kind.step is None or not self.messages:
            return []
        first, step = self.messages[0].time, self.kind.step
        delay = self.kind.range if isinstance(self.kind, Range) else self.kind.start
        cover = self.kind.range if isinstance(self.kind, Range) else self.kind.start - self.kind.end
        number = (first - cover - self.t0) // step
        if self.begins:
            number = max(number, 0)
        found = []
        while (opens := self.t0 + number * step) + delay <= through:
            ends = opens + cover
            if ends > first if self.half_open else ends >= first:
                found.append(Closed(opens, ends, opens + delay))
            number += 1
        return found

    def covers(self, window: Closed, time: int) -> bool:
        return window.opens <= time < window.ends if self.half_open else window.opens < time <= window.ends

    # What it holds [11 to 14]

    def seen(self, instant: Instant) -> list[Message]:
        before = [each for each in self.messages if each.time < instant.time]
        same = [each for each in self.messages if each.time == instant.time]
        return before + (same if instant.shown is None else same[: instant.shown[self.stream]])

    def content(self, instant: Instant) -> list[tuple[int, Quad]]:
        """Each triple with its time."""
        closes = self.by_close_alone or (self.report.window_close and self.closes_at(instant))
        if closes or (self.report.closed and instant.shown is None and self.is_period(instant.time)):
            return self._closed(instant)
        return self._open(instant)

    def is_period(self, time: int) -> bool:
        return time in self.periods(time)

    def closes_at(self, instant: Instant) -> bool:
        if isinstance(self.kind, Triples | Elements):
            before = [each for each in self.messages if each.time < instant.time]
            assert self.kind.step is not None
            step = self.kind.step
            return len(self._items(before)) // step < len(self._items(self.seen(instant))) // step
        return any(each.reported == instant.time for each in self._reported(instant))

    def _reported(self, instant: Instant) -> list[Closed]:
        """The windows that are closed at an instant; a close under ``(]`` comes after all messages [21]."""
        early = instant.shown is not None and not self.half_open
        return self.windows(instant.time - 1 if early else instant.time)

    def _closed(self, instant: Instant) -> list[tuple[int, Quad]]:
        seen = self.seen(instant)
        if isinstance(self.kind, Triples | Elements):
            assert self.kind.step is not None
            items = self._items(seen)
            last = len(items) // self.kind.step * self.kind.step
            return _together(items[max(last - self.kind.count, 0) : last])
        reported = self._reported(instant)
        return _quads(each for each in seen if reported and self.covers(reported[-1], each.time))

    def _open(self, instant: Instant) -> list[tuple[int, Quad]]:
        seen, now, kind = self.seen(instant), instant.time, self.kind
        match kind:
            case Now():
                return _quads(each for each in seen if each.time > now - (self.unit or 1))
            case All():
                return _quads(seen)
            case Triples(count) | Elements(count):
                return _together(self._items(seen)[-count:])
            case Range(width, None):
                return _quads(each for each in seen if now - width < each.time)
            case Past(start, end, None):
                return _quads(each for each in seen if now - start < each.time <= now - end)
        assert isinstance(kind, Range | Past) and kind.step is not None
        delay, latest = (kind.range, now) if isinstance(kind, Range) else (kind.start, now - kind.end)
        opens = self._oldest_open(now - delay, kind.step)
        if self.half_open:
            return _quads(each for each in seen if opens <= each.time <= latest)
        return _quads(each for each in seen if opens < each.time <= latest)

    def _oldest_open(self, closing: int, step: int) -> int:
        """The opening of the oldest window not closed; one that opened at ``closing`` closes now."""
        number = (closing - self.t0) // step
        while self.t0 + number * step < closing or (self.half_open and self.t0 + number * step == closing):
            number += 1
        return self.t0 + (max(number, 0) if self.begins else number) * step

    def _items(self, seen: Sequence[Message]) -> list[list[tuple[int, Quad]]]:
        """What a counted window counts."""
        if isinstance(self.kind, Triples):
            return [[(each.time, quad)] for each in seen for quad in each.quads]
        return [_quads([each]) for each in seen]

    # When it reports [15 to 18]

    def report_times(self, through: int, graphs: Iterable[int] = ()) -> set[int]:
        """Before the condition NON EMPTY; ``graphs`` are the times at which graphs change."""
        times = {self.rounded(time) for time in self._raw_times(through)}
        if self.unit is not None and self.report.content_change and self.messages:
            changed = map(self.rounded, graphs)
            times |= {time for time in changed if time >= self.messages[0].time}
        return {time for time in times if time <= through}

    def rounded(self, time: int) -> int:
        """Up to the next tick, a multiple of its unit since 1970."""
        return time if self.unit is None else -(-time // self.unit) * self.unit

    def _raw_times(self, through: int) -> Iterator[int]:
        if not self.messages:
            return
        if self.report.window_close:
            yield from (each.reported for each in self.windows(through))
            yield from self.count_closes()
        if self.report.content_change:
            yield from self.changes
        yield from self.periods(through)

    @cached_property
    def changes(self) -> list[int]:
        """When a message arrives; under CHANGE and TIME, when what is seen by row CC becomes another."""
        if self.unit is None:
            return [each.time for each in self.messages]
        times = sorted(set(self._turns()))
        return [time for time in times if self._open(Instant(time)) != self._open(Instant(time - 1))]

    def _turns(self) -> Iterator[int]:
        """Every time at which something may enter or leave."""
        for time in (each.time for each in self.messages):
            match self.kind:
                case Now():
                    yield from (time, time + (self.unit or 1))
                case Range(width):
                    yield from (time, time + width)
                case Past(start, end):
                    yield from (time + end, time + start)
                case _:
                    yield time
        if self.messages and isinstance(self.kind, Range | Past) and self.kind.step is not None:
            delay = self.kind.range if isinstance(self.kind, Range) else self.kind.start
            first = (self.messages[0].time - delay - self.t0) // self.kind.step
            last = (self.messages[-1].time - self.t0) // self.kind.step + 1
            for number in range(first, last + 1):
                closes = self.t0 + number * self.kind.step + delay
                yield from (closes, closes + 1)

    def count_closes(self) -> Iterator[int]:
        """The time of each item that closes a counted window."""
        if isinstance(self.kind, Triples | Elements) and self.kind.step is not None:
            items = self._items(self.messages)
            yield from (items[place][0][0] for place in range(self.kind.step - 1, len(items), self.kind.step))

    def periods(self, through: int) -> Iterator[int]:
        period = self.report.periodic
        if period is None or not self.messages:
            return
        first = self.messages[0].time
        if self.report.closed and self.half_open and isinstance(self.kind, Range | Past):
            first += 1
        time = self.t0 - (self.t0 - first) // period * period
        while time <= through:
            yield time
            time += period

    def last_report(self) -> int | None:
        """The last report that the messages bring at the end of input [24]."""
        if not self.messages:
            return None
        last = self.messages[-1].time
        times: list[int] = []
        if self.report.window_close:
            times += self.count_closes()
            far = last + 2 * self._reach()
            times += [
                window.reported
                for window in self.windows(far)
                if any(self.covers(window, each.time) for each in self.messages)
            ]
        if self.report.content_change:
            times += self.changes[-1:]
        if self.report.periodic is not None:
            times += self._last_period(last, self.report.periodic)
        return max(map(self.rounded, times), default=None)

    def _reach(self) -> int:
        """How long after its time a message can show, with room to spare."""
        every = self.declaration.semantics.tick.every or 0
        match self.kind:
            case Range(width, step):
                return width + 2 * (step or 0) + every
            case Past(start, _, step):
                return start + 2 * (step or 0) + every
        return every

    def _last_period(self, last: int, period: int) -> list[int]:
        if isinstance(self.kind, All | Triples | Elements):
            settled = max(self.count_closes(), default=None) if self.report.closed else last
            return [] if settled is None else [next(t for t in self.periods(FOREVER) if t >= settled)]
        times = list(self.periods(last + self._reach() + period))
        return [time for time in times if self.content(Instant(self.rounded(time)))]


def _quads(messages: Iterable[Message]) -> list[tuple[int, Quad]]:
    return [(each.time, quad) for each in messages for quad in each.quads]


def _together(items: Iterable[list[tuple[int, Quad]]]) -> list[tuple[int, Quad]]:
    return [each for item in items for each in item]


def is_complete_at_its_time(windows: Iterable[WindowDeclaration]) -> bool:
    """Whether some of a time T may be evaluated once the input is complete up to T [22, 23]."""
    views = [View(each, "", ()) for each in windows]
    if any(view.declaration.semantics.tick.kind is TickKind.TUPLE for view in views):
        return _at_once(views) or any(
            view.report.window_close and view.half_open and isinstance(view.kind, Range | Past)
            for view in views
        )
    return all(map(_shows_nothing_of_its_close, views))


def _at_once(views: Sequence[View]) -> bool:
    """Whether messages are evaluated as they come."""
    lateness = any(view.declaration.semantics.lateness for view in views)
    return len({view.declaration.stream for view in views}) == 1 and not lateness


def _shows_nothing_of_its_close(view: View) -> bool:
    return view.by_close_alone and view.half_open and isinstance(view.kind, Range | Past)


def evaluation_instants(
    query: Query, views: Sequence[View], complete: int, *, end: bool, graphs: Sequence[int] = ()
) -> Iterator[Instant]:
    """The instants at which the query is evaluated, in order; ``graphs`` are the times at which a graph that
    it reads changes."""
    last = [time for time in (view.last_report() for view in views) if end and time is not None]
    if any(view.declaration.semantics.tick.kind is TickKind.TUPLE for view in views):
        yield from _tuple_by_tuple(query, views, complete, max(last, default=-FOREVER))
        return
    limit = complete if all(map(_shows_nothing_of_its_close, views)) else complete - 1
    limit = max([limit, *last])
    reports = {view: view.report_times(limit, graphs) for view in views}
    for time in sorted(set().union(*reports.values())):
        if _passes([view for view in views if time in reports[view]], views, Instant(time)):
            yield Instant(time)


def _passes(reporting: Sequence[View], views: Sequence[View], instant: Instant) -> bool:
    """Whether one of the windows reports: those with NON EMPTY only if they hold something, under the tick
    CHANGE if any window of the query does [16]."""
    if any(not view.report.non_empty for view in reporting):
        return True
    change = any(view.declaration.semantics.tick.kind is TickKind.CHANGE for view in reporting)
    return any(view.content(instant) for view in (views if change else reporting))


def _tuple_by_tuple(query: Query, views: Sequence[View], complete: int, last: int) -> Iterator[Instant]:
    """[20, 21, 23]"""
    streams = [str(stream) for stream in query.streams]
    at_once = _at_once(views)
    limit = max(complete, last)
    for time in sorted({time for view in views for time in view.report_times(limit)}):
        shown = dict.fromkeys(streams, 0)
        early = [view for view in views if view.half_open and _closes_on_time(view, time)]
        if _passes(early, views, Instant(time, dict(shown))):
            yield Instant(time, dict(shown))
        if time < complete or time <= last or at_once:
            yield from _messages_of(time, streams, views, shown)
        late = [view for view in views if not view.half_open and _closes_on_time(view, time)]
        late += [view for view in views if view.is_period(time)]
        if (time < complete or time <= last) and _passes(late, views, Instant(time)):
            yield Instant(time)


def _messages_of(
    time: int, streams: Sequence[str], views: Sequence[View], shown: dict[str, int]
) -> Iterator[Instant]:
    """After each message of a time."""
    for stream in streams:
        own = [view for view in views if view.stream == stream]
        count = max(sum(each.time == time for each in view.messages) for view in own)
        for number in range(1, count + 1):
            shown[stream] = number
            instant = Instant(time, dict(shown))
            if _passes([view for view in own if _comes_with(view, time, number)], views, instant):
                yield instant


def _closes_on_time(view: View, time: int) -> bool:
    return view.report.window_close and any(each.reported == time for each in view.windows(time))


def _comes_with(view: View, time: int, number: int) -> bool:
    """Whether a window reports because of the message of this number of a time."""
    same = [each for each in view.messages if each.time == time]
    if number > len(same):
        return False
    if view.report.content_change:
        return True
    if not view.report.window_close or not isinstance(view.kind, Triples | Elements):
        return False
    before = [each for each in view.messages if each.time < time]
    assert view.kind.step is not None
    counts = [len(view._items([*before, *same[:shown]])) // view.kind.step for shown in (number - 1, number)]
    return counts[0] < counts[1]
