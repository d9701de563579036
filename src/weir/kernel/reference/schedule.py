"""Which instants a query is evaluated at, in order, each once (ET).

Numbers in brackets are points of decision semantics-time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weir.errors import UsageError
from weir.kernel.reference.messages import Instant
from weir.kernel.reference.reports import count_closes, last_report, passes, report_times, strict
from weir.kernel.reference.windows import WindowView
from weir.language.algebra.windows import Bounds, Past, Range, TickKind

BEGINNING = -(2**62)
ALL_OF_IT = 2**62
"""The sub-instant after all messages of a time."""


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
