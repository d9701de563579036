"""State that is stored now and then: what came since is kept, and done again where that state is needed.

Storing a state costs more than answering one message. It is needed where a query fails: the others then go
on from a state that it has not touched (``pipeline.advance``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from weir.runtime.output.outputs import Output
from weir.runtime.pipeline import SlotBatch, SlotWork, advance, advance_unsaved
from weir.runtime.worker.group import Step
from weir.runtime.worker.members import Member
from weir.runtime.worker.turns import calls_services

_BATCHES, _MESSAGES = 256, 100_000
"""What is done again at most."""


@dataclass(slots=True)
class Since:
    """The batches of a slot since its state was stored."""

    batches: list[SlotBatch] = field(default_factory=list)
    messages: int = 0

    def add(self, batch: SlotBatch) -> None:
        self.batches.append(batch)
        self.messages += sum(len(frame.positions) for frame in batch.frames)

    def forget(self) -> None:
        self.batches.clear()
        self.messages = 0

    @property
    def long(self) -> bool:
        return len(self.batches) >= _BATCHES or self.messages >= _MESSAGES


def advance_keeping(work: SlotWork, batch: SlotBatch, since: Since) -> tuple[Step, list[Output]]:
    """As ``advance``; the state is stored only where ``since`` has become long, or could not be made again
    because endpoints are asked for it."""
    known = work.place.groups.get(work.slot)
    if known is not None and known.nonce and not since.long and not _asks(known.group.members.values()):
        done = advance_unsaved(work, batch)
        if done is not None:
            since.add(batch)
            return done
        for earlier in since.batches:
            advance(work, earlier)
    since.forget()
    return advance(work, batch)


def _asks(members: Iterable[Member]) -> bool:
    return any(calls_services(member.query) for member in members)
