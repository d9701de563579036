"""The pipeline in one process, without Spark: the same control log, feeds, frames, groups, state and sinks.

It answers in milliseconds and promises nothing after a crash: what the state store would hold is in memory. A
batch is planned when ``batch`` is called, so a test or a notebook decides what comes with what. A batch that
fails, for example because a disk is full, changes nothing: it can be run again.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from weir.linked.graphs import GraphSources
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.extracts import Extractor
from weir.runtime.control.failure import UNLIMITED, Failure, QueryLimits
from weir.runtime.control.graph_updates import BASE, GraphUpdates
from weir.runtime.control.planning import ControlWriter, Feeds
from weir.runtime.control.registry import Registry
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.stage import part_frames
from weir.runtime.output.metrics import Metrics
from weir.runtime.output.outputs import Output
from weir.runtime.output.putting_together import put_together
from weir.runtime.output.sinks.base import Results, Sink
from weir.runtime.pipeline import Aside, Delivery, SlotBatch, SlotWork, advance
from weir.runtime.redoing import Since, advance_keeping
from weir.runtime.worker.alone import TimeLimit
from weir.runtime.worker.group import Step
from weir.runtime.worker.worker_cache import WorkerCache

_COMMITTED, _IDLE = 64, 100
"""Batches, or looks in vain, after which sources are told how far they were read: that writes a file."""


class MemoryStore:
    """A state store in memory."""

    def __init__(self) -> None:
        self.panes: dict[str, bytes] = {}
        self._head: bytes | None = None

    def head(self) -> bytes | None:
        return self._head

    def pane(self, name: str) -> bytes:
        return self.panes[name]

    def put(self, name: str, data: bytes) -> None:
        self.panes[name] = data

    def remove(self, name: str) -> None:
        del self.panes[name]

    def set_head(self, data: bytes) -> None:
        self._head = data

    def clear(self) -> None:
        self.panes.clear()
        self._head = None

    def copy(self) -> MemoryStore:
        """The same state; panes are never changed."""
        made = MemoryStore()
        made.panes, made._head = dict(self.panes), self._head
        return made


class Collected(Sink):
    """A sink that keeps the result lines of the last batch, as objects."""

    form = "jsonl"
    promise = "at least once"

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def write(self, batch: int, results: Sequence[Results]) -> None:
        self.lines = [json.loads(line) for each in results for line in each.table["line"].to_pylist()]


class Records:
    """Records that were set aside, as objects."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def append(self, batch: int, data: bytes) -> None:
        self.found += [json.loads(line) for line in data.splitlines()]


class Batches:
    """Batches of a checkpoint (``over``), planned and run in this process; ``delivery`` gets what comes out.

    ``workers`` take turns, batch by batch, each with the groups that it was left with, as the processes of a
    cluster might; with ``restarts`` every batch begins without any. Neither changes an answer. A query that
    takes more than ``limits`` allow fails. State is stored with every batch, so that one that fails can be
    run again; where it is not to be, ``sparing`` stores it now and then.
    """

    def __init__(
        self,
        delivery: Delivery,
        *,
        workers: int = 1,
        restarts: bool = False,
        limits: QueryLimits = UNLIMITED,
        sparing: bool = False,
    ) -> None:
        self.delivery, self.restarts = delivery, restarts
        self._planned: float | None = None
        delivery.planned = lambda batch: self._planned
        self._since: dict[int, Since] | None = defaultdict(Since) if sparing else None
        self.number = 0
        self.reached: Mapping[str, Any] = {}
        self.stores: dict[int, MemoryStore] = defaultdict(MemoryStore)
        self._workers, self._idle = workers, 0
        self.limits, self._time = limits, TimeLimit(limits.seconds)

    def over(self, checkpoint: Checkpoint) -> None:
        """Go on with a checkpoint; what a worker remembers is forgotten."""
        self.folder, self._key = checkpoint.folder, checkpoint.key
        self.feeds = Feeds(checkpoint.own, 2)
        self.places = [WorkerCache(str(self.folder)) for _ in range(self._workers)]

    @property
    def place(self) -> WorkerCache:
        """What the worker of the coming batch knows."""
        return self.places[self.number % self._workers]

    def next(self, now: int = 0) -> list[Step] | None:
        """Plan a batch of what the streams have, and run it; None where there is nothing to plan."""
        self._planned = time.time()
        end = self.feeds.latest(self.reached)
        idle = end == self.reached
        self._idle = self._idle + 1 if idle else 0
        if self.number % _COMMITTED == 0 or self._idle == (1 if self._since is None else _IDLE):
            self.feeds.committed(self.reached)
        if idle:
            return None
        frames: dict[int, list[Frame]] = defaultdict(list)
        for part in self.feeds.parts(self.reached, end):
            for slot, frame in part_frames(self.place, self.number, part):
                frames[slot].append(frame)
        steps = self.evaluate(frames, now)
        self.reached = end
        return steps

    def evaluate(self, frames: Mapping[int, Sequence[Frame]], now: int = 0) -> list[Step]:
        """Run one batch of these frames, by slot; what each slot did. ``now`` is the wall clock in µs."""
        if self.restarts:
            self.places[self.number % self._workers] = WorkerCache(str(self.folder))
        rows: list[Output] = []
        steps: list[Step] = []
        stores = {slot: self.stores[slot].copy() for slot in sorted(frames)}
        forms = self.delivery.forms
        for slot, store in stores.items():
            self._time.asked = partial(self.place.checkpoint.overdue().asked, self.number)
            work = SlotWork(self.place, slot, store, forms, limit=self._time, rows=self.limits.rows)
            batch = SlotBatch(self.number, frames[slot], now)
            if self._since is None:
                step, found = advance(work, batch)
            else:
                step, found = advance_keeping(work, batch, self._since[slot])
            steps.append(step)
            rows += found
        rows = put_together(rows, self.place.catalog(self.number), self._key, forms)
        self.delivery.take(self.number, rows)
        self.stores.update(stores)
        self.number += 1
        return steps


