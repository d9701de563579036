"""Figures 2 to 5 of Planning Ahead on the simulated clock, each with the bound, repeated with seeds.

A *cell* is one setting and budget: the freshness that each contender reaches, seed by seed, and the bound.
Orderings are judged on shares of the bound, which take the luck of a draw (how much goes stale, how often
it is needed) out of the comparison: a spread is the 95 % confidence interval of the mean share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from weir_bench.freshness.bound import bound
from weir_bench.freshness.data import Setting, trace
from weir_bench.freshness.simulation import Contender, simulate

PLAIN = (Contender.RAND, Contender.LRU, Contender.SBM, Contender.IBM)
FLEXIBLE = (*PLAIN, Contender.FBA)
EVERY = tuple(Contender)


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean with its standard deviation and the half-width of its 95 % confidence interval."""

    mean: float
    deviation: float
    half: float

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        count = len(values)
        deviation = float(np.std(values, ddof=1)) if count > 1 else 0.0
        half = float(stats.t.ppf(0.975, count - 1)) * deviation / np.sqrt(count) if count > 1 else 0.0
        return Spread(float(np.mean(values)), deviation, float(half))

    def above(self, other: Spread) -> float:
        """How far this interval lies above another; negative where they overlap."""
        return (self.mean - self.half) - (other.mean + other.half)

    def as_json(self) -> dict[str, float]:
        return {"mean": self.mean, "deviation": self.deviation, "half_width_95": self.half}


@dataclass(frozen=True, slots=True)
class Cell:
    """What came out of one setting and budget."""

    setting: Setting
    budget: int
    freshness: Mapping[Contender, Sequence[float]]
    bound: Sequence[float]

    def spread(self, contender: Contender) -> Spread:
        return Spread.of(self.freshness[contender])

    def share(self, contender: Contender) -> Spread:
        """Freshness as a share of the bound, over the seeds whose bound was computed."""
        limit = np.array(self.bound)
        reached = np.array(self.freshness[contender][: len(limit)])
        return Spread.of((reached / np.maximum(limit, 1e-12)).tolist())

    def improvement(self, better: Contender, worse: Contender) -> float:
        """By how much of the worse one's mean the better one's mean is higher."""
        low = float(np.mean(self.freshness[worse]))
        return (float(np.mean(self.freshness[better])) - low) / low if low > 0 else float("inf")

    def as_json(self) -> dict[str, Any]:
        shares = {c.value: self.share(c).as_json() for c in self.freshness} if self.bound else {}
        return {
            "setting": {name: getattr(self.setting, name) for name in Setting.__slots__},
            "budget": self.budget,
            "freshness": {c.value: list(values) for c, values in self.freshness.items()},
            "spread": {c.value: self.spread(c).as_json() for c in self.freshness},
            "bound": list(self.bound),
            "share_of_bound": shares,
        }


def cell(
    setting: Setting,
    budget: int,
    seeds: int,
    contenders: Sequence[Contender] = EVERY,
    *,
    bounded: int | None = None,
) -> Cell:
    """Run a setting; the bound is computed for the first ``bounded`` seeds (all, if not said)."""
    reached: dict[Contender, list[float]] = {contender: [] for contender in contenders}
    limits: list[float] = []
    for seed in range(seeds):
        data = trace(setting, seed)
        for contender in contenders:
            reached[contender].append(simulate(data, contender, budget, seed).freshness)
        if bounded is None or seed < bounded:
            limits.append(bound(data, budget))
    return Cell(setting, budget, reached, limits)


@dataclass(frozen=True, slots=True)
class Figure:
    """One plot of the paper: cells along an axis."""

    name: str
    title: str
    axis: str
    labels: tuple[str, ...]
    cells: tuple[Cell, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "axis": self.axis,
            "x": list(self.labels),
            "cells": [c.as_json() for c in self.cells],
        }


FOLLOWERS = Setting(left=100, right=100, edges=300, zipf=0.2, beta=(50.0, 1.0))
"""As the paper's Twitter data: 100 users, few of whom change often, degrees of Zipf parameter 0.2."""


def figure_2(seeds: int) -> list[Figure]:
    """Case 1: density, skew, budget, range of change intervals."""
    edges, skews, budgets = (500, 1000, 1500, 2000), (1.0, 0.8, 0.5, 0.3), (5, 10, 20, 30)
    ranges = ((100, 3000), (500, 2000), (800, 1200))
    return [
        Figure(
            "figure-2a",
            "Figure 2(a): density",
            "edges",
            tuple(map(str, edges)),
            tuple(cell(Setting(edges=n), 10, seeds) for n in edges),
        ),
        Figure(
            "figure-2b",
            "Figure 2(b): skew of selectivity",
            "Zipf parameter",
            tuple(map(str, skews)),
            tuple(cell(Setting(zipf=s), 10, seeds) for s in skews),
        ),
        Figure(
            "figure-2c",
            "Figure 2(c): budget",
            "budget γ",
            tuple(map(str, budgets)),
            tuple(cell(Setting(), g, seeds) for g in budgets),
        ),
        Figure(
            "figure-2d",
            "Figure 2(d): change intervals",
            "change interval, ms",
            tuple(f"{low}-{high}" for low, high in ranges),
            tuple(cell(Setting(change=r), 10, seeds) for r in ranges),
        ),
    ]


