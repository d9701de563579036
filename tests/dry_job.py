"""A job without Spark: the real control log, feeds, match step, groups and state, driven batch by batch."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weir.linked.graphs.graph_sources import GraphSources
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.extracts import Extractor
from weir.runtime.control.planning import Feeds
from weir.runtime.control.registry import Registry
from weir.runtime.control.static_graphs import StaticGraphs
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.parts import Part
from weir.runtime.ingest.stage import part_frames
from weir.runtime.output.outputs import outputs
from weir.runtime.output.results import json_lines
from weir.runtime.worker.group import Step
from weir.runtime.worker.live import awaken, put_away
from weir.runtime.worker.workers import Workplace
from weir.testing import MemoryStore


class DryJob:
    """``batch`` plans and runs one; ``restart`` forgets everything but the checkpoint and the state store."""

    def __init__(self, folder: Path, slots: int = 2, library: GraphSources | None = None) -> None:
        self.folder, self.slots, self.library = folder, slots, library or GraphSources()
        self.stores: dict[int, MemoryStore] = defaultdict(MemoryStore)
        self.steps: list[Step] = []
        self.sides: list[Mapping[str, Any]] = []
        self.reached: dict[str, Any] = {}
        self.aside: dict[str, list[dict[str, Any]]] = {"late": [], "dead": []}
        self.restart()

    def restart(self) -> None:
        self.checkpoint = Checkpoint.open(self.folder, version="1", slots=self.slots)
        extractor = Extractor(self.library.open(Dictionary(self.checkpoint.key)), self.checkpoint)
        self.graphs = StaticGraphs(self.checkpoint, extractor, lambda: False, lambda: False)
        self.registry = Registry(self.checkpoint, extractor, self.graphs.lock, lambda: False, lambda: False)
        self.feeds = Feeds(self.checkpoint.own, 2)
        self.place = Workplace(str(self.folder))

    def register(self, text: str, name: str | None = None, evaluator: str = "auto") -> str:
        return self.registry.register(text, name, "auto", evaluator)

    def batch(self) -> list[dict[str, Any]] | None:
        """The results of the next batch, None where there is nothing to plan."""
        number, end = self.checkpoint.next_batch(), self.feeds.latest(self.reached)
        if end == self.reached:
            return None
        offsets = self.checkpoint.spark / "offsets"
        offsets.mkdir(parents=True, exist_ok=True)
        (offsets / str(number)).touch()
        frames: dict[int, list[Frame]] = defaultdict(list)
        for text in self.feeds.parts(self.reached, end):
            for slot, frame in part_frames(self.place, number, Part(**json.loads(text))):
                frames[slot].append(frame)
                self.sides.append(frame.side)
        self.reached = end
        return [line for slot in sorted(frames) for line in self._step(slot, frames[slot], number)]

    def run(self) -> list[dict[str, Any]]:
        """All batches that can be planned now."""
        found: list[dict[str, Any]] = []
        while (more := self.batch()) is not None:
            found += more
        return found

    def _step(self, slot: int, frames: list[Frame], batch: int) -> list[dict[str, Any]]:
        place, store = self.place, self.stores[slot]
        live = awaken(
            store,
            place.live.pop(slot, None),
            lambda: place.new_group(slot, batch),
            lambda group: place.update_group(group, slot, batch),
        )
        place.follow(live.group, batch)
        step = live.group.step(frames, batch, 0)
        self.steps.append(step)
        for row in outputs(live.group, step, frames, slot, "jsonl"):
            if row.kind in self.aside:
                self.aside[row.kind] += [json.loads(line) for line in row.data.splitlines()]
        found = [
            json.loads(line)
            for each in step.each()
            for line in json_lines(
                each.member.query, each.member.name, each.answers, live.group.dictionary
            ).text.to_pylist()
        ]
        put_away(store, live)
        place.live[slot] = live
        return found
