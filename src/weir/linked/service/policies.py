"""The refresh policies of Planning Ahead (section 5), and the baselines: which right nodes to refresh.

Each is a pure function: a maintenance graph of stale right nodes, a budget and a random generator give
the right nodes to refresh, at most ``budget`` of them. Equal scores are drawn at random (section 5.1).

- SBM_BGP and IBM_BGP are for a pattern that is not an aggregate (case 1).
- SBM_Agg and IBM_Agg are for an aggregate sub-query (case 2). A left node's aggregate is fresh only if all
  its right nodes are, so a budget is best spent on whole left nodes. Choosing them is NP-hard (a knapsack
  whose items overlap); both policies are the paper's greedy one.
- FBA, Flexible Budget Allocation (section 5.3), takes the budget of the next slides as one sum. The remote
  value of a right node is a sequence of *versions*, each from one change to the next. A version is worth one
  request at most, and most at the first evaluation that could see it. FBA lists the versions of the present
  and the coming slides, with the rows of the *present* window that each would keep fresh, and spends the
  budget of all those slides on the best of them; those of the present slide are asked for now. The paper
  lists a node once per slide at which it would be stale. While its version lasts, such entries are the same
  refresh made later, for less; Weir keeps the first alone. Versions are then independent of each other, so
  the best ones are also the exact optimum over the rows of the present window. FBA_Agg is Weir's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weir.linked.service.maintenance_graph import MaintenanceGraph, evaluations_fresh
from weir.rdf.columns import Ids


def capped_sums(group: Ids, life: Ids, of: Ids, cap: Ids) -> Ids:
    """For each pair (g, b) of ``of`` and ``cap``: the sum of min(life, b) over group g's rows.

    Rows are sorted by (group, life) once; a prefix sum then answers every pair by binary search.
    """
    top = int(max(life.max(initial=0), cap.max(initial=0))) + 1
    key = np.sort(group * top + life)
    total = np.concatenate(([0], np.cumsum(key % top)))
    base = of * top
    first, last = np.searchsorted(key, base), np.searchsorted(key, base + top)
    split = np.searchsorted(key, base + cap, side="right")
    return total[split] - total[first] + cap * (last - split)


def capped_table(group: Ids, life: Ids, groups: int, horizon: int) -> Ids:
    """``table[g, b]``: the sum of min(life, b) over group g's rows, for b = 0 … horizon."""
    wide = horizon + 1
    ends = np.bincount(group * wide + np.minimum(life, horizon), minlength=groups * wide)
    alive = np.cumsum(ends.reshape(groups, wide)[:, ::-1], axis=1)[:, ::-1]
    alive[:, 0] = 0
    return np.cumsum(alive, axis=1)


_SHORT = 32
"""Up to this life a table of all sums is cheaper than a search for each."""


class Policy(Protocol):
    """Chooses among the candidate set of one evaluation: the stale right nodes of its graph."""

    def __call__(self, graph: MaintenanceGraph, budget: int, rng: np.random.Generator) -> Ids: ...


def best(score: NDArray[Any], budget: int, rng: np.random.Generator) -> Ids:
    """The ``budget`` highest positive scores, ties drawn at random, best first.

    A score of nothing is not worth a request, so such candidates are left out.
    """
    shuffled = rng.permutation(len(score))
    shuffled = shuffled[score[shuffled] > 0]
    if budget < len(shuffled):
        shuffled = (
            shuffled[np.argpartition(-score[shuffled], budget)[:budget]] if budget > 0 else shuffled[:0]
        )
    return shuffled[np.argsort(-score[shuffled], kind="stable")]


def rand(graph: MaintenanceGraph, budget: int, rng: np.random.Generator) -> Ids:
    """RAND (section 6): any stale candidates."""
    return rng.permutation(graph.right)[: max(budget, 0)]


def lru(graph: MaintenanceGraph, budget: int, rng: np.random.Generator) -> Ids:
    """LRU (section 6): the stale candidates whose last update is longest ago."""
    shuffled = rng.permutation(graph.right)
    return shuffled[np.argsort(graph.updated[shuffled], kind="stable")][: max(budget, 0)]


def sbm_scores(graph: MaintenanceGraph) -> Ids:
    """Formula 11: the join rows that become fresh now if a right node is refreshed."""
    weight = graph.compatible()[graph.edge_left]
    return np.bincount(graph.edge_right, weights=weight, minlength=graph.right).astype(np.int64)


