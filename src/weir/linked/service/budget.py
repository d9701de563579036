"""The budget: an endpoint's ledger, and the policy that spends what it allows.

Γ accrues evenly over its period; a query may be ahead of that (it borrows from its own later slides) or
behind it (it saves). Queries on one endpoint have equal shares. A query can save its share of the
slides it plans for; what it leaves beyond that is free for the others, so that an idle query takes
nothing away and a busy one cannot eat what another saves.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from weir.linked.service.config import Budget, PolicyName
from weir.linked.service.local_view import State
from weir.linked.service.maintenance_graph import MaintenanceGraph, RightNodes
from weir.linked.service.policies import (
    Policy,
    fba,
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


@dataclass(frozen=True, slots=True)
class Allowance:
    """``now`` is the most that may be refreshed at this evaluation, ``ahead`` over the whole horizon."""

    now: int
    ahead: int


@dataclass(slots=True)
class Ledger:
    """One endpoint's spending, by query. Times are event times, so that replay gives the same answers."""

    budget: Budget
    queries: list[str] = field(default_factory=list)
    period: int | None = None
    spent: dict[str, int] = field(default_factory=dict)
    instant: int | None = None
    spent_now: dict[str, int] = field(default_factory=dict)

    def join(self, query: str) -> None:
        """One more query shares the budget, from its next evaluation on."""
        if query not in self.queries:
            self.queries.append(query)

    def leave(self, query: str) -> None:
        """A query is gone; what it spent stays spent."""
        if query in self.queries:
            self.queries.remove(query)

    def allowance(self, query: str, at: int, slide: int, horizon: int) -> Allowance:
        """What ``query`` may refresh at ``at``, if it is evaluated every ``slide`` for ``horizon`` times."""
        self.join(query)
        self._turn(at)
        now = ahead = 1 << 62
        if self.budget.per_evaluation is not None:
            now = self._instant_share(query, self.budget.per_evaluation)
            ahead = now + (horizon - 1) * (self.budget.per_evaluation // len(self.queries))
        if self.budget.per_period is not None:
            flexible = self._period_share(query, at, slide, horizon)
            now, ahead = min(now, flexible.now), min(ahead, flexible.ahead)
        return Allowance(max(now, 0), max(ahead, 0))

    def slides(self, at: int, slide: int) -> int:
        """How many evaluations, this one included, the present period still has: what Γ can be moved to."""
        if self.budget.per_period is None:
            return 1 << 62
        return max(1, -(-(self.budget.period - at % self.budget.period) // slide))

    def spend(self, query: str, at: int, refreshes: int) -> None:
        """Note that so many refreshes were asked for, whatever became of them."""
        self._turn(at)
        self.spent[query] = self.spent.get(query, 0) + refreshes
        self.spent_now[query] = self.spent_now.get(query, 0) + refreshes

    def snapshot(self) -> State:
        """What was spent, for ``restore``."""
        names = ("period", "spent", "instant", "spent_now")
        return {name: getattr(self, name) for name in names}, {}

    def restore(self, state: State) -> None:
        """Replace what was spent."""
        for name, value in state[0].items():
            setattr(self, name, value)

    def _turn(self, at: int) -> None:
        if self.instant != at:
            self.instant, self.spent_now = at, {}
        period = at // self.budget.period
        if self.period != period:
            self.period, self.spent = period, {}

    def _instant_share(self, query: str, limit: int) -> int:
        """γ of this instant less what is spent and what the others that have not spent may claim."""
        waiting = [other for other in self.queries if other != query and other not in self.spent_now]
        return limit - sum(self.spent_now.values()) - len(waiting) * (limit // len(self.queries))

    def _period_share(self, query: str, at: int, slide: int, horizon: int) -> Allowance:
        assert self.budget.per_period is not None and self.period is not None
        total, length = self.budget.per_period, self.budget.period
        share = total / len(self.queries)
        gone = at - self.period * length
        mine = self.spent.get(query, 0)

        def accrued(time: int) -> float:
            return share * time / length

        save = accrued(horizon * slide)
        free = claimed = 0.0
        for other in self.queries:
            if other == query:
                continue
            used = self.spent.get(other, 0)
            surplus = max(0.0, min(share, accrued(gone)) - used - save)
            free += surplus
            claimed += max(0.0, share - used) - surplus
        left = total - sum(self.spent.values())
        ahead = accrued(gone + horizon * slide) - mine + free
        return Allowance(int(left - claimed + 1e-9), int(ahead + 1e-9))


FARTHEST = 64
"""How many slides ahead FBA plans at most."""

_PLAIN: dict[PolicyName, tuple[Policy, Policy]] = {
    PolicyName.RAND: (rand, rand),
    PolicyName.LRU: (lru, lru),
    PolicyName.SBM: (sbm_bgp, sbm_agg),
    PolicyName.IBM: (ibm_bgp, ibm_agg),
}


def definite_policy(policy: PolicyName, budget: Budget, aggregate: bool) -> PolicyName:
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
    right: RightNodes,
    allowed: Allowance,
    aggregate: bool,
    at: int,
    slide: int,
    slides: int,
    rng: np.random.Generator,
) -> Ids:
    """The right nodes to refresh, best first; ``stale`` marks those that may be chosen.

    ``slides`` is the number of evaluations over which the allowance may be spent. FBA looks as far to see
    what a refresh is worth as rows live and refreshes last, but plans refreshes only within them.
    """
    if policy is PolicyName.FBA:
        horizon = horizon_of(graph)
        interval = np.maximum(right.interval, 1)
        offered = versions(stale, right.change, interval, at, slide, min(slides, horizon))
        picked = fba(graph, offered, allowed.ahead, horizon, rng, steady_arrivals(graph))
        return picked[: allowed.now]
    part, kept = graph.restrict(stale)
    picked = _PLAIN[policy][int(aggregate)](part, allowed.now, rng)
    chosen: Ids = kept[picked]
    return chosen
