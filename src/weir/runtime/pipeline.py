"""The stages after the frames, as every runner calls them: a slot's group moves on, answers are delivered.

Bytes become frames in ``ingest.stage``. Then, for every slot, ``advance`` brings the group to the batch, lets
it evaluate and stores its state; ``Delivery`` hands what all slots said to the sinks. Between the stages a
runner moves rows: Spark by its shuffle, the direct runner by a list.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from weir.linked.service import ServiceResolver
from weir.runtime.control.failure import Failure, earliest
from weir.runtime.ingest.frames import Frame
from weir.runtime.output.metrics import Metrics
from weir.runtime.output.outputs import (
    FAILED,
    WRITTEN,
    Output,
    answers_of,
    failed_row,
    failure_in,
    merged,
    outputs,
    without_later,
)
from weir.runtime.output.sinks.base import Sink
from weir.runtime.worker.alone import Failures, TimeLimit
from weir.runtime.worker.group import Group, Step
from weir.runtime.worker.state_store import GroupCopy, StateStore, load_group, save_group
from weir.runtime.worker.worker_cache import WorkerCache
from weir.storage.spool import SpoolWriter


@dataclass(frozen=True, slots=True)
class SlotWork:
    """A slot as a worker has it: what the worker knows, the slot's number, where its state is stored.

    Answers come once in each of ``forms``, as rows whose kind is the form; ``writer`` makes what they are
    written to. ``limit`` is on the time of each query, ``rows`` on what it keeps.
    """

    place: WorkerCache
    slot: int
    store: StateStore
    forms: Sequence[str]
    writer: Callable[[], SpoolWriter] = SpoolWriter
    limit: TimeLimit | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class SlotBatch:
    """What a batch brings to a slot; ``now`` is the wall clock in µs."""

    number: int
    frames: Sequence[Frame]
    now: int = 0


def advance(work: SlotWork, batch: SlotBatch) -> tuple[Step, list[Output]]:
    """Move the group of a slot on by a batch; what came of it, and the rows that say so. The group's state
    is stored when this returns.

    Where queries fail, nobody knows what else they have touched: the group is thrown away, and the batch
    evaluated again from the stored state, in which they end where they failed. So all others see and say
    what they would without them.
    """
    place, slot = work.place, work.slot
    known = place.groups.pop(slot, None)
    ending = place.failing(slot, batch.number)
    services: ServiceResolver | None = None
    while True:
        failures = Failures(work.limit, slot, work.rows)
        copy, step, found = _step(work, batch, known, failures, ending, services)
        services = copy.group.services
        if not failures.found and save_group(work.store, copy):
            place.groups[slot] = copy
            return step, found
        found_now = {name: _final(each, ending) for name, each in failures.found.items()}
        ending = {**ending, **{name: _charged(each, services, ending) for name, each in found_now.items()}}
        known = None


def advance_unsaved(work: SlotWork, batch: SlotBatch) -> tuple[Step, list[Output]] | None:
    """As ``advance``, but the state stays where it is: in the worker's copy of the group, which has to be
    there. None where queries fail: the copy is lost then, and all batches since the stored state are to be
    done again."""
    known = work.place.groups.pop(work.slot)
    failures = Failures(work.limit, work.slot, work.rows)
    copy, step, found = _step(work, batch, known, failures, {})
    if failures.found:
        return None
    work.place.groups[work.slot] = copy
    return step, found


def _step(
    work: SlotWork,
    batch: SlotBatch,
    known: GroupCopy | None,
    failures: Failures,
    ending: Mapping[str, Failure],
    earlier: ServiceResolver | None = None,
) -> tuple[GroupCopy, Step, list[Output]]:
    """One pass over a batch: the group after it, and what came of it where nothing failed. ``earlier`` are
    the services of a pass over the same batch in which queries failed."""
    place, slot, number = work.place, work.slot, batch.number
    copy = load_group(
        work.store,
        known,
        partial(place.new_group, slot, number, failures, ending),
        partial(place.update_group, slot=slot, batch=number, failures=failures, ending=ending),
    )
    place.follow(copy.group, number)
    services = copy.group.services
    services.begin((spent for each in ending.values() for spent in each.spent), earlier)
    step = copy.group.step(batch.frames, number, batch.now)
    services.end()
    found = list(answers_of(step, copy.group, slot, work.forms, work.writer))
    if not failures.found:
        found += [failed_row(each) for each in _end(copy.group, ending)]
        found += outputs(copy.group, step, batch.frames, slot)
    return copy, step, found


def _end(group: Group, ending: Mapping[str, Failure]) -> list[Failure]:
    """Queries leave the group where they failed; with them go those that cannot go on without them. All that
    the batch brings has been evaluated by then."""
    ended: list[Failure] = []
    leaving = list(ending.values()) or group.starving()
    while leaving:
        for failure in leaving:
            if failure.name in group.members:
                group.end(failure.name)
        ended += leaving
        leaving = group.starving()
    return ended


def _final(failure: Failure, ending: Mapping[str, Failure]) -> Failure:
    """A query that fails a second time in a batch, earlier than it was to end, says nothing in it."""
    return replace(failure, before=0) if failure.name in ending else failure


def _charged(failure: Failure, services: ServiceResolver, ending: Mapping[str, Failure]) -> Failure:
    """With what the query spent that it will not spend again when the batch is evaluated once more."""
    known = ending[failure.name].spent if failure.name in ending else ()
    again = failure.at if failure.before else None
    return replace(failure, spent=(*known, *services.spent(failure.name, again)))


class Aside(Protocol):
    """Where records go that are no answers: dead letters, late messages."""

    def append(self, batch: int, data: bytes) -> object: ...


@dataclass(slots=True)
class Delivery:
    """The end of the pipeline: answers go to sinks, what was set aside to its file, counters to metrics.
    ``check`` raises where another driver has taken over; it is asked before each commit. ``fail`` is told of
    queries that failed in a batch before anything of it is delivered: it logs them. ``planned`` says when a
    batch was planned, in seconds since 1970.
    """

    sinks: Sequence[Sink]
    fail: Callable[[int, Sequence[Failure]], None] = lambda batch, failures: None
    asides: Mapping[str, Aside] = field(default_factory=dict)
    metrics: Metrics = field(default_factory=Metrics)
    check: Callable[[], None] = lambda: None
    planned: Callable[[int], float | None] = lambda batch: None

    @property
    def forms(self) -> list[str]:
        """The forms of answers that the sinks take."""
        return sorted({sink.form for sink in self.sinks}) or ["jsonl"]

    def take(self, batch: int, rows: Sequence[Output]) -> None:
        """Deliver what the slots said in one batch; each sink gets a batch once and whole."""
        began = time.time()
        failures = [failure_in(row) for row in rows if row.kind == FAILED]
        if failures:
            self.fail(batch, failures)
            rows = without_later(rows, failures, self.forms)
        forms = self.forms
        answers = {form: merged([row for row in rows if row.kind == form]) for form in forms}
        for sink in self.sinks:
            self.check()
            sink.write(batch, answers[sink.form])
        for kind, aside in self.asides.items():
            said = [bytes(row.data) for row in rows if row.kind == kind]
            # Each slot that reads a stream tells of it: once is enough.
            lines = dict.fromkeys(line for data in said for line in data.splitlines(keepends=True))
            if lines:
                self.check()
                aside.append(batch, b"".join(lines))
        found = sum(len(each) for each in answers[forms[0]])
        found += sum(int(row.data[:]) for row in rows if row.kind == WRITTEN)
        told = [json.loads(row.data[:]) for row in rows if row.kind == "metrics"]
        planned = max(self.planned(batch) or began, self.metrics.started)  # Not before a restart.
        self.metrics.take(batch, told, found, (min(planned, began), began, time.time()))
        for failure in earliest(failures).values():
            self.metrics.fail(failure, batch + 1)
