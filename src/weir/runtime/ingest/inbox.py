"""The inbox of a stream: messages wait here until their time is complete, then leave in order.

Messages leave strictly by (time, lane, position) and only below T, so an evaluator sees one sequence that
does not depend on how the input was cut into batches. What is late or too far ahead never gets in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from weir.kernel.contract import Batch
from weir.kernel.progress import NEVER, Lane, Progress, late, too_far_ahead
from weir.rdf.columns import Ids
from weir.runtime.ingest.frames import Frame

_NONE = np.empty(0, np.int64)
_MESSAGES = ("time", "triples", "lane", "order", "batch")
_TRIPLES = ("message", "place", "subject", "predicate", "object", "graph")


@dataclass(frozen=True, slots=True)
class Waiting:
    """Messages in the order (time, lane, order in the lane), and their triples in the same order.

    ``lane`` indexes the inbox's list of lanes; ``batch`` is the batch a message came with.
    """

    time: Ids = field(default_factory=lambda: _NONE)
    triples: Ids = field(default_factory=lambda: _NONE)
    lane: Ids = field(default_factory=lambda: _NONE)
    order: Ids = field(default_factory=lambda: _NONE)
    batch: Ids = field(default_factory=lambda: _NONE)
    message: Ids = field(default_factory=lambda: _NONE)
    place: Ids = field(default_factory=lambda: _NONE)
    subject: Ids = field(default_factory=lambda: _NONE)
    predicate: Ids = field(default_factory=lambda: _NONE)
    object: Ids = field(default_factory=lambda: _NONE)
    graph: Ids = field(default_factory=lambda: _NONE)

    def __len__(self) -> int:
        return len(self.time)

    def columns(self) -> dict[str, Ids]:
        """Everything, by name."""
        return {name: getattr(self, name) for name in (*_MESSAGES, *_TRIPLES)}

    def between(self, low: int, high: int) -> Waiting:
        """Messages of time in ``[low, high)``; they must be sorted."""
        return self.slice(*np.searchsorted(self.time, [low, high]).tolist())

    def slice(self, first: int, last: int) -> Waiting:
        """Messages number ``first`` up to ``last``, by position."""
        if first == 0 and last == len(self.time):
            return self
        rows = slice(*np.searchsorted(self.message, [first, last]).tolist())
        kept = {name: getattr(self, name)[first:last] for name in _MESSAGES}
        kept |= {name: getattr(self, name)[rows] for name in _TRIPLES}
        kept["message"] = kept["message"] - first
        return Waiting(**kept)

    def where(self, keep: np.ndarray) -> Waiting:
        """The messages marked in ``keep``."""
        if keep.all():
            return self
        rows = np.flatnonzero(keep[self.message])
        kept = {name: getattr(self, name)[keep] for name in _MESSAGES}
        kept |= {name: getattr(self, name)[rows] for name in _TRIPLES}
        kept["message"] = (np.cumsum(keep) - 1)[kept["message"]]
        return Waiting(**kept)

    def ordered(self, rank: Ids) -> Waiting:
        """Sorted, lanes by ``rank``."""
        time, lane = self.time, rank[self.lane] if len(self.lane) else self.lane
        if len(time) < 2:
            return self
        step = np.diff(time)
        if (step > 0).all():
            return self
        ties = (step == 0) & ((np.diff(lane) < 0) | ((np.diff(lane) == 0) & (np.diff(self.order) < 0)))
        if not ((step < 0) | ties).any():
            return self
        sequence = np.lexsort((self.order, lane, time))
        places = np.empty(len(sequence), np.int64)
        places[sequence] = np.arange(len(sequence))
        moved = places[self.message]
        rows = np.argsort(moved, kind="stable")
        kept = {name: getattr(self, name)[sequence] for name in _MESSAGES}
        kept |= {name: getattr(self, name)[rows] for name in _TRIPLES}
        kept["message"] = moved[rows]
        return Waiting(**kept)

    def as_batch(self) -> Batch:
        """What an evaluator takes."""
        return Batch(
            self.time,
            self.triples,
            self.message,
            self.place,
            self.subject,
            self.predicate,
            self.object,
            self.graph,
        )

    @staticmethod
    def concatenated(parts: Sequence[Waiting]) -> Waiting:
        """One after the other."""
        parts = [part for part in parts if len(part)]
        if not parts:
            return Waiting()
        if len(parts) == 1:
            return parts[0]
        columns = {
            name: np.concatenate([getattr(p, name) for p in parts]) for name in (*_MESSAGES, *_TRIPLES)
        }
        starts = np.cumsum([0] + [len(part) for part in parts[:-1]])
        columns["message"] = np.concatenate(
            [part.message + start for part, start in zip(parts, starts.tolist(), strict=True)]
        )
        return Waiting(**columns)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A message that did not get in: ``reason`` is ``late`` or ``ahead``."""

    lane: str
    position: int
    time: int
    triples: int
    reason: str


