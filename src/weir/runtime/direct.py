"""The pipeline in one process, without Spark: the same control log, feeds, frames, groups, state and sinks.

It answers in milliseconds and promises nothing after a crash: what the state store would hold is in memory. A
batch is planned when ``batch`` is called, so a test or a notebook decides what comes with what.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weir.linked.graphs import GraphSources
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.extracts import Extractor
from weir.runtime.control.graph_updates import BASE, GraphUpdates
from weir.runtime.control.planning import ControlWriter, Feeds
from weir.runtime.control.registry import Registry
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.stage import part_frames
from weir.runtime.output.metrics import Metrics
from weir.runtime.output.outputs import Output
from weir.runtime.output.sinks.base import Results, Sink
from weir.runtime.pipeline import Delivery, advance
from weir.runtime.worker.group import Step
from weir.runtime.worker.worker_cache import WorkerCache


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


class DirectJob:
    """A job over the checkpoint in ``folder``, in this process.

    ``workers`` take turns, batch by batch, each with the groups that it was left with, as the processes of a
    cluster might; with ``restarts`` every batch begins without any. Neither changes an answer.
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
    ) -> None:
        self.folder, self.slots, self.library, self.key = folder, slots, library or GraphSources(), key
        self.restarts = restarts
        self.number = 0
        self.reached: Mapping[str, Any] = {}
        self.stores: dict[int, MemoryStore] = defaultdict(MemoryStore)
        self.steps: list[Step] = []
        self.late, self.dead = Records(), Records()
        self._collected = Collected()
        self._delivery = Delivery([self._collected, *sinks], {"late": self.late, "dead": self.dead})
        self._workers = workers
        self.restart()

    def restart(self) -> None:
        """Forget everything but the checkpoint, the state stores and how far the input was read."""
        self.checkpoint = Checkpoint.open(
            self.folder, version="direct", slots=self.slots, key=self.key, durable=False
        )
        opened = self.library.open(Dictionary(self.checkpoint.key), self.checkpoint.graphs / BASE)
        self.extractor = Extractor(opened, self.checkpoint)
        self.control = ControlWriter(self.checkpoint, lambda: False, lambda: self.number)
        self.graphs = GraphUpdates(self.control, self.extractor)
        self.registry = Registry(self.control, self.extractor)
        self.feeds = Feeds(self.checkpoint.own, 2)
        self.places = [WorkerCache(str(self.folder)) for _ in range(self._workers)]

    @property
    def place(self) -> WorkerCache:
        """What the worker of the coming batch knows."""
        return self.places[self.number % self._workers]

    @property
    def metrics(self) -> Metrics:
        return self._delivery.metrics

    def register(self, text: str, name: str | None = None, evaluator: str = "auto") -> str:
        """Register a query from the next batch on; its name."""
        return self.registry.register(text, name, "auto", evaluator)

    def batch(self) -> list[dict[str, Any]] | None:
        """Plan a batch of what the streams have, and run it; its result lines as objects, None where there
        is nothing to plan."""
        end = self.feeds.latest(self.reached)
        if end == self.reached:
            return None
        frames: dict[int, list[Frame]] = defaultdict(list)
        for part in self.feeds.parts(self.reached, end):
            for slot, frame in part_frames(self.place, self.number, part):
                frames[slot].append(frame)
        self.reached = end
        return self.step(frames)

    def step(self, frames: Mapping[int, Sequence[Frame]], now: int = 0) -> list[dict[str, Any]]:
        """Run one batch of these frames, by slot; its result lines as objects."""
        if self.restarts:
            self.places[self.number % self._workers] = WorkerCache(str(self.folder))
        rows: list[Output] = []
        for slot in sorted(frames):
            store, forms = self.stores[slot], self._delivery.forms
            step, found = advance(self.place, slot, self.number, frames[slot], store, forms, now=now)
            self.steps.append(step)
            rows += found
        self._delivery.take(self.number, rows)
        self.number += 1
        return self._collected.lines

    def run(self) -> list[dict[str, Any]]:
        """All batches that can be planned now."""
        found: list[dict[str, Any]] = []
        while (more := self.batch()) is not None:
            found += more
        return found
