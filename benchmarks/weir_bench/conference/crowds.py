"""CQELS section 5, experiment 3, as a job runs it: from stream files to a folder of results.

M = 0 … 10: 2^M instances of a query are registered at the same time, and 10^4 of them beyond the paper, all
through the engine: match step, frames, groups, state, results. The paper takes Q1, Q3 and Q4, here it is all
five. Beside it a store evaluates every instance anew. Their solutions are compared, sighting by sighting.

Costs are processor time of the whole process between two batches, in which nothing else works.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from weir.engine import Engine
from weir.language import Dialect, write
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.output.metrics import Metrics
from weir.runtime.output.sinks.folders import ResultsFolder, read_results
from weir_bench.conference.agreement import FILL, everything
from weir_bench.conference.blackbox import BlackBox, Solutions, store_of
from weir_bench.conference.queries import QUERIES, Template
from weir_bench.data.conference import FLOORPLAN, LV, RFID, Conference, conference, day, room_text, sightings
from weir_bench.data.conference_files import lines, stamps, write_text
from weir_bench.data.library import DBLP
from weir_bench.plots import figure
from weir_bench.report import Report

CROWDS = tuple(2**m for m in range(11))
"""The paper's."""
MANY = 10_000
BATCH = 1_000
PUBLISHED_MS = {"CQELS": 1_000.0, "C-SPARQL": 100_000.0}
"""Section 5.2, experiment 3: about a second with 1,000 queries, and more than 100 seconds."""

_PATIENCE = 60.0
"""Seconds that the store is given for the instances of one query."""
_ASKED = 8
"""Sightings at which the store is asked each query."""
_RUNS = 3


@dataclass(frozen=True, slots=True)
class World:
    """The conference as files: graphs, and a stream with a file for each batch."""

    people: Conference
    folder: Path
    sightings: int

    @staticmethod
    def write(people: Conference, folder: Path, batches: int, size: int = BATCH) -> World:
        """The first batch fills the windows; of the others each has ``size`` sightings."""
        for name, triples in (("library", people.library.all()), ("floorplan", people.floorplan)):
            write_text(folder / f"{name}.nt", lines(triples))
        (folder / "rfid").mkdir()
        count = FILL + batches * size
        at, author, room = day(people, 0, count, 100.0, 1)
        text = pl.select(
            pl.format(
                f"{{}}\t<{DBLP}author{{}}> <{LV}detectedAt> {{}} .\n",
                stamps(pl.Series(at)),
                pl.Series(author),
                pl.Series([room_text(each) for each in room.tolist()]),
            )
        ).to_series()
        for number, (first, end) in enumerate(pairwise([0, *range(FILL, count + 1, size)])):
            write_text(folder / "rfid" / f"{number:05}.tnq", text[first:end])
        return World(people, folder, count)

    def engine(self, queries: Sequence[tuple[str, str]], dialect: str, runner: str) -> Engine:
        """A job over all of it; queries are given with their names."""
        engine = Engine(runner=runner)
        engine.stream(RFID, self.folder / "rfid", files_per_batch=1)
        engine.graph(None, self.folder / "library.nt")
        engine.graph(FLOORPLAN, self.folder / "floorplan.nt")
        for name, text in queries:
            engine.register(text, name=name, dialect=dialect)
        return engine


def instances(
    people: Conference, template: Template, count: int, first: Sequence[int] = ()
) -> list[tuple[str, str]]:
    """So many instances, by some authors first. Where there are more than authors, some ask twice."""
    everybody = list(dict.fromkeys([*first, *people.notable, *range(people.library.authors)]))
    names = [people.name(everybody[number % len(everybody)]) for number in range(count)]
    return [(f"q{number}", template.cqels(name)) for number, name in enumerate(names)]


def cost(world: World, queries: Sequence[tuple[str, str]], runner: str = "direct") -> float:
    """Microseconds of processor time for each sighting: the least of the batches after the first two."""
    ends: list[tuple[float, int]] = []

    def observe(metrics: Metrics) -> None:
        ends.append((time.process_time(), metrics.triples))

    with tempfile.TemporaryDirectory(prefix="weir-crowd-") as name:
        engine = world.engine(queries, "cqels", runner)
        engine.run(sinks=[lambda logs: ResultsFolder(Path(name), logs / "results.log")], observer=observe)
    steps = [(end[0] - start[0], end[1] - start[1]) for start, end in pairwise(ends) if end[1] > start[1]]
    return 1e6 * min(seconds / triples for seconds, triples in steps[1:])