class Inbox:
    """One stream as read with one lateness and one AHEAD; ``number`` tells it from one that was dropped."""

    def __init__(self, lateness: int, ahead: int, idle: int | None, number: int = 0) -> None:
        self.number = number
        self.ahead = ahead
        self.progress = Progress(lateness, idle)
        self.lanes: list[str] = []
        self.waiting = Waiting()
        self.late = 0
        self.ahead_of_time = 0
        self.messages = 0

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
            lanes[frame.lane] = Lane(max(known.high, high), now, known.ended or frame.ended)
        merged = Waiting.concatenated(parts)
        rank = np.argsort(np.argsort(np.array(self.lanes))) if self.lanes else _NONE
        self.waiting = merged.ordered(rank)
        self.progress = self.progress.advanced(lanes, now)
        return dropped

    def _part(
        self, frame: Frame, high: int, began: int, batch: int, dropped: list[Dropped]
    ) -> tuple[Waiting, int]:
        if frame.lane not in self.lanes:
            self.lanes.append(frame.lane)
        ahead = too_far_ahead(frame.time, high, self.ahead)
        tardy = late(frame.time, began) & ~ahead & (frame.triples > 0)
        bad = ahead | tardy
        counted = len(frame.time)
        part = Waiting(
            frame.time,
            frame.triples,
            np.full(counted, self.lanes.index(frame.lane), np.int64),
            frame.position + np.arange(counted),
            np.full(counted, batch, np.int64),
            *(getattr(frame, name) for name in _TRIPLES),
        )
        for row in np.flatnonzero(bad).tolist():
            reason = "ahead" if ahead[row] else "late"
            dropped.append(
                Dropped(
                    frame.lane, frame.position + row, int(frame.time[row]), int(frame.triples[row]), reason
                )
            )
        self.late += int(tardy.sum())
        self.ahead_of_time += int(ahead.sum())
        good = ~bad & (frame.triples > 0)
        self.messages += int(good.sum())
        seen = frame.time[~ahead]
        return part.where(good), max(int(seen.max()) if len(seen) else NEVER, frame.high)

    def take(self, low: int, high: int, since: int) -> Batch:
        """The messages of time in ``[low, high)`` that came with batch ``since`` or later."""
        part = self.waiting.between(low, high)
        if len(part) and int(part.batch.min()) < since:
            part = part.where(part.batch >= since)
        return part.as_batch()

    def settled(self, below: int) -> int:
        """The batch before which everything is given out once messages older than ``below`` are."""
        rest = self.waiting.batch[int(np.searchsorted(self.waiting.time, below)) :]
        return int(rest.min()) if len(rest) else int(np.iinfo(np.int64).max)

    def forget(self, below: int) -> None:
        """Drop messages older than ``below``: every query has them."""
        self.waiting = self.waiting.between(below, np.iinfo(np.int64).max)

    def head(self) -> dict[str, Any]:
        """Everything but what waits, as plain values."""
        return {
            "number": self.number,
            "lanes": self.lanes,
            "late": self.late,
            "ahead": self.ahead_of_time,
            "messages": self.messages,
            "complete": self.progress.complete,
            "progress": {n: [lane.high, lane.seen, lane.ended] for n, lane in self.progress.lanes.items()},
        }

    def restore(self, head: Mapping[str, Any], waiting: Waiting) -> None:
        """The state that ``head`` and ``waiting`` had, where they are of this stream."""
        if head.get("number", 0) != self.number:
            return
        self.lanes = list(head["lanes"])
        self.late, self.ahead_of_time, self.messages = head["late"], head["ahead"], head["messages"]
        lanes = {name: Lane(*values) for name, values in head["progress"].items()}
        self.progress = replace(self.progress, lanes=lanes, complete=head["complete"])
        self.waiting = waiting