def sbm_bgp(graph: MaintenanceGraph, budget: int, rng: np.random.Generator) -> Ids:
    """SBM_BGP: the highest scores by formula 11. Law: no choice makes more rows fresh now (5.4)."""
    return best(sbm_scores(graph), budget, rng)


def ibm_scores(graph: MaintenanceGraph) -> Ids:
    """Formulas 12–15: the join rows, now and later, that a refresh keeps fresh: Σ min(L, B)."""
    longest = int(graph.row_life.max(initial=0))
    cap = np.minimum(graph.fresh_for[graph.edge_right], longest)
    if longest <= _SHORT:
        reach = capped_table(graph.row_left, graph.row_life, graph.left, longest)[graph.edge_left, cap]
    else:
        reach = capped_sums(graph.row_left, graph.row_life, graph.edge_left, cap)
    return np.bincount(graph.edge_right, weights=reach, minlength=graph.right).astype(np.int64)


def ibm_bgp(graph: MaintenanceGraph, budget: int, rng: np.random.Generator) -> Ids:
    """IBM_BGP: the highest scores by formula 15. Law: no choice makes more rows of the present window
    fresh, counted over all evaluations they take part in (5.4)."""
    return best(ibm_scores(graph), budget, rng)


def sbm_agg(graph: MaintenanceGraph, budget: int, rng: np.random.Generator) -> Ids:
    """SBM_Agg: again and again the left node with the fewest stale right nodes left, ties at random."""
    return _cheapest_first(graph, budget, rng, np.zeros(graph.left, np.int64))


def ibm_agg(graph: MaintenanceGraph, budget: int, rng: np.random.Generator) -> Ids:
    """IBM_Agg: as SBM_Agg, but of equally cheap left nodes the one with the highest score (formula 17)."""
    return _cheapest_first(graph, budget, rng, ibm_agg_scores(graph))


def ibm_agg_scores(graph: MaintenanceGraph) -> Ids:
    """Formulas 16–17: for how many evaluations a left node's aggregate would be seen and stay fresh."""
    life = np.zeros(graph.left, np.int64)
    np.maximum.at(life, graph.row_left, graph.row_life)
    np.minimum.at(life, graph.edge_left, graph.fresh_for[graph.edge_right])
    return life


def _cheapest_first(graph: MaintenanceGraph, budget: int, rng: np.random.Generator, score: Ids) -> Ids:
    """The greedy loop of section 5.1; what is left when no left node fits any more is spent at random.

    ``need`` counts a left node's right nodes not yet chosen. Each round takes at least one right node, so
    the cost is O(budget · left + edges) beside the two sorts.
    """
    rights, right_start = _adjacency(graph.edge_left, graph.edge_right, graph.left)
    lefts, left_start = _adjacency(graph.edge_right, graph.edge_left, graph.right)
    need = np.diff(right_start)
    need[graph.compatible() == 0] = 0
    rank = np.empty(graph.left, np.int64)
    rank[np.lexsort((rng.permutation(graph.left), -score))] = np.arange(graph.left)
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
            picked.append(rng.choice(rest, min(budget, len(rest)), replace=False))
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
    per_left = _left_values(graph, horizon, arrivals)
    per_right = np.zeros((graph.right, horizon + 1))
    for b in range(1, horizon + 1):
        weight = per_left[graph.edge_left, b]
        per_right[:, b] = np.bincount(graph.edge_right, weights=weight, minlength=graph.right)
    last = np.minimum(offered.slide + offered.fresh_for, horizon)
    score: NDArray[np.float64] = per_right[offered.right, last] - per_right[offered.right, offered.slide]
    return score


