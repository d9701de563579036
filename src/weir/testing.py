"""Continuous queries without Spark, for tests: a scripted source and a hand-cranked clock.

The same lines go through the same parser, match step, frames and groups as in a job (``runtime.direct``). A
script is cut into batches by hand, so a test can cut the same input in every possible way and compare.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weir.linked.graphs import GraphSources
from weir.plan.analysis.chain import streams_read
from weir.rdf.formats.tnq import parse_lines
from weir.runtime.control.catalog import Catalog, Registration, StreamEntry, entry_of
from weir.runtime.control.failure import UNLIMITED, QueryLimits
from weir.runtime.control.registration import registrations_of
from weir.runtime.direct import DirectJob, MemoryStore
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.parts import LaneInput, dead_letters
from weir.runtime.worker.group import Group, Step

KEY = b"weir.testing"


@dataclass(slots=True)
class Clock:
    """Wall clock for batches, in µs; it moves only when it is told to."""

    now: int = 0

    def advance(self, seconds: float) -> None:
        self.now += round(seconds * 1_000_000)


@dataclass(slots=True)
class Lane:
    """A scripted lane: lines are put into it and taken out again by a batch."""

    stream: str
    name: str = "0"
    position: int = 0
    ended: bool = False
    _texts: list[str] = field(default_factory=list)

    def put(self, lines: str) -> Lane:
        """``TIME<TAB>STATEMENT`` lines to come with the next batch. Only a newline ends a line: other
        characters that some call line breaks may stand in a literal."""
        self._texts.append(lines if lines.endswith("\n") or not lines else lines + "\n")
        return self

    def end(self) -> Lane:
        """Nothing more will come."""
        self.ended = True
        return self

    def take(self) -> LaneInput:
        """What a batch takes out of it."""
        data, self._texts = "".join(self._texts).encode(), []
        found = parse_lines(data, scope=f"{self.stream} {self.name}", key=KEY, base=self.position)
        dead = dead_letters(self.stream, found.rejected, source=f"lane {self.name}")
        given = LaneInput(self.name, found, self.position, len(data), dead, ended=self.ended)
        self.position += len(data)
        return given


class Scenario:
    """Queries over scripted lanes. ``batch`` delivers what was put into the lanes and gives the results.

    ``graphs`` are Turtle texts by IRI, None for the default graph. State is stored after every batch, as in a
    job; ``workers`` take turns, each with the copy of the group it was left with, and ``restarts`` makes
    every batch start without any copy. Over several ``slots`` queries are split where they can be. ``job`` is
    the job without Spark that runs it, ``dropped`` what it did not take, ``failures`` the queries that
    failed. One that takes more than ``limits`` allow does.
    """

    def __init__(
        self,
        queries: str | Mapping[str, str],
        *,
        graphs: Mapping[str | None, str] | None = None,
        streams: Sequence[str] = (),
        evaluator: str = "auto",
        routing: str = "cost",
        dialect: str = "auto",
        idle: float | None = None,
        restarts: bool = False,
        workers: int = 1,
        slots: int = 1,
        limits: QueryLimits = UNLIMITED,
    ) -> None:
        texts = {"query": queries} if isinstance(queries, str) else dict(queries)
        self.clock = Clock()
        self.lanes: dict[tuple[str, str], Lane] = {}
        folder = Path(tempfile.mkdtemp(prefix="weir-scenario-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        library = _library(graphs or {}, folder / "weir")
        self.job = DirectJob(
            folder,
            slots=slots,
            library=library,
            key=KEY,
            workers=workers,
            restarts=restarts,
            limits=limits,
        )
        offers = [
            Registration(name, text, dialect, evaluator, routing=routing) for name, text in texts.items()
        ]
        made = {each.query.output for each in offers}
        read = dict.fromkeys(streams)
        for each in offers:
            read |= dict.fromkeys(iri for iri in streams_read(each.query, streams) if iri not in made)
        wait = None if idle is None else round(idle * 1_000_000)
        entries: list[StreamEntry | Registration] = []
        entries += [StreamEntry(iri, wait, number=number) for number, iri in enumerate(read)]
        extractor = self.job.extractor if graphs else None
        known = tuple(read)
        entries += registrations_of(offers, Catalog(), known, slots, extractor, finite=known, stages=True)
        self.job.control.append(lambda batch: [entry_of(each, batch) for each in entries])

    @property
    def group(self) -> Group:
        """The group as the last batch left it, or as the first one will find it."""
        number = max(self.job.number - 1, 0)
        place = self.job.places[number % len(self.job.places)]
        return place.groups[0].group if 0 in place.groups else place.new_group(0, number)

    @property
    def steps(self) -> list[Step]:
        """What the group did in each batch."""
        return self.job.steps

    @property
    def store(self) -> MemoryStore:
        """Where the group's state is stored."""
        return self.job.stores[0]

    def lane(self, stream: str, name: str = "0") -> Lane:
        """The lane of this name, made where it is new."""
        return self.lanes.setdefault((stream, name), Lane(stream, name))

    def batch(self) -> list[dict[str, Any]]:
        """Deliver everything that was put into the lanes; the results as JSON objects."""
        plan = self.job.place.match_plan(self.job.number)
        frames: dict[int, list[Frame]] = {slot: [] for slot in plan.active}
        for lane in self.lanes.values():
            for slot, frame in plan.frames(lane.stream, lane.take()):
                frames[slot].append(Frame.from_bytes(frame.to_bytes()))
        return self.job.step(frames, self.clock.now)

    @property
    def dropped(self) -> list[dict[str, Any]]:
        """What was not taken, with the reason: lines that cannot be read, messages too far ahead of their
        lane, and then those that were late."""
        return [*self.job.dead.found, *({**each, "reason": "late"} for each in self.job.late.found)]

    @property
    def failures(self) -> dict[str, str]:
        """The queries that failed, with the reason."""
        return {name: each.reason for name, each in self.job.failures.items()}

    def update(self, request: str, at: int | None = None) -> None:
        """Change the graphs from the next batch on, by INSERT DATA and DELETE DATA; ``at`` is in µs."""
        self.job.graphs.update(request, at)

    def run(self, batches: Iterable[str], stream: str) -> list[dict[str, Any]]:
        """Each text as one batch of one lane, then the end of input; all results in order."""
        found = []
        for text in batches:
            self.lane(stream).put(text)
            found += self.batch()
        self.lane(stream).end()
        return found + self.batch()


def _library(graphs: Mapping[str | None, str], folder: Path) -> GraphSources:
    folder.mkdir()
    library = GraphSources()
    for number, (iri, text) in enumerate(graphs.items()):
        source = folder / f"{number}.ttl"
        source.write_text(text, encoding="utf-8")
        library.add(iri, source)
    return library
