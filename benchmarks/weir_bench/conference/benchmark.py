"""``weir bench conference``: CQELS section 5. Experiment 1 at the level of the kernel, experiment 3 as a job
runs it (``crowds``); where it is not quick, also experiment 2, whose static data Spark writes and loads.

For each query: the average cost of an evaluation in slabs of many sightings, and in slabs of one (nothing
is amortised), beside a triple store that evaluates the query anew at each sighting (measured in the same
run), and the published figures of CQELS, C-SPARQL and ETALIS as reference lines. Times are the processor
time of the one thread that works, so that what else runs on the machine adds little.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from weir.kernel.contract import Background, Slab
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.operators.join import Policy
from weir.language import parse
from weir.rdf.ids.dictionary import Dictionary
from weir_bench.conference import scale as conference_scale
from weir_bench.conference.agreement import FILL, agree
from weir_bench.conference.blackbox import BlackBox, Solutions, store_of
from weir_bench.conference.crowds import crowds, draw_crowds
from weir_bench.conference.queries import PUBLISHED, QUERIES, Template
from weir_bench.data.conference import (
    RFID,
    ROOMS,
    Conference,
    Sightings,
    background,
    conference,
    sightings,
)
from weir_bench.plots import figure
from weir_bench.report import Report

RATE = 100.0
"""Sightings a second."""

SLAB = 1000


ROUTED = 5_000
"""Sightings that each routing policy is measured over, quickly."""


@dataclass(frozen=True, slots=True)
class World:
    """The data of a run, encoded."""

    people: Conference
    background: Background
    dictionary: Dictionary
    stream: Sightings


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds per evaluation, answers per evaluation, and how often each order of joins was taken."""

    microseconds: float
    answers: float
    live_rows: int = 0
    flows: Mapping[str, int] = field(default_factory=dict)


def run(quick: bool = False, json: str | Path | None = None, plot: str | Path | None = None) -> Report:
    """Run everything; about a minute if ``quick``."""
    report = Report("conference", quick)
    world = _world(100_000, 60_000 if quick else 200_000)
    report.figures["data"] = _described(world)
    instances = 10
    many = 10_000 if quick else 40_000
    black_box = BlackBox(store_of(world.people), world.stream)
    rows: dict[str, Any] = {}
    for place, template in enumerate(QUERIES):
        rows[template.name] = _query(report, world, black_box, template, place, instances, many, quick)
    report.figures["queries"] = rows
    report.figures["published_ms"] = {name: list(values) for name, values in PUBLISHED.items()}
    _growth(report, world, quick)
    _history(report, world, quick)
    _routing(report, world, quick)
    crowds(report, quick)
    if not quick:
        conference_scale.static_size(report)
    if plot is not None:
        _draw(report, plot)
        conference_scale.draw(report, plot)
        draw_crowds(report, plot)
    if json is not None:
        report.write(json)
    return report


def _world(triples: int, count: int) -> World:
    people = conference(triples)
    dictionary = Dictionary()
    static = background(people, dictionary)
    return World(people, static, dictionary, sightings(people, dictionary, count, RATE))


def _described(world: World) -> dict[str, Any]:
    people = world.people
    return {
        "library_triples": people.library.triples,
        "floorplan_triples": len(people.floorplan),
        "authors": people.library.authors,
        "papers": people.library.papers,
        "participants": len(people.participants),
        "rooms": ROOMS,
        "doors_per_room": people.degrees(),
        "sightings_per_second": RATE,
        "slab": SLAB,
    }


def _query(
    report: Report,
    world: World,
    black_box: BlackBox,
    template: Template,
    place: int,
    instances: int,
    many: int,
    quick: bool,
) -> dict[str, Any]:
    """One query's costs, goals and agreement with the store."""
    authors = world.people.notable[: min(instances, template.instances)]
    names = [world.people.name(author) for author in authors]
    rounds = 3 if len(names) > 1 else 10
    again = 60 if quick else 200
    slabs: list[Cost] = []
    ones: list[Cost] = []
    boxes: list[float] = []
    for name in names:
        text = template.cqels(name)
        slabs.append(_best(partial(measure, world, text, SLAB, many), rounds))
        ones.append(_best(partial(measure, world, text, 1, 10 * again), rounds))
        found: list[Solutions] = []
        seconds: list[float] = []
        for _ in range(rounds):
            spent, found = black_box.run(template, template.sparql(name), FILL, FILL + again)
            seconds.append(spent)
        boxes.append(1e6 * min(seconds))
        agree(template, text, world.background, world.dictionary, world.stream, found)
    slab = float(np.mean([cost.microseconds for cost in slabs]))
    one = float(np.mean([cost.microseconds for cost in ones]))
    box = float(np.mean(boxes))
    published = 1000.0 * PUBLISHED["CQELS"][place]
    report.goal(f"{template.name}: published CQELS / slab", published / slab, 100, "×")
    report.goal(f"{template.name}: re-evaluation / slab", box / slab, 50, "×")
    report.goal(f"{template.name}: re-evaluation / slab of one", box / one, 2, "×")
    return {
        "instances": len(names),
        "slab_us": slab,
        "slab_of_one_us": one,
        "reevaluation_us": box,
        "answers_per_triple": float(np.mean([cost.answers for cost in slabs])),
        "live_rows": int(np.mean([cost.live_rows for cost in slabs])),
        "slab_us_by_instance": [cost.microseconds for cost in slabs],
        "reevaluation_us_by_instance": boxes,
    }