class DirectJob(Batches):
    """A job over the checkpoint in ``folder`` that its user cranks, batch by batch.

    ``workers``, ``restarts`` and ``limits`` are as in ``Batches``. What a ``durable`` one writes is synced,
    and it is the one writer of its folder until it is closed.
    """

    def __init__(
        self,
        folder: Path,
        *,
        slots: int = 1,
        library: GraphSources | None = None,
        key: bytes | None = None,
        sinks: Sequence[Sink] = (),
        workers: int = 1,
        restarts: bool = False,
        durable: bool = False,
        dead: Aside | None = None,
        limits: QueryLimits = UNLIMITED,
    ) -> None:
        self.folder, self.slots, self.library, self.key = folder, slots, library or GraphSources(), key
        self.steps: list[Step] = []
        self.late, self.dead = Records(), Records()
        self._collected = Collected()
        asides = {"late": self.late, "dead": dead or self.dead}
        every = [*sinks, self._collected]
        delivery = Delivery(every, self._fail, asides, check=lambda: self.checkpoint.check())
        super().__init__(delivery, workers=workers, restarts=restarts, limits=limits)
        self._lease = Checkpoint.take(folder) if durable else None
        try:
            self.restart()
        except BaseException:
            self.close()
            raise

    def restart(self) -> None:
        """Forget everything but the checkpoint, the state stores and how far the input was read."""
        self.checkpoint = Checkpoint.open(
            self.folder,
            version="direct",
            slots=self.slots,
            key=self.key,
            durable=self._lease is not None,
            lease=self._lease,
        )
        opened = self.library.open(Dictionary(self.checkpoint.key), self.checkpoint.graphs / BASE)
        self.extractor = Extractor(opened, self.checkpoint)
        self.control = ControlWriter(self.checkpoint, lambda: False, lambda _: nullcontext(self.number))
        self.graphs = GraphUpdates(self.control, self.extractor)
        self.registry = Registry(self.control, self.extractor)
        self.over(self.checkpoint)

    @property
    def metrics(self) -> Metrics:
        return self.delivery.metrics

    @property
    def failures(self) -> dict[str, Failure]:
        """The queries that failed and were not resumed."""
        return self.registry.catalog().failures

    def _fail(self, batch: int, failures: Sequence[Failure]) -> None:
        self.control.fail(batch, failures)

    def register(self, text: str, name: str | None = None, evaluator: str = "auto") -> str:
        """Register a query from the next batch on; its name."""
        return self.registry.register(text, name, "auto", evaluator)

    def batch(self) -> list[dict[str, Any]] | None:
        """Plan a batch of what the streams have, and run it; its result lines as objects, None where there
        is nothing to plan."""
        steps = self.next()
        if steps is None:
            return None
        self.steps += steps
        return self._collected.lines

    def step(self, frames: Mapping[int, Sequence[Frame]], now: int = 0) -> list[dict[str, Any]]:
        """Run one batch of these frames, by slot; its result lines as objects."""
        self.steps += self.evaluate(frames, now)
        return self._collected.lines

    def close(self) -> None:
        """Let another job write to the folder."""
        if self._lease is not None:
            self._lease.close()

    def run(self) -> list[dict[str, Any]]:
        """All batches that can be planned now."""
        found: list[dict[str, Any]] = []
        while (more := self.batch()) is not None:
            found += more
        return found
