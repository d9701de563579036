"""Refresh policies for a SERVICE whose pattern is not an aggregate (case 1), and the baselines.

Each is a pure function: a maintenance graph of stale right nodes, a budget and a source of chance give
the right nodes to refresh, at most ``budget`` of them. Equal scores are drawn at random (section 5.1).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weir.linked.service.graph import MaintenanceGraph
from weir.linked.service.scores import capped_sums, capped_table
from weir.rdf.columns import Ids

_SHORT = 32
"""Up to this life a table of all sums is cheaper than a search for each."""


class Policy(Protocol):
    """What decides the candidate set of one evaluation."""

    def __call__(self, graph: MaintenanceGraph, budget: int, chance: np.random.Generator) -> Ids: ...


def best(score: NDArray[Any], budget: int, chance: np.random.Generator) -> Ids:
    """The ``budget`` highest positive scores, ties drawn at random, best first.

    A score of nothing is not worth a request, so such candidates are left out.
    """
    shuffled = chance.permutation(len(score))
    shuffled = shuffled[score[shuffled] > 0]
    if budget < len(shuffled):
        shuffled = (
            shuffled[np.argpartition(-score[shuffled], budget)[:budget]] if budget > 0 else shuffled[:0]
        )
    return shuffled[np.argsort(-score[shuffled], kind="stable")]


def rand(graph: MaintenanceGraph, budget: int, chance: np.random.Generator) -> Ids:
    """RAND (section 6): any stale candidates."""
    return chance.permutation(graph.right)[: max(budget, 0)]


def lru(graph: MaintenanceGraph, budget: int, chance: np.random.Generator) -> Ids:
    """LRU (section 6): the stale candidates whose last update is longest ago."""
    shuffled = chance.permutation(graph.right)
    return shuffled[np.argsort(graph.updated[shuffled], kind="stable")][: max(budget, 0)]


def sbm_scores(graph: MaintenanceGraph) -> Ids:
    """Formula 11: the join rows that become fresh now if a right node is refreshed."""
    weight = graph.compatible()[graph.edge_left]
    return np.bincount(graph.edge_right, weights=weight, minlength=graph.right).astype(np.int64)


def sbm_bgp(graph: MaintenanceGraph, budget: int, chance: np.random.Generator) -> Ids:
    """SBM_BGP: the highest scores by formula 11. Law: no choice makes more rows fresh now (5.4)."""
    return best(sbm_scores(graph), budget, chance)


def ibm_scores(graph: MaintenanceGraph) -> Ids:
    """Formulas 12–15: the join rows, now and later, that a refresh keeps fresh: Σ min(L, B)."""
    cap, longest = graph.fresh_for[graph.edge_right], int(graph.row_life.max(initial=0))
    if longest <= _SHORT:
        table = capped_table(graph.row_left, graph.row_life, graph.left, longest)
        reach = table[graph.edge_left, np.minimum(cap, longest)]
    else:
        reach = capped_sums(graph.row_left, graph.row_life, graph.edge_left, cap)
    return np.bincount(graph.edge_right, weights=reach, minlength=graph.right).astype(np.int64)


def ibm_bgp(graph: MaintenanceGraph, budget: int, chance: np.random.Generator) -> Ids:
    """IBM_BGP: the highest scores by formula 15. Law: no choice makes more rows of the present window
    fresh, counted over all evaluations they take part in (5.4)."""
    return best(ibm_scores(graph), budget, chance)