def _best(once: Callable[[], Cost], rounds: int) -> Cost:
    """The least of several rounds: what others do on the machine only ever adds."""
    return min((once() for _ in range(rounds)), key=lambda cost: cost.microseconds)


def measure(
    world: World, text: str, size: int, count: int, *, skip: int = FILL, policy: Policy = Policy.COST
) -> Cost:
    """The average cost of an evaluation over ``count`` sightings in slabs of ``size``."""
    query = parse(text, "cqels")
    evaluator = IntervalEvaluator(query, world.background, world.dictionary, policy=policy)
    stream = world.stream
    evaluator.advance(Slab({RFID: stream.batch(0, skip)}, int(stream.time[skip - 1])))
    ends = list(range(skip + size, skip + count + 1, size))
    slabs = [Slab({RFID: stream.batch(end - size, end)}, int(stream.time[end - 1])) for end in ends]
    evaluations = answers = 0
    begin = time.thread_time()
    for slab in slabs:
        found = evaluator.advance(slab)
        evaluations += found.evaluations
        answers += len(found.at)
    spent = time.thread_time() - begin
    told = evaluator.statistics()
    return Cost(1e6 * spent / evaluations, answers / evaluations, int(told["live_rows"]), told["routes"])


def _growth(report: Report, world: World, quick: bool) -> None:
    """Cost per evaluation of Q2 with windows of 3, 6, 12 and 24 seconds."""
    template = QUERIES[1]
    widths = (3, 6, 12, 24)
    count = 5_000 if quick else 20_000
    costs = [_best(partial(measure, world, template.cqels("", width), SLAB, count), 3) for width in widths]
    report.figures["window_growth"] = {
        "seconds": list(widths),
        "rows": [int(width * RATE) for width in widths],
        "slab_us": [cost.microseconds for cost in costs],
        "answers_per_triple": [cost.answers for cost in costs],
    }
    ratio = (costs[-1].microseconds / costs[0].microseconds) / (widths[-1] / widths[0])
    report.goal("Q2: growth of cost / growth of window", ratio, 1.25, "×", at_least=False)


def _history(report: Report, world: World, quick: bool) -> None:
    """Cost per evaluation and live rows at the beginning and at the end of a long stream (Q5)."""
    template = QUERIES[4]
    text = template.cqels(world.people.name(world.people.notable[0]))
    evaluator = IntervalEvaluator(parse(text, "cqels"), world.background, world.dictionary)
    stream = world.stream
    size = SLAB
    parts: list[float] = []
    live: list[int] = []
    held: list[int] = []
    tenth = len(stream) // 10 // size * size
    for start in range(0, 10 * tenth, tenth):
        best: list[float] = []
        for low in range(start, start + tenth, size):
            slab = Slab({RFID: stream.batch(low, low + size)}, int(stream.time[low + size - 1]))
            begin = time.thread_time()
            evaluator.advance(slab)
            best.append(1e6 * (time.thread_time() - begin) / size)
        parts.append(float(np.median(best)))
        statistics = evaluator.statistics()
        live.append(int(statistics["live_rows"]))
        held.append(int(statistics["bytes"]))
    report.figures["history"] = {"slab_us_by_tenth": parts, "live_rows": live, "bytes": held}
    early, late = float(np.median(parts[1:4])), float(np.median(parts[-3:]))
    report.goal("Q5: cost late / early in the stream", late / early, 1.5, "×", at_least=False)
    report.goal("Q5: live rows late / early", live[-1] / live[1], 1.2, "×", at_least=False)


def _routing(report: Report, world: World, quick: bool) -> None:
    """Every query by both routing policies: cost (CQELS, Example 1) and cardinality (Algorithm 2)."""
    found: dict[str, Any] = {}
    count = ROUTED if quick else 4 * ROUTED
    name = world.people.name(world.people.notable[0])
    for template in QUERIES:
        costs = {
            policy: _best(partial(measure, world, template.cqels(name), SLAB, count, policy=policy), 3)
            for policy in Policy
        }
        if len({cost.answers for cost in costs.values()}) > 1:
            raise AssertionError(f"{template.name}: the answers depend on the routing")
        found[template.name] = {
            f"{policy.value}_{what}": value
            for policy, cost in costs.items()
            for what, value in (("us", cost.microseconds), ("flows", dict(cost.flows)))
        }
    report.figures["routing"] = found


def _draw(report: Report, folder: str | Path) -> None:
    rows = report.figures["queries"]
    names = list(rows)
    place = np.arange(len(names))
    bars = {
        "Weir, slabs": [rows[name]["slab_us"] for name in names],
        "Weir, slabs of one": [rows[name]["slab_of_one_us"] for name in names],
        "pyoxigraph, again each time": [rows[name]["reevaluation_us"] for name in names],
    }
    title = "Average cost of an evaluation"
    with figure(folder, "conference", title=title, x="query", y="microseconds (log)") as axes:
        for number, (label, values) in enumerate(bars.items()):
            axes.bar(place + 0.25 * (number - 1), values, 0.25, label=label)
        for name, marker in (("CQELS", "_"), ("C-SPARQL", "x"), ("ETALIS", "+")):
            values = [1000 * value for value in PUBLISHED[name]]
            axes.scatter(place, values, marker=marker, s=80, label=f"{name}, published", zorder=3)
        axes.set_yscale("log")
        axes.set_xticks(place, names)
    growth = report.figures["window_growth"]
    title = "Q2: cost grows with what a window holds"
    with figure(folder, "conference-window", title=title, x="rows in the window", y="microseconds") as axes:
        axes.plot(growth["rows"], growth["slab_us"], marker="o")
        axes.set_ylim(bottom=0)
