"""Evaluation times: the union of the windows' reports, a bounded number at a time, laid out as instants.

The clock remembers how far reports were listed (``cursor``) and what was evaluated last (``last``), which
PREVIOUS EVALUATION compares with. Under the tuple-driven tick a time has sub-instants: *before* (closes of
``[open, close)``), one per reporting message, and *after* (periods, and closes of ``(open, close]``), all
stamped with the same τ. Numbers in brackets are points of decision semantics-time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from weir.kernel.windows import reports
from weir.kernel.windows.arrivals import FEW, Arrivals
from weir.kernel.windows.instants import AFTER, BEFORE, LOWEST, Instants, Sub
from weir.kernel.windows.window import Window
from weir.language.algebra.query import R2S, Previous, Semantics
from weir.rdf.columns import Ids, Mask, sorted_set

_FIRST, _MESSAGE, _LAST = 0, 1, 2


class Cursor(NamedTuple):
    """A place in the order of sub-instants."""

    time: int
    phase: int = _LAST
    stream: int = 0
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class Reach:
    """How far each phase may be evaluated (23); times are inclusive."""

    before: int
    message: int
    after: int


def sub_instants(
    windows: Sequence[Window],
    streams: Sequence[tuple[str, Arrivals]],
    cursor: Cursor,
    reach: Reach,
    limit: int,
) -> tuple[Ids, Cursor | None]:
    """The next evaluations after ``cursor`` as columns (time, phase, stream, sequence) in their order.

    The second value is how far reports were listed, None where there are none left; those of an empty
    window under NON EMPTY are among them but not among the evaluations.
    """
    keys: list[Ids] = []
    owners: list[Ids] = []
    cut: int | None = None
    for number, window in enumerate(windows):
        if window.first is None:
            continue
        for columns, end in _reports(window, cursor, reach, limit):
            keys.append(columns)
            owners.append(np.full(columns.shape[1], number, np.int64))
            if end is not None:
                cut = end if cut is None else min(cut, end)
    if not keys:
        return np.empty((4, 0), np.int64), None
    table, owner = np.concatenate(keys, axis=1), np.concatenate(owners)
    if cut is not None:
        chosen = table[0] <= cut
        table, owner = table[:, chosen], owner[chosen]
    kept = np.ones(table.shape[1], np.bool_)
    for number, window in enumerate(windows):
        if window.spec.non_empty and not reports.never_empty(window):
            mine = np.flatnonzero(owner == number)
            kept[mine] = ~reports.empty_at(window, instants_of(table[:, mine], streams))
    last = table[:, np.lexsort(table[::-1])[-1]] if table.shape[1] else None
    place = None if last is None else Cursor(*(int(value) for value in last))
    return np.unique(table[:, kept], axis=1), place


def _reports(window: Window, cursor: Cursor, reach: Reach, limit: int) -> list[tuple[Ids, int | None]]:
    """Columns (time, phase, stream, sequence) of a window's reports, and where ``limit`` cut them."""
    spec = window.spec
    found: list[tuple[Ids, int | None]] = []
    if spec.closes and spec.count is None:
        phase = _LAST if spec.open_closed else _FIRST
        through = reach.after if spec.open_closed else reach.before
        after = cursor.time if cursor.phase >= phase else cursor.time - 1
        found.append(_marked(*reports.closes_of(window).between(after, through, limit), phase))
    if spec.period is not None:
        after = cursor.time if cursor.phase >= _LAST else cursor.time - 1
        found.append(_marked(*reports.periods_of(window).between(after, reach.after, limit), _LAST))
    if spec.changes or (spec.closes and spec.count is not None):
        log = window.arrivals.log
        times = window.arrivals.times
        if spec.changes:
            sequences = np.arange(log.first, log.end)
        else:
            sequences = reports.closing_messages(window)
        moments = times[sequences - log.first]
        good = (moments >= max(window.floor, cursor.time)) & (moments <= reach.message)
        if cursor.phase > _MESSAGE:
            good &= moments > cursor.time
        elif cursor.phase == _MESSAGE and window.position <= cursor.stream:
            later = moments > cursor.time
            if window.position == cursor.stream:
                later |= sequences > cursor.sequence
            good &= later
        found.append((_table(moments[good], _MESSAGE, window.position, sequences[good]), None))
    return found


