"""When windows report, and thereby which instants a query is evaluated at, in order, each once (ET).

Numbers in brackets are points of decision semantics-time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weir.errors import UsageError
from weir.kernel.reference.streams import Instant, Message
from weir.kernel.reference.windows import WindowView, can_close
from weir.language.algebra.windows import All, Bounds, Elements, Past, Range, StartAt, TickKind, Triples

BEGINNING = -(2**62)
ALL_OF_IT = 2**62
"""The sub-instant after all messages of a time."""


def report_times(view: WindowView, after: int, through: int) -> set[int]:
    """Report times in ``(after, through]``, before the non-empty test [15–18]."""
    unit = time_unit(view)
    if unit is None:
        return set(_untimed(view, after, through))
    raw = _untimed(view, after - unit, through)
    rounded = {round_up(view, time) for time in raw}
    return {time for time in rounded if after < time <= through}


def time_unit(view: WindowView) -> int | None:
    """The unit of a time-driven tick."""
    tick = view.semantics.tick
    return tick.every if tick.kind is TickKind.TIME else None


def round_up(view: WindowView, time: int) -> int:
    """The next tick at or after ``time`` [18]; ``time`` itself where ticks are not time-driven."""
    unit, origin = time_unit(view), view.origin()
    return time if unit is None else origin - (origin - time) // unit * unit


def _untimed(view: WindowView, after: int, through: int) -> Iterator[int]:
    if view.report.window_close:
        yield from close_times(view, after, through)
    if view.report.content_change:
        yield from (m.time for m in view.messages.messages if after < m.time <= through)
    if view.report.periodic is not None:
        yield from periodic_times(view, after, through)


def close_times(view: WindowView, after: int, through: int) -> Iterator[int]:
    """Closes of RANGE and past windows by the grid, of count windows by the message that brought them."""
    if isinstance(view.kind, Range | Past):
        grid = view.grid()
        if grid is not None:
            yield from grid.report_times(after, through)
    elif can_close(view.declaration):
        for message, closes in count_closes(view):
            if closes and after < message.time <= through:
                yield message.time


def count_closes(view: WindowView) -> Iterator[tuple[Message, int]]:
    """Each message kept, with the number of count closes that come with it [9]."""
    kind = view.kind
    assert isinstance(kind, Triples | Elements) and kind.step is not None
    by_triple = isinstance(kind, Triples)
    items = view.messages.dropped_triples if by_triple else view.messages.dropped_messages
    for message in view.messages.messages:
        reached = items + (message.triples if by_triple else 1)
        yield message, reached // kind.step - items // kind.step
        items = reached


def periodic_times(view: WindowView, after: int, through: int) -> Iterator[int]:
    """t0 + jp from the first message on [15]."""
    first, period, origin = view.messages.first, view.report.periodic, view.origin()
    if first is None or period is None:
        return
    lowest = max(after + 1, first)
    if isinstance(view.semantics.start, StartAt):
        lowest = max(lowest, origin)
    time = origin - (origin - lowest) // period * period
    while time <= through:
        yield time
        time += period


def passes(view: WindowView, instant: Instant) -> bool:
    """The non-empty condition [14, 16]."""
    return not view.report.non_empty or view.content(instant).size > 0


def last_report(view: WindowView) -> int | None:
    """The last report time that the messages bring at the end of input [24]."""
    last = view.messages.last
    if last is None:
        return None
    times: list[int] = []
    if view.report.window_close:
        times += _last_close(view)
    if view.report.content_change:
        times.append(last)
    if view.report.periodic is not None:
        times += _last_period(view, last, view.report.periodic)
    return max((round_up(view, time) for time in times), default=None)


def _last_close(view: WindowView) -> Iterator[int]:
    grid = view.grid()
    if grid is None:
        kept = [message.time for message in view.messages.messages]
        yield from close_times(view, min(kept) - 1, max(kept)) if kept else ()
        return
    for message in view.messages.messages:
        k = grid.last_holding(message.time)
        if k is not None:
            yield grid.report_time(k)


def _last_period(view: WindowView, last: int, period: int) -> Iterator[int]:
    kind = view.kind
    if isinstance(kind, All | Triples | Elements):
        yield next(iter(periodic_times(view, last - 1, last + period)))
        return
    unit = time_unit(view) or 0
    reach = unit
    if isinstance(kind, Range | Past):
        reach += (kind.range if isinstance(kind, Range) else kind.start) + (kind.step or 0)
    oldest = min((message.time for message in view.messages.messages), default=last)
    # A time before a message may be rounded up to a tick that shows it.
    candidates = list(periodic_times(view, oldest - 1 - unit, last + reach))
    for time in reversed(candidates):
        if view.content(Instant(round_up(view, time))).size:
            yield time
            return


def strict(view: WindowView) -> bool:
    """Whether the window can show messages of time τ at τ, so that τ is complete only once τ < T [22]."""
    by_close_alone = not view.report.content_change and view.report.periodic is None
    timed = isinstance(view.kind, Range | Past)
    return not (by_close_alone and timed and view.semantics.bounds is Bounds.CLOSED_OPEN)


def horizon(view: WindowView, time: int) -> tuple[int, int, int]:
    """What must be kept once everything through ``time`` is evaluated: messages from a time on, and so
    many triples and messages. A window shows nothing older at τ ≥ ``time`` − 1, nor at the instant before."""
    kind, unit = view.kind, time_unit(view) or 0
    match kind:
        case All():
            return -(2**62), 0, 0
        case Triples(count, step):
            return time - 2, count + (step or 0), 0
        case Elements(count, step):
            return time - 2, 0, count + (step or 0)
        case Range(width, step):
            return time - 2 - unit - width - (step or 0), 0, 0
        case Past(start, _, step):
            return time - 2 - unit - start - (step or 0), 0, 0
        case _:
            return time - 2 - unit, 0, 0


class Schedule:
    """Walks through evaluation times as T advances. ``time`` and ``sub`` are the last point passed."""

    def __init__(self, views: Sequence[WindowView], streams: Sequence[str]) -> None:
        self.views = views
        self.streams = streams
        self.time = BEGINNING
        self.sub = ALL_OF_IT
        ticks = {view.semantics.tick.kind for view in views}
        self.tuple_driven = TickKind.TUPLE in ticks
        if self.tuple_driven and len(ticks) > 1:
            raise UsageError("TICK TUPLE must hold for all windows of a query or for none")
        one_stream = len({view.stream for view in views}) == 1
        self.eager = one_stream and all(view.semantics.lateness == 0 for view in views)

    def due(self, through: int, *, end: bool) -> Iterator[Instant]:
        """Instants that are complete now that T is ``through``, or that the end of input brings."""
        if self.tuple_driven:
            yield from self._by_tuple(through, end=end)
            return
        limit = through - 1 if any(map(strict, self.views)) else through
        if end:
            limit = max([limit, *self._last_reports()])
        times: dict[int, list[WindowView]] = {}
        for view in self.views:
            for time in report_times(view, self.time, limit):
                times.setdefault(time, []).append(view)
        self.time = max(self.time, limit)
        for time in sorted(times):
            instant = Instant(time)
            if any(passes(view, instant) for view in times[time]):
                yield instant

    def _last_reports(self) -> list[int]:
        """The last report of each window that has had a message [24]."""
        return [time for time in map(last_report, self.views) if time is not None]

    # Tuple-driven [20, 21, 23]

    def _by_tuple(self, through: int, *, end: bool) -> Iterator[Instant]:
        final = (through, len(self._messages(through)) if self.eager else 0)
        if end:
            final = max([final, *((time, ALL_OF_IT) for time in self._last_reports())])
        limit = final[0]
        times = {time for view in self.views for time in self._times(view, self.time - 1, limit)}
        passed = (self.time, self.sub)
        for time in sorted(times):
            for sub, reporting, instant in self._sub_instants(time):
                here = passed < (time, sub) <= final
                if here and any(passes(view, instant) for view in reporting):
                    yield instant
        self.time, self.sub = max(passed, final)

    def _times(self, view: WindowView, after: int, through: int) -> set[int]:
        return report_times(view, after, through) if after < through else set()

    def _messages(self, time: int) -> list[tuple[str, int]]:
        """The messages of a time in order: stream, and which of its messages of that time."""
        order = []
        for stream in self.streams:
            counts = [len(view.messages.at(time)) for view in self.views if view.stream == stream]
            order += [(stream, number) for number in range(1, max(counts, default=0) + 1)]
        return order

    def _sub_instants(self, time: int) -> Iterator[tuple[int, list[WindowView], Instant]]:
        reporting = [view for view in self.views if time in report_times(view, time - 1, time)]
        early = [view for view in reporting if self._closes_early(view, time)]
        shown = dict.fromkeys(self.streams, 0)
        if early:
            yield 0, early, Instant(time, dict(shown), last=False)
        for sub, (stream, number) in enumerate(self._messages(time), start=1):
            shown[stream] = number
            views = [view for view in self.views if view.stream == stream and self._comes(view, time, number)]
            if views:
                yield sub, views, Instant(time, dict(shown), last=False)
        late = [view for view in reporting if self._reports_late(view, time)]
        if late:
            yield ALL_OF_IT, late, Instant(time)

    def _closes_early(self, view: WindowView, time: int) -> bool:
        grid = view.grid() if view.report.window_close else None
        opened = view.semantics.bounds is Bounds.CLOSED_OPEN
        return opened and grid is not None and time in grid.report_times(time - 1, time)

    def _comes(self, view: WindowView, time: int, number: int) -> bool:
        """Whether the window reports because of its message number ``number`` of this time."""
        here = view.messages.at(time)
        if number > len(here):
            return False
        if view.report.content_change:
            return True
        if not view.report.window_close or isinstance(view.kind, Range | Past):
            return False
        closes = [count for message, count in count_closes(view) if message.time == time]
        return closes[number - 1] > 0

    def _reports_late(self, view: WindowView, time: int) -> bool:
        if view.report.periodic is not None and (time - view.origin()) % view.report.periodic == 0:
            return view.messages.first is not None and time >= view.messages.first
        grid = view.grid() if view.report.window_close else None
        if grid is None or view.semantics.bounds is Bounds.CLOSED_OPEN:
            return False
        return time in grid.report_times(time - 1, time)
