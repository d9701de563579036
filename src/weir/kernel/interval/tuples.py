"""Sub-instants: the evaluations of a query with the tuple-driven tick (decision semantics-time, 20 to 23).

A time has the sub-instants *before* (closes of ``[open, close)``), one per reporting message, and
*after* (periods, and closes of ``(open, close]``), all stamped with the same τ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from weir.kernel.interval.arrivals import Arrivals
from weir.kernel.interval.instants import AFTER, BEFORE, Instants, Sub
from weir.kernel.interval.reports import closes_of, closing_messages, empty_at, never_empty, periods_of
from weir.kernel.interval.window import Window
from weir.rdf.columns import Ids

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
        if window.spec.non_empty and not never_empty(window):
            mine = np.flatnonzero(owner == number)
            kept[mine] = ~empty_at(window, instants_of(table[:, mine], streams))
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
        found.append(_marked(*closes_of(window).between(after, through, limit), phase))
    if spec.period is not None:
        after = cursor.time if cursor.phase >= _LAST else cursor.time - 1
        found.append(_marked(*periods_of(window).between(after, reach.after, limit), _LAST))
    if spec.changes or (spec.closes and spec.count is not None):
        log = window.arrivals.log
        times = window.arrivals.times
        if spec.changes:
            sequences = np.arange(log.first, log.end)
        else:
            sequences = closing_messages(window)
        moments = times[sequences - log.first]
        good = (moments >= max(window.floor, cursor.time)) & (moments <= reach.message)
        if cursor.phase > _MESSAGE:
            good &= moments > cursor.time
        elif cursor.phase == _MESSAGE and window.position <= cursor.stream:
            later = moments > cursor.time
            if window.position == cursor.stream:
                later |= sequences > cursor.sequence
            good &= later
        chosen = np.flatnonzero(good)
        columns = np.empty((4, len(chosen)), np.int64)
        columns[0], columns[1] = moments[chosen], _MESSAGE
        columns[2], columns[3] = window.position, sequences[chosen]
        found.append((columns, None))
    return found


def _marked(times: Ids, more: bool, phase: int) -> tuple[Ids, int | None]:
    columns = np.zeros((4, len(times)), np.int64)
    columns[0], columns[1] = times, phase
    return columns, int(times[-1]) if more else None


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


def just_before(time: Ids) -> Ids:
    """The columns of the instants one microsecond earlier, after all their messages."""
    columns = np.zeros((4, len(time)), np.int64)
    columns[0], columns[1] = time - 1, _LAST
    return columns