def _marked(times: Ids, more: bool, phase: int) -> tuple[Ids, int | None]:
    return _table(times, phase), int(times[-1]) if more else None


def _table(time: Ids, phase: int, stream: int = 0, sequence: Ids | int = 0) -> Ids:
    """Sub-instants as columns."""
    return np.stack(np.broadcast_arrays(time, phase, stream, sequence))


def instants_of(table: Ids, streams: Sequence[tuple[str, Arrivals]]) -> Instants:
    """Instants with, for each stream, the number of its messages that are in."""
    time, phase, stream, sequence = table
    upto: dict[str, Ids] = {}
    for position, (name, arrivals) in enumerate(streams):
        before = np.searchsorted(arrivals.times, time, side="left") + arrivals.log.first
        through = np.searchsorted(arrivals.times, time, side="right") + arrivals.log.first
        within = np.where(stream > position, through, np.where(stream == position, sequence + 1, before))
        upto[name] = np.where(phase == _FIRST, before, np.where(phase == _LAST, through, within))
    cause = np.where(phase == _MESSAGE, stream, np.where(phase == _FIRST, BEFORE, AFTER))
    return Instants(time, np.ones(len(time), np.bool_), sub=Sub(cause, upto))


CHUNK = 1 << 14
"""The most reports of one window that are listed at a time."""

Share = Callable[[int], tuple[int, int]]
"""Of so many evaluation times, the first that is an evaluator's own and the first that is no longer."""


@dataclass(slots=True)
class Evaluations:
    """Some evaluation times of a slab, laid out as instants when somebody asks."""

    times: Ids
    lay_out: Callable[[Ids], Instants]
    table: Ids | None = None
    _at: Instants | None = None

    def part(self, first: int, stop: int) -> Evaluations:
        """Some of them; what the first is compared with is known once those before it are evaluated."""
        columns = None if self.table is None else self.table[:, first:stop]
        return Evaluations(self.times[first:stop], self.lay_out, columns)

    @property
    def last(self) -> Cursor:
        """The place of the last of them."""
        if self.table is None:
            return Cursor(self.times.item(-1))
        return Cursor(*(int(value) for value in self.table[:, -1]))

    @property
    def at(self) -> Instants:
        """The instants that show what is evaluated, and what it is compared with."""
        if self._at is None:
            self._at = self.lay_out(self.times if self.table is None else self.table)
        return self._at


