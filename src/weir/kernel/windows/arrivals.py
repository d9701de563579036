"""The messages of one stream in their order: those still open to company, and the log of complete ones.

A message whose time lies before T can no longer be preceded by another and is *ready*; it is logged and
its triples are handed on. Others wait. Heartbeats (no triples) move T and leave no trace;
a message older than the T last advanced through is late: dropped and counted.
"""

from __future__ import annotations

import numpy as np

from weir.kernel.windows.buffer import Buffer
from weir.rdf.columns import Ids
from weir.rdf.messages import Messages

FEW = 4
"""So few rows are quicker handled as plain integers."""


class Ready:
    """Kept triples of ready messages; the coordinates by which windows find them are made when asked for.

    ``sequence`` numbers the stream's messages, ``number`` its triples (all of them), from 0.
    """

    __slots__ = ("_batch", "_before", "_first", "_rows")

    def __init__(self, batch: Messages, rows: int, first: int, before: Ids) -> None:
        self._batch = batch
        self._rows = rows
        self._first = first
        self._before = before

    def __len__(self) -> int:
        return self._rows

    @property
    def messages(self) -> int:
        """How many messages became ready."""
        return len(self._before)

    @property
    def subject(self) -> Ids:
        return self._batch.subject[: self._rows]

    @property
    def predicate(self) -> Ids:
        return self._batch.predicate[: self._rows]

    @property
    def object(self) -> Ids:
        return self._batch.object[: self._rows]

    @property
    def graph(self) -> Ids:
        return self._batch.graph[: self._rows]

    @property
    def _message(self) -> Ids:
        return self._batch.message[: self._rows]

    @property
    def time(self) -> Ids:
        return self._batch.time[self._message]

    @property
    def sequence(self) -> Ids:
        return self._message + self._first

    @property
    def number(self) -> Ids:
        return self._before[self._message] + self._batch.place[: self._rows]


Single = tuple[int, int, int, int, int, int, int]
"""One kept triple of one message, as plain integers: subject, predicate, object, graph, time, sequence
number, number. Streams of single triples evaluated as they come need no more."""


class Arrivals:
    """``log`` has a row per ready message that some window may still show: its time, and the number of
    triples before it. Row numbers of the log are the messages' sequence numbers. ``last`` is the time of
    the latest message, ``total`` the number of triples so far."""

    __slots__ = ("last", "late", "log", "pending", "total")

    def __init__(self) -> None:
        self.log = Buffer(("time", "before"))
        self.pending = Messages()
        self.total = 0
        self.late = 0
        self.last: int | None = None

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

    def advance(self, batch: Messages | None, limit: int, oldest: int | None) -> list[Ready | Single]:
        """Take in a batch; messages of time below ``limit`` become ready.

        ``oldest`` is the T of the last advance. Returns the kept triples of what became ready, in order;
        nothing where no message did.
        """
        if batch is not None and len(batch.time):
            batch = self._admit(batch, oldest)
            if not len(batch.time):
                batch = None
        else:
            batch = None
        waiting = self.pending
        if not len(waiting.time):
            return self._release(batch, limit) if batch is not None else []
        if batch is None:
            return self._release(waiting, limit)
        last = waiting.time.item(-1)
        if last <= batch.time.item(0) and last < limit:
            # In order, as most streams are: nothing has to be merged.
            return self._release(waiting, limit) + self._release(batch, limit)
        return self._release(Messages.concatenated([waiting, batch]).ordered(), limit)

    def _admit(self, batch: Messages, oldest: int | None) -> Messages:
        """Without heartbeats and late messages."""
        if oldest is None or batch.time.item(0) >= oldest:
            few = len(batch.triples) <= FEW
            if 0 not in batch.triples.tolist() if few else batch.triples.min() > 0:
                return batch
        good = batch.triples > 0
        if oldest is not None and batch.time[0] < oldest:
            late = good & (batch.time < oldest)
            self.late += int(np.count_nonzero(late))
            good &= ~late
        if good.all():
            return batch
        return batch.where(good)

    def _release(self, batch: Messages, limit: int) -> list[Ready | Single]:
        messages = len(batch.time)
        if batch.time.item(0) >= limit:
            self.pending = batch
            return []
        if messages == 1 and len(batch.message) == 1:
            return [self._single(batch)]
        ready = messages if batch.time[-1] < limit else int(batch.time.searchsorted(limit))
        first = self.log.end
        counts = batch.triples[:ready]
        before = counts.cumsum()
        before += self.total
        total = int(before[-1])
        before -= counts
        self.total = total
        self.last = int(batch.time[ready - 1])
        self.log.append((batch.time[:ready], before))
        if ready == messages:
            rows = len(batch.message)
            self.pending = _EMPTY
        else:
            rows = int(batch.message.searchsorted(ready))
            self.pending = batch.slice(ready, messages)
        return [Ready(batch, rows, first, before)]

    def _single(self, batch: Messages) -> Single:
        """The only message, with its only kept triple."""
        time, before = batch.time.item(0), self.total
        sequence = self.log.append_row((time, before))
        self.total = before + batch.triples.item(0)
        self.last = time
        self.pending = _EMPTY
        return (
            batch.subject.item(0),
            batch.predicate.item(0),
            batch.object.item(0),
            batch.graph.item(0),
            time,
            sequence,
            before + batch.place.item(0),
        )


_EMPTY = Messages()
