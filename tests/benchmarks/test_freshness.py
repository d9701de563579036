"""The freshness benchmark: data sets as printed, runs that keep their budget, bounds that hold."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.linked.service.config import PolicyName
from weir_bench.freshness import benchmark as freshness
from weir_bench.freshness.bound import bound, bound_without_phases
from weir_bench.freshness.data import Setting, Trace, trace
from weir_bench.freshness.figures import Cell, Figure, Spread, cell, courses
from weir_bench.freshness.learned import HOW, LONG, drawn, learned_cells, play
from weir_bench.freshness.overhead import Planner, exponent, planning_times
from weir_bench.freshness.server import run_on_server, scaled
from weir_bench.freshness.simulation import Contender, Run, simulate
from weir_bench.freshness.through_spark import run_through_spark
from weir_bench.freshness.zones import WEEK, zones
from weir_bench.report import Report

SMALL = Setting(left=6, right=6, edges=14, evaluations=12)


def test_the_printed_defaults() -> None:
    data = trace(Setting(), 3)
    pairs = set(zip(data.edge_left.tolist(), data.edge_right.tolist(), strict=True))
    assert len(pairs) == len(data.edge_left) == 1000
    assert data.interval.min() >= 100 and data.interval.max() <= 3000
    assert len(data.windows) == 50 and Setting().first == 5
    rows = np.mean([len(window.row_left) for window in data.windows])
    assert 50 * 4 / 2 < rows < 50 * 4 / 1
    assert all(window.row_life.min() >= 1 and window.row_life.max() <= 4 for window in data.windows)


def test_a_seed_is_a_data_set() -> None:
    one, two, other = trace(SMALL, 1), trace(SMALL, 1), trace(SMALL, 2)
    assert np.array_equal(one.interval, two.interval)
    assert np.array_equal(one.windows[-1].row_left, two.windows[-1].row_left)
    assert not np.array_equal(one.interval, other.interval)


def test_the_zipf_parameter_runs_backwards() -> None:
    def skew(zipf: float) -> float:
        data = trace(Setting(zipf=zipf, edges=500), 1)
        return float(np.std(np.bincount(data.edge_right, minlength=50)))

    assert skew(1.0) < skew(0.8) < skew(0.5) < skew(0.3)


@pytest.mark.parametrize("rho", [-0.9, 0.0, 0.9])
def test_the_correlation_of_interval_and_selectivity(rho: float) -> None:
    found = []
    for seed in range(12):
        data = trace(Setting(zipf=0.5, correlation=rho), seed)
        degree = np.bincount(data.edge_right, minlength=50)
        found.append(np.corrcoef(degree, data.interval)[0, 1])
    assert abs(np.mean(found) - rho) < 0.25


def test_followers_change_seldom_but_for_a_few() -> None:
    intervals = trace(replace(Setting(), right=100, left=100, beta=(50.0, 1.0)), 1).interval
    assert np.median(intervals) > 2200 and np.sort(intervals)[2] < 1500


def test_the_alternating_rate_is_a_little_higher() -> None:
    def rows(alternating: bool) -> float:
        setting = Setting(alternating=alternating, evaluations=200)
        return float(np.mean([len(w.row_left) for seed in range(3) for w in trace(setting, seed).windows]))

    assert 1.0 < rows(True) / rows(False) < 1.06


@pytest.mark.parametrize("aggregate", [False, True])
@pytest.mark.parametrize("contender", list(Contender))
def test_runs_keep_their_budget_and_stay_below_the_bound(contender: Contender, aggregate: bool) -> None:
    if aggregate and contender is Contender.FBA_PRINTED:
        pytest.skip("the paper has no FBA for aggregates")
    setting = replace(SMALL, aggregate=aggregate)
    for seed in range(6):
        data = trace(setting, seed)
        for budget in (1, 2, 4):
            run = simulate(data, contender, budget, seed)
            assert run.spent[: run.first].sum() <= budget * run.first
            assert run.spent[run.first :].sum() <= budget * (setting.evaluations - run.first)
            if contender not in (Contender.FBA, Contender.FBA_PRINTED):
                assert run.spent.max() <= budget
            assert 0 <= run.freshness <= bound(data, budget) + 1e-9


def test_enough_budget_keeps_everything_fresh() -> None:
    data = trace(SMALL, 1)
    assert simulate(data, Contender.IBM, 6, 1).freshness == 1.0
    assert bound(data, 6) == pytest.approx(1.0)


def played(data: Trace, plan: tuple[tuple[int, int], ...]) -> float:
    """The mean freshness of a plan of (evaluation, right node) requests."""
    copy = data.version(data.windows[0].at)
    shares = []
    for number, window in enumerate(data.windows):
        version = data.version(window.at)
        for _, right in [step for step in plan if step[0] == number]:
            copy[right] = version[right]
        weight = window.count[data.edge_left]
        shares.append(weight[copy[data.edge_right] == version[data.edge_right]].sum() / weight.sum())
    return float(np.mean(shares))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 1))
def test_the_bound_is_the_best_of_all_plans(seed: int, budget: int) -> None:
    """Two right nodes, four evaluations, no warm-up: every way to spend Γ = 4 γ."""
    setting = Setting(left=4, right=2, edges=6, evaluations=4, warm_up=0.0)
    data = trace(setting, seed)
    if min(len(window.row_left) for window in data.windows) == 0:
        return
    steps = [(number, right) for number in range(4) for right in range(2)]
    best = max(played(data, plan) for n in range(4 * budget + 1) for plan in combinations(steps, n))
    assert abs(bound(data, budget) - best) < 1e-9


def test_spreads_and_their_distance() -> None:
    high, low = Spread.of([0.9, 0.92, 0.91]), Spread.of([0.5, 0.52, 0.51])
    assert high.above(low) > 0.3
    assert low.above(high) < 0
    assert Spread.of([0.5]).half == 0.0


def test_a_run_accumulates_stale_rows() -> None:
    run = Run(np.array([10, 10, 10]), np.array([10, 5, 8]), np.array([1, 1, 1]), 1)
    assert run.stale.tolist() == [5, 7]
    assert run.freshness == pytest.approx(0.65)


def test_goals_of_a_small_run(tmp_path: Path) -> None:
    """The parts of ``run`` that are not measured in minutes, over small settings."""
    report = Report("freshness", True)
    cells: tuple[Cell, ...] = tuple(cell(SMALL, budget, 4) for budget in (1, 2))
    drawn = Figure("small", "small", "γ", ("1", "2"), cells)
    freshness._case_1(report, [drawn], tmp_path)
    freshness._optimum(report, 4)
    report.figures["courses"] = courses(SMALL, 2, 1)
    report.write(tmp_path / "out.json")
    assert (tmp_path / "small.png").exists() and (tmp_path / "out.json").exists()
    assert {goal.name for goal in report.goals} >= {
        "best improvement over the baselines",
        "SBM_BGP and IBM_BGP short of the exact optimum",
    }
    assert report.goals[-3].holds


@pytest.mark.parametrize("even", [True, False])
def test_who_is_told_nothing_learns(even: bool) -> None:
    """More than who never learns, no more than the bound, within the budget, and not deceived about it."""
    setting = replace(Setting(left=20, right=20, edges=80, zipf=0.3), **LONG)
    data = drawn(setting, 1, even=even)
    runs = {how: play(data, how, 3, 1, even=even) for how in HOW}
    assert runs["rand"].freshness < runs["learned"].freshness < bound(data, 3)
    assert max(run.most for run in runs.values()) <= 3
    learned = runs["learned"]
    assert learned.estimate == pytest.approx(learned.freshness, abs=0.08)
    assert learned.audited == pytest.approx(learned.freshness, abs=0.25)


def test_goals_of_who_is_told_nothing(tmp_path: Path) -> None:
    report = Report("freshness", True)
    freshness._learned(report, learned_cells(1, ["800-1200 ms"]), tmp_path)
    assert (tmp_path / "learned-equal.png").exists() and (tmp_path / "learned-random.png").exists()
    assert report.goals[0].holds and len(report.figures["learned"]) == 2


def test_time_zones_change_as_they_did() -> None:
    """A year of every twentieth zone: daylight saving begins and ends, elsewhere nothing happens."""
    first, last = datetime(2015, 1, 1, 12, tzinfo=UTC), datetime(2016, 1, 1, 12, tzinfo=UTC)
    data = zones(20, first, last)
    assert data.setting.evaluations == 52
    assert set(data.version(51 * WEEK).tolist()) == {0, 2}
    assert play(data, "learned", 2, 1, even=False).most <= 2


def test_planning_is_measured_by_size() -> None:
    times = planning_times(1, sizes=(1_000, 10_000, 20_000))
    assert set(times) == {"LRU", "SBM", "IBM", "FBA", "IBM_Agg"}
    assert exponent({10_000: 1.0, 100_000: 10.0}) == pytest.approx(1.0)
    assert 0 < len(Planner(1_000).plan(PolicyName.IBM)) <= 20


@pytest.mark.network
@pytest.mark.parametrize("policy", [PolicyName.IBM, PolicyName.FBA])
def test_a_run_on_a_real_server(policy: PolicyName) -> None:
    setting = scaled(Setting(left=8, right=8, edges=20, evaluations=10, change=(800, 4000)), 8)
    found = run_on_server(setting, 1, policy, 4)
    assert 0.3 < found.freshness <= 1.0
    assert 0 < found.refreshed <= 8
    assert found.planning < found.latency


@pytest.mark.parametrize("even", [True, False])
def test_who_knows_no_phases_has_a_bound(even: bool) -> None:
    """Every plan for two right nodes, one request an evaluation, and what each can be expected to give."""
    setting = Setting(left=3, right=2, edges=4, change=(1500, 6000), evaluations=6, warm_up=0.0)
    for seed in range(3):
        data = drawn(setting, seed, even=even)
        ages = np.arange(6)[:, None] * setting.slide / data.interval
        true = np.maximum(1 - ages, 0) if even else np.exp(-ages)
        best = 0.0
        for plan in product((0, 1), repeat=5):
            fetched, share = np.zeros(2, np.int64), []
            for number, window in enumerate(data.windows):
                if number:
                    fetched[plan[number - 1]] = number
                needs = np.bincount(data.edge_right, window.count[data.edge_left], 2)
                if needs.sum():
                    share.append(needs @ true[number - fetched, [0, 1]] / needs.sum())
            best = max(best, sum(share) / 6)
        limit = bound_without_phases(data, 1, even=even)
        assert best <= limit + 1e-9 <= 1.1 * best + 0.1


def test_no_bound_is_passed_where_changes_are_random() -> None:
    setting = replace(Setting(), **LONG)
    found = [drawn(setting, seed, even=False) for seed in range(3)]
    limit = np.mean([bound_without_phases(data, 10, even=False) for data in found])
    for how in HOW:
        reached = np.mean([play(d, how, 10, s, even=False).freshness for s, d in enumerate(found)])
        assert reached < limit
    assert limit < np.mean([bound(data, 10) for data in found])


@pytest.mark.network
def test_the_whole_path_is_judged_by_its_rows() -> None:
    """With a request for each right node everything is true from the second evaluation on; without, not."""
    setting = Setting(edges=40, left=10, right=10, evaluations=6, warm_up=1 / 3)
    rich, poor = (run_through_spark(setting, 1, "lru", budget, runner="direct") for budget in (10, 2))
    assert rich.freshness > 0.95 and rich.most <= 10
    assert poor.freshness < 0.8 and poor.most <= 2
