"""One SERVICE of one query: at each evaluation, refresh what pays and answer from the view.

The order of an evaluation: take what came late from earlier ones; see which view keys the window needs;
spend the budget on the best of the stale ones (without a budget, on all that are not cached); wait for
answers, but never beyond the deadline; answer with what the view then holds, and say how fresh it is.

A row of one part is as old as its key. A row of two parts is as old as the older of its keys, but for a
link that never changes. An aggregate is as old as the oldest key it is made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from weir.kernel.contract import FOREVER
from weir.kernel.service_calls import Freshness, ServiceRows
from weir.linked.service.budget import Ledger, choose, definite_policy, horizon_of
from weir.linked.service.config import OnFailure
from weir.linked.service.endpoint import RemoteLoop
from weir.linked.service.local_view import NEVER, LocalView, State
from weir.linked.service.maintenance_graph import (
    CallViews,
    LeftNodes,
    Lifetimes,
    NeededKeys,
    RightNodes,
    maintenance_graph,
    right_nodes,
)
from weir.linked.service.remote_query import owners
from weir.linked.service.service_parts import PartRows, evaluate_locally
from weir.linked.service.view_refresher import Target, ViewRefresher
from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import XSD, Literal

_DEFAULT_SLIDE = 1_000_000
_ACCOUNT = ("at", "rows", "fresh", "missing", "refreshed", "requests", "failed", "waiting", "oldest")


class RemoteCall:
    """``views`` are shared with other calls for the same parts, ``ledger`` with all calls to the endpoint.

    It is a ``kernel.service_calls.ServiceCall``.
    """

    def __init__(
        self,
        target: Target,
        views: tuple[LocalView | None, LocalView],
        ledger: Ledger | None,
        loop: RemoteLoop,
        dictionary: Dictionary,
        width: int | None = None,
        slide: int | None = None,
    ) -> None:
        self.target = target
        self.answered: ServiceRows | None = None
        self._views = CallViews(target.parts, *views)
        self.ledger = ledger
        self._refresher = ViewRefresher(target, views, loop, dictionary)
        self._dictionary = dictionary
        self._lifetimes = Lifetimes(width)
        self._slide = slide
        self._pace = slide or _DEFAULT_SLIDE
        self._at: int | None = None

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
        return self._finished(self._gather(found, right, at), found, Freshness(at))

    def _evaluated(self, bindings: Mapping[str, Ids], length: int, at: int) -> ServiceRows:
        failures = self._refresher.receive()
        started = perf_counter()
        left = LeftNodes.of({name: bindings[name] for name in self.join}, length)
        found, right = self._look(left, at)
        asked = requests = 0
        planned = answered = perf_counter()
        if self._advance(at):
            chosen = self._choose(found, right, at)
            planned = perf_counter()
            asked, requests = self._refresher.ask(found, chosen, at)
            if self.ledger is not None:
                self.ledger.spend(self.target.query, at, asked)
            if asked or (self.ledger is None and right.waiting.any()):
                failures += self._refresher.receive(wait=True)
                answered = perf_counter()
                found, right = self._look(left, at)
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
            planning=planned - started,
            waited=max(answered - planned, 0.0),
        )
        self.answered = self._finished(gathered, found, freshness)
        return self.answered

    @property
    def last(self) -> Freshness | None:
        """The account of the latest evaluation."""
        return None if self.answered is None else self.answered.freshness

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

    def _choose(self, found: NeededKeys, right: RightNodes, at: int) -> Ids:
        """Right nodes to ask for now, best first."""
        stale = ~right.fresh(at) & ~right.waiting
        config = self.target.config
        if config.budget is None or self.ledger is None:
            return np.flatnonzero(stale) if not self._refresher.blocked else np.empty(0, np.int64)
        rows = self._lifetimes.update(found.left.name, found.left.count, at, self._pace)
        if self._refresher.blocked or not stale.any():
            return np.empty(0, np.int64)
        graph = maintenance_graph(found, right, rows, at, self._pace)
        aggregate = self.target.parts.outer is not None
        policy = definite_policy(config.policy, config.budget, aggregate)
        slides = min(horizon_of(graph), self.ledger.slides(at, self._pace))
        allowed = self.ledger.allowance(self.target.query, at, self._pace, slides)
        rng = np.random.default_rng((config.seed, at & 0xFFFF_FFFF_FFFF))
        return choose(policy, graph, stale, right, allowed, aggregate, at, self._pace, slides, rng)

    def _trim(self) -> None:
        """Keep the views within bounds, while nothing on its way refers to their keys."""
        if not self._refresher.pending:
            for view in (self._views.link, self._views.value):
                if view is not None and len(view) > self.target.config.max_keys:
                    view.forget(self.target.config.max_keys * 9 // 10)

    def snapshot(self) -> State:
        """What the call knows besides its views: lives, pace, and the latest answer."""
        tables: dict[str, Mapping[str, Ids]] = {"lives": self._lifetimes.state()}
        header: dict[str, Any] = {"pace": self._pace, "at": self._at, "account": None}
        if self.answered is not None:
            rows = self.answered
            header["account"] = {name: int(getattr(rows.freshness, name)) for name in _ACCOUNT}
            tables |= {"times": {"fetched": rows.fetched, "expiry": rows.expiry}, "columns": rows.columns}
        return header, tables

    def restore(self, state: State) -> None:
        """Replace all that by what ``snapshot`` gave."""
        header, tables = state
        self._lifetimes.restore(tables["lives"])
        self._pace, self._at = header["pace"], header["at"]
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
    """Solutions with their times, and how many join rows they make: all, fresh and missing ones."""

    rows: PartRows
    fetched: Ids
    expiry: Ids
    total: int
    fresh: int
    missing: int


def gather(found: NeededKeys, right: RightNodes, views: CallViews, at: int, *, optional: bool) -> Gathered:
    """The rows of the parts, joined where there are two."""
    fresh, known = right.fresh(at), right.known()
    weight = np.bincount(found.link_of, weights=found.left.count).astype(np.int64)
    link, value = views.link, views.value
    if link is None:
        relation, place = value.relation(found.value)
        rows = PartRows(dict(relation.columns), len(place))
        fetched, expiry, lasts = relation.start, relation.end, fresh[place]
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
        missing = int(weight[~known[:links]].sum()) + int(weight[owner[~known[node]]].sum())
        place, heads = owner[place], known[:links]
    per_head = np.bincount(place, minlength=len(heads))
    fresh_per_head = np.bincount(place[lasts], minlength=len(heads))
    if optional:
        alone = heads & (per_head == 0)
        per_head = np.where(alone, 1, per_head)
        fresh_per_head = np.where(alone & fresh[: len(heads)], 1, fresh_per_head)
    total, good = int((weight * per_head).sum()), int((weight * fresh_per_head).sum())
    return Gathered(rows, fetched, expiry, total, good, missing)


def grouped(found: NeededKeys, right: RightNodes, at: int, answer: PartRows, key: Sequence[str]) -> Gathered:
    """The times of an aggregate's solutions, by the left node each belongs to."""
    lefts = found.left.length
    fresh, known, oldest, expiry = _whole(found, right, at)
    count = found.left.count
    owner, mine = owners(answer, key, found.left.columns, lefts)
    kept = answer.take(mine)
    owner = owner[mine]
    if not key and lefts:
        fetched = np.full(kept.length, oldest.min())
        until = np.full(kept.length, expiry.min())
    else:
        fetched, until = oldest[owner], expiry[owner]
    return Gathered(
        kept, fetched, until, int(count[known].sum()), int(count[fresh].sum()), int(count[~known].sum())
    )


def _whole(found: NeededKeys, right: RightNodes, at: int) -> tuple[Mask, Mask, Ids, Ids]:
    """For each left node: whether all it needs is fresh, whether its first key is known, its oldest fetch
    and its earliest expiry."""
    lefts = found.left.length
    stale = np.bincount(found.edge_left[~right.fresh(at)[found.edge_right]], minlength=lefts)
    known = right.known()[found.link_of]
    oldest, expiry = np.full(lefts, at), np.full(lefts, FOREVER)
    settled = right.expiry == FOREVER
    fetched = np.where(settled, at, right.fetched)
    np.minimum.at(oldest, found.edge_left, fetched[found.edge_right])
    np.minimum.at(expiry, found.edge_left, right.expiry[found.edge_right])
    return stale == 0, known, oldest, expiry
