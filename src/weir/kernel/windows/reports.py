"""When a window reports (SECRET's report and tick), as times in order; and the last time that a message
brings, where the input ends. Numbers in brackets are points of decision semantics-time.

Closes and periods are arithmetic progressions, content changes are the times of messages. Progressions
are listed a bounded number at a time, so that time may jump over millions of closes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weir.kernel.windows.arrivals import Arrivals
from weir.kernel.windows.instants import LOWEST, Instants
from weir.kernel.windows.window import Window
from weir.rdf.columns import Ids, sorted_set

_NONE = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Progression:
    """``start``, ``start + step``, …"""

    start: int
    step: int

    def between(self, after: int, through: int, limit: int) -> tuple[Ids, bool]:
        """The first members in ``(after, through]``, and whether ``limit`` cut them off."""
        first = self.start
        if first <= after:
            first += ((after - first) // self.step + 1) * self.step
        if first > through:
            return _NONE, False
        count = (through - first) // self.step + 1
        return first + self.step * np.arange(min(count, limit)), count > limit

    def up(self, time: int) -> int:
        """The first member of the grid (without beginning) at or after a time."""
        return self.start - (self.start - time) // self.step * self.step

    def down(self, time: int) -> int:
        """The last member of the grid (without beginning) at or before a time."""
        return self.start + (time - self.start) // self.step * self.step


def closes_of(window: Window) -> Progression:
    """The reported closes of a window with a RANGE and STEP, or past (6, 7, 8)."""
    spec = window.spec
    assert spec.width is not None and spec.step is not None
    grid = Progression(window.origin + spec.width + spec.lag, spec.step)
    start = grid.up(window.least_close)
    return Progression(max(start, grid.start) if spec.begins else start, spec.step)


def periods_of(window: Window) -> Progression:
    """The periodic reports from the first message on (15)."""
    assert window.spec.period is not None
    grid = Progression(window.origin, window.spec.period)
    return Progression(grid.up(window.least_period), window.spec.period)


def report_times(window: Window, after: int, through: int, limit: int) -> tuple[Ids, bool]:
    """The times in ``(after, through]`` at which the window reports, before the test for emptiness.

    The second value says that ``limit`` cut the list off: later times may be missing. Batch- and
    time-driven ticks only; ``tuples`` lists sub-instants.
    """
    if window.first is None:
        return _NONE, False
    spec = window.spec
    ticks = None if spec.unit is None else Progression(0, spec.unit)
    # Rounded up to a tick, whatever lies after the last tick up to ``after`` is still to come.
    since = after if ticks is None else ticks.down(after) if after > LOWEST else after
    lists: list[tuple[Ids, bool]] = []
    if spec.changes:
        found = changes if ticks is None else comings_and_goings
        lists.append((found(window, since, through), False))
    if spec.closes and spec.count is not None:
        lists.append((_counted_closes(window, since, through), False))
    elif spec.closes:
        lists.append(_ticked(closes_of(window), ticks, since, through, limit))
    if spec.period is not None:
        lists.append(_ticked(periods_of(window), ticks, since, through, limit))
    cut = min((int(times[-1]) for times, more in lists if more), default=None)
    joined = lists[0][0] if len(lists) == 1 else sorted_set(np.concatenate([times for times, _ in lists]))
    if ticks is not None and len(joined):
        joined = sorted_set(up(joined, ticks.step))
        joined = joined[(joined > after) & (joined <= through)]
        cut = None if cut is None else ticks.up(cut)
    if cut is not None:
        joined = joined[joined <= cut]
    return joined, cut is not None


def _ticked(
    times: Progression, ticks: Progression | None, after: int, through: int, limit: int
) -> tuple[Ids, bool]:
    """A progression; where ticks are rarer than its members, every tick sees one: list the ticks."""
    if ticks is not None and times.step <= ticks.step:
        return Progression(ticks.up(times.start), ticks.step).between(after, through, limit)
    return times.between(after, through, limit)


def changes(window: Window, after: int, through: int) -> Ids:
    """The times in ``(after, through]`` of messages that the window sees."""
    times = window.arrivals.times
    low = int(times.searchsorted(max(after + 1, window.floor)))
    high = len(times) if not len(times) or times[-1] <= through else int(times.searchsorted(through + 1))
    return distinct(times[low:high])


def up(times: Ids, unit: int | None) -> Ids:
    """The next multiples of the unit of a time-driven tick (18); the times themselves where there is none."""
    return times if unit is None or unit == 1 else -(-times // unit) * unit


def stays(window: Window, times: Ids) -> tuple[Ids, Ids | None]:
    """When messages of these times enter the window, seen by what is there, and when they leave it (12). None
    where others push them out; one that leaves before it enters is never there."""
    spec = window.spec
    if spec.width is None:
        return times, None
    if spec.now:
        entered = up(times, spec.unit)
        return entered, entered + (spec.unit or 1)
    entered = times + spec.lag
    if spec.step is None:
        return entered, entered + spec.width
    opened = _latest_open(window, times)
    left = opened + (spec.width + spec.lag + spec.open_closed)
    if spec.begins:
        left[opened < window.origin] = LOWEST
    return entered, left


def comings_and_goings(window: Window, after: int, through: int) -> Ids:
    """The times in ``(after, through]`` at which something enters or leaves the window."""
    spec, times = window.spec, window.arrivals.times
    longest = spec.lag + (spec.width or 0) + (spec.step or 0) + 2 * (spec.unit or 1)
    low = int(times.searchsorted(max(after - longest, window.floor)))
    entered, left = stays(window, times[low : int(times.searchsorted(through + 1))])
    if left is None:
        found = entered
    else:
        there = entered < left
        found = np.concatenate([entered[there], left[there]])
    return sorted_set(found[(found > after) & (found <= through)])


def moving(window: Window) -> tuple[Arrivals, tuple[int, ...]] | None:
    """How long after its time each message enters the window and leaves it, where the tick is CHANGE and only
    that is reported; None for other windows."""
    spec = window.spec
    if spec.unit != 1 or not spec.changes or spec.closes or spec.period is not None or spec.begins:
        return None
    if spec.width is None:
        return window.arrivals, (0,)
    return None if spec.step is not None else (window.arrivals, (spec.lag, spec.lag + spec.width))


def _counted_closes(window: Window, after: int, through: int) -> Ids:
    chosen = window.arrivals.times[_closing(window)]
    return distinct(chosen[(chosen > after) & (chosen <= through)])


def _closing(window: Window) -> np.ndarray:
    """Which logged messages bring a close of a count window (9)."""
    spec = window.spec
    assert spec.step is not None
    base = window.base[spec.numbered]
    places = np.arange(len(window.arrivals.log) + 1)
    steps = np.maximum(window.counts(places) - base, 0) // spec.step
    closing: np.ndarray = steps[1:] > steps[:-1]
    return closing


def closing_messages(window: Window) -> Ids:
    """The sequence numbers of logged messages that bring a count close."""
    rows: Ids = np.flatnonzero(_closing(window)) + window.arrivals.log.first
    return rows


def distinct(ordered: Ids) -> Ids:
    """Ascending times, each once."""
    if len(ordered) < 2:
        return ordered
    new = ordered[1:] != ordered[:-1]
    if new.all():
        return ordered
    found: Ids = ordered[np.concatenate([_TRUE, new])]
    return found


_TRUE = np.ones(1, np.bool_)


def never_empty(window: Window) -> bool:
    """Whether the window holds something at each of its reports, so that NON EMPTY asks nothing."""
    spec = window.spec
    if spec.closes or spec.period is not None or spec.unit is not None or spec.lag:
        return False
    return spec.width is None or spec.step is None


def empty_at(window: Window, at: Instants) -> np.ndarray:
    """Where the window shows no triple at all (14)."""
    if window.spec.width is None and window.spec.count is None and window.first is not None:
        # ALL: the log does not go back to the first message.
        before: np.ndarray = at.time < window.first
        return before
    low, high = window.bounds(at)
    if window.spec.rows_by == "time":
        times = window.arrivals.times
        low, high = np.searchsorted(times, low), np.searchsorted(times, high)
    empty: np.ndarray = low >= high
    return empty


def last_report(window: Window) -> int | None:
    """The last report time that a message brings: the window's part of the end of input (24)."""
    if window.first is None or window.last is None:
        return None
    spec, times = window.spec, window.arrivals.times
    seen = times[int(np.searchsorted(times, window.floor)) :]
    found: list[int] = []
    if spec.changes:
        found.extend(_last_change(window, seen))
    if spec.closes:
        found.extend(_last_close(window, seen))
    if spec.period is not None:
        found.extend(_last_period(window, seen))
    if not found:
        return None
    last = max(found)
    return last if spec.unit is None else Progression(0, spec.unit).up(last)


