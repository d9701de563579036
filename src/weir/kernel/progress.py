"""Lanes and completeness: how far the event time of a stream has come.

The definitions are in docs/semantics.md, "Time, lanes and completeness".

A source delivers in ordered lanes. A stream's **T** is the minimum over its lanes of (largest time seen −
LATENESS); lanes that have ended, or that were idle for longer than IDLE, do not hold it back. T never
goes back. Everything here is a function of what the frames and the batch carry, never of a worker's
clock, so a replayed batch decides the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from weir.kernel.contract import FOREVER
from weir.rdf.columns import Ids, Mask

NEVER = int(np.iinfo(np.int64).min)
"""Before all time: the T of a stream of which nothing is known."""


@dataclass(frozen=True, slots=True)
class Lane:
    """``high`` is the largest time seen, ``seen`` the wall clock (µs) of the batch that last brought
    something, ``ended`` says that nothing more will come."""

    high: int = NEVER
    seen: int = NEVER
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """The lanes of one stream as one reader sees them. ``idle`` None never gives a lane up."""

    lateness: int = 0
    idle: int | None = None
    lanes: Mapping[str, Lane] = field(default_factory=dict)
    complete: int = NEVER

    def advanced(self, lanes: Mapping[str, Lane], now: int) -> Progress:
        """With ``lanes`` brought up to date in a batch of wall clock ``now``."""
        merged = dict(self.lanes)
        for name, lane in lanes.items():
            known = merged.get(name, Lane())
            merged[name] = Lane(
                max(known.high, lane.high), max(known.seen, lane.seen), known.ended or lane.ended
            )
        moved = replace(self, lanes=merged)
        return replace(moved, complete=max(self.complete, moved._threshold(now)))

    @property
    def ended(self) -> bool:
        """Whether nothing more will come: there are lanes, and all have ended."""
        return bool(self.lanes) and all(lane.ended for lane in self.lanes.values())

    @property
    def high(self) -> int:
        """The largest time seen in any lane."""
        return max((lane.high for lane in self.lanes.values()), default=NEVER)

    def _threshold(self, now: int) -> int:
        if self.ended:
            return FOREVER
        live = [
            lane.high
            for lane in self.lanes.values()
            if not lane.ended and (self.idle is None or now - lane.seen <= self.idle)
        ]
        if not live:
            return NEVER
        return NEVER if min(live) == NEVER else min(live) - self.lateness


def late(times: Ids, complete: int) -> Mask:
    """Messages older than ``complete``, the T that stood when their batch began."""
    return times < complete


def too_far_ahead(times: Ids, high: int, ahead: int) -> Mask:
    """Messages further than ``ahead`` beyond the largest time of their lane before them.

    ``times`` is in the order of the lane and ``high`` what was seen before; a message that is set aside
    does not move the lane, and the first message of a lane is taken as it is.
    """
    bad = np.zeros(len(times), np.bool_)
    if not len(times):
        return bad
    start = int(times[0]) if high == NEVER else high
    before = np.maximum.accumulate(np.concatenate([[start], times]))[:-1]
    # Written as a comparison of sums that cannot overflow: times lie within ±2.6e17 µs.
    jumps = times > before + ahead
    if not jumps.any():
        return bad
    first = int(np.argmax(jumps))
    high = int(before[first])
    for place, time in enumerate(times[first:].tolist(), first):
        if time > high + ahead:
            bad[place] = True
        elif time > high:
            high = time
    return bad
