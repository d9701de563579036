"""Flexible Budget Allocation (Planning Ahead, section 5.3): the budget of the next slides as one sum.

The remote value of a right node is a sequence of *versions*, each from one change to the next. A version
is worth one request at most, and most at the first evaluation that could see it. FBA lists the versions
of the present and the coming slides, with the rows of the *present* window that each would keep fresh,
and spends the budget of all those slides on the best of them; those of the present slide are asked now.

The paper lists a node once per slide at which it would be stale. While its version lasts, such entries
are the same chance taken later, for less; Weir keeps the first alone. Versions are then independent of
each other, so the best ones are also the exact optimum over the rows of the present window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weir.linked.service.graph import MaintenanceGraph
from weir.linked.service.policies import best
from weir.linked.service.scores import capped_table, evaluations_fresh
from weir.rdf.columns import Ids


@dataclass(frozen=True, slots=True)
class Versions:
    """Version v of right node ``right[v]`` could first be fetched ``slide[v]`` slides from now, and would
    then be fresh for ``fresh_for[v]`` evaluations."""

    right: Ids
    slide: Ids
    fresh_for: Ids


def versions(
    stale: NDArray[np.bool_], change: Ids, interval: Ids, now: int, slide: int, horizon: int
) -> Versions:
    """The versions that can be fetched at ``now`` and the ``horizon - 1`` evaluations after it.

    ``change`` is each right node's next remote change after ``now``, ``interval`` the time between
    changes from then on. A right node that is fresh now offers nothing until that change.
    """
    change = change.copy()
    rights, slides, lasting = [np.flatnonzero(stale)], [np.zeros(int(stale.sum()), np.int64)], []
    lasting.append(evaluations_fresh(change[stale], now, slide))
    for ahead in range(1, horizon):
        time = now + ahead * slide
        changed = np.flatnonzero(change <= time)
        change[changed] += ((time - change[changed]) // interval[changed] + 1) * interval[changed]
        rights.append(changed)
        slides.append(np.full(len(changed), ahead, np.int64))
        lasting.append(evaluations_fresh(change[changed], time, slide))
    return Versions(np.concatenate(rights), np.concatenate(slides), np.concatenate(lasting))


def fba_scores(
    graph: MaintenanceGraph, offered: Versions, horizon: int, arrivals: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """For each version: Σ min(L − slide, B) over the window rows still alive then (formulas 12–15
    at that slide), by the identity min(L − s, B) = min(L, s + B) − min(L, s).

    ``arrivals`` (beyond the paper) adds the rows that are still to come: so many per slide for each left
    node, each living as long as the longest-lived row of the window. Without them every later slide
    looks poorer than it will be, and the budget is spent too early.
    """
    per_left = capped_table(graph.row_left, graph.row_life, graph.left, horizon).astype(np.float64)
    if arrivals is not None:
        alive = np.minimum(np.arange(horizon), graph.row_life.max(initial=0))
        per_left[:, 1:] += arrivals[:, None] * np.cumsum(alive)
    per_right = np.zeros((graph.right, horizon + 1))
    for b in range(1, horizon + 1):
        weight = per_left[graph.edge_left, b]
        per_right[:, b] = np.bincount(graph.edge_right, weights=weight, minlength=graph.right)
    last = np.minimum(offered.slide + offered.fresh_for, horizon)
    score: NDArray[np.float64] = per_right[offered.right, last] - per_right[offered.right, offered.slide]
    return score


def steady_arrivals(graph: MaintenanceGraph) -> NDArray[np.float64]:
    """The arrivals that would keep each left node's number of window rows as it is now."""
    return graph.compatible() / max(int(graph.row_life.max(initial=1)), 1)


def fba(
    graph: MaintenanceGraph,
    offered: Versions,
    budget: int,
    horizon: int,
    chance: np.random.Generator,
    arrivals: NDArray[np.float64] | None = None,
) -> Ids:
    """FBA: the right nodes whose present version is among the ``budget`` best of all versions.

    ``graph`` holds the fresh right nodes too, and ``budget`` is what may be spent over the whole horizon.
    """
    chosen = best(fba_scores(graph, offered, horizon, arrivals), budget, chance)
    now: Ids = offered.right[chosen[offered.slide[chosen] == 0]]
    return now
