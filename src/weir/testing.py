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
from weir.plan.analysis.chain import parsed, streams_read
from weir.rdf.formats.tnq import parse_lines
from weir.runtime.control.catalog import Registration, StreamEntry, entry_of
from weir.runtime.direct import DirectJob, MemoryStore
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.parts import LaneInput
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
    _lines: list[str] = field(default_factory=list)

    def put(self, lines: str) -> Lane:
        """``TIME<TAB>STATEMENT`` lines to come with the next batch."""
        self._lines += lines.splitlines()
        return self

    def end(self) -> Lane:
        """Nothing more will come."""
        self.ended = True
        return self

    def take(self) -> str:
        lines, self._lines = self._lines, []
        return "".join(line + "\n" for line in lines)


class Scenario:
    """Queries over scripted lanes. ``batch`` delivers what was put into the lanes and gives the results.

    ``graphs`` are Turtle texts by IRI, None for the default graph. State is stored after every batch, as in a
    job; ``workers`` take turns, each with the copy of the group it was left with, and ``restarts`` makes
    every batch start without any copy. ``job`` is the job without Spark that runs it.
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
    ) -> None:
        texts = {"query": queries} if isinstance(queries, str) else dict(queries)
        self.clock = Clock()
        self.lanes: dict[tuple[str, str], Lane] = {}
        folder = Path(tempfile.mkdtemp(prefix="weir-scenario-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        library = _library(graphs or {}, folder / "weir")
        self.job = DirectJob(folder, library=library, key=KEY, workers=workers, restarts=restarts)
        read = dict.fromkeys(streams)
        for text in texts.values():
            read |= dict.fromkeys(streams_read(parsed(text, dialect), streams))
        wait = None if idle is None else round(idle * 1_000_000)
        entries: list[StreamEntry | Registration] = []
        entries += [StreamEntry(iri, wait, number=number) for number, iri in enumerate(read)]
        for name, text in texts.items():
            query = parsed(text, dialect)
            extract = self.job.extractor.extract(query, tuple(read))[0] if graphs else None
            entries.append(Registration(name, text, dialect, evaluator, graphs=extract, routing=routing))
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
        frames = [Frame.from_bytes(self._frame(lane).to_bytes()) for lane in self.lanes.values()]
        return self.job.step({0: frames}, self.clock.now)

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

    def _frame(self, lane: Lane) -> Frame:
        data = lane.take().encode()
        parsed = parse_lines(data, scope=f"{lane.stream} {lane.name}", key=KEY, base=lane.position)
        given = LaneInput(lane.name, parsed, lane.position, ended=lane.ended)
        lane.position += len(data)
        plan = self.job.place.match_plan(self.job.number)
        return plan.frame(0, lane.stream, given)


def _library(graphs: Mapping[str | None, str], folder: Path) -> GraphSources:
    folder.mkdir()
    library = GraphSources()
    for number, (iri, text) in enumerate(graphs.items()):
        source = folder / f"{number}.ttl"
        source.write_text(text, encoding="utf-8")
        library.add(iri, source)
    return library
