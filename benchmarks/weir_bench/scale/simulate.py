"""``weir bench scale --simulate``: a cluster of up to a thousand cores, from costs measured on this machine.

The router, the work of a slot, the planner, the commit and the second stage are the code of a job, measured
in this process at the sizes that a cluster gives them. What Spark adds is measured by whole jobs on one core.
Before the model may say anything of a cluster it has to predict two things that it was not made from: what
the same batches cost on two cores, and with 512 slots. Costs are processor time. Two cores of one machine
share its memory and caches, often also a core's units: how much slower each of them is while both work is
measured by itself (``contention``), and counts for all that two cores do. How long the batches take is
compared as well, where nobody else used the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from weir_bench.plots import figure
from weir_bench.report import Report
from weir_bench.scale.costs import COUNTS, SPAN, Sample, Stages, contention, dealt, fitted
from weir_bench.scale.model import (
    PER_CORE,
    STEPS,
    Cluster,
    Costs,
    batch,
    drawn,
    parts_of,
    spent,
    sustained,
    typical,
)
from weir_bench.scale.readings import crowd
from weir_bench.scale.spark_runs import Stream, seconds_per_task, took

CORES = (10, 100, 1000)
RATE = 10_000_000
"""Triples a second in, and as many results out."""
INTERVAL = 10.0
"""Seconds of a batch on a cluster."""
CLOSE = 0.15
MANY = 512
_FEW = 66
_BESIDE = 16
_WARM = 2
_ALONE = 1.25
"""A job on one core takes little longer than its processor time, unless others use the core."""


def routing(folder: Path, turns: int, size: int) -> tuple[list[Sample], list[Sample]]:
    """Of the router seconds and bytes: a part, a triple, a frame."""
    shapes = [(slots, triples) for slots in (2, MANY) for triples in (size // 16, size)]
    stages = {slots: Stages(folder / f"route-{slots}", slots) for slots in (2, MANY)}
    data = {triples: crowd(triples, 1000) for _, triples in shapes}
    seconds, sizes = [], []
    for turn in range(turns + _WARM):
        found = [stages[slots].routed(data[triples]) for slots, triples in shapes]
        if turn >= _WARM:
            seconds.append([each[0] for each in found])
            sizes.append([float(each[2]) for each in found])
    rows = [(1.0, triples, slots) for slots, triples in shapes]
    return fitted(rows, seconds), fitted(rows, sizes)


def working(folder: Path, turns: int, size: int) -> tuple[list[Sample], Sample]:
    """Seconds of a slot: a batch, a triple, a frame; and how long the same work takes beside its median."""
    shapes = [(rows, parts) for rows in (size // 16, size) for parts in (4, 256)]
    stages = Stages(folder / "work", 2)
    found = []
    for rows, parts in shapes:
        frames = stages.frames(1, rows, parts)
        found.append([seconds for seconds, _ in islice(stages.slot(1, frames), _WARM, _WARM + turns)])
    noise = [each / median(of) for of in found for each in of]
    turned = list(zip(*found, strict=True))
    return fitted([(1.0, rows, parts) for rows, parts in shapes], turned), Sample(tuple(noise))


def driving(folder: Path, turns: int, most: int) -> tuple[list[Sample], list[Sample], Sample]:
    """Seconds of the driver: planning a batch and a part; a commit, a task and a slot of it; and those of a
    second stage for a slot. The largest of each has the size of a cluster of ``most`` cores."""
    small = Stages(folder / "told", 2)
    found = next(islice(small.slot(1, small.frames(1, 1000, 4)), 2, 3))[1]
    told = [row for row in found if row.kind != small.results.form]
    planned, committed, merged = [], [], []
    shapes = [(most // 10, 2), (most // 10, most // 10), (PER_CORE * most, 2), (PER_CORE * most, most)]
    drivers = {shape: Stages(folder / f"drive-{shape[0]}-{shape[1]}", shape[0]) for shape in shapes}
    staged = Stages(folder / "staged", PER_CORE * most, COUNTS)
    counted = Stages(folder / "counted", 2, COUNTS)
    parts = next(islice(counted.slot(1, counted.frames(1, 20_000, 4)), 2, 3))[1]
    files = [2, most // 10, most]
    for turn in range(turns + 1):
        listed = [Stages(folder / f"plan-{turn}-{each}", 2).planned(each, 1 << 20)[0] for each in files]
        done = [drivers[shape].committed(turn, shape[1], told) for shape in shapes]
        together = staged.put_together(parts) / staged.slots
        if turn:
            planned.append(listed)
            committed.append(done)
            merged.append(together)
    plan = fitted([(1.0, each) for each in files], planned)
    commit = fitted([(1.0, tasks, slots) for slots, tasks in shapes], committed)
    return plan, commit, Sample(tuple(merged))


def calibrated(folder: Path, report: Report, turns: int, size: int, stream: Stream, most: int) -> Costs:
    """All costs: those of this process, and what whole jobs on one core take beyond them."""
    report.step("the router and the work of a slot, in this process")
    route, sizes = routing(folder, turns, size)
    work, noise = working(folder, turns, size)
    report.step(f"the planner and the commit, up to {most:,} cores")
    plan, commit, merge = driving(folder, turns, most)
    report.step("whole jobs on one core: 2 slots, 16 tasks, 66 slots")
    stream.write()
    two = took(folder / "two", stream, 1, 2, 2)
    beside = took(folder / "beside", stream, 1, _BESIDE, _BESIDE)
    few = took(folder / "few", stream, 1, _FEW, 2)
    task = seconds_per_task(folder / "tasks", turns)
    report.figures["busy"] = two.large_elapsed.median / two.large.median
    report.figures["bytes"] = {
        name: each.as_json() for name, each in zip(("part", "triple", "frame"), sizes, strict=True)
    }
    report.figures["jobs"] = {
        f"{slots} slots, {tasks} tasks, 1 core": {**each.as_json()}
        for each, slots, tasks in ((two, 2, 2), (beside, _BESIDE, _BESIDE), (few, _FEW, 2))
    }
    none = Sample((0.0,) * turns)
    waited = Sample((two.waited,))
    every = [*route, *work, none, none, none, none, task, *plan, *commit, merge, waited, noise]
    known = Costs(**{each.name: cost for each, cost in zip(fields(Costs), every, strict=True)})
    return _with_spark(known, stream, two.small, two.large, beside.small, few.small)


def _with_spark(
    known: Costs, stream: Stream, two: Sample, large: Sample, beside: Sample, few: Sample
) -> Costs:
    """With what the jobs took beyond what is known, turn by turn. A task of a second job has a slot more."""
    one = {slots: Cluster(1, slots, tasks, [1.0] * slots) for slots, tasks in ((2, 2), (_FEW, 2))}
    many = Cluster(1, _BESIDE, _BESIDE, [1.0] * _BESIDE)
    # The driver's part of a task is in what a task takes, so it is left out here.
    bare = replace(known, driver_task=Sample((0.0,)))

    def rest(measured: Sample, cluster: Cluster, triples: int) -> list[float]:
        return [each - spent(bare, cluster, triples) for each in measured.values]

    small = rest(two, one[2], stream.small)
    slot = [
        max(0.0, (b - a) / (_FEW - 2)) for a, b in zip(small, rest(few, one[_FEW], stream.small), strict=True)
    ]
    task = [
        max(0.0, (b - a) / (_BESIDE - 2) - s)
        for a, b, s in zip(small, rest(beside, many, stream.small), slot, strict=True)
    ]
    triple = [
        max(0.0, (b - a) / (stream.large - stream.small))
        for a, b in zip(small, rest(large, one[2], stream.large), strict=True)
    ]
    # A small batch is read by one task.
    base = [max(0.0, a - 3 * t - 2 * s) for a, t, s in zip(small, task, slot, strict=True)]
    return replace(
        known,
        spark_batch=Sample(tuple(base)),
        spark_task=Sample(tuple(task)),
        spark_slot=Sample(tuple(slot)),
        spark_triple=Sample(tuple(triple)),
    )


def checked(folder: Path, report: Report, costs: Costs, stream: Stream, slower: Sample, alone: bool) -> bool:
    """Whether the model predicts what it was not made from: two cores, and many slots. How long they take is
    compared where nobody else was on the machine."""
    report.step(f"what the model has to predict: 2 cores with 2 slots, and with {MANY}")
    close = True
    for slots in (2, MANY):
        measured = took(folder / f"check-{slots}", stream, 2, slots, 2)
        loads = dealt(folder / f"loads-{slots}", slots, crowd(50_000, SPAN))
        cluster = Cluster(2, slots, 2, loads, slower=slower.median)
        what = "1 -> 2 cores" if slots == 2 else f"2 -> {slots} slots"
        kinds = {"processor time": (spent(costs, cluster, stream.large), measured.large)}
        if alone:
            kinds["time"] = (sum(batch(costs, cluster, stream.large)), measured.large_elapsed)
        report.figures[what] = {"measured": measured.as_json()}
        for kind, (predicted, seen) in kinds.items():
            off = predicted / seen.median - 1
            report.figures[what][kind] = {"predicted": predicted, "measured": seen.median, "off": off}
            report.goal(f"{what}, {kind}: predicted is off by", abs(off), CLOSE, at_least=False)
            close &= abs(off) <= CLOSE
    return close


def extrapolated(folder: Path, costs: Costs, cores: Sequence[int], people: bytes, draws: int = 40) -> Any:
    """For each number of cores what they keep up with, where the time goes, and how sure that is. The router
    deals the readings of ``people`` to the slots."""
    chance = np.random.default_rng(1)
    found: dict[str, dict[str, Any]] = {}
    for each in cores:
        loads = dealt(folder / f"cluster-{each}", PER_CORE * each, people)
        cluster = Cluster(each, PER_CORE * each, each, loads, staged=True)
        shaken = drawn(chance)
        rate, steps = sustained(costs, cluster, INTERVAL, typical, shaken)
        spread = [sustained(costs, cluster, INTERVAL, drawn(chance), shaken)[0] for _ in range(draws)]
        asked = batch(costs, cluster, RATE * INTERVAL, typical, shaken)
        found[str(each)] = {
            "rate": rate,
            "rate_10_90": np.percentile(spread, [10, 90]).tolist(),
            "steps": dict(zip(STEPS, steps, strict=True)),
            "bottleneck": STEPS[int(np.argmax(steps))],
            "steps_at_10M": dict(zip(STEPS, asked, strict=True)),
            "parts_at_10M": parts_of(RATE * INTERVAL, each),
            "largest_slot": max(loads),
        }
    return found


def simulate(quick: bool = False, plot: Path | None = None) -> Report:
    """Costs, what the model predicts of this machine, and what it says of a cluster if that is close."""
    report = Report("scale", quick)
    turns = 3 if quick else 7
    size = 20_000 if quick else 100_000
    most = 100 if quick else 1000
    with TemporaryDirectory(prefix="weir-bench-") as name:
        folder = Path(name)
        stream = Stream(folder / "stream", 4_000, 100_000 if quick else 800_000, turns)
        costs = calibrated(folder, report, turns, size, stream, most)
        slower = contention(crowd(size, 1000), turns)
        report.figures["costs"] = costs.as_json()
        report.figures["core beside a busy one"] = slower.as_json()
        alone = report.figures["busy"] < _ALONE
        if not alone:
            report.step("others use this machine: only processor time is compared")
        close = checked(folder, report, costs, stream, slower, alone)
        if not close:
            report.step("the model is not close enough: it says nothing of a cluster")
            return report
        report.step(f"{', '.join(f'{each:,}' for each in CORES)} cores")
        costs_on = replace(costs, **_slowed(costs, slower.median))
        found = extrapolated(folder, costs_on, CORES, crowd(1_000_000, SPAN))
    report.figures["clusters"] = found
    for each in CORES:
        told = found[str(each)]
        low, high = told["rate_10_90"]
        report.step(
            f"{each:,} cores keep up with {told['rate'] / 1e6:.1f} M triples/s ({low / 1e6:.1f} to "
            f"{high / 1e6:.1f}); most time: {told['bottleneck']}"
        )
    report.goal("1,000 cores", found["1000"]["rate"], RATE, "triples a second", at_least=True)
    if plot is not None:
        _draw(plot, found)
    return report


def _slowed(costs: Costs, by: float) -> dict[str, Sample]:
    """What cores do, as they do it where their neighbours are busy."""
    names = ("read_part", "read_triple", "read_frame", "slot_batch", "slot_triple", "slot_frame")
    return {
        name: Sample(tuple(by * value for value in getattr(costs, name).values))
        for name in (*names, "spark_task", "spark_slot", "spark_triple", "merge_slot")
    }


def _draw(folder: Path, found: dict[str, Any]) -> None:
    cores = [int(each) for each in found]
    with figure(folder, "scale-rate", title="What a cluster keeps up with", x="cores", y="triples/s") as axes:
        rates = [each["rate"] for each in found.values()]
        bounds = np.array([each["rate_10_90"] for each in found.values()]).T
        bars = np.abs(bounds - np.array(rates))
        axes.errorbar(cores, rates, yerr=bars, marker="o", capsize=3, label="simulated")
        axes.plot(cores, [rates[0] * each / cores[0] for each in cores], ls=":", label="in proportion")
        axes.axhline(RATE, ls="--", color="grey", label="10 M/s")
        axes.set_xscale("log")
        axes.set_yscale("log")
    with figure(
        folder, "scale-steps", title="Where the time of a batch goes", x="cores", y="seconds"
    ) as axes:
        below = np.zeros(len(cores))
        for step in STEPS:
            heights = np.array([each["steps"][step] for each in found.values()])
            axes.bar([f"{each:,}" for each in cores], heights, bottom=below, label=step)
            below += heights
