"""The messages of one stream in their order: those still open to company, and the log of complete ones.

A message whose time lies before T can no longer be preceded by another and is *ready*; it is logged and
its triples are handed to the tracks. Others wait. Heartbeats (no triples) move T and leave no trace;
a message older than the T last advanced through is late: dropped and counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weir.kernel.batch import Batch
from weir.kernel.interval.buffer import Buffer
from weir.rdf.columns import Ids

_NONE = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Ready:
    """Kept triples of ready messages, with the three coordinates by which windows find them.

    ``sequence`` numbers the stream's messages, ``number`` its triples (all of them), from 0.
    """

    time: Ids
    sequence: Ids
    number: Ids
    subject: Ids
    predicate: Ids
    object: Ids
    graph: Ids

    def __len__(self) -> int:
        return len(self.time)


class Arrivals:
    """``log`` has a row per ready message that some window may still show: its time, and the number of
    triples before it. Row numbers of the log are the messages' sequence numbers."""

    __slots__ = ("late", "log", "pending", "total")

    def __init__(self) -> None:
        self.log = Buffer(("time", "before"))
        self.pending = Batch.empty()
        self.total = 0
        self.late = 0

    @property
    def times(self) -> Ids:
        """The times of the logged messages, ascending."""
        return self.log.column(0)

    @property
    def messages(self) -> int:
        """How many messages were ready so far."""
        return self.log.end

    def before(self, place: Ids) -> Ids:
        """The number of triples before the message at a place of the log; at its end, all."""
        column = self.log.column(1)
        if not len(column):
            return np.full(len(place), self.total, np.int64)
        inside = place < len(column)
        return np.where(inside, column[np.minimum(place, len(column) - 1)], self.total)

    def advance(self, batch: Batch | None, limit: int, oldest: int | None) -> Ready | None:
        """Take in a batch; messages of time below ``limit`` become ready.

        ``oldest`` is the T of the last advance. Returns the kept triples of what became ready, None
        where no message did.
        """
        if batch is not None and len(batch.time):
            batch = self._admit(batch, oldest)
        else:
            batch = None
        if batch is None or not len(batch.time):
            if not len(self.pending.time):
                return None
            merged = self.pending
        elif not len(self.pending.time):
            merged = batch
        else:
            merged = _merge(self.pending, batch)
        return self._release(merged, limit)

    def _admit(self, batch: Batch, oldest: int | None) -> Batch:
        """Without heartbeats and late messages."""
        good = batch.triples > 0
        if oldest is not None and int(batch.time[0]) < oldest:
            late = good & (batch.time < oldest)
            self.late += int(np.count_nonzero(late))
            good &= ~late
        if good.all():
            return batch
        return _keep(batch, good)

    def _release(self, batch: Batch, limit: int) -> Ready | None:
        messages = len(batch.time)
        ready = messages if batch.time[-1] < limit else int(np.searchsorted(batch.time, limit))
        if not ready:
            self.pending = batch
            return None
        first = self.log.end
        counts = batch.triples[:ready]
        before = np.cumsum(counts)
        before += self.total
        self.total, through = int(before[-1]), before
        before = through - counts
        self.log.append((batch.time[:ready], before))
        if ready == messages:
            rows = len(batch.message)
            self.pending = _EMPTY
        else:
            rows = int(np.searchsorted(batch.message, ready))
            self.pending = Batch(
                batch.time[ready:],
                batch.triples[ready:],
                batch.message[rows:] - ready,
                batch.position[rows:],
                batch.subject[rows:],
                batch.predicate[rows:],
                batch.object[rows:],
                batch.graph[rows:],
            )
        message = batch.message[:rows]
        return Ready(
            batch.time[message],
            message + first,
            before[message] + batch.position[:rows],
            batch.subject[:rows],
            batch.predicate[:rows],
            batch.object[:rows],
            batch.graph[:rows],
        )


_EMPTY = Batch.empty()


def _keep(batch: Batch, good: np.ndarray) -> Batch:
    places = np.cumsum(good) - 1
    rows = np.flatnonzero(good[batch.message])
    return _select(batch, np.flatnonzero(good), rows, places[batch.message[rows]])


def _merge(earlier: Batch, later: Batch) -> Batch:
    """Both in the order of time; of equal times what came earlier goes first."""
    time = np.concatenate([earlier.time, later.time])
    message = np.concatenate([earlier.message, later.message + len(earlier.time)])
    both = Batch(
        time,
        np.concatenate([earlier.triples, later.triples]),
        message,
        np.concatenate([earlier.position, later.position]),
        np.concatenate([earlier.subject, later.subject]),
        np.concatenate([earlier.predicate, later.predicate]),
        np.concatenate([earlier.object, later.object]),
        np.concatenate([earlier.graph, later.graph]),
    )
    if earlier.time[-1] <= later.time[0]:
        return both
    order = np.argsort(time, kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    rows = np.argsort(places[message], kind="stable")
    return _select(both, order, rows, places[message[rows]])


def _select(batch: Batch, messages: Ids, rows: Ids, message: Ids) -> Batch:
    return Batch(
        batch.time[messages],
        batch.triples[messages],
        message,
        batch.position[rows],
        batch.subject[rows],
        batch.predicate[rows],
        batch.object[rows],
        batch.graph[rows],
    )
