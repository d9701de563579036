"""Whether two evaluators of one query show the same from here on, though one has seen more than the other.

Law: where what they keep, what waits, and what their clocks and windows stand at are equal, they answer every
later slab alike. Rows, messages and triples are numbered from where each began, which means nothing.
"""

from __future__ import annotations

import numpy as np

from weir.kernel.windows.arrivals import Arrivals
from weir.kernel.windows.evaluation_times import Clock
from weir.kernel.windows.live_triples import LiveTriples
from weir.kernel.windows.stream_state import Streams
from weir.kernel.windows.window import Window

_PENDING = ("time", "triples", "message", "place", "subject", "predicate", "object", "graph")


def alike(one: tuple[Streams, Clock], other: tuple[Streams, Clock]) -> bool:
    """Whether both will show the same; what no later instant can show must have been dropped."""
    (mine, clock), (theirs, their_clock) = one, other
    if clock.tuples or clock.cursor != their_clock.cursor or clock.last != their_clock.last:
        return False
    if mine.arrivals.keys() != theirs.arrivals.keys() or mine.triples.keys() != theirs.triples.keys():
        return False
    windows = ((window, theirs.windows[name]) for name, window in mine.windows.items())
    return (
        all(_same_window(*each) for each in windows)
        and all(_same_messages(each, theirs.arrivals[name]) for name, each in mine.arrivals.items())
        and all(
            _same_triples(each, theirs.triples[key], mine.arrivals[str(key[0])], theirs.arrivals[str(key[0])])
            for key, each in mine.triples.items()
        )
    )


def _same_window(one: Window, other: Window) -> bool:
    if (one.first is None) != (other.first is None) or one.origin != other.origin:
        return False
    return _phase(one) == _phase(other)


def _phase(window: Window) -> int:
    """Where a window that closes after every so many items stands between two closes."""
    spec = window.spec
    if spec.count is None or spec.step is None:
        return 0
    counted = window.arrivals.total if spec.numbered else window.arrivals.messages
    return (counted - window.base[spec.numbered]) % spec.step


def _same_messages(one: Arrivals, other: Arrivals) -> bool:
    if len(one.log) != len(other.log) or one.last != other.last:
        return False
    if len(one.pending.time) != len(other.pending.time):
        return False
    (time, before), (their_time, their_before) = (
        [each.log.column(n) for n in (0, 1)] for each in (one, other)
    )
    return (
        np.array_equal(time, their_time)
        and np.array_equal(before - one.total, their_before - other.total)
        and all(np.array_equal(getattr(one.pending, n), getattr(other.pending, n)) for n in _PENDING)
    )


def _same_triples(one: LiveTriples, other: LiveTriples, mine: Arrivals, theirs: Arrivals) -> bool:
    if len(one.rows) != len(other.rows):
        return False
    shifts = {"sequence": mine.messages - theirs.messages, "number": mine.total - theirs.total}
    return all(
        np.array_equal(one.rows.column(place) - shifts.get(name, 0), other.rows.column(place))
        for place, name in enumerate(one.rows.names)
        if name != "later"
    )
