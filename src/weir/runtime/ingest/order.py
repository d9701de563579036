"""Order and lateness: how far a stream's event time has come, and what waits until then.

A source delivers in ordered lanes. A stream's **T** is the minimum over its lanes of (largest time seen −
LATENESS), or a microsecond more where its times are distinct; lanes that have ended, or that were idle for
longer than IDLE, do not hold it back. T never goes back. A message older than T is late, and one further than
AHEAD beyond its lane is not believed: neither gets in. What gets in leaves strictly by (time, lane, position)
and only below T, so an evaluator sees one sequence that does not depend on how the input was cut into batches
(docs/semantics.md, "Time, lanes and completeness").

Everything here is a function of what the frames and the batch carry, never of a worker's clock, so a replayed
batch decides the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from weir.kernel.contract import FOREVER
from weir.rdf.columns import NEVER, Ids, Mask
from weir.rdf.messages import Messages
from weir.runtime.ingest.frames import Frame


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
        """With ``lanes`` as a batch of wall clock ``now`` left them."""
        moved = replace(self, lanes={**self.lanes, **lanes})
        return replace(moved, complete=max(self.complete, moved._threshold(now)))

    @property
    def ended(self) -> bool:
        """Whether nothing more will come: there are lanes, and all have ended."""
        return bool(self.lanes) and all(lane.ended for lane in self.lanes.values())

    @property
    def high(self) -> int:
        """The largest time seen in any lane."""
        return max((lane.high for lane in self.lanes.values()), default=NEVER)

    def agrees(self, other: Progress) -> bool:
        """Whether both will say the same from now on, whatever comes; lanes that have ended say no more."""
        live, theirs = (
            {n: lane for n, lane in each.lanes.items() if not lane.ended} for each in (self, other)
        )
        same = (self.complete, self.high, self.ended) == (other.complete, other.high, other.ended)
        return same and live == theirs

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


def late(times: Ids, complete: int | Ids) -> Mask:
    """Messages older than ``complete``: the T that stood when their batch began, or, of a lane that promises
    distinct times, where it stood before each of them."""
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


def judged(frame: Frame, high: int, ahead: int) -> tuple[Mask, int]:
    """Which messages of a frame are too far ahead, and the largest time that their part has brought, given
    the largest time of the lane before it: as ``too_far_ahead`` says of all messages of the part."""
    assert frame.watermark is not None
    lead, rest = frame.watermark.lead, frame.watermark.rest
    if not len(lead):
        return np.zeros(len(frame.messages), np.bool_), NEVER
    led = too_far_ahead(lead, high, ahead)
    reached = int(lead[~led].max(initial=NEVER))
    believed = not bool(led[-1])
    index = np.empty(0, np.int64) if frame.index is None else frame.index
    bad = np.full(len(index), not believed)
    early = index < len(lead)
    bad[early] = led[index[early]]
    return bad, max(reached, rest) if believed else reached


@dataclass(frozen=True, slots=True)
class Dropped:
    """A message that did not get in: ``reason`` is ``late`` or ``ahead``. Several slots may tell of it; it is
    counted by the one that is its ``home``."""

    lane: str
    position: int
    time: int
    triples: int
    reason: str
    home: bool = True


@dataclass(slots=True)
class Tally:
    """Messages that got in, and those that did not."""

    messages: int = 0
    late: int = 0
    ahead: int = 0

    def add(self, tardy: Mask, ahead: Mask, good: Mask) -> None:
        """Count those that are marked."""
        self.messages += int(good.sum())
        self.late += int(tardy.sum())
        self.ahead += int(ahead.sum())


class Inbox:
    """One stream as read with one lateness and one AHEAD; ``number`` tells it from one that was dropped.
    Where its times are ``distinct``, a message completes its own timestamp, and one that comes after it with
    that time or before is late, in the same batch, too.

    ``seen`` tells of the messages that its frames have, ``counted`` of those whose home is here."""

    def __init__(
        self, lateness: int, ahead: int, idle: int | None, number: int = 0, *, distinct: bool = False
    ) -> None:
        self.number = number
        self.distinct = distinct
        self.ahead = ahead
        self.progress = Progress(lateness, idle)
        self.lanes: list[str] = []
        self.waiting = Messages()
        self.seen, self.counted = Tally(), Tally()

    @property
    def complete(self) -> int:
        """T."""
        return self.progress.complete

    def admit(self, frames: Sequence[Frame], batch: int, now: int) -> list[Dropped]:
        """Take in the frames of a batch; what is dropped is counted and told."""
        began = self.progress.complete
        dropped: list[Dropped] = []
        lanes: dict[str, Lane] = {}
        parts = [self.waiting]
        for frame in sorted(frames, key=lambda f: (f.lane, f.position)):
            known = lanes.get(frame.lane) or self.progress.lanes.get(frame.lane, Lane())
            part, high = self._part(frame, known.high, began, batch, dropped)
            parts.append(part)
            lanes[frame.lane] = Lane(max(known.high, high), max(known.seen, now), known.ended or frame.ended)
        merged = Messages.concatenated(parts)
        if len(merged):
            rank = np.argsort(np.argsort(np.array(self.lanes)))
            merged = merged.ordered(rank[merged.marks["lane"]], merged.marks["position"])
        self.waiting = merged
        self.progress = self.progress.advanced(lanes, now)
        return dropped

    def _part(
        self, frame: Frame, high: int, began: int, batch: int, dropped: list[Dropped]
    ) -> tuple[Messages, int]:
        """What of a frame gets in, and the largest time that its lane has come to."""
        if frame.lane not in self.lanes:
            self.lanes.append(frame.lane)
        time, triples = frame.messages.time, frame.messages.triples
        tardy = late(time, began)
        if frame.watermark is not None:
            ahead, reached = judged(frame, high, self.ahead)
        else:
            ahead = too_far_ahead(time, high, self.ahead)
            seen = np.where(ahead, NEVER, time + (self.distinct & (triples > 0)))
            reached = int(seen.max(initial=NEVER))
            if self.distinct:
                before = np.maximum.accumulate(np.concatenate([[high], seen]))[:-1]
                tardy |= late(time + self.progress.lateness, before)
        tardy &= ~ahead & (triples > 0)
        good = ~ahead & ~tardy & (triples > 0)
        position, home = frame.positions, frame.at_home
        told = (ahead | tardy) if frame.watermark is None else (ahead | tardy) & home
        for row in np.flatnonzero(told).tolist():
            reason, mine = "ahead" if ahead[row] else "late", bool(home[row])
            where = int(position[row]), int(time[row]), int(triples[row])
            dropped.append(Dropped(frame.lane, *where, reason, mine))
        self.seen.add(tardy, ahead, good)
        self.counted.add(tardy & home, ahead & home, good & home)
        if frame.watermark is not None:
            # What is here for its home alone has been counted now.
            good[np.bincount(frame.messages.message, minlength=len(good)) == 0] = False
        marks = {
            "lane": np.full(len(time), self.lanes.index(frame.lane), np.int64),
            "position": position,
            "batch": np.full(len(time), batch, np.int64),
        }
        return replace(frame.messages, marks=marks).where(good), max(reached, frame.high)

    def take(self, low: int, high: int, since: int) -> Messages:
        """The messages of time in ``[low, high)`` that came with batch ``since`` or later."""
        part = self.waiting.between(low, high)
        if len(part) and int(part.marks["batch"].min()) < since:
            part = part.where(part.marks["batch"] >= since)
        return replace(part, marks={})

    def settled(self, below: int) -> int:
        """The batch before which everything is given out once messages older than ``below`` are."""
        rest = self.waiting.between(below, FOREVER)
        return int(rest.marks["batch"].min()) if len(rest) else FOREVER

    def agrees(self, younger: Inbox, since: int) -> bool:
        """Whether it will take in whatever another one will, and has waiting what that one has, of what came
        with batch ``since`` or later."""
        if not self.progress.agrees(younger.progress):
            return False
        waiting = self.waiting
        if len(waiting):
            waiting = waiting.where(waiting.marks["batch"] >= since)
        if len(waiting) != len(younger.waiting):
            return False
        if not len(waiting):
            return True
        mine, theirs = waiting.marks, younger.waiting.marks
        lanes = np.array(self.lanes)[mine["lane"]] == np.array(younger.lanes)[theirs["lane"]]
        return bool((lanes & (mine["position"] == theirs["position"])).all())

    def forget(self, below: int) -> None:
        """Drop messages older than ``below``: every query has them."""
        self.waiting = self.waiting.between(below, FOREVER)

    def head(self) -> dict[str, Any]:
        """Everything but what waits, as plain values."""
        return {
            "number": self.number,
            "lanes": self.lanes,
            "seen": [self.seen.messages, self.seen.late, self.seen.ahead],
            "counted": [self.counted.messages, self.counted.late, self.counted.ahead],
            "complete": self.progress.complete,
            "progress": {n: [lane.high, lane.seen, lane.ended] for n, lane in self.progress.lanes.items()},
        }

    def restore(self, head: Mapping[str, Any], waiting: Messages) -> None:
        """The state that ``head`` and ``waiting`` had, where they are of this stream."""
        if head.get("number", 0) != self.number:
            return
        self.lanes = list(head["lanes"])
        self.seen, self.counted = Tally(*head["seen"]), Tally(*head["counted"])
        lanes = {name: Lane(*values) for name, values in head["progress"].items()}
        self.progress = replace(self.progress, lanes=lanes, complete=head["complete"])
        self.waiting = waiting


InboxKey = tuple[str, int, int, bool, int]
"""A stream, its lateness, AHEAD, whether its times are distinct, and the batch from which on it is read."""


def mergeable(inboxes: Mapping[InboxKey, Inbox]) -> list[tuple[InboxKey, InboxKey]]:
    """Pairs (elder, younger) that differ in when they began, and will never differ again; the youngest first.

    T counts from the batch with which an inbox begins, so that what is late for a query does not depend on
    who else reads the stream, or where. Inboxes differ until T has come to the same in both.
    """
    found = []
    for younger in sorted(inboxes, key=lambda key: -key[-1]) if len(inboxes) > 1 else ():
        elders = [key for key in inboxes if key[:-1] == younger[:-1] and key[-1] < younger[-1]]
        for elder in sorted(elders):
            if inboxes[elder].agrees(inboxes[younger], younger[-1]):
                found.append((elder, younger))
                break
    return found