class Clock:
    """``streams`` are in the order of the query, which orders their messages of equal time (21)."""

    def __init__(
        self, windows: Sequence[Window], streams: Sequence[tuple[str, Arrivals]], semantics: Semantics
    ) -> None:
        self.windows = tuple(windows)
        self.streams = tuple(streams)
        self.tuples = any(window.spec.tuples for window in windows)
        self.cursor = Cursor(LOWEST)
        self.last: Cursor | None = None
        self._compares = semantics.r2s is not R2S.RSTREAM
        self._instant = self._compares and semantics.previous is Previous.INSTANT
        self._inclusive = not any(window.spec.awaits_company for window in windows)
        self._unit = next((w.spec.unit for w in windows), None)
        self._immediate = self.tuples and len(streams) == 1 and all(w.spec.lateness == 0 for w in windows)
        self.watch(np.empty(0, np.int64))

    def watch(self, graphs: Ids) -> None:
        """Times at which graphs change, ascending: content changes are reported then, too (15)."""
        self._graphs = reports.up(graphs, self._unit)
        # Windows that report exactly at the times of their stream's messages need one list a stream.
        plain = [w for w in self.windows if _is_plain(w) and not len(graphs)]
        self._plain = list({id(w.arrivals): w for w in plain}.values())
        self._others = [w for w in self.windows if w not in plain]
        self._simple = not self.tuples and not self._others
        # Windows that move with time report whenever a message enters or leaves: so long after it came.
        moves = [stay for w in self.windows if (stay := reports.moving(w)) is not None and not len(graphs)]
        self._moving = len(moves) == len(self.windows) and len({w.spec.non_empty for w in self.windows}) == 1
        self._shifts = {(id(a), s): (a, s) for a, shifts in moves for s in shifts}.values()

    def ready_below(self, through: int) -> int:
        """Messages before this time are complete once the query's T is ``through``."""
        return through + 1 if self._immediate else through

    def chunks(
        self, through: int, *, end: bool, share: Share | None = None, at_once: int | None = None
    ) -> Iterator[Evaluations]:
        """The evaluations that T = ``through`` completes; at the end of input, also those that are left (24).
        At most ``at_once`` of them come together, by default a chunk.

        Where evaluators share the work, those that are not in this one's ``share`` pass; those of the
        tuple-driven tick are not shared.
        """
        at_once = at_once or CHUNK
        if self._simple:
            after = self.cursor.time
            if after < through - 1 or end:
                self.cursor = Cursor(through - 1)
                times = self._news(after)
                if share is None and len(times) == 1:
                    yield Evaluations(times, self._laid_out)
                    self.last = Cursor(times.item(0))
                else:
                    yield from self._shared(times, share, at_once)
            return
        last = LOWEST
        if end:
            last = max(
                (each for window in self.windows if (each := reports.last_report(window)) is not None),
                default=last,
            )
        if self.tuples:
            yield from self._sub_chunks(through, last, at_once)
            return
        bound = max(last, through if self._inclusive else through - 1)
        if self._moving and self.cursor.time < bound:
            times = self._moves(self.cursor.time, bound)
            self.cursor = Cursor(bound)
            yield from self._shared(times, share, at_once)
        while self.cursor.time < bound:
            times, listed = self._times(self.cursor.time, bound)
            self.cursor = Cursor(listed)
            yield from self._shared(times, share, at_once)

    def _shared(self, times: Ids, share: Share | None, at_once: int) -> Iterator[Evaluations]:
        """A bounded number of these times at once, of those that are this evaluator's."""
        if not len(times):
            return
        first, stop = (0, len(times)) if share is None else share(len(times))
        if first:
            self.last = Cursor(times.item(first - 1))
        for low in range(first, stop, at_once):
            piece = times[low : min(low + at_once, stop)]
            yield Evaluations(piece, self._laid_out)
            self.last = Cursor(piece.item(-1))
        if stop < len(times):
            self.last = Cursor(times.item(-1))

    def latest(self) -> Instants | None:
        """The instant that was evaluated last."""
        if self.last is None:
            return None
        if self.tuples:
            return instants_of(_column(self.last), self.streams)
        return Instants(np.array([self.last.time]), np.ones(1, np.bool_))

    def _times(self, after: int, through: int) -> tuple[Ids, int]:
        """The next evaluation times, and the time through which reports were listed for them."""
        kept = [times for window in self._plain if len(times := reports.changes(window, after, through))]
        lists = [reports.report_times(window, after, through, CHUNK) for window in self._others]
        listed = min((int(times[-1]) for times, more in lists if more), default=through)
        graphs = self._graphs[(self._graphs > after) & (self._graphs <= through)]
        if listed < through:
            kept = [times[: int(times.searchsorted(listed, side="right"))] for times in kept]
        for window, (times, _) in zip(self._others, lists, strict=True):
            if len(graphs) and window.spec.changes and window.first is not None:
                times = np.union1d(times, graphs[graphs >= window.first])
            if len(times) and times[-1] > listed:
                times = times[: int(times.searchsorted(listed, side="right"))]
            if not len(times):
                continue
            kept.append(self._not_empty(window, times))
        return _united(kept), listed

    def _moves(self, after: int, through: int) -> Ids:
        """The evaluation times in ``(after, through]``, where all windows move with time."""
        found: list[Ids] = []
        for arrivals, shift in self._shifts:
            times = arrivals.times
            high = int(times.searchsorted(through + 1 - shift))
            low = int(times[:high].searchsorted(after + 1 - shift))
            if low < high:
                found.append(times[low:high] + shift)
        if not found:
            return np.empty(0, np.int64)
        if sum(map(len, found)) <= FEW:
            listed = np.array(sorted({time for times in found for time in times.tolist()}), np.int64)
        else:
            listed = sorted_set(np.concatenate(found))
        full = (w for w in self.windows if w.spec.width is None and w.first is not None)
        if any(w.first <= listed.item(0) for w in full if w.first is not None):
            return listed
        return self._not_empty(self.windows[0], listed)

    def _not_empty(self, window: Window, times: Ids) -> Ids:
        """Those of the report times of a window at which NON EMPTY lets it report (16)."""
        if not window.spec.non_empty or (reports.never_empty(window) and not len(self._graphs)):
            return times
        tested = self.windows if window.spec.together else (window,)
        at = Instants(times, times == times)
        empty: Mask = np.logical_and.reduce([reports.empty_at(each, at) for each in tested])
        return times[~empty]

    def _news(self, after: int) -> Ids:
        """The times of messages logged since ``after``, where they are all that is reported: none of them
        lies beyond what T completes."""
        kept: list[Ids] = []
        for window in self._plain:
            times = window.arrivals.times
            if not len(times) or times.item(-1) <= after:
                continue
            if len(times) == 1 or times.item(-2) <= after:
                kept.append(times[-1:])
            else:
                kept.append(reports.distinct(times[int(times.searchsorted(after + 1)) :]))
        if len(kept) == 1:
            return kept[0]
        return _united(kept)

    def _laid_out(self, times: Ids) -> Instants:
        count = len(times)
        if not self._compares:
            return Instants(times, np.ones(count, np.bool_))
        if self._instant:
            both = np.repeat(times, 2)
            both[::2] -= self._unit or 1
            return Instants(both, _every_other(count))
        time = np.empty(count + 1, np.int64)
        time[1:] = times
        time[0] = times[0] - 1 if self.last is None else self.last.time
        emitted = np.ones(count + 1, np.bool_)
        emitted[0] = False
        return Instants(time, emitted, void=self.last is None)

    def _sub_chunks(self, through: int, last: int, at_once: int) -> Iterator[Evaluations]:
        reach = Reach(
            max(last, through),
            max(last, through if self._immediate else through - 1),
            max(last, through - 1),
        )
        while True:
            table, place = sub_instants(self.windows, self.streams, self.cursor, reach, at_once)
            if place is None:
                return
            self.cursor = place
            if table.shape[1]:
                made = Evaluations(table[0], self._laid_out_sub, table)
                yield made
                self.last = made.last

    def _laid_out_sub(self, table: Ids) -> Instants:
        count = table.shape[1]
        emitted = np.ones(count, np.bool_)
        void = False
        if self._compares:
            if self._instant:
                first = np.ones(count, np.bool_)
                first[1:] = table[0, 1:] != table[0, :-1]
                if self.last is not None and self.last.time == table[0, 0]:
                    first[0] = False
                places = np.flatnonzero(first)
                table = np.insert(table, places, _table(table[0, places] - 1, _LAST), axis=1)
                emitted = np.insert(emitted, places, False)
            if not self._instant or emitted[0]:
                void = self.last is None
                before = _table(table[0, :1] - 1, _LAST) if self.last is None else _column(self.last)
                table = np.concatenate([before, table], axis=1)
                emitted = np.concatenate([[False], emitted])
        laid = instants_of(table, self.streams)
        return Instants(laid.time, emitted, void=void, sub=laid.sub)


@lru_cache(maxsize=64)
def _every_other(count: int) -> Mask:
    emitted = np.zeros(2 * count, np.bool_)
    emitted[1::2] = True
    return emitted


def _column(place: Cursor) -> Ids:
    return np.array([place], np.int64).T


def _is_plain(window: Window) -> bool:
    """Whether the window reports at every message of its stream, and never otherwise."""
    spec = window.spec
    return (
        spec.changes
        and not spec.closes
        and spec.period is None
        and spec.unit is None
        and spec.anchor is None
        and (not spec.non_empty or reports.never_empty(window))
    )


def _united(lists: Sequence[Ids]) -> Ids:
    if not lists:
        return np.empty(0, np.int64)
    first = lists[0]
    if all(len(other) == len(first) and np.array_equal(other, first) for other in lists[1:]):
        return first
    return sorted_set(np.concatenate(lists))
