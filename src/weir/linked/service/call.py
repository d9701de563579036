"""One SERVICE of one query: at each evaluation, refresh what pays and answer from the view.

The order of an evaluation: take what came late from earlier ones; see which view keys the window needs;
spend the budget on the best of the stale ones (without a budget, on all that are not cached); wait for
answers, but never beyond the deadline; answer with what the view then holds, and say how fresh it is. A small
part of the budget goes to rows drawn by chance, to hold what is said of freshness against the truth.

A row of one part is as old as its key. A row of two parts is as old as the older of its keys, but for a
link that never changes. An aggregate is as old as the oldest key it is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from weir.kernel.contract import FOREVER
from weir.kernel.service_calls import Freshness, ServiceRows
from weir.linked.service.budget import choose, definite_policy, horizon_of, rows_ahead
from weir.linked.service.config import OnFailure, PolicyName
from weir.linked.service.endpoint import RemoteLoop
from weir.linked.service.estimate import Audit, Probe
from weir.linked.service.ledger import NO_LIMIT, Allowance, Ledger, Wants
from weir.linked.service.local_view import NEVER, LocalView, State
from weir.linked.service.maintenance_graph import (
    CallViews,
    LeftNodes,
    Lifetimes,
    MaintenanceGraph,
    NeededKeys,
    RightNodes,
    maintenance_graph,
    right_nodes,
)
from weir.linked.service.remote_query import owners
from weir.linked.service.service_parts import (
    PartRows,
    ServiceParts,
    evaluate_locally,
    parts_by_volatility,
)
from weir.linked.service.view_refresher import Target, ViewRefresher
from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import XSD, Literal

_DEFAULT_SLIDE = 1_000_000
_ACCOUNT = ("at", "rows", "fresh", "missing", "refreshed", "requests", "failed", "waiting", "oldest")
_SHARES = ("estimate", "audited", "confidence")
_SURE = 0.95
"""From this chance on a copy needs no refresh."""


class RemoteCall:
    """``views`` are shared with other calls for the same parts, ``ledger`` with all calls to the endpoint.

    It is a ``kernel.service_calls.ServiceCall``.
    """

    def __init__(
        self,
        target: Target,
        views: tuple[LocalView | None, LocalView],
        ledger: Ledger,
        loop: RemoteLoop,
        dictionary: Dictionary,
        width: int | None = None,
        slide: int | None = None,
        name: str = "0",
        views_of: Callable[[ServiceParts], tuple[LocalView | None, LocalView]] | None = None,
    ) -> None:
        self.target = self.given = target
        self.name = name
        self._views_of = views_of
        self._loop = loop
        self.answered: ServiceRows | None = None
        self._views = CallViews(target.parts, *views)
        self.ledger = ledger
        self._refresher = ViewRefresher(target, views, ledger, loop, dictionary)
        self._dictionary = dictionary
        self._lifetimes = Lifetimes(width)
        self._slide = slide
        self._pace = slide or _DEFAULT_SLIDE
        self._at: int | None = None
        self._audit = Audit()
        self._volatile: frozenset[str] = frozenset()

    @property
    def join(self) -> tuple[str, ...]:
        """The variables by which the pattern is asked for."""
        return (self.target.parts.link or self.target.parts.value).key

    def rows(self, bindings: Mapping[str, Ids], length: int, at: int, *, refresh: bool = True) -> ServiceRows:
        """Solutions for the rows at hand (see ``kernel.service_calls.ServiceCall``)."""
        if refresh:
            return self._evaluated(bindings, length, at)
        if self.answered is not None and at == self.answered.freshness.at:
            return self.answered
        found, right = self._look(LeftNodes.of({name: bindings[name] for name in self.join}, length), at)
        gathered = self._gather(found, right, at)
        freshness = Freshness(at, gathered.total, missing=gathered.missing, estimate=gathered.estimate)
        return self._finished(gathered, found, freshness)

    def _evaluated(self, bindings: Mapping[str, Ids], length: int, at: int) -> ServiceRows:
        failures = self._refresher.receive(at)
        started = perf_counter()
        if not self._refresher.pending + self._refresher.owed:
            self._take_apart(self._views.value.volatile, moving=True)
        left = LeftNodes.of({name: bindings[name] for name in self.join}, length)
        found, right = self._look(left, at)
        asked = requests = 0
        planned = answered = perf_counter()
        if self._advance(at):
            chosen, rest, unmet = self._choose(found, right, at)
            planned = perf_counter()
            asked, requests = self._refresher.ask(found, chosen, at, rest)
            self.ledger.spend(self.target.query, at, requests, call=self.name, keys=asked, left=unmet)
            if requests or (self.target.config.budget is None and right.waiting.any()):
                failures += self._refresher.receive(at, wait=True)
                answered = perf_counter()
                found, right = self._look(left, at)
            value = self._views.value
            self._audit.check(value.numbering, value.fetched, value.digest, value.waiting)
            self._audit.earn(self.target.config.probes * asked)
            self._trim()
        if failures and self.target.config.on_failure is OnFailure.ERROR and not self.target.silent:
            raise failures[0]
        gathered = self._gather(found, right, at)
        freshness = Freshness(
            at=at,
            rows=gathered.total,
            fresh=gathered.fresh,
            missing=gathered.missing,
            refreshed=asked,
            requests=requests,
            failed=len(failures),
            waiting=self._refresher.pending,
            oldest=max(int(at - gathered.fetched.min(initial=at)), 0),
            estimate=gathered.estimate,
            audited=self._audit.share,
            confidence=self._audit.confidence,
            planning=planned - started,
            waited=max(answered - planned, 0.0),
        )
        self.answered = self._finished(gathered, found, freshness)
        return self.answered

    @property
    def last(self) -> Freshness | None:
        """The account of the latest evaluation."""
        return None if self.answered is None else self.answered.freshness

    def _take_apart(self, volatile: frozenset[str], *, moving: bool) -> None:
        """Ask for what changes by itself from now on (M:N: one refresh of it serves all that need it), once
        it is known what does; ``moving`` takes the rows along."""
        parts = parts_by_volatility(self.target.parts, volatile, self.target.config)
        if parts is None or self._views_of is None:
            return
        old, self._volatile = self._views.value, volatile
        self.target = replace(self.target, parts=parts)
        views = self._views_of(parts)
        self._views = CallViews(parts, *views)
        self._refresher = ViewRefresher(self.target, views, self.ledger, self._loop, self._dictionary)
        self._audit = Audit(**self._audit.state())
        if moving:
            self._refresher.take_over(old)

    def _look(self, left: LeftNodes, at: int) -> tuple[NeededKeys, RightNodes]:
        found = self._views.needed(left, at)
        return found, right_nodes(found, self._views, at)

    def _advance(self, at: int) -> bool:
        """Note the time; an evaluation out of order refreshes nothing."""
        if self._at is not None and at < self._at:
            return False
        if self._slide is None and self._at is not None and at > self._at:
            self._pace = max(1, (3 * self._pace + at - self._at) // 4)
        self._at = at
        return True

    def _choose(self, found: NeededKeys, right: RightNodes, at: int) -> tuple[Ids, int, Wants]:
        """Right nodes to ask for now, best first; before them so many requests for the rest of answers that
        were cut; and what is left to want."""
        config, links = self.target.config, len(found.link)
        policy, aggregate = None, self.target.parts.outer is not None
        stale = ~right.fresh(at) & ~right.waiting
        rows = None
        if config.budget is not None:
            learned = self.target.parts.value.interval is None and not config.stated
            policy = definite_policy(config.policy, config.budget, learned=learned)
            if policy is PolicyName.EXPECTED:
                stale = (right.chance < _SURE) & ~right.waiting
            rows = self._lifetimes.update(found.left.name, found.left.count, at, self._pace)
        owed = self._refresher.owed
        if self._refresher.blocked or not (owed or stale.any()):
            return np.empty(0, np.int64), 0, Wants()
        never = stale & ~right.known()
        wants = Wants(owed + self._requests(never, links), self._requests(stale & ~never, links))
        slides, graph = 1, None
        if rows is not None:
            graph = maintenance_graph(found, right, rows, at, self._pace)
            slides = min(horizon_of(graph), self.ledger.slides(at, self._pace))
        allowed = self.ledger.allowance(
            self.target.query, at, self._pace, slides, call=self.name, wants=wants
        )
        rest = min(owed, allowed.now)
        owed -= rest
        allowed = replace(allowed, now=allowed.now - rest)
        if policy is None or graph is None:
            chosen = np.concatenate((np.flatnonzero(never), np.flatnonzero(stale & ~never)))
        else:
            rng = np.random.default_rng((config.seed, at & 0xFFFF_FFFF_FFFF))
            keys = Allowance(
                min(allowed.now * config.batch, allowed.keys), min(allowed.ahead * config.batch, NO_LIMIT)
            )
            worth = None
            if policy is PolicyName.EXPECTED and not aggregate:
                worth = self._views.worth(found, at, self._pace, rows_ahead(graph))
            chosen = choose(policy, graph, stale, right, keys, aggregate, at, self._pace, slides, rng, worth)
        chosen = self._affordable(self._refresher.reachable(found, chosen), links, allowed)
        if graph is not None:
            chosen = self._with_probe(found, right, graph, chosen, allowed)
        left = stale.copy()
        left[chosen] = False
        unmet = owed + self._requests(left & never, links)
        return chosen, rest, Wants(unmet, self._requests(left & ~never, links))

    def _requests(self, wanted: Mask, links: int) -> int:
        """How many requests ask for so many right nodes."""
        batch = self.target.config.batch
        return -(-int(wanted[:links].sum()) // batch) - (-int(wanted[links:].sum()) // batch)

    def _affordable(self, chosen: Ids, links: int, allowed: Allowance) -> Ids:
        """The first of them, as many as the requests and keys that are allowed hold: keys of the two parts
        are asked for in requests of their own."""
        batch = self.target.config.batch
        linked = np.cumsum(chosen < links, dtype=np.int64)
        valued = np.arange(1, len(chosen) + 1) - linked
        needed = -(-linked // batch) - (-valued // batch)
        few: Ids = chosen[(needed <= allowed.now) & (np.arange(len(chosen)) < allowed.keys)]
        return few

    def _with_probe(
        self, found: NeededKeys, right: RightNodes, graph: MaintenanceGraph, chosen: Ids, allowed: Allowance
    ) -> Ids:
        """What was chosen and, now and then, a key drawn by chance as often as rows need it, in place of the
        last where there is no room."""
        config, links = self.target.config, len(found.link)
        needs = graph.compatible()[graph.edge_left]
        rows = np.bincount(graph.edge_right, needs, graph.right) * right.known() * ~right.waiting
        rows[:links] = 0
        if self._audit.credit < 1.0 or not rows.any():
            return chosen
        chance = np.random.default_rng((config.seed, (self._at or 0) & 0xFFFF_FFFF_FFFF, 1))
        node = int(chance.choice(len(rows), p=rows / rows.sum()))
        anyway = bool((chosen == node).any())
        if not anyway:
            wider = np.append(chosen, node)
            if len(self._affordable(wider, links, allowed)) <= len(chosen):
                # What was never fetched comes before a probe.
                wider = np.append(chosen[:-1], node) if right.known()[chosen[-1:]].all() else wider
            if len(self._affordable(wider, links, allowed)) < len(wider):
                return chosen
            chosen = wider
        view, number = self._views.value, int(found.value[node - links])
        thought = 1.0 if anyway else float(right.chance[node])
        probe = Probe(number, view.numbering, int(view.fetched[number]), int(view.digest[number]), thought)
        self._audit.drawn(probe)
        return chosen

    def _trim(self) -> None:
        """Keep the views within bounds, while nothing on its way refers to their keys."""
        if not self._refresher.pending + self._refresher.owed:
            for view in (self._views.link, self._views.value):
                if view is not None and len(view) > self.target.config.max_keys:
                    view.forget(self.target.config.max_keys * 9 // 10)

    def snapshot(self) -> State:
        """What the call knows besides its views: lives, pace, and the latest answer."""
        tables: dict[str, Mapping[str, Ids]] = {"lives": self._lifetimes.state()}
        header: dict[str, Any] = {"pace": self._pace, "at": self._at, "account": None}
        header |= {"audit": self._audit.state(), "volatile": sorted(self._volatile)}
        if self.answered is not None:
            rows = self.answered
            header["account"] = {name: int(getattr(rows.freshness, name)) for name in _ACCOUNT}
            header["account"] |= {name: getattr(rows.freshness, name) for name in _SHARES}
            tables |= {"times": {"fetched": rows.fetched, "expiry": rows.expiry}, "columns": rows.columns}
        return header, tables

    def restore(self, state: State) -> None:
        """Replace all that by what ``snapshot`` gave."""
        header, tables = state
        self._lifetimes.restore(tables["lives"])
        self._pace, self._at = header["pace"], header["at"]
        self._audit = Audit(**header["audit"])
        self._take_apart(frozenset(header["volatile"]), moving=False)
        self.answered = None
        if header["account"] is not None:
            columns = {name: np.array(column) for name, column in tables.get("columns", {}).items()}
            fetched, expiry = (np.array(tables["times"][name]) for name in ("fetched", "expiry"))
            self.answered = ServiceRows(columns, fetched, expiry, Freshness(**header["account"]))

    # Answering

    def _gather(self, found: NeededKeys, right: RightNodes, at: int) -> Gathered:
        parts = self.target.parts
        if parts.outer is None:
            return gather(found, right, self._views, at, optional=self.target.optional)
        below = gather(found, right, self._views, at, optional=False)
        answer = evaluate_locally(parts.outer, below.rows, at, self._dictionary)
        return grouped(found, right, at, answer, self.join)

    def _finished(self, gathered: Gathered, found: NeededKeys, freshness: Freshness) -> ServiceRows:
        columns = dict(gathered.rows.columns)
        fetched, expiry = gathered.fetched, gathered.expiry
        if self.target.config.age_variable is not None:
            columns[self.target.config.age_variable] = self._ages(freshness.at - fetched)
        if self.target.silent and (lost := self._lost(found)).any():
            count = int(lost.sum())
            for name in columns:
                given = found.left.columns.get(name)
                extra = np.zeros(count, np.int64) if given is None else given[lost]
                columns[name] = np.concatenate((columns[name], extra))
            fetched = np.concatenate((fetched, np.full(count, freshness.at)))
            expiry = np.concatenate((expiry, np.full(count, freshness.at)))
        return ServiceRows(columns, fetched, expiry, freshness)

    def _lost(self, found: NeededKeys) -> Mask:
        """LeftNodes nodes of which nothing is known because their endpoint fails: SILENT lets them pass."""
        link = self._views.link
        view, numbers = (self._views.value, found.value) if link is None else (link, found.link)
        gone = (view.failed[numbers] | self._refresher.down) & (view.fetched[numbers] == NEVER)
        lost: Mask = gone[found.link_of]
        return lost

    def _ages(self, age: Ids) -> Ids:
        distinct, where = np.unique(age, return_inverse=True)
        terms = [Literal(f"{value / 1e6:.6f}".rstrip("0").rstrip("."), XSD + "decimal") for value in distinct]
        ids: Ids = self._dictionary.encode_terms(terms)[where]
        return ids


@dataclass(frozen=True, slots=True)
class Gathered:
    """Solutions with their times, and how many join rows they make: all, fresh and missing ones, and how many
    can be expected to be true."""

    rows: PartRows
    fetched: Ids
    expiry: Ids
    total: int
    fresh: int
    missing: int
    expected: float

    @property
    def estimate(self) -> float | None:
        """The share that can be expected to be true; None where there should be no rows."""
        whole = self.total + self.missing
        return self.expected / whole if whole else None


def gather(found: NeededKeys, right: RightNodes, views: CallViews, at: int, *, optional: bool) -> Gathered:
    """The rows of the parts, joined where there are two."""
    fresh, known = right.fresh(at), right.known()
    weight = np.bincount(found.link_of, weights=found.left.count).astype(np.int64)
    link, value = views.link, views.value
    if link is None:
        relation, place = value.relation(found.value)
        rows = PartRows(dict(relation.columns), len(place))
        fetched, expiry, lasts, true = relation.start, relation.end, fresh[place], right.chance[place]
        missing = int(weight[~known].sum())
        heads = known
    else:
        links = len(found.link)
        first, owner = link.relation(found.link)
        numbers = views.needs(link.places(found.link)[0], at)
        second, place = value.relation(numbers)
        node = links + np.searchsorted(found.value, numbers)
        columns = {name: column[place] for name, column in first.columns.items()}
        rows = PartRows({**columns, **second.columns}, len(place))
        old = np.where(first.end == FOREVER, FOREVER, first.start)[place]
        fetched = np.minimum(second.start, old)
        expiry = np.minimum(second.end, first.end[place])
        lasts = (fresh[owner] & fresh[node])[place]
        true = (right.chance[owner] * right.chance[node])[place]
        missing = int(weight[~known[:links]].sum()) + int(weight[owner[~known[node]]].sum())
        place, heads = owner[place], known[:links]
    per_head = np.bincount(place, minlength=len(heads))
    fresh_per_head = np.bincount(place[lasts], minlength=len(heads))
    true_per_head = np.bincount(place, weights=true, minlength=len(heads))
    if optional:
        alone = heads & (per_head == 0)
        per_head = np.where(alone, 1, per_head)
        fresh_per_head = np.where(alone & fresh[: len(heads)], 1, fresh_per_head)
        true_per_head = np.where(alone, right.chance[: len(heads)], true_per_head)
    total, good = int((weight * per_head).sum()), int((weight * fresh_per_head).sum())
    return Gathered(rows, fetched, expiry, total, good, missing, float((weight * true_per_head).sum()))


def grouped(found: NeededKeys, right: RightNodes, at: int, answer: PartRows, key: Sequence[str]) -> Gathered:
    """The times of an aggregate's solutions, by the left node each belongs to. One that lacks an answer to
    anything it needs is missing: a sum of what happens to be known is no sum."""
    lefts = found.left.length
    fresh, known, oldest, expiry = _whole(found, right, at)
    count = found.left.count
    owner, mine = owners(answer, key, found.left.columns, lefts)
    mine &= known[owner] if key else np.full(len(mine), bool(known.all()))
    kept = answer.take(mine)
    owner = owner[mine]
    if not key and lefts:
        fetched = np.full(kept.length, oldest.min())
        until = np.full(kept.length, expiry.min())
    else:
        fetched, until = oldest[owner], expiry[owner]
    doubt = np.log(np.maximum(right.chance, 1e-300))[found.edge_right]
    true = np.exp(np.bincount(found.edge_left, weights=doubt, minlength=lefts))
    return Gathered(
        kept,
        fetched,
        until,
        int(count[known].sum()),
        int(count[fresh].sum()),
        int(count[~known].sum()),
        float((count * true)[known].sum()),
    )


def _whole(found: NeededKeys, right: RightNodes, at: int) -> tuple[Mask, Mask, Ids, Ids]:
    """For each left node: whether all it needs is fresh, whether all of it is known, its oldest fetch and its
    earliest expiry."""
    lefts = found.left.length
    stale = np.bincount(found.edge_left[~right.fresh(at)[found.edge_right]], minlength=lefts)
    unknown = np.bincount(found.edge_left[~right.known()[found.edge_right]], minlength=lefts)
    known = unknown == 0
    oldest, expiry = np.full(lefts, at), np.full(lefts, FOREVER)
    settled = right.expiry == FOREVER
    fetched = np.where(settled, at, right.fetched)
    np.minimum.at(oldest, found.edge_left, fetched[found.edge_right])
    np.minimum.at(expiry, found.edge_left, right.expiry[found.edge_right])
    return stale == 0, known, oldest, expiry
