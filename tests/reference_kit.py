"""The reference evaluator over input that is given whole, and endpoints whose answers are at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from weir.errors import WeirError
from weir.kernel.contract import FOREVER
from weir.kernel.reference import ContinuousQuery, Message, Static, Timed
from weir.kernel.reference.continuous_query import Evaluated
from weir.kernel.reference.federation import Federation
from weir.kernel.reference.query_forms import Row
from weir.kernel.service_calls import Calls, Freshness, ServiceRows
from weir.language.algebra.patterns import Pattern, Service
from weir.language.algebra.query import Query
from weir.language.algebra.scope import visible
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Term, Triple

Endpoint = Callable[[str, Pattern], Iterable[Mapping[str, Term]]]
"""The solutions of a pattern at an address."""


def static_of(default: Sequence[Triple] = (), named: Mapping[str, Sequence[Triple]] | None = None) -> Static:
    """Graphs that never change."""
    graphs = {name: [Timed(t) for t in triples] for name, triples in (named or {}).items()}
    return Static([Timed(t) for t in default], graphs)


def evaluate_query(
    query: Query, static: Static, *, now: int = 0, endpoint: Endpoint | None = None
) -> list[Row]:
    """A query without windows over static graphs, evaluated once."""
    dictionary = Dictionary()
    services = None if endpoint is None else Endpoints(endpoint, dictionary)
    federation = None if services is None else Federation(Calls(services, query, "query"), dictionary)
    (evaluated,) = ContinuousQuery(query, static, federation=federation).advance({}, now)
    return evaluated.rows


def evaluations(
    query: Query,
    streams: Mapping[str, Sequence[Message]],
    static: Static | None = None,
    *,
    end: bool = True,
) -> list[Evaluated]:
    """Every evaluation of a query over streams given whole, also those without results.

    Messages may come in any order; T is the smallest of the streams' largest times less their lateness.
    With ``end`` the input ends there; otherwise more could have come.
    """
    continuous = ContinuousQuery(query, static, streams=list(streams))
    lateness: dict[str, int] = {}
    for window in continuous.windows:
        lateness[window.stream] = max(lateness.get(window.stream, 0), window.semantics.lateness)
    reached = [
        max((message.time for message in streams.get(stream, ())), default=-(2**61)) - lateness[stream]
        for stream in lateness
    ]
    ordered = {name: sorted(messages, key=lambda m: m.time) for name, messages in streams.items()}
    return list(continuous.advance(ordered, min(reached, default=0), end=end))


def run(
    query: Query, streams: Mapping[str, Sequence[Message]], static: Static | None = None, *, end: bool = True
) -> list[tuple[int, Row]]:
    """The results of a query over streams given whole, each with its evaluation time."""
    return [(each.at, row) for each in evaluations(query, streams, static, end=end) for row in each.rows]


class Endpoints:
    """``Services`` that answer by a function; every call is answered anew."""

    def __init__(self, answer: Endpoint, dictionary: Dictionary) -> None:
        self._answer = answer
        self._dictionary = dictionary

    def call(self, query: str, service: Service, bound: Sequence[str], **_: Any) -> _Call:
        return _Call(self._answer, service, self._dictionary)

    def freshness(self, query: str) -> list[Freshness]:
        return []

    def ids(self) -> Ids:
        return np.empty(0, np.int64)


class _Call:
    join = ()

    def __init__(self, answer: Endpoint, service: Service, dictionary: Dictionary) -> None:
        self._answer, self._service, self._dictionary = answer, service, dictionary

    def rows(self, bindings: Mapping[str, Ids], length: int, at: int, *, refresh: bool = True) -> ServiceRows:
        assert isinstance(self._service.name, IRI)
        try:
            found = list(self._answer(self._service.name.value, self._service.pattern))
        except WeirError:
            if not self._service.silent:
                raise
            found = [{}]
        columns = {
            variable.name: self._dictionary.encode_terms([solution.get(variable.name) for solution in found])
            for variable in visible(self._service.pattern)
        }
        fetched = np.full(len(found), at)
        return ServiceRows(columns, fetched, np.full(len(found), FOREVER), Freshness(at))
