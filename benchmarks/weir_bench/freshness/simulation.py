"""A run of section 6 on a simulated clock: the policies as the engine uses them, a remote without delay.

The view starts fresh. Γ of the measured evaluations and of the warm-up are separate sums, so nothing can
be saved in the one for the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from weir.linked.service.budget import choose, horizon_of
from weir.linked.service.config import Budget, PolicyName
from weir.linked.service.ledger import Allowance, Ledger
from weir.linked.service.maintenance_graph import MaintenanceGraph, RightNodes, evaluations_fresh
from weir.linked.service.policies import fba, versions
from weir.rdf.columns import Ids, Mask
from weir_bench.freshness.data import Trace, Window


class Contender(Enum):
    """What is compared. FBA as printed knows only the rows of the present window; Weir's FBA also expects
    that others will come in their place."""

    RAND = "RAND"
    LRU = "LRU"
    SBM = "SBM"
    IBM = "IBM"
    FBA_PRINTED = "FBA as printed"
    FBA = "FBA"


@dataclass(frozen=True, slots=True)
class Run:
    """By evaluation: rows of the answer, how many of them fresh, refreshes spent."""

    rows: Ids
    fresh: Ids
    spent: Ids
    first: int

    @property
    def freshness(self) -> float:
        """The paper's indicator: the mean share of fresh rows over the measured evaluations."""
        rows, fresh = self.rows[self.first :], self.fresh[self.first :]
        shares: NDArray[np.float64] = np.divide(fresh, rows, out=np.ones(len(rows)), where=rows > 0)
        return float(shares.mean())

    @property
    def stale(self) -> Ids:
        """Stale rows accumulated from the first measured evaluation on."""
        return np.cumsum((self.rows - self.fresh)[self.first :])


def simulate(data: Trace, contender: Contender, budget: int, seed: int) -> Run:
    """Play a trace under a policy with ``budget`` refreshes an evaluation, or as many on the average."""
    setting = data.setting
    chance = np.random.default_rng((seed, list(Contender).index(contender)))
    copy = data.version(data.windows[0].at)
    updated = np.zeros(setting.right, np.int64)
    ledger, began = _ledger(setting.first or setting.evaluations, setting.slide, budget), data.windows[0].at
    rows, fresh, spent = [], [], []
    for number, window in enumerate(data.windows):
        if number == setting.first and number > 0:
            ledger, began = _ledger(setting.evaluations - number, setting.slide, budget), window.at
        version = data.version(window.at)
        graph, needed = _graph(data, window, updated)
        stale = needed & (copy != version)
        right = _right(data, window, updated)
        chosen = _choose(contender, data, window, graph, stale, right, ledger, budget, began, chance)
        ledger.spend("q", window.at - began, len(chosen))
        copy[chosen], updated[chosen] = version[chosen], window.at
        good = copy == version
        rows.append(_rows(data, window))
        fresh.append(_fresh(data, window, good))
        spent.append(len(chosen))
    return Run(np.array(rows), np.array(fresh), np.array(spent), setting.first)


def _ledger(evaluations: int, slide: int, budget: int) -> Ledger:
    return Ledger(Budget(per_period=budget * evaluations, period=evaluations * slide))


def _graph(data: Trace, window: Window, updated: Ids) -> tuple[MaintenanceGraph, Mask]:
    here = window.count[data.edge_left] > 0
    needed = np.zeros(data.setting.right, np.bool_)
    needed[data.edge_right[here]] = True
    graph = MaintenanceGraph(
        left=data.setting.left,
        right=data.setting.right,
        edge_left=data.edge_left[here],
        edge_right=data.edge_right[here],
        row_left=window.row_left,
        row_life=window.row_life,
        fresh_for=evaluations_fresh(data.next_change(window.at), window.at, data.setting.slide),
        updated=updated,
    )
    return graph, needed


def _right(data: Trace, window: Window, updated: Ids) -> RightNodes:
    change, none = data.next_change(window.at), np.zeros(len(updated), np.bool_)
    return RightNodes(updated, change, change, data.interval, none, (~none).astype(float))


def _choose(
    contender: Contender,
    data: Trace,
    window: Window,
    graph: MaintenanceGraph,
    stale: Mask,
    right: RightNodes,
    ledger: Ledger,
    budget: int,
    began: int,
    chance: np.random.Generator,
) -> Ids:
    setting, at = data.setting, window.at
    if contender is Contender.FBA_PRINTED:
        horizon = setting.width // setting.slide
        slides = min(horizon, ledger.slides(at - began, setting.slide))
        allowed = ledger.allowance("q", at - began, setting.slide, slides)
        offered = versions(stale, right.change, right.interval, at, setting.slide, slides)
        return fba(graph, offered, allowed.ahead, horizon, chance)[: allowed.now]
    if contender is Contender.FBA:
        policy = PolicyName.FBA
        slides = min(horizon_of(graph), ledger.slides(at - began, setting.slide))
        allowed = ledger.allowance("q", at - began, setting.slide, slides)
    else:
        policy, allowed, slides = PolicyName[contender.name], Allowance(budget, budget), 1
    return choose(policy, graph, stale, right, allowed, setting.aggregate, at, setting.slide, slides, chance)


def _rows(data: Trace, window: Window) -> int:
    """The rows of the answer: a window row joins with every edge of its left node, or with its aggregate."""
    if data.setting.aggregate:
        some = np.bincount(data.edge_left, minlength=data.setting.left) > 0
        return int(window.count[some].sum())
    return int(window.count[data.edge_left].sum())


def _fresh(data: Trace, window: Window, good: Mask) -> int:
    if data.setting.aggregate:
        stale = np.bincount(data.edge_left[~good[data.edge_right]], minlength=data.setting.left)
        some = np.bincount(data.edge_left, minlength=data.setting.left) > 0
        return int(window.count[some & (stale == 0)].sum())
    return int(window.count[data.edge_left[good[data.edge_right]]].sum())
