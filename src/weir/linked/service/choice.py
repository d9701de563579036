"""Which right nodes to refresh now: the declared policy under the ledger's allowance."""

from __future__ import annotations

import numpy as np

from weir.linked.service.aggregate import ibm_agg, sbm_agg
from weir.linked.service.budget import Allowance
from weir.linked.service.config import Budget, PolicyName
from weir.linked.service.flexible import fba, steady_arrivals, versions
from weir.linked.service.graph import MaintenanceGraph
from weir.linked.service.outline import RightSide
from weir.linked.service.policies import Policy, ibm_bgp, lru, rand, sbm_bgp
from weir.rdf.columns import Ids, Mask

FARTHEST = 64
"""How many slides ahead FBA plans at most."""

_PLAIN: dict[PolicyName, tuple[Policy, Policy]] = {
    PolicyName.RAND: (rand, rand),
    PolicyName.LRU: (lru, lru),
    PolicyName.SBM: (sbm_bgp, sbm_agg),
    PolicyName.IBM: (ibm_bgp, ibm_agg),
}


def resolved(policy: PolicyName, budget: Budget, aggregate: bool) -> PolicyName:
    """AUTO made definite. FBA plans for a budget that can be moved; under a mere cap per evaluation, and
    for aggregates, IBM takes its place, because what is not spent now is lost, or has no FBA."""
    flexible = budget.per_period is not None and not aggregate
    if policy in (PolicyName.AUTO, PolicyName.FBA):
        return PolicyName.FBA if flexible else PolicyName.IBM
    return policy


def horizon_of(graph: MaintenanceGraph) -> int:
    """How far to plan: as long as window rows live or a refresh lasts, within reason."""
    changing = graph.fresh_for[graph.fresh_for < FARTHEST]
    return min(max(int(graph.row_life.max(initial=1)), int(changing.max(initial=1))), FARTHEST)


def choose(
    policy: PolicyName,
    graph: MaintenanceGraph,
    stale: Mask,
    right: RightSide,
    allowed: Allowance,
    aggregate: bool,
    at: int,
    slide: int,
    slides: int,
    chance: np.random.Generator,
) -> Ids:
    """The right nodes to refresh, best first; ``stale`` marks those that may be chosen.

    ``slides`` is the number of evaluations over which the allowance may be spent. FBA looks as far to see
    what a refresh is worth as rows live and refreshes last, but plans refreshes only within them.
    """
    if policy is PolicyName.FBA:
        horizon = horizon_of(graph)
        interval = np.maximum(right.interval, 1)
        offered = versions(stale, right.change, interval, at, slide, min(slides, horizon))
        picked = fba(graph, offered, allowed.ahead, horizon, chance, steady_arrivals(graph))
        return picked[: allowed.now]
    part, kept = graph.restrict(stale)
    picked = _PLAIN[policy][int(aggregate)](part, allowed.now, chance)
    chosen: Ids = kept[picked]
    return chosen
