"""Refresh policies for an aggregate SERVICE sub-query (case 2, sections 4 and 5).

A left node's aggregate is fresh only if all its right nodes are, so a budget is best spent on whole left
nodes. Choosing them is NP-hard (a knapsack whose items overlap); both policies are the paper's greedy one.
"""

from __future__ import annotations

import numpy as np

from weir.linked.service.graph import MaintenanceGraph
from weir.rdf.columns import Ids


def sbm_agg(graph: MaintenanceGraph, budget: int, chance: np.random.Generator) -> Ids:
    """SBM_Agg: again and again the left node with the fewest stale right nodes left, ties at random."""
    return _cheapest_first(graph, budget, chance, np.zeros(graph.left, np.int64))


def ibm_agg(graph: MaintenanceGraph, budget: int, chance: np.random.Generator) -> Ids:
    """IBM_Agg: as SBM_Agg, but of equally cheap left nodes the one with the highest score (formula 17)."""
    return _cheapest_first(graph, budget, chance, ibm_agg_scores(graph))


def ibm_agg_scores(graph: MaintenanceGraph) -> Ids:
    """Formulas 16–17: for how many evaluations a left node's aggregate would be seen and stay fresh."""
    life = np.zeros(graph.left, np.int64)
    np.maximum.at(life, graph.row_left, graph.row_life)
    np.minimum.at(life, graph.edge_left, graph.fresh_for[graph.edge_right])
    return life


def _cheapest_first(graph: MaintenanceGraph, budget: int, chance: np.random.Generator, score: Ids) -> Ids:
    """The greedy loop of section 5.1; what is left when no left node fits any more is spent at random.

    ``need`` counts a left node's right nodes not yet chosen. Each round takes at least one right node, so
    the cost is O(budget · left + edges) beside the two sorts.
    """
    rights, right_start = _adjacency(graph.edge_left, graph.edge_right, graph.left)
    lefts, left_start = _adjacency(graph.edge_right, graph.edge_left, graph.right)
    need = np.diff(right_start)
    need[graph.compatible() == 0] = 0
    rank = np.empty(graph.left, np.int64)
    rank[np.lexsort((chance.permutation(graph.left), -score))] = np.arange(graph.left)
    never = np.iinfo(np.int64).max
    chosen = np.zeros(graph.right, np.bool_)
    picked: list[Ids] = []
    while budget > 0 and len(need):
        node = int(np.argmin(np.where(need > 0, need * graph.left + rank, never)))
        if need[node] == 0:
            break
        mine = rights[right_start[node] : right_start[node + 1]]
        mine = mine[~chosen[mine]]
        if len(mine) > budget:
            rest = np.flatnonzero(~chosen)
            picked.append(chance.choice(rest, min(budget, len(rest)), replace=False))
            break
        chosen[mine] = True
        budget -= len(mine)
        picked.append(mine)
        for right in mine:
            need[lefts[left_start[right] : left_start[right + 1]]] -= 1
        need[node] = 0
    return np.concatenate(picked) if picked else np.empty(0, np.int64)


def _adjacency(of: Ids, to: Ids, nodes: int) -> tuple[Ids, Ids]:
    """The edges as lists: ``to`` sorted by ``of``, and where each node's list starts."""
    order = np.argsort(of, kind="stable")
    start = np.concatenate(([0], np.cumsum(np.bincount(of, minlength=nodes))))
    return to[order], start
