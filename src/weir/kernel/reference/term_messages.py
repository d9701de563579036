"""Messages of terms, and a stream as one window sees it.

Numbers in brackets are points of decision semantics-time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from weir.kernel.reference.datasets import Quad


@dataclass(frozen=True, slots=True)
class Message:
    """An atomic dataset with one timestamp (µs). ``quads`` are in the order of the serialisation.

    Where triples that no pattern matches were left out, ``positions`` are the places of the others among
    all ``size`` triples; by default nothing was left out.
    """

    time: int
    quads: tuple[Quad, ...] = ()
    positions: tuple[int, ...] | None = None
    size: int | None = None

    @property
    def triples(self) -> int:
        """How many triples the message had; none makes it a heartbeat [1]."""
        return len(self.quads) if self.size is None else self.size

    def placed(self) -> Iterable[tuple[int, Quad]]:
        """The quads with their places in the message."""
        return (
            enumerate(self.quads) if self.positions is None else zip(self.positions, self.quads, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Instant:
    """A point at which windows are looked at: time τ, and for a tuple-driven query how many messages of
    time τ each stream has shown so far [21]. ``last`` is whether all of τ has been seen."""

    time: int
    shown: Mapping[str, int] | None = None
    last: bool = True


class Stream:
    """The messages of one stream in order, heartbeats left out. Old ones may be dropped: then
    ``dropped_triples`` and ``dropped_messages`` keep the counts right."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.first: int | None = None
        self.last: int | None = None
        self.dropped_triples = 0
        self.dropped_messages = 0

    def add(self, messages: Iterable[Message]) -> None:
        """Messages of one batch in order; equal times keep the order of arrival."""
        new = [message for message in messages if message.triples]
        if not new:
            return
        self.messages = sorted([*self.messages, *new], key=lambda message: message.time)
        oldest = min(message.time for message in new)
        self.first = oldest if self.first is None else min(self.first, oldest)
        self.last = self.messages[-1].time

    def seen(self, name: str, instant: Instant) -> list[Message]:
        """What has come by an instant, oldest first."""
        if instant.shown is None:
            return self.messages[: bisect_right(self.messages, instant.time, key=lambda m: m.time)]
        before = bisect_right(self.messages, instant.time - 1, key=lambda m: m.time)
        through = bisect_right(self.messages, instant.time, key=lambda m: m.time)
        return self.messages[: min(before + instant.shown.get(name, 0), through)]

    def at(self, time: int) -> list[Message]:
        """The messages of one timestamp."""
        return [message for message in self.messages if message.time == time]

    def drop_before(self, time: int, keep_triples: int, keep_messages: int) -> None:
        """Forget messages older than ``time``, as long as so many of their triples and messages remain."""
        settled = [message for message in self.messages if message.time < time]
        triples = sum(message.triples for message in settled)
        gone = 0
        for message in settled:
            triples -= message.triples
            if triples < keep_triples or len(settled) - gone - 1 < keep_messages:
                break
            self.dropped_triples += message.triples
            gone += 1
        self.dropped_messages += gone
        del self.messages[:gone]
