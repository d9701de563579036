"""Continuous queries without Spark, for tests: a scripted source and a hand-cranked clock.

The same lines go through the same parser, match step, frames and groups as in a job; only the pieces that
move bytes between processes are missing. A script is cut into batches by hand, so a test can cut the same
input in every possible way and compare.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from weir.kernel.contract import Background
from weir.language import parse
from weir.language.update import parse_update
from weir.linked.graphs import GraphSources, StaticGraphs
from weir.linked.graphs.history import graphs_of
from weir.rdf.formats.tnq import parse_lines
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.control.catalog import Catalog
from weir.runtime.control.entries import Registration, StreamEntry, UpdateEntry
from weir.runtime.control.updates import follow, net_of, settled
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.matching import MatchPlan
from weir.runtime.output.results import json_lines
from weir.runtime.worker.group import Group, Step
from weir.runtime.worker.live import LiveGroup, awaken, put_away
from weir.runtime.worker.members import make_member
from weir.runtime.worker.texts import StreamTexts

KEY = b"weir.testing"


@dataclass(slots=True)
class Clock:
    """Wall clock for batches, in µs; it moves only when it is told to."""

    now: int = 0

    def advance(self, seconds: float) -> None:
        self.now += round(seconds * 1_000_000)


class MemoryStore:
    """A state store in memory; ``written`` counts the bytes put into it."""

    def __init__(self) -> None:
        self.panes: dict[str, bytes] = {}
        self.written = 0
        self._head: bytes | None = None

    def head(self) -> bytes | None:
        return self._head

    def pane(self, name: str) -> bytes:
        return self.panes[name]

    def put(self, name: str, data: bytes) -> None:
        self.panes[name] = data
        self.written += len(data)

    def remove(self, name: str) -> None:
        del self.panes[name]

    def set_head(self, data: bytes) -> None:
        self._head = data

    def clear(self) -> None:
        self.panes.clear()
        self._head = None


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

    ``graphs`` are Turtle texts by IRI, None for the default graph. State is put away after every batch, as
    in a job; ``workers`` processes take turns, each with the copy of the group it was left with, and
    ``restarts`` makes every batch start without any copy.
    """

    def __init__(
        self,
        queries: str | Mapping[str, str],
        *,
        graphs: Mapping[str | None, str] | None = None,
        streams: Sequence[str] = (),
        evaluator: str = "auto",
        dialect: str = "auto",
        idle: float | None = None,
        restarts: bool = False,
        workers: int = 1,
    ) -> None:
        texts = {"query": queries} if isinstance(queries, str) else dict(queries)
        self.clock = Clock()
        self.restarts = restarts
        self.store = MemoryStore()
        self._workers: list[LiveGroup | None] = [None] * workers
        self.number = 0
        self.steps: list[Step] = []
        self._shelf = _shelf(graphs or {})
        self._extracts: dict[str, Background] = {}
        wait = None if idle is None else round(idle * 1_000_000)
        registered = {name: Registration(name, text, dialect, evaluator) for name, text in texts.items()}
        self._catalog = Catalog(queries=registered)
        self._group = Group(StreamTexts(KEY), {})
        read: dict[str, None] = dict.fromkeys(streams)
        for member in self._members(tuple(streams)):
            read |= dict.fromkeys(reading.stream for reading in member.readings)
        entries = {iri: StreamEntry(iri, wait) for iri in read}
        extracted = {
            name: replace(
                r, graphs=self._kept(self._shelf.extract(parse(r.text, dialect=dialect), tuple(read)))
            )
            for name, r in registered.items()
        }
        self._catalog = Catalog(entries, extracted)
        self._plan = MatchPlan(self._catalog, 1, KEY)
        self._group = self._fresh()
        self.lanes: dict[tuple[str, str], Lane] = {}

    @property
    def group(self) -> Group:
        """The group as it stands."""
        return self._group

    def lane(self, stream: str, name: str = "0") -> Lane:
        """The lane of this name, made where it is new."""
        return self.lanes.setdefault((stream, name), Lane(stream, name))

    def batch(self) -> list[dict[str, Any]]:
        """Deliver everything that was put into the lanes; the results as JSON objects."""
        turn = self.number % len(self._workers)
        known = None if self.restarts else self._workers[turn]
        live = awaken(self.store, known, self._fresh, lambda group: None)
        self._group = live.group
        follow(live.group, self._catalog, self._load)
        frames = [Frame.from_bytes(self._frame(lane).to_bytes()) for lane in self.lanes.values()]
        step = live.group.step(frames, self.number, self.clock.now)
        self.steps.append(step)
        self.number += 1
        found = [line for answered in step.each() for line in self._lines(answered)]
        put_away(self.store, live)
        self._workers[turn] = live
        return found

    def update(self, request: str, at: int | None = None) -> None:
        """Change the graphs from the next batch on, by INSERT DATA and DELETE DATA; ``at`` is in µs."""
        shelf, catalog = self._shelf, self._catalog
        inserted, deleted = net_of(parse_update(request), shelf.dictionary, f"u{shelf.number + 1}")
        number = shelf.apply(inserted, deleted)
        parts = {}
        for name, registration in catalog.queries.items():
            query = parse(registration.text, dialect=registration.dialect)
            change = shelf.change(query, number, tuple(catalog.streams))
            if change is not None:
                parts[name] = self._kept(change)
        entry = UpdateEntry(number, at, "", "", parts)
        self._catalog = replace(catalog, updates=(*catalog.updates, entry))

    def run(self, batches: Iterable[str], stream: str) -> list[dict[str, Any]]:
        """Each text as one batch of one lane, then the end of input; all results in order."""
        found = []
        for text in batches:
            self.lane(stream).put(text)
            found += self.batch()
        self.lane(stream).end()
        return found + self.batch()

    def _lines(self, answered: Any) -> list[dict[str, Any]]:
        member = answered.member
        lines = json_lines(member.query, member.name, answered.answers, self._group.dictionary)
        return [json.loads(line) for line in lines.text.to_pylist()]

    def _frame(self, lane: Lane) -> Frame:
        data = lane.take().encode()
        messages = parse_lines(data, scope=f"{lane.stream} {lane.name}", key=KEY, base=lane.position)
        position, lane.position = lane.position, lane.position + len(data)
        return self._plan.frame(0, lane.stream, lane.name, messages, position, ended=lane.ended)

    def _fresh(self) -> Group:
        group = Group(StreamTexts(KEY), self._catalog.streams)
        self._group = group
        for member in self._members(tuple(self._catalog.streams)):
            group.add(member)
        return group

    def _members(self, streams: tuple[str, ...]) -> list[Any]:
        dictionary, services = self._group.dictionary, self._group.services
        return [
            make_member(r, settled(r, (), self._catalog, {}, self._load), dictionary, streams, services)
            for r in self._catalog.queries.values()
        ]

    def _kept(self, extract: Background) -> str:
        name = str(len(self._extracts))
        self._extracts[name] = extract
        return name

    def _load(self, name: str) -> Background:
        found = self._extracts[name]
        for table in graphs_of(found).values():
            ids = np.unique(np.concatenate([table.subject, table.predicate, table.object]))
            ids = ids[ids > 0]
            self._group.dictionary.add(ids, [self._shelf.dictionary.text(each) for each in ids.tolist()])
        return found


def _shelf(graphs: Mapping[str | None, str]) -> StaticGraphs:
    library = GraphSources()
    with tempfile.TemporaryDirectory() as name:
        for number, (iri, text) in enumerate(graphs.items()):
            source = Path(name) / f"{number}.ttl"
            source.write_text(text, encoding="utf-8")
            library.add(iri, source)
        return library.open(Dictionary(KEY))