def figure_3(seeds: int) -> list[Figure]:
    """Case 2: skew at the printed defaults, where 20 values make an aggregate; and the sparse case."""
    skews, budgets = (1.0, 0.8, 0.5, 0.3), (3, 4, 5)
    return [
        Figure(
            "figure-3a",
            "Figure 3(a): aggregates, skew",
            "Zipf parameter",
            tuple(map(str, skews)),
            tuple(cell(Setting(zipf=s, aggregate=True), 10, seeds, PLAIN, bounded=1) for s in skews),
        ),
        Figure(
            "figure-3b",
            "Figure 3(b): aggregates, 100 edges",
            "budget γ",
            tuple(map(str, budgets)),
            tuple(cell(Setting(edges=100, aggregate=True), g, seeds, FLEXIBLE) for g in budgets),
        ),
    ]


def figure_4(seeds: int, change: tuple[int, int] = (100, 3000)) -> Figure:
    """H3: FBA against IBM under the alternating rate."""
    budgets = (5, 10, 15)
    contenders = (Contender.IBM, Contender.FBA_PRINTED, Contender.FBA)
    setting = Setting(alternating=True, change=change)
    return Figure(
        f"figure-4-{change[0]}-{change[1]}",
        f"Figure 4: flexible budgets, intervals {change[0]}-{change[1]} ms",
        "budget γ",
        tuple(map(str, budgets)),
        tuple(cell(setting, g, seeds, contenders) for g in budgets),
    )


def figure_5(seeds: int) -> list[Figure]:
    """Follower counts, both cases."""
    budgets = (5, 10, 20, 30)
    counted = Setting(**{**_fields(FOLLOWERS), "aggregate": True})
    return [
        Figure(
            "figure-5-case-1",
            "Figure 5: follower counts",
            "budget γ",
            tuple(map(str, budgets)),
            tuple(cell(FOLLOWERS, g, seeds) for g in budgets),
        ),
        Figure(
            "figure-5-case-2",
            "Figure 5: sums of follower counts",
            "budget γ",
            tuple(map(str, budgets)),
            tuple(cell(counted, g, seeds, PLAIN, bounded=min(seeds, 3)) for g in budgets),
        ),
    ]


def correlation(seeds: int) -> Figure:
    """Whether what is joined with more often changes less (1) or more (−1) often."""
    values = (-0.9, -0.5, 0.0, 0.5, 0.9)
    return Figure(
        "correlation",
        "Change interval against selectivity (Zipf 0.5)",
        "correlation",
        tuple(map(str, values)),
        tuple(cell(Setting(zipf=0.5, correlation=rho), 10, seeds) for rho in values),
    )


def _fields(setting: Setting) -> dict[str, Any]:
    return {name: getattr(setting, name) for name in Setting.__slots__}


def courses(setting: Setting, budget: int, seed: int) -> dict[str, dict[str, list[int]]]:
    """Figure 4's curves for one draw: stale rows accumulated, and refreshes spent, by evaluation."""
    data = trace(setting, seed)
    found = {}
    for contender in (Contender.IBM, Contender.FBA_PRINTED, Contender.FBA):
        run = simulate(data, contender, budget, seed)
        found[contender.value] = {"stale": run.stale.tolist(), "spent": run.spent[run.first :].tolist()}
    return found


def ninety_nine(seeds: int) -> dict[str, Any]:
    """Where FBA passes 99 % fresh: the least γ at the printed change intervals, and the shortest range of
    the printed shape (a factor of three) at γ = 15."""
    contenders = (Contender.IBM, Contender.FBA)
    by_budget = []
    for budget in range(30, 46, 2):
        found = cell(Setting(alternating=True), budget, seeds, contenders)
        by_budget.append(found)
        if found.spread(Contender.FBA).mean >= 0.99:
            break
    by_range = []
    for low in range(1000, 4000, 250):
        found = cell(Setting(alternating=True, change=(low, 3 * low)), 15, seeds, contenders)
        by_range.append(found)
        if found.spread(Contender.FBA).mean >= 0.99:
            break
    return {
        "least_budget_at_printed_intervals": by_budget[-1].budget,
        "shortest_intervals_at_budget_15": list(by_range[-1].setting.change),
        "by_budget": [c.as_json() for c in by_budget],
        "by_intervals": [c.as_json() for c in by_range],
        "freshness": by_range[-1].spread(Contender.FBA).mean,
        "ibm_there": by_range[-1].spread(Contender.IBM).mean,
    }
