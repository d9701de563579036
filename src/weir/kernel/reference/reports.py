"""When windows report, and thereby which instants a query is evaluated at, in order, each once (ET).

Numbers in brackets are points of decision semantics-time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weir.errors import UsageError
from weir.kernel.reference.windows import Instant, Message, StreamWindow, can_close
from weir.language.algebra.windows import All, Bounds, Elements, Past, Range, TickKind, Triples

BEGINNING = -(2**62)
ALL_OF_IT = 2**62
"""The sub-instant after all messages of a time."""


def report_times(window: StreamWindow, after: int, through: int) -> set[int]:
    """Report times in ``(after, through]``, before the non-empty test [15–18]."""
    if window.unit is None:
        return set(_untimed(window, after, through))
    raw = _untimed(window, after - window.unit, through)
    rounded = {window.next_tick(time) for time in raw}
    return {time for time in rounded if after < time <= through}


def _untimed(window: StreamWindow, after: int, through: int) -> Iterator[int]:
    if window.report.window_close:
        yield from close_times(window, after, through)
    if window.report.content_change:
        yield from (time for time in change_times(window) if after < time <= through)
    if window.report.periodic is not None:
        yield from periodic_times(window, after, through)


def change_times(window: StreamWindow) -> Iterator[int]:
    """When messages arrive; under a time-driven tick, when they enter and leave the window [15, 18]."""
    for message in window.messages.messages:
        if window.unit is None:
            yield message.time
            continue
        stay = window.stay(message.time)
        if stay is not None:
            yield from (time for time in stay if time is not None)


def close_times(window: StreamWindow, after: int, through: int) -> Iterator[int]:
    """Closes of RANGE and past windows by the grid, of count windows by the message that brought them."""
    if isinstance(window.kind, Range | Past):
        grid = window.grid()
        if grid is not None:
            yield from grid.report_times(after, through)
    elif can_close(window.declaration):
        for message, closes in count_closes(window):
            if closes and after < message.time <= through:
                yield message.time


def count_closes(window: StreamWindow) -> Iterator[tuple[Message, int]]:
    """Each message kept, with the number of count closes that come with it [9]."""
    kind = window.kind
    assert isinstance(kind, Triples | Elements) and kind.step is not None
    by_triple = isinstance(kind, Triples)
    items = window.messages.dropped_triples if by_triple else window.messages.dropped_messages
    for message in window.messages.messages:
        reached = items + (message.triples if by_triple else 1)
        yield message, reached // kind.step - items // kind.step
        items = reached


def periodic_times(window: StreamWindow, after: int, through: int) -> Iterator[int]:
    """t0 + jp from the first message on [15]."""
    first, period, origin = window.messages.first, window.report.periodic, window.origin()
    if first is None or period is None:
        return
    lowest = max(after + 1, first)
    time = origin - (origin - lowest) // period * period
    while time <= through:
        if window.period_at(time):
            yield time
        time += period


def passes(window: StreamWindow, instant: Instant, windows: Sequence[StreamWindow]) -> bool:
    """The non-empty condition [14, 16]: under the tick CHANGE it is tested on all windows together."""
    if not window.report.non_empty:
        return True
    together = window.semantics.tick.kind is TickKind.CHANGE
    return any(each.content(instant).size > 0 for each in (windows if together else [window]))


def last_report(window: StreamWindow) -> int | None:
    """The last report time that the messages bring at the end of input [24]."""
    last = window.messages.last
    if last is None:
        return None
    times: list[int] = []
    if window.report.window_close:
        times += _last_close(window)
    if window.report.content_change:
        times += change_times(window)
    if window.report.periodic is not None:
        times += _last_period(window, last, window.report.periodic)
    return max(map(window.next_tick, times), default=None)


def _last_close(window: StreamWindow) -> Iterator[int]:
    grid = window.grid()
    if grid is None:
        kept = [message.time for message in window.messages.messages]
        yield from close_times(window, min(kept) - 1, max(kept)) if kept else ()
        return
    for message in window.messages.messages:
        k = grid.last_holding(message.time)
        if k is not None:
            yield grid.report_time(k)


def _last_period(window: StreamWindow, last: int, period: int) -> Iterator[int]:
    kind = window.kind
    if isinstance(kind, All | Triples | Elements):
        if window.report.closed:
            last = max((time for time in _last_close(window)), default=BEGINNING)
        if last > BEGINNING:
            yield next(iter(periodic_times(window, last - 1, last + 2 * period)))
        return
    unit = window.unit or 0
    reach = unit
    if isinstance(kind, Range | Past):
        reach += (kind.range if isinstance(kind, Range) else kind.start) + 2 * (kind.step or 0)
    oldest = min((message.time for message in window.messages.messages), default=last)
    # A time before a message may be rounded up to a tick that shows it.
    candidates = list(periodic_times(window, oldest - 1 - unit, last + reach))
    for time in reversed(candidates):
        if window.content(Instant(window.next_tick(time))).size:
            yield time
            return


def strict(window: StreamWindow) -> bool:
    """Whether the window can show messages of time τ at τ, so that τ is complete only once τ < T [22]."""
    report = window.report
    by_close_alone = not report.content_change and (report.periodic is None or report.closed)
    timed = isinstance(window.kind, Range | Past)
    return not (by_close_alone and timed and window.semantics.bounds is Bounds.CLOSED_OPEN)


def horizon(window: StreamWindow, time: int) -> tuple[int, int, int]:
    """What must be kept once everything through ``time`` is evaluated: messages from a time on, and so
    many triples and messages. A window shows nothing older at τ ≥ ``time`` − 1, nor at the instant before."""
    kind, unit = window.kind, 2 * (window.unit or 0)
    match kind:
        case All():
            return -(2**62), 0, 0
        case Triples(count, step):
            return time - 2 - unit, count + (step or 0), 0
        case Elements(count, step):
            return time - 2 - unit, 0, count + (step or 0)
        case Range(width, step):
            return time - 2 - unit - width - (step or 0), 0, 0
        case Past(start, _, step):
            return time - 2 - unit - start - (step or 0), 0, 0
        case _:
            return time - 2 - unit, 0, 0


class Schedule:
    """Walks through evaluation times as T advances. ``time`` and ``sub`` are the last point passed."""

    def __init__(self, windows: Sequence[StreamWindow], streams: Sequence[str]) -> None:
        self.windows = windows
        self.streams = streams
        self.time = BEGINNING
        self.sub = ALL_OF_IT
        ticks = {window.semantics.tick for window in windows}
        if len(ticks) > 1:
            raise UsageError("the windows of a query have different ticks", hint="a query has one tick")
        self.tuple_driven = any(tick.kind is TickKind.TUPLE for tick in ticks)
        one_stream = len({window.stream for window in windows}) == 1
        self.eager = one_stream and all(window.semantics.lateness == 0 for window in windows)

    def due(self, through: int, *, end: bool, graphs: Sequence[int] = ()) -> Iterator[Instant]:
        """Instants that are complete now that T is ``through``, or that the end of input brings; ``graphs``
        are the times at which a graph that the query reads changes."""
        if self.tuple_driven:
            yield from self._by_tuple(through, end=end)
            return
        limit = through - 1 if any(map(strict, self.windows)) else through
        if end:
            limit = max([limit, *self._last_reports()])
        times: dict[int, list[StreamWindow]] = {}
        for window in self.windows:
            reported = report_times(window, self.time, limit)
            for time in reported.union(self._with_graphs(window, graphs, limit)):
                times.setdefault(time, []).append(window)
        self.time = max(self.time, limit)
        for time in sorted(times):
            instant = Instant(time)
            if any(passes(window, instant, self.windows) for window in times[time]):
                yield instant

    def _with_graphs(self, window: StreamWindow, graphs: Sequence[int], limit: int) -> set[int]:
        """The reports that a change of graphs brings, from the first message on [15]."""
        first = window.messages.first
        if window.unit is None or not window.report.content_change or first is None:
            return set()
        ticks = {window.next_tick(time) for time in graphs}
        return {time for time in ticks if first <= time and self.time < time <= limit}

    def _last_reports(self) -> list[int]:
        """The last report of each window that has had a message [24]."""
        return [time for time in map(last_report, self.windows) if time is not None]

    # Tuple-driven [20, 21, 23]

    def _by_tuple(self, through: int, *, end: bool) -> Iterator[Instant]:
        final = (through, len(self._messages(through)) if self.eager else 0)
        if end:
            final = max([final, *((time, ALL_OF_IT) for time in self._last_reports())])
        limit = final[0]
        times = {time for window in self.windows for time in report_times(window, self.time - 1, limit)}
        passed = (self.time, self.sub)
        for time in sorted(times):
            for sub, reporting, instant in self._sub_instants(time):
                here = passed < (time, sub) <= final
                if here and any(passes(window, instant, self.windows) for window in reporting):
                    yield instant
        self.time, self.sub = max(passed, final)

    def _messages(self, time: int) -> list[tuple[str, int]]:
        """The messages of a time in order: stream, and which of its messages of that time."""
        order = []
        for stream in self.streams:
            counts = [len(window.messages.at(time)) for window in self.windows if window.stream == stream]
            order += [(stream, number) for number in range(1, max(counts, default=0) + 1)]
        return order

    def _sub_instants(self, time: int) -> Iterator[tuple[int, list[StreamWindow], Instant]]:
        reporting = [window for window in self.windows if time in report_times(window, time - 1, time)]
        early = [window for window in reporting if _closes(window, time, Bounds.CLOSED_OPEN)]
        shown = dict.fromkeys(self.streams, 0)
        if early:
            yield 0, early, Instant(time, dict(shown), last=False)
        for sub, (stream, number) in enumerate(self._messages(time), start=1):
            shown[stream] = number
            windows = [
                window
                for window in self.windows
                if window.stream == stream and self._comes(window, time, number)
            ]
            if windows:
                yield sub, windows, Instant(time, dict(shown), last=False)
        late = [w for w in reporting if w.period_at(time) or _closes(w, time, Bounds.OPEN_CLOSED)]
        if late:
            yield ALL_OF_IT, late, Instant(time)

    def _comes(self, window: StreamWindow, time: int, number: int) -> bool:
        """Whether the window reports because of its message number ``number`` of this time."""
        here = window.messages.at(time)
        if number > len(here):
            return False
        if window.report.content_change:
            return True
        if not window.report.window_close or isinstance(window.kind, Range | Past):
            return False
        closes = [count for message, count in count_closes(window) if message.time == time]
        return closes[number - 1] > 0


def _closes(window: StreamWindow, time: int, bounds: Bounds) -> bool:
    """Whether a window with these bounds is reported at this time as it closes."""
    grid = window.grid() if window.report.window_close and window.semantics.bounds is bounds else None
    return grid is not None and time in grid.report_times(time - 1, time)
