"""All SERVICE calls of a group of queries: shared views, shared budgets, one state to keep.

Calls with the same endpoint, settings and part have the same view, so what one query fetches another
uses; all calls to an endpoint draw on one ledger. The state (views and ledgers)
is data: restored in another process it answers the same, and asks for what it would have asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from weir.errors import EvaluationError, UsageError
from weir.kernel.service_calls import Freshness
from weir.language.algebra.patterns import Service
from weir.linked.service.call import RemoteCall
from weir.linked.service.config import ServiceConfig, server_of
from weir.linked.service.endpoint import RemoteLoop, shared_loop
from weir.linked.service.hints import hinted
from weir.linked.service.ledger import Ledger
from weir.linked.service.local_view import LocalView, State
from weir.linked.service.service_parts import ServicePart, ServiceParts, parts_of
from weir.linked.service.view_refresher import Target
from weir.rdf.columns import Ids, sorted_set
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI
from weir.storage import numbers, pack, unpack

_KIND = "service views, version 6"

Spent = tuple[str, str, int, int]
"""The name of a ledger, a query, an evaluation time and the requests that were sent at it."""


class ServiceResolver:
    """``configs`` by endpoint address, ``"*"`` for all others; it is a ``kernel.service_calls.Services``.

    ``dictionary`` must hold the texts of the variables that calls join on, and gets those of answers.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        configs: Mapping[str, ServiceConfig] | None = None,
        *,
        loop: RemoteLoop | None = None,
    ) -> None:
        self._dictionary = dictionary
        self._configs = dict(configs or {})
        self._loop = loop
        self._calls: dict[str, dict[str, RemoteCall]] = {}
        self._views: dict[str, LocalView] = {}
        self._ledgers: dict[str, Ledger] = {}
        self._kept: dict[str, State] = {}
        self._owed: list[Spent] = []

    def call(
        self,
        query: str,
        service: Service,
        bound: Sequence[str],
        *,
        optional: bool = False,
        width: int | None = None,
        slide: int | None = None,
        place: str | None = None,
    ) -> RemoteCall:
        """Prepare a SERVICE (see ``kernel.service_calls.Services``)."""
        if not isinstance(service.name, IRI):
            raise EvaluationError(f"SERVICE {service.name} has no endpoint", hint="bind the variable first")
        endpoint, config = hinted(service.name.value, self._configs)
        if not config.allow:
            raise UsageError(
                f"query {query!r} may not call the endpoint {endpoint}",
                hint="declare it, or allow endpoints that are not declared",
            )
        parts = parts_of(service.pattern, bound, config)
        target = Target(query, endpoint, config, parts, service.silent, optional)
        calls = self._calls.setdefault(query, {})
        name = f"{len(calls) if place is None else place} {endpoint}"
        if name in calls and calls[name].given == target:
            return calls[name]

        def views_of(parts: ServiceParts) -> tuple[LocalView | None, LocalView]:
            link = None if parts.link is None else self._view(endpoint, config, parts.link)
            return link, self._view(endpoint, config, parts.value)

        ledger = self._ledger(endpoint, config, query, f"{query} {name}")
        call = RemoteCall(
            target,
            views_of(parts),
            ledger,
            self._loop if self._loop is not None else shared_loop(),
            self._dictionary,
            width,
            slide,
            f"{query} {name}",
            views_of,
        )
        kept = f"{query} {name}"
        if kept in self._kept:
            call.restore(self._kept.pop(kept))
        calls[name] = call
        return call

    def drop(self, query: str) -> None:
        """Forget a query; its share of budgets is free, its views stay for the others."""
        for call in self._calls.pop(query, {}).values():
            call.ledger.leave(query)

    def together(self, at: int, queries: Sequence[str]) -> None:
        """All queries that are due at ``at``, before the first of them is evaluated: they share what
        endpoints may be asked then."""
        self._charge(at)
        for ledger in self._ledgers.values():
            ledger.together(at, queries)

    def begin(self, owed: Iterable[Spent] = (), earlier: ServiceResolver | None = None) -> None:
        """A batch begins: from now on is counted what is spent in it. ``owed`` are requests that queries have
        sent in an ``earlier`` attempt at it and do not send again: they are charged when their time comes."""
        self._owed = sorted(owed, key=lambda each: each[2])
        for name, ledger in self._ledgers.items():
            ledger.lately.clear()
            if earlier is not None and name in earlier._ledgers:
                ledger.follow(earlier._ledgers[name])

    def end(self) -> None:
        """The batch has ended: what is still owed is charged."""
        self._charge(None)

    def spent(self, query: str, since: int | None) -> list[Spent]:
        """What a query has spent in this batch, at times from ``since`` on; None is all."""
        return [
            (name, query, at, requests)
            for name, ledger in self._ledgers.items()
            for who, at, requests in ledger.lately
            if who == query and (since is None or at >= since)
        ]

    def _charge(self, until: int | None) -> None:
        while self._owed and (until is None or self._owed[0][2] <= until):
            name, query, at, requests = self._owed.pop(0)
            self._named_ledger(name).charge(query, at, requests)

    def freshness(self, query: str) -> list[Freshness]:
        """The account of each of a query's calls at its latest evaluation."""
        return [call.last for call in self._calls.get(query, {}).values() if call.last is not None]

    def _view(self, endpoint: str, config: ServiceConfig, part: ServicePart) -> LocalView:
        cached = config.budget is None
        name = _name(endpoint, replace(part, interval=None), cached)
        view = self._views.get(name)
        if view is None:
            interval = max(config.cache, 1) if cached else part.interval
            first = config.first_interval
            view = LocalView(part.key, part.variables, interval, first, learning=not cached)
            if name in self._kept:
                view.restore(self._kept.pop(name))
            self._views[name] = view
        return view

    def _ledger(self, endpoint: str, config: ServiceConfig, query: str, call: str) -> Ledger:
        ledger = self._named_ledger(f"ledger {server_of(endpoint)}")
        ledger.join(query, config.budget, call)
        return ledger

    def _named_ledger(self, name: str) -> Ledger:
        ledger = self._ledgers.get(name)
        if ledger is None:
            ledger = self._ledgers[name] = Ledger()
            if name in self._kept:
                ledger.restore(self._kept.pop(name))
        return ledger

    def _holders(self) -> dict[str, LocalView | RemoteCall | Ledger]:
        """Whatever has a state of its own, by name."""
        calls = {f"{query} {name}": call for query, own in self._calls.items() for name, call in own.items()}
        return {**self._views, **calls, **self._ledgers}

    @property
    def used(self) -> bool:
        """Whether there is any state to keep."""
        return bool(self._views or self._kept or self._ledgers)

    # State

    def ids(self) -> Ids:
        """Every id whose text the dictionary must keep."""
        columns = [view.ids() for view in self._views.values()]
        for calls in self._calls.values():
            for call in calls.values():
                columns += () if call.answered is None else call.answered.columns.values()
        return sorted_set(np.concatenate(columns)) if columns else np.empty(0, np.int64)

    def snapshot(self) -> bytes:
        """Views, calls, ledgers and the texts of their terms, but for keys that were never asked for."""
        states = self._kept | {name: holder.snapshot() for name, holder in self._holders().items()}
        ids = [i for i in self.ids().tolist() if i > 0 and i in self._dictionary]
        texts = pa.array([self._dictionary.text(i) for i in ids], pa.large_string())
        tables = {"terms": {"id": np.array(ids, np.int64), "text": texts}}
        for name, (_, own) in states.items():
            tables |= {f"{name}/{table}": dict(columns) for table, columns in own.items()}
        header = {"states": {name: dict(values) for name, (values, _) in states.items()}}
        state: bytes = pack(_KIND, header, tables).to_pybytes()
        return state

    def restore(self, state: bytes) -> None:
        """Replace the state by one that ``snapshot`` gave; calls may be prepared before or after."""
        found = unpack(state, _KIND)
        terms = found.table("terms")
        self._dictionary.add(numbers(terms["id"]), terms["text"].to_pylist())
        tables: dict[str, dict[str, Any]] = {name: {} for name in found.header["states"]}
        for full, columns in found.tables.items():
            name, _, table = full.rpartition("/")
            if name:
                tables[name][table] = columns
        holders = self._holders()
        states = {name: (values, tables[name]) for name, values in found.header["states"].items()}
        # A call may need views that nobody has made yet.
        self._kept |= {name: state for name, state in states.items() if name not in holders}
        for name in states.keys() & holders.keys():
            holders[name].restore(states[name])


def _name(endpoint: str, part: ServicePart, cached: bool) -> str:
    text = repr((endpoint, part, cached))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