def _left_values(
    graph: MaintenanceGraph, horizon: int, arrivals: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """``value[i, b]``: the rows of left node i that are fresh if it is at the slides before b."""
    value = capped_table(graph.row_left, graph.row_life, graph.left, horizon).astype(np.float64)
    if arrivals is not None:
        alive = np.minimum(np.arange(horizon), graph.row_life.max(initial=0))
        value[:, 1:] += arrivals[:, None] * np.cumsum(alive)
    return value


def steady_arrivals(graph: MaintenanceGraph) -> NDArray[np.float64]:
    """The arrivals that would keep each left node's number of window rows as it is now."""
    return graph.compatible() / max(int(graph.row_life.max(initial=1)), 1)


def fba(
    graph: MaintenanceGraph,
    offered: Versions,
    budget: int,
    horizon: int,
    rng: np.random.Generator,
    arrivals: NDArray[np.float64] | None = None,
) -> Ids:
    """FBA: the right nodes whose present version is among the ``budget`` best of all versions.

    ``graph`` holds the fresh right nodes too, and ``budget`` is what may be spent over the whole horizon.
    """
    chosen = best(fba_scores(graph, offered, horizon, arrivals), budget, rng)
    now: Ids = offered.right[chosen[offered.slide[chosen] == 0]]
    return now


def fba_agg(
    graph: MaintenanceGraph,
    offered: Versions,
    budget: int,
    horizon: int,
    rng: np.random.Generator,
    arrivals: NDArray[np.float64] | None = None,
) -> Ids:
    """FBA for aggregates (beyond the paper): a left node is fresh from a slide on if it has every version
    that its right nodes show then, until the first of them ends. Chosen again and again is, over the present
    and the coming slides, what keeps most rows fresh for a request (a greedy cover, as SBM_Agg is); versions
    once chosen cost nothing more. Gives the right nodes that are needed at the present slide."""
    value = _left_values(graph, horizon, arrivals)
    stays = _Stays.of(graph, offered, horizon)
    need, gain = stays.need.copy(), value[stays.left, stays.until] - value[stays.left, stays.slide]
    gain = gain * (1 + 1e-6 * rng.random(len(gain)))
    chosen = np.zeros(len(offered.right), np.bool_)
    picked: list[Ids] = []
    while budget > 0 and len(need):
        ratio = np.where((need > 0) & (need <= budget), gain / np.maximum(need, 1), 0.0)
        stay = int(np.argmax(ratio))
        if ratio[stay] <= 0:
            break
        mine = stays.versions[stays.start[stay] : stays.start[stay + 1]]
        if stays.slide[stay] == 0:
            picked.append(mine)
        mine = mine[~chosen[mine]]
        chosen[mine] = True
        budget -= len(mine)
        need -= np.bincount(stays.owner[np.isin(stays.versions, mine)], minlength=len(need))
    found = np.concatenate(picked) if picked else np.empty(0, np.int64)
    now: Ids = offered.right[found[np.sort(np.unique(found, return_index=True)[1])]]
    return now


@dataclass(frozen=True, slots=True)
class _Stays:
    """Times over which left nodes can be fresh: from ``slide`` to ``until``, with the ``need`` versions
    ``versions[start[s]:start[s + 1]]``; ``owner`` says whose each of them is."""

    left: Ids
    slide: Ids
    until: Ids
    need: Ids
    versions: Ids
    owner: Ids
    start: Ids

    @staticmethod
    def of(graph: MaintenanceGraph, offered: Versions, horizon: int) -> _Stays:
        """A left node's times begin at the slides at which one of its right nodes has a new version."""
        order = np.argsort(offered.slide, kind="stable")
        present, ends = np.full(graph.right, -1, np.int64), np.full(graph.right, horizon, np.int64)
        first = np.full(graph.right, horizon, np.int64)
        np.minimum.at(first, offered.right, offered.slide)
        ends = np.minimum(ends, first)
        parts: list[tuple[Ids, ...]] = []
        for slide in range(horizon):
            new = order[offered.slide[order] == slide]
            present[offered.right[new]] = new
            ends[offered.right[new]] = np.minimum(slide + offered.fresh_for[new], horizon)
            fresh = np.zeros(graph.right, np.bool_)
            fresh[offered.right[new]] = True
            begins = np.bincount(graph.edge_left[fresh[graph.edge_right]], minlength=graph.left) > 0
            lefts = np.flatnonzero(begins)
            until = np.full(graph.left, horizon, np.int64)
            np.minimum.at(until, graph.edge_left, ends[graph.edge_right])
            edges = np.flatnonzero(begins[graph.edge_left] & (present[graph.edge_right] >= 0))
            edges = edges[np.argsort(graph.edge_left[edges], kind="stable")]
            need = np.bincount(graph.edge_left[edges], minlength=graph.left)[lefts]
            at = np.full(len(lefts), slide, np.int64)
            parts.append((lefts, at, np.maximum(until[lefts], slide), need, present[graph.edge_right[edges]]))
        left, slides, ended, need, versions = (np.concatenate(each) for each in zip(*parts, strict=True))
        start = np.concatenate(([0], np.cumsum(need)))
        return _Stays(left, slides, ended, need, versions, np.repeat(np.arange(len(left)), need), start)
