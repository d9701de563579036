"""Which policy spends a budget, and on what: the right nodes to refresh, best first."""

from __future__ import annotations

import numpy as np

from weir.linked.service.config import Budget, PolicyName
from weir.linked.service.estimate import Floats
from weir.linked.service.ledger import Allowance
from weir.linked.service.maintenance_graph import MaintenanceGraph, RightNodes
from weir.linked.service.policies import (
    Policy,
    best,
    capped_table,
    fba,
    fba_agg,
    ibm_agg,
    ibm_bgp,
    lru,
    rand,
    sbm_agg,
    sbm_bgp,
    steady_arrivals,
    versions,
)
from weir.rdf.columns import Ids, Mask

FARTHEST = 64
"""How many slides ahead FBA plans at most."""

_PLAIN: dict[PolicyName, tuple[Policy, Policy]] = {
    PolicyName.RAND: (rand, rand),
    PolicyName.LRU: (lru, lru),
    PolicyName.SBM: (sbm_bgp, sbm_agg),
    PolicyName.IBM: (ibm_bgp, ibm_agg),
}


def definite_policy(policy: PolicyName, budget: Budget, *, learned: bool) -> PolicyName:
    """AUTO made definite: EXPECTED where intervals are ``learned``, else FBA. FBA plans for a budget that can
    be moved; under a mere cap per evaluation IBM takes its place, because what is not spent now is lost."""
    if policy is PolicyName.AUTO:
        policy = PolicyName.EXPECTED if learned else PolicyName.FBA
    if policy is PolicyName.FBA and budget.per_period is None:
        return PolicyName.IBM
    return policy


def horizon_of(graph: MaintenanceGraph) -> int:
    """How far to plan: as long as window rows live or a refresh lasts, within reason."""
    changing = graph.fresh_for[graph.fresh_for < FARTHEST]
    return min(max(int(graph.row_life.max(initial=1)), int(changing.max(initial=1))), FARTHEST)


def rows_ahead(graph: MaintenanceGraph) -> Floats:
    """How many window rows need each right node at the coming evaluations, the present one first: those of
    the present window while they last, and as many new ones as keep their number. The last column stays."""
    longest = min(max(int(graph.row_life.max(initial=1)), 1), FARTHEST)
    alive = np.diff(capped_table(graph.row_left, graph.row_life, graph.left, longest + 1), axis=1)
    coming = steady_arrivals(graph)[:, None] * np.arange(longest + 1)
    weight = (alive + coming)[graph.edge_left]
    return np.stack([np.bincount(graph.edge_right, column, graph.right) for column in weight.T], axis=1)


def choose(
    policy: PolicyName,
    graph: MaintenanceGraph,
    stale: Mask,
    right: RightNodes,
    allowed: Allowance,
    aggregate: bool,
    at: int,
    slide: int,
    slides: int,
    rng: np.random.Generator,
    worth: Floats | None = None,
) -> Ids:
    """The right nodes to refresh, best first; ``stale`` marks those that may be chosen, ``allowed`` is in
    keys. What was never fetched comes before what is merely stale.

    ``slides`` is the number of evaluations over which the allowance may be spent. FBA looks as far to see
    what a refresh is worth as rows live and refreshes last, but plans refreshes only within them. ``worth``
    is what EXPECTED goes by (``LocalView.worth``); for aggregates it refreshes whole groups of what is stale
    more likely than not, as IBM does, and then the rest.
    """
    never = stale & ~right.known()
    if never.any() and (stale & ~never).any():
        options = (aggregate, at, slide, slides, rng, worth)
        first = choose(policy, graph, never, right, allowed, *options)
        left = Allowance(allowed.now - len(first), allowed.ahead - len(first))
        return np.concatenate((first, choose(policy, graph, stale & ~never, right, left, *options)))
    if allowed.now <= 0:
        return np.empty(0, np.int64)
    if policy is PolicyName.FBA:
        horizon = horizon_of(graph)
        interval = np.maximum(right.interval, 1)
        offered = versions(stale, right.change, interval, at, slide, min(slides, horizon))
        plan = fba_agg if aggregate else fba
        picked = plan(graph, offered, allowed.ahead, horizon, rng, steady_arrivals(graph))
        return picked[: allowed.now]
    if policy is PolicyName.EXPECTED:
        doubtful = stale & (right.chance < 0.5)
        if not aggregate:
            assert worth is not None
            return best(np.where(stale, worth, 0.0), allowed.now, rng)
        first = choose(PolicyName.IBM, graph, doubtful, right, allowed, aggregate, at, slide, slides, rng)
        rest = np.flatnonzero(stale & ~doubtful)
        rest = rest[np.argsort(right.chance[rest], kind="stable")]
        return np.concatenate((first, rest))[: allowed.now]
    part, kept = graph.restrict(stale)
    picked = _PLAIN[policy][int(aggregate)](part, allowed.now, rng)
    chosen: Ids = kept[picked]
    return chosen
