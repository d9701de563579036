"""A window: its declaration with every default filled in, and what it shows at each instant (S2R).

At instant k a window shows the messages whose coordinate (time, sequence number, or number of a triple)
lies in ``[low[k], high[k])``, and neither ``low`` nor ``high`` ever falls. A triple with coordinate c is
therefore visible exactly at the indices ``[i, j)`` with i the first instant where ``high > c`` and j the
first where ``low > c``: two binary searches, whatever the kind of window or report policy.

Numbers in brackets are points of decision semantics-time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weir.errors import UsageError
from weir.kernel.windows.arrivals import Arrivals
from weir.kernel.windows.instants import AFTER, LOWEST, Instants
from weir.language.algebra import windows as w
from weir.rdf.columns import Ids, Mask


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """What S2R needs to know of one window over one stream.

    A time window covers ``width`` and lies ``lag`` behind the present; ``step`` is its β. A count window
    has ``count`` instead; ``numbered`` says that it counts triples, not messages. ALL has neither.
    ``closed`` says that periodic reports show what closed last, ``together`` that all windows of the
    query are tested for emptiness together (16), ``unit`` is the grain of time of a time-driven tick (18).
    """

    name: str
    stream: str
    width: int | None = None
    lag: int = 0
    step: int | None = None
    count: int | None = None
    numbered: bool = False
    now: bool = False
    closes: bool = False
    changes: bool = False
    period: int | None = None
    closed: bool = False
    non_empty: bool = False
    together: bool = False
    bag: bool = False
    open_closed: bool = False
    tuples: bool = False
    unit: int | None = None
    anchor: int | None = None
    pattern: int | None = None
    at_first: bool = False
    lateness: int = 0

    @property
    def rows_by(self) -> str:
        """The coordinate of a triple by which the window finds it."""
        if self.numbered:
            return "number"
        return "sequence" if self.count is not None or self.tuples else "time"

    @property
    def awaits_company(self) -> bool:
        """Whether what it shows at τ includes messages of time τ (22)."""
        return self._shows_open or self.count is not None or self.open_closed

    @property
    def _shows_open(self) -> bool:
        """Whether it ever shows a window that has not closed."""
        return self.changes or (self.period is not None and not self.closed)

    @property
    def shows_closed(self) -> bool:
        """Whether it always shows what closed last (11)."""
        return (self.closes or self.closed) and not self._shows_open

    @property
    def closes_early(self) -> bool:
        """Whether it closes at a time before any message of that time (21)."""
        return self.closes and self.count is None and not self.open_closed

    @property
    def alternates(self) -> bool:
        """Whether it is seen closed at some of its reports and open at other times (13)."""
        return (self.closes or self.closed) and self._shows_open

    @property
    def back_and_forth(self) -> bool:
        """Whether its content can go back in time: closed windows shown after they closed, open ones between
        (13)."""
        return self.alternates and (self.unit is not None or self.closed)

    @property
    def begins(self) -> bool:
        """Whether its grid has a beginning: k ≥ 0 (5)."""
        return self.anchor is not None or self.at_first


def spec_of(window: w.WindowDeclaration, stream: str) -> WindowSpec:
    """The declaration on one stream (a variable stream has one for each registered stream, 26)."""
    kind, semantics = window.kind, window.semantics
    width: int | None = None
    lag = 0
    step: int | None = None
    count: int | None = None
    match kind:
        case w.Range():
            width, step = kind.range, kind.step
        case w.Past():
            width, lag, step = kind.start - kind.end, kind.end, kind.step
        case w.Now():
            width = 1
        case w.All():
            pass
        case w.Triples() | w.Elements():
            count, step = kind.count, kind.step
    report = semantics.report
    closes, changes = report.window_close, report.content_change
    if not closes and not changes and report.periodic is None:
        closes = step is not None
        changes = not closes
    if (closes or report.closed) and step is None:
        raise UsageError(
            f"window {window.name}: REPORT WINDOW CLOSE on a window that never closes",
            detail="NOW, ALL, and windows without STEP have no close",
            hint="add a STEP, or use REPORT CONTENT CHANGE",
        )
    start = semantics.start
    return WindowSpec(
        name=window.name,
        stream=stream,
        width=width,
        lag=lag,
        step=step,
        count=count,
        numbered=isinstance(kind, w.Triples),
        now=isinstance(kind, w.Now),
        closes=closes,
        changes=changes,
        period=report.periodic,
        closed=report.closed,
        non_empty=report.non_empty,
        together=semantics.tick.kind is w.TickKind.CHANGE,
        bag=semantics.content is w.Content.BAG,
        open_closed=semantics.bounds is w.Bounds.OPEN_CLOSED,
        tuples=semantics.tick.kind is w.TickKind.TUPLE,
        unit=semantics.tick.unit,
        anchor=start.instant if isinstance(start, w.StartAt) else None,
        pattern=start.duration if isinstance(start, w.AlignedTo) else None,
        at_first=isinstance(start, w.AtFirst),
        lateness=semantics.lateness,
    )


class Window:
    """One window over one stream. ``first`` is the time of the first message that it sees, None before.

    ``base`` is how many messages and triples of the stream went before that one.
    """

    __slots__ = ("arrivals", "base", "first", "position", "spec")

    def __init__(self, spec: WindowSpec, arrivals: Arrivals, position: int = 0) -> None:
        self.spec = spec
        self.arrivals = arrivals
        self.position = position
        self.first: int | None = None
        self.base = (0, 0)

    @property
    def last(self) -> int | None:
        """The time of the latest message that the window sees."""
        last = self.arrivals.last
        return None if last is None or last < self.floor else last

    @property
    def floor(self) -> int:
        """The least time that the window sees (3)."""
        anchor = self.spec.anchor
        return LOWEST if anchor is None else anchor + self.spec.open_closed

    @property
    def origin(self) -> int:
        """t0 (5)."""
        if self.spec.anchor is not None:
            return self.spec.anchor
        if self.first is None:
            return 0
        if self.spec.at_first:
            return self.first
        return 0 if self.spec.pattern is None else self.first // self.spec.pattern * self.spec.pattern

    def notice(self) -> None:
        """Look for the first message among those newly logged; they come in the order of time."""
        times = self.arrivals.times
        if self.first is not None or not len(times):
            return
        place = 0 if self.spec.anchor is None else int(np.searchsorted(times, self.floor))
        if place < len(times):
            self.first = int(times[place])
            self.base = (self.arrivals.log.first + place, int(self.arrivals.log.column(1)[place]))

    def bounds(self, at: Instants) -> tuple[Ids, Ids]:
        """``low`` and ``high`` at each instant: of the row by which it is seen there (11–13)."""
        if not self.spec.alternates or self.first is None:
            return self.row(at, closed=self.spec.shows_closed)
        own = self.own_closes(at)
        low, high = self.row(at, closed=False)
        closed_low, closed_high = self.row(at, closed=True)
        return np.where(own, closed_low, low), np.where(own, closed_high, high)

    def hull(self, at: Instants) -> tuple[Ids, Ids]:
        """``low`` and ``high`` that cover whatever is seen at each instant and never fall."""
        if not self.spec.back_and_forth:
            return self.bounds(at)
        return self.row(at, closed=True)[0], self.row(at, closed=False)[1]

    def row(self, at: Instants, *, closed: bool) -> tuple[Ids, Ids]:
        """The ends by one row of the table of reports: what closed last, or what is there."""
        if self.first is None:
            nothing = np.full(len(at), LOWEST, np.int64)
            return nothing, nothing
        low, high = (self._timed if self.spec.count is None else self._counted)(at, closed)
        if at.void:
            low[0] = high[0] = LOWEST
        return low, high

    def own_closes(self, at: Instants) -> Mask:
        """The instants of the times at which this window is reported as it closed (13)."""
        spec = self.spec
        own: Mask = np.zeros(len(at), np.bool_)
        if spec.closes:
            own |= self._own_count(at) if spec.count is not None else self._own_time(at)
        if spec.closed:
            own |= self._own_period(at)
        return own

    def _own_period(self, at: Instants) -> Mask:
        assert self.spec.period is not None
        own: Mask = ((at.time - self.origin) % self.spec.period == 0) & (at.time >= self.least_period)
        if at.sub is not None:
            own &= at.sub.cause == AFTER
        return own

    @property
    def least_period(self) -> int:
        """No periodic report comes before this time (15)."""
        assert self.first is not None
        least = self.first + (self.spec.closed and self.spec.count is None and not self.spec.open_closed)
        return max(least, self.origin) if self.spec.begins else least

    def least(self, time: int) -> int | None:
        """``low`` at the instant ``time``, where it is a short calculation; None elsewhere."""
        spec = self.spec
        if spec.tuples or spec.step is not None or spec.unit not in (None, 1):
            return None
        if spec.count is None:
            return None if spec.width is None else time + 1 - spec.lag - spec.width
        return self._count_at(time) - spec.count

    def reach(self, time: int) -> int:
        """``high`` at the instant ``time``, for windows that ``least`` answers for."""
        return time + 1 - self.spec.lag if self.spec.count is None else self._count_at(time)

    def _count_at(self, time: int) -> int:
        """How many items have come by ``time``."""
        arrivals, log = self.arrivals, self.arrivals.log
        if arrivals.last is not None and time >= arrivals.last:
            return arrivals.total if self.spec.numbered else log.end
        place = int(arrivals.times.searchsorted(time, side="right"))
        if not self.spec.numbered:
            return log.first + place
        return int(log.column(1)[place]) if place < len(log) else arrivals.total

    # Time windows

    def _timed(self, at: Instants, closed: bool) -> tuple[Ids, Ids]:
        spec = self.spec
        low, high = self._closed(at) if closed else self._open(at.time)
        if spec.anchor is not None:
            low = np.maximum(low, self.floor)
            high = np.maximum(high, self.floor)
        if at.sub is None:
            return low, high
        times, first = self.arrivals.times, self.arrivals.log.first
        cut = at.sub.upto[spec.stream]
        if spec.width is None:
            # ALL: the log does not go back so far.
            low = np.full(len(low), self.base[0], np.int64)
        else:
            low = np.searchsorted(times, low) + first
        return low, np.minimum(np.searchsorted(times, high) + first, cut)

    def _closed(self, at: Instants) -> tuple[Ids, Ids]:
        """The window with the greatest close so far (11)."""
        spec, time = self.spec, at.time
        assert spec.width is not None and spec.step is not None
        if at.sub is not None and spec.open_closed:
            time = np.where(at.sub.cause == AFTER, time, time - 1)
        opened = time - (self.origin + spec.width + spec.lag)
        opened //= spec.step
        if spec.begins:
            before = opened < 0
        opened *= spec.step
        opened += self.origin + spec.open_closed
        closed = opened + spec.width
        if spec.begins:
            closed[before] = opened[before] = LOWEST
        return opened, closed

    def _open(self, time: Ids) -> tuple[Ids, Ids]:
        """What is there at τ itself (12)."""
        spec = self.spec
        high = time + (1 - spec.lag)
        if spec.width is None:
            return np.full(len(time), LOWEST, np.int64), high
        if spec.now and spec.unit is not None:
            return high - spec.unit, high
        if spec.step is None:
            return high - spec.width, high
        opened = time - (self.origin + spec.width + spec.lag)
        if spec.open_closed:
            opened = -(-opened // spec.step)
        else:
            opened = opened // spec.step + 1
        if spec.begins:
            np.maximum(opened, 0, out=opened)
        opened *= spec.step
        opened += self.origin + spec.open_closed
        return opened, high

    def _own_time(self, at: Instants) -> Mask:
        spec = self.spec
        assert spec.width is not None and spec.step is not None
        opened = at.time - (self.origin + spec.width + spec.lag)
        own: Mask = (opened % spec.step == 0) & (at.time >= self.least_close)
        if spec.begins:
            own &= opened >= 0
        if at.sub is not None and spec.open_closed:
            own &= at.sub.cause == AFTER
        return own

    @property
    def least_close(self) -> int:
        """No close before this time is reported: the covered interval lies before the first message (8)."""
        assert self.first is not None
        return self.first + self.spec.lag + (not self.spec.open_closed)

    # Count windows

    def _counted(self, at: Instants, closed: bool) -> tuple[Ids, Ids]:
        spec = self.spec
        assert spec.count is not None
        base = self.base[spec.numbered]
        total = np.maximum(self.counts(self._places(at)), base)
        if closed:
            total = self._closes(total) * (spec.step or 1) + base
        return np.maximum(total - spec.count, base), total

    def _closes(self, total: Ids) -> Ids:
        """How many closes so many items have brought."""
        assert self.spec.step is not None
        return (total - self.base[self.spec.numbered]) // self.spec.step

    def _own_count(self, at: Instants) -> Mask:
        base = self.base[self.spec.numbered]
        total = np.maximum(self.counts(self._places(at)), base)
        earlier = np.maximum(self.counts(np.searchsorted(self.arrivals.times, at.time)), base)
        own: Mask = self._closes(total) > self._closes(earlier)
        return own

    def counts(self, places: Ids) -> Ids:
        """How many items of the stream come before the given places of its log."""
        return self.arrivals.before(places) if self.spec.numbered else places + self.arrivals.log.first

    def _places(self, at: Instants) -> Ids:
        """The place in the log behind the last message that is in."""
        if at.sub is None:
            return np.searchsorted(self.arrivals.times, at.time, side="right")
        return at.sub.upto[self.spec.stream] - self.arrivals.log.first
