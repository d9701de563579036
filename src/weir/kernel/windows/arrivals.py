"""The messages of one stream in their order: those still open to company, and the log of complete ones.

A message whose time lies before T can no longer be preceded by another and is *ready*; it is logged and
its triples are handed on. Others wait. Heartbeats (no triples) move T and leave no trace;
a message older than the T last advanced through is late: dropped and counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weir.kernel.windows.buffer import Buffer
from weir.rdf.columns import Ids
from weir.rdf.messages import Messages

FEW = 4
"""So few rows are quicker handled as plain integers."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The kept triples of messages that became ready. ``first`` is the number of the first of them among the
    stream's messages, ``before`` how many of its triples (all of them) came before each."""

    messages: Messages
    first: int
    before: Ids

    def __len__(self) -> int:
        return len(self.messages.message)

    def column(self, name: str) -> Ids:
        """A column of terms, or a coordinate by which windows find triples: their time, the sequence number
        of their message, their own number, counted from 0."""
        messages = self.messages
        match name:
            case "time":
                return messages.time[messages.message]
            case "sequence":
                return messages.message + self.first
            case "number":
                return self.before[messages.message] + messages.place
        terms: Ids = getattr(messages, name)
        return terms


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
        waiting = self.pending
        if batch is not None and len(batch.time):
            batch = self._admit(batch, oldest)
        if batch is None or not len(batch.time):
            return self._release(waiting, limit) if len(waiting.time) else []
        if not len(waiting.time):
            return self._release(batch, limit)
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
        done, first = batch.slice(0, ready), self.log.end
        before = done.triples.cumsum()
        before += self.total
        self.total = int(before[-1])
        before -= done.triples
        self.last = int(done.time[-1])
        self.log.append((done.time, before))
        self.pending = batch.slice(ready, messages) if ready < messages else _EMPTY
        return [Ready(done, first, before)]

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
