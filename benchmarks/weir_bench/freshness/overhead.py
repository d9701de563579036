"""What planning costs: by size of the view, and as a part of a slide with real requests.

Planning is everything between the window's rows and the list of keys to refresh: looking up the keys, the
maintenance graph, the lives, the policy.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weir.kernel.contract import FOREVER
from weir.language.algebra.patterns import BGP
from weir.linked.service.budget import choose
from weir.linked.service.config import PolicyName
from weir.linked.service.ledger import Allowance
from weir.linked.service.local_view import LocalView
from weir.linked.service.maintenance_graph import (
    CallViews,
    LeftNodes,
    Lifetimes,
    maintenance_graph,
    right_nodes,
)
from weir.linked.service.service_parts import ServicePart, ServiceParts
from weir.rdf.columns import Ids

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
POLICIES = (PolicyName.LRU, PolicyName.SBM, PolicyName.IBM, PolicyName.FBA)
_SLIDE = 1_000_000
_DEGREE = 20


class Planner:
    """Views of ``rows`` rows, twenty for each left node, half of whose values are stale; three window rows
    for each left node."""

    def __init__(self, rows: int, seed: int = 0) -> None:
        chance = np.random.default_rng(seed)
        nodes = max(rows // _DEGREE, 1)
        link = LocalView(("s",), ("s", "k"), FOREVER, _SLIDE)
        value = LocalView(("k",), ("k", "v"), 2 * _SLIDE, _SLIDE)
        lefts = 1_000_000 + np.arange(nodes)
        pairs = np.repeat(np.arange(nodes), _DEGREE)
        keys = 2_000_000 + (pairs * 7 + np.tile(np.arange(_DEGREE), nodes) * 13) % nodes
        link.store({"s": lefts}, nodes, {"s": lefts[pairs], "k": keys}, pairs, 1)
        values = np.unique(keys)
        for half, at in ((values[::2], _SLIDE), (values[1::2], 3 * _SLIDE)):
            value.store({"k": half}, len(half), {"k": half, "v": half}, np.arange(len(half)), at)
        self._window: Ids = chance.permutation(np.repeat(lefts, 3))
        part = ServicePart(BGP(()), (), (), None)
        self._views = CallViews(ServiceParts(part, link=part), link, value)
        self._lifetimes = Lifetimes(4 * _SLIDE)
        self._chance = chance

    def plan(self, policy: PolicyName, aggregate: bool = False, budget: int = 20) -> Ids:
        """The keys to refresh, from scratch."""
        at = 3 * _SLIDE + 1
        left = LeftNodes.of({"s": self._window}, len(self._window))
        found = self._views.needed(left, at)
        right = right_nodes(found, self._views, at)
        stale = ~right.fresh(at)
        rows = self._lifetimes.update(left.name, left.count, at, _SLIDE)
        graph = maintenance_graph(found, right, rows, at, _SLIDE)
        allowed = Allowance(budget, 4 * budget)
        return choose(policy, graph, stale, right, allowed, aggregate, at, _SLIDE, 4, self._chance)


def planning_times(repeats: int, sizes: Sequence[int] = SIZES) -> dict[str, dict[int, float]]:
    """The least processor seconds of a plan, by policy and number of view rows."""
    times: dict[str, dict[int, float]] = {}
    for rows in sizes:
        planner = Planner(rows)
        for policy, aggregate in (*((p, False) for p in POLICIES), (PolicyName.IBM, True)):
            planner.plan(policy, aggregate)
            best = min(_seconds(planner, policy, aggregate) for _ in range(repeats))
            times.setdefault(f"{policy.name}{'_Agg' if aggregate else ''}", {})[rows] = best
    return times


def _seconds(planner: Planner, policy: PolicyName, aggregate: bool) -> float:
    started = time.process_time()
    planner.plan(policy, aggregate)
    return time.process_time() - started


def exponent(times: Mapping[int, float], least: int = 10_000) -> float:
    """The slope of log time over log rows from ``least`` rows on: 1 is linear."""
    sizes = [rows for rows in times if rows >= least]
    slope, _ = np.polyfit(np.log(sizes), np.log([times[rows] for rows in sizes]), 1)
    return float(slope)


def share_of_slide(planning: float, waited: float, latency: float) -> dict[str, Any]:
    """The overhead table: a slide's planning against its whole latency with remote calls."""
    return {
        "latency_ms": latency * 1e3,
        "planning_ms": planning * 1e3,
        "remote_ms": waited * 1e3,
        "overhead": planning / latency,
    }
