"""The stages after the frames, as every runner calls them: a slot's group moves on, answers are delivered.

Bytes become frames in ``ingest.stage``. Then, for every slot, ``advance`` brings the group to the batch, lets
it evaluate and stores its state; ``Delivery`` hands what all slots said to the sinks. Between the stages a
runner moves rows: Spark by its shuffle, the direct runner by a list.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from weir.runtime.ingest.frames import Frame
from weir.runtime.output.metrics import Metrics
from weir.runtime.output.outputs import Output, merged, outputs
from weir.runtime.output.sinks.base import Sink
from weir.runtime.worker.group import Step
from weir.runtime.worker.state_store import StateStore, load_group, save_group
from weir.runtime.worker.worker_cache import WorkerCache
from weir.storage.spool import SpoolWriter


def advance(
    place: WorkerCache,
    slot: int,
    batch: int,
    frames: Sequence[Frame],
    store: StateStore,
    forms: Sequence[str],
    *,
    now: int = 0,
    writer: Callable[[], SpoolWriter] = SpoolWriter,
) -> tuple[Step, list[Output]]:
    """Move the group of a slot on by a batch; what came of it, and the rows that say so. ``now`` is the wall
    clock in µs.

    Answers come once in each of ``forms``, as rows whose kind is the form. The group's state is in ``store``
    when this returns. ``writer`` makes what answers are written to.
    """
    copy = load_group(
        store,
        place.groups.pop(slot, None),
        lambda: place.new_group(slot, batch),
        lambda group: place.update_group(group, slot, batch),
    )
    place.follow(copy.group, batch)
    step = copy.group.step(frames, batch, now)
    counted = place.counted(slot, batch)
    found = list(outputs(copy.group, step, frames, slot, forms, counted, writer))
    save_group(store, copy)
    place.groups[slot] = copy
    return step, found


class Aside(Protocol):
    """Where records go that are no answers: dead letters, late messages."""

    def append(self, batch: int, data: bytes) -> object: ...


@dataclass(slots=True)
class Delivery:
    """The end of the pipeline: answers go to sinks, what was set aside to its file, counters to metrics."""

    sinks: Sequence[Sink]
    asides: Mapping[str, Aside] = field(default_factory=dict)
    metrics: Metrics = field(default_factory=Metrics)

    @property
    def forms(self) -> list[str]:
        """The forms of answers that the sinks take."""
        return sorted({sink.form for sink in self.sinks}) or ["jsonl"]

    def take(self, batch: int, rows: Sequence[Output]) -> None:
        """Deliver what the slots said in one batch; each sink gets a batch once and whole."""
        began = time.time()
        forms = self.forms
        answers = {form: merged([row for row in rows if row.kind == form]) for form in forms}
        for sink in self.sinks:
            sink.write(batch, answers[sink.form])
        for kind, aside in self.asides.items():
            said = [bytes(row.data) for row in rows if row.kind == kind]
            # Each slot that reads a stream tells of it: once is enough.
            lines = dict.fromkeys(line for data in said for line in data.splitlines(keepends=True))
            if lines:
                aside.append(batch, b"".join(lines))
        found = sum(len(each) for each in answers[forms[0]])
        told = [json.loads(row.data[:]) for row in rows if row.kind == "metrics"]
        self.metrics.take(batch, told, found, time.time() - began)