def _last_change(window: Window, seen: Ids) -> list[int]:
    """The last arrival; where the tick is CHANGE or time-driven, when the last message has left."""
    assert window.last is not None
    if window.spec.unit is None and not window.spec.together:
        return [window.last]
    entered, left = stays(window, seen)
    if left is None:
        return [window.last]
    gone = left[entered < left]
    return [int(gone.max())] if len(gone) else []


def _last_close(window: Window, seen: Ids) -> list[int]:
    spec = window.spec
    if spec.count is not None:
        closing = window.arrivals.times[_closing(window)]
        return [int(closing[-1])] if len(closing) else []
    assert spec.width is not None and spec.step is not None
    opened = _latest_open(window, seen)
    holds = seen - opened < spec.width + spec.open_closed
    if spec.begins:
        holds &= opened >= window.origin
    return [int(opened[holds][-1]) + spec.width + spec.lag] if holds.any() else []


def _latest_open(window: Window, times: Ids) -> Ids:
    """The open of the last window of the grid that may hold a message of each time."""
    step, origin = window.spec.step, window.origin
    assert step is not None
    if window.spec.open_closed:
        return -((origin - times) // step) * step - step + origin
    return (times - origin) // step * step + origin


def _last_period(window: Window, seen: Ids) -> list[int]:
    """The last periodic time at which some message shows; where content never empties, the first
    periodic time that shows the last message."""
    spec, periods = window.spec, periods_of(window)
    if spec.width is None:
        last = _last_close(window, seen) if spec.closed else [window.last]
        return [max(periods.start, periods.up(time)) for time in last if time is not None]
    entered, left = _closed_stays(window, seen) if spec.closed else stays(window, seen)
    assert left is not None
    if spec.back_and_forth and spec.closed and spec.unit is not None and len(left):
        # Seen closed at some ticks and open at others: looked at one by one, the last first.
        latest_period = periods.down(int(left.max()) + spec.unit)
        for each in range(latest_period, max(periods.start, int(seen[0]) - spec.unit) - 1, -periods.step):
            tick = up(np.array([each]), spec.unit)
            if not empty_at(window, Instants(tick, tick == tick))[0]:
                return [each]
        return []
    latest = left - 1
    if spec.unit is not None:
        latest -= latest % spec.unit
    period = latest - (latest - periods.start) % periods.step
    # What counts is what shows at the tick to which the time is rounded.
    shown = up(period, spec.unit)
    good = (entered < left) & (shown >= entered) & (period >= periods.start)
    return [int(period[good].max())] if good.any() else []


def _closed_stays(window: Window, times: Ids) -> tuple[Ids, Ids]:
    """When messages of these times are first and last shown by the window that closed last (11)."""
    spec, origin = window.spec, window.origin
    assert spec.width is not None and spec.step is not None
    until = spec.width + spec.lag
    oldest = times - spec.width - origin
    opened = (-(-oldest // spec.step) if spec.open_closed else oldest // spec.step + 1) * spec.step + origin
    if spec.begins:
        opened = np.maximum(opened, origin)
    latest = _latest_open(window, times)
    left = np.where(latest < opened, LOWEST, latest + until + spec.step)
    return opened + until, left