def crowds(report: Report, quick: bool) -> None:
    """Experiment 3 on a library of 10^5 triples."""
    people = conference(100_000)
    counts = (1, 64, 1024) if quick else (*CROWDS, MANY)
    rows: dict[str, Any] = {"instances": list(counts), "published_ms": PUBLISHED_MS}
    box = BlackBox(store_of(people), sightings(people, Dictionary(), FILL + _ASKED))
    with tempfile.TemporaryDirectory(prefix="weir-crowds-") as name:
        world = World.write(people, Path(name), 6 if quick else 10)
        for template in QUERIES:
            costs = []
            for count in counts:
                report.step(f"{template.name}, {count:,} instances")
                queries = instances(people, template, count)
                costs.append(min(cost(world, queries) for _ in range(_RUNS if count < MANY else 1)))
            rows[template.name] = costs
            rows[f"{template.name} store"] = _asked(box, people, template, counts)
            ratio = costs[counts.index(1024)] / costs[0]
            report.goal(f"{template.name}: cost of 1,024 instances / of one", ratio, 20, "×", at_least=False)
    compared = compare(people, 64 if quick else 1024)
    rows["solutions_compared"] = compared
    report.figures["instances"] = rows


def _asked(
    box: BlackBox, people: Conference, template: Template, counts: Sequence[int]
) -> list[float | None]:
    """Microseconds a sighting where the store evaluates every instance; None where that would take long."""
    costs: list[float | None] = []
    seconds: list[float] = []
    begin = time.perf_counter()
    for count in counts:
        for author in people.notable[len(seconds) : count]:
            if time.perf_counter() - begin > _PATIENCE:
                break
            text = template.sparql(people.name(author))
            seconds.append(box.run(template, text, FILL, FILL + _ASKED)[0])
        # There are more instances than notable authors; the mean of those stands for the others.
        late = time.perf_counter() - begin > _PATIENCE
        costs.append(None if late else 1e6 * float(np.mean(seconds)) * count)
    return costs


def compare(people: Conference, count: int, sighted: int = _ASKED) -> dict[str, int]:
    """The solutions of every instance at the latest sightings, by a job and by the store: how many there are,
    all of them equal. Those who are seen then ask first. Raises ``AssertionError`` where any differ."""
    found = {}
    box = BlackBox(store_of(people), sightings(people, Dictionary(), FILL + sighted))
    with tempfile.TemporaryDirectory(prefix="weir-crowds-") as name:
        world = World.write(people, Path(name), 1, sighted)
        seen = day(people, 0, world.sightings, 100.0, 1)[1][-sighted:].tolist()
        for template in QUERIES:
            queries = instances(people, template, count, first=seen)
            told = _job_solutions(world, template, queries, Path(name) / template.name, sighted)
            found[template.name] = 0
            for own, text in queries:
                author = text.split('foaf:name "')[-1].split('"')[0]
                due = box.run(template, template.sparql(author), FILL, FILL + sighted)[1]
                if told[own] != due:
                    raise AssertionError(
                        f"{template.name}, {author}: a job finds {told[own]}, the store {due}"
                    )
                found[template.name] += sum(map(len, due))
    return found


def _job_solutions(
    world: World, template: Template, queries: Sequence[tuple[str, str]], folder: Path, sighted: int
) -> dict[str, list[Solutions]]:
    """The distinct solutions of each query at the latest sightings."""
    texts = [(name, write(everything(text, name), Dialect.RSPQL)) for name, text in queries]
    engine = world.engine(texts, "rspql", "direct")
    engine.run(sinks=[lambda logs: ResultsFolder(folder, logs / "results.log")])
    times = day(world.people, 0, world.sightings, 100.0, 1)[0][-sighted:].tolist()
    found: dict[str, list[Solutions]] = {name: [set() for _ in times] for name, _ in queries}
    for name, table in read_results(folder):
        at = table["at"].to_pylist()
        columns = [table[each].to_pylist() for each in table.column_names if each not in ("at", "op")]
        for time_, *row in zip(at, *columns, strict=True):
            if time_ in times:
                found[name][times.index(time_)].add(tuple(row))
    return found


def draw_crowds(report: Report, folder: str | Path) -> None:
    """The figure of experiment 3."""
    crowd = report.figures["instances"]
    title = "Cost of a sighting as queries are added"
    with figure(folder, "conference-queries", title=title, x="queries", y="microseconds (log)") as axes:
        for number, template in enumerate(QUERIES):
            query = template.name
            axes.plot(crowd["instances"], crowd[query], f"C{number}o-", label=query)
            asked = [np.nan if cost is None else cost for cost in crowd[f"{query} store"]]
            axes.plot(crowd["instances"], asked, f"C{number}x:", label=f"{query}, pyoxigraph again each time")
        for name, published in PUBLISHED_MS.items():
            axes.scatter([1000], [1000 * published], marker="*", s=80, label=f"{name}, published")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
