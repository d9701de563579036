"""The benchmark of slots: it measures every number of slots, and each ratio is a goal."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="plots need matplotlib (extra: bench)")

from weir.runtime.output.outputs import merged
from weir.runtime.output.partial_answers import PART
from weir_bench.scale import benchmark as scale
from weir_bench.scale.costs import COUNTS, SPAN, Sample, Stages, dealt, fitted
from weir_bench.scale.driver import Batch, Spent, cpu_seconds
from weir_bench.scale.growth import Growth, Mark
from weir_bench.scale.model import STEPS, Cluster, Costs, batch, makespan, parts_of, spent, sustained
from weir_bench.scale.readings import crowd, hot, readings
from weir_bench.scale.simulate import RATE, extrapolated, working


def test_readings_are_lines_that_repeat() -> None:
    assert readings(50) == readings(50)
    assert readings(50).count(b"\n") == 50


def test_every_number_of_slots_is_measured() -> None:
    found = scale.measure(400, 1)
    assert tuple(found) == scale.SLOTS
    for each in found.values():
        assert each["match_ns"] > 0 and each["parse_ns"] > 0
        assert each["bytes"] > 2 * 8, "at least the ids of a triple's subject and object"


def test_processor_time_is_that_of_a_process_and_all_below_it() -> None:
    """A child of a child computes; what it spent counts for whoever is above."""
    code = "import time; until = time.process_time() + 0.3\nwhile time.process_time() < until: pass"
    before = cpu_seconds([os.getpid()])
    subprocess.run(
        [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"]
    )
    assert cpu_seconds([os.getpid()]) - before > 0.29
    assert cpu_seconds([2**22 + 1]) == 0, "there is no such process"


def test_what_one_more_result_costs_is_the_difference_of_batches() -> None:
    small, large = [Batch(10, 1.0, 3.0)] * 3, [Batch(110, 2.0, 53.0)] * 2
    spent = Spent(small, large)
    assert spent.share() == 4 / 106
    assert spent.per_result("driver") == pytest.approx(0.01)
    assert spent.per_result("workers") == pytest.approx(0.5)


def test_growth_compares_what_came_first_with_everything() -> None:
    marks = [Mark(n, s, m, 5) for n, s, m in ((10, 1.0, 7), (20, 2.0, 9), (30, 3.5, 8), (40, 5.5, 11))]
    grown = Growth(marks)
    assert grown.per_triple(10) == 0.1 and grown.per_triple(30) == 0.15
    assert grown.python(20) == 9 and grown.python(30) == 11


def test_costs_are_told_apart() -> None:
    shapes = [(1, 10, 2), (1, 1000, 2), (1, 10, 500), (1, 1000, 500)]
    turns = [[0.5 + 0.01 * n + 0.002 * k + extra for _, n, k in shapes] for extra in (0.0, 0.1)]
    fixed, triple, frame = fitted(shapes, turns)
    assert fixed.values == pytest.approx((0.5, 0.6)) and fixed.median == pytest.approx(0.55)
    assert triple.values == pytest.approx((0.01, 0.01)) and frame.values == pytest.approx((0.002, 0.002))
    nothing = fitted([(1, 1), (1, 2)], [[1.0, 0.9]])
    assert min(nothing[1].values) == 0, "nothing costs less than nothing"


def test_the_work_of_a_slot_is_that_of_a_job(tmp_path: Path) -> None:
    """Every reading of a slot is answered once, however many parts bring them; groups come in parts."""
    stages = Stages(tmp_path / "rooms", 2)
    for parts in (1, 5):
        found = [said for _, said in islice(stages.slot(1, stages.frames(1, 300, parts)), 3)][2]
        rows = sum(map(len, merged([row for row in found if row.kind == "jsonl"])))
        assert rows == stages.frames(1, 300, 1)[0].messages.message.size
    counts = Stages(tmp_path / "counts", 2, COUNTS)
    said = [said for _, said in islice(counts.slot(1, counts.frames(1, 300, 2)), 3)][2]
    assert [row.kind for row in said if row.kind != "metrics"] == [PART]
    assert counts.put_together(said) > 0
    assert stages.committed(1, 2, [row for row in found if row.kind == "metrics"]) > 0
    assert len(stages.results.parts(1)) == 2
    took, shares = stages.planned(4, 1 << 20)
    assert took > 0 and sum(map(len, shares)) >= 4


def test_one_hot_key_has_no_slot_for_itself(tmp_path: Path) -> None:
    data = hot(6_000, SPAN)
    assert data.count(b"room/0>") >= 3_000
    assert max(dealt(tmp_path, 8, data, COUNTS)) < 1.3


FLAT = Sample((0.001, 0.002))
COSTS = Costs(*[FLAT] * 18, noise=Sample((0.9, 1.0, 1.2)))


def test_tasks_go_to_the_core_that_is_free() -> None:
    assert makespan([3.0, 1.0, 1.0, 1.0], 2) == 3.0
    assert makespan([1.0] * 5, 2) == 3.0
    assert parts_of(10, 4) == 1 and parts_of(100_000_000, 1000) == 1000


def test_more_cores_keep_up_with_more(tmp_path: Path) -> None:
    rates = []
    for cores in (1, 4, 16):
        cluster = Cluster(cores, 2 * cores, cores, [1.0] * 2 * cores)
        steps = batch(COSTS, cluster, 1000)
        assert len(steps) == len(STEPS) and steps[3] == 0, "no query has a second stage"
        rate, steps = sustained(COSTS, cluster, 10.0)
        assert sum(steps) == pytest.approx(10, rel=0.02)
        rates.append(rate)
    assert rates == sorted(rates)
    slow = Cluster(4, 8, 4, [1.0] * 8, slower=2.0)
    assert sum(batch(COSTS, slow, 1000)) > sum(batch(COSTS, Cluster(4, 8, 4, [1.0] * 8), 1000))
    assert sustained(COSTS, cluster, 0.001)[0] == 0.0


def test_processor_time_is_that_of_all_cores() -> None:
    one, four = (Cluster(cores, 8, 4, [1.0] * 8) for cores in (1, 4))
    waited = COSTS.wait_batch.median
    assert spent(COSTS, one, 1000) == pytest.approx(sum(batch(COSTS, one, 1000)) - waited)
    assert spent(COSTS, four, 1000) == pytest.approx(spent(COSTS, one, 1000))
    assert sum(batch(COSTS, four, 1000)) < spent(COSTS, four, 1000)


def test_the_slots_of_a_cluster_have_what_the_router_gives_them(tmp_path: Path) -> None:
    work, noise = working(tmp_path, 2, 400)
    assert len(work) == 3 and all(cost >= 0 for each in work for cost in each.values)
    assert min(noise.values) <= 1 <= max(noise.values)
    told = extrapolated(tmp_path, COSTS, (4,), crowd(4_000, SPAN), draws=2)["4"]
    assert told["bottleneck"] in STEPS and told["rate"] < RATE
    assert 1 <= told["largest_slot"] < 1.5
