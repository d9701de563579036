"""The time of a batch on a cluster, from costs that were measured, as processor time.

The steps follow each other, as those of a job of Spark do: the driver plans the batch and sends tasks out,
readers read, slots work, one task puts together what slots answered to a query in two stages, the driver
commits. Within a step, tasks are dealt to cores as they get free. The cores are all alike.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from weir.runtime.ingest.parts import part_size
from weir_bench.scale.costs import Sample

LINE = 82
"""Bytes of a line of the stream, about."""
PER_CORE = 2
"""Slots to a core: cores may come."""

Draw = Callable[[Sample], float]


def typical(sample: Sample) -> float:
    """The median of what was measured."""
    return sample.median


def drawn(chance: np.random.Generator) -> Draw:
    """What one turn measured, any of them."""
    return lambda sample: float(chance.choice(sample.values))


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of processor time, each with its spread: of a reader a part, a triple, and a frame that it
    makes; of a slot a batch, a triple, and a frame that it reads; of Spark a batch, a task, a slot, a triple
    that moves, and the driver's part of a task; of planning a batch and a part; of a commit a batch, a task
    and a slot; of a second stage a slot. ``wait_batch`` is how long a batch waits for disks and for processes
    to hear of each other, while no core works. ``noise`` is how long tasks take that have the same to do,
    beside their median."""

    read_part: Sample
    read_triple: Sample
    read_frame: Sample
    slot_batch: Sample
    slot_triple: Sample
    slot_frame: Sample
    spark_batch: Sample
    spark_task: Sample
    spark_slot: Sample
    spark_triple: Sample
    driver_task: Sample
    plan_batch: Sample
    plan_part: Sample
    commit_batch: Sample
    commit_task: Sample
    commit_slot: Sample
    merge_slot: Sample
    wait_batch: Sample
    noise: Sample

    def as_json(self) -> dict[str, object]:
        return {each.name: getattr(self, each.name).as_json() for each in fields(self)}


@dataclass(frozen=True, slots=True)
class Cluster:
    """Cores with so many slots in so many tasks; ``loads`` are the slots' parts of the triples, beside the
    mean. Where ``staged``, one of the queries has a second stage. A core is ``slower`` where others work."""

    cores: int
    slots: int
    tasks: int
    loads: Sequence[float]
    staged: bool = False
    slower: float = 1.0


STEPS = ("driver: plan and send", "read", "slots", "put together", "driver: commit")


def makespan(seconds: Sequence[float], cores: int) -> float:
    """How long tasks take that are begun in their order, each by the core that is free first."""
    free = [0.0] * cores
    for each in seconds:
        heapq.heappush(free, heapq.heappop(free) + each)
    return max(free)


def parts_of(triples: float, cores: int) -> int:
    """Into how many parts the planner cuts a batch."""
    size = int(triples * LINE)
    return max(1, -(-size // part_size(size, cores)))


def added(seconds: Sequence[float], cores: int) -> float:
    """What tasks spend in all."""
    return sum(seconds)


def spent(costs: Costs, cluster: Cluster, triples: float) -> float:
    """Seconds of processor time of a batch."""
    return sum(batch(replace(costs, wait_batch=Sample((0.0,))), cluster, triples, together=added))


def batch(
    costs: Costs,
    cluster: Cluster,
    triples: float,
    draw: Draw = typical,
    noise: Draw | None = None,
    together: Callable[[Sequence[float], int], float] = makespan,
) -> list[float]:
    """Seconds of each of the ``STEPS`` of a batch. ``noise`` is drawn for every task by itself; the seconds
    of tasks on cores are put ``together``."""
    cost = {each.name: draw(getattr(costs, each.name)) for each in fields(costs)}
    parts = parts_of(triples, cluster.cores)
    readers = min(parts, cluster.cores)
    sent = cost["driver_task"] * (readers + cluster.tasks * (2 if cluster.staged else 1))
    beside = max(0.0, cost["spark_task"] - cost["driver_task"])

    def tasks(each: Sequence[float]) -> float:
        shaken = [cluster.slower * s * (noise(costs.noise) if noise else 1.0) for s in each]
        return together(shaken, cluster.cores)

    moved = cost["spark_triple"] / 2
    mine = parts / readers * cost["read_part"] + triples / readers * (cost["read_triple"] + moved)
    mine += parts / readers * cluster.slots * cost["read_frame"]
    read = tasks([beside + mine] * readers)
    per_slot = cost["spark_slot"] + cost["slot_batch"] + parts * cost["slot_frame"]
    per_triple = cost["slot_triple"] + moved
    work = [0.0] * cluster.tasks
    for slot, load in enumerate(cluster.loads):
        work[slot % cluster.tasks] += per_slot + load * triples / cluster.slots * per_triple
    slots = tasks([beside + each for each in work])
    second = beside + cluster.slots * cost["merge_slot"] if cluster.staged else 0.0
    plan = cost["wait_batch"] + cost["spark_batch"] + sent + cost["plan_batch"] + parts * cost["plan_part"]
    commit = cost["commit_batch"] + cluster.tasks * cost["commit_task"] + cluster.slots * cost["commit_slot"]
    return [plan, read, slots, second, commit]


def sustained(
    costs: Costs, cluster: Cluster, interval: float, draw: Draw = typical, noise: Draw | None = None
) -> tuple[float, list[float]]:
    """The most triples a second that batches of so many seconds keep up with, and the steps of such a batch;
    0 where even an empty batch takes longer."""
    low, high = 0.0, 1.0
    if sum(batch(costs, cluster, 1, draw, noise)) > interval:
        return 0.0, batch(costs, cluster, 1, draw, noise)
    while sum(batch(costs, cluster, high * interval, draw, noise)) < interval:
        low, high = high, 4 * high
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        enough = sum(batch(costs, cluster, middle * interval, draw, noise)) < interval
        low, high = (middle, high) if enough else (low, middle)
    return low, batch(costs, cluster, low * interval, draw, noise)
