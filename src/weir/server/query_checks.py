"""What the service refuses to register: windows that may hold too much, and calls of other hosts."""

from __future__ import annotations

from weir.errors import RemoteError, UsageError
from weir.language import Query
from weir.language.algebra.windows import All, Elements, Past, Range, Triples
from weir.linked.http.allowed_hosts import Allowed
from weir.linked.service import HINT
from weir.rdf.terms import IRI
from weir.server.drawing import services_of
from weir.server.problems import Problem
from weir.server.settings import Limits, Settings


def check_query(query: Query, settings: Settings) -> None:
    """Refuse a query that may hold too much, calls a host that is not allowed, or is not continuous."""
    check_windows(query, settings.limits)
    check_services(query, settings)
    if not query.dataset.windows:
        raise UsageError("the query has no window, so it would be evaluated once", hint="ask it at /sparql")


def check_windows(query: Query, limits: Limits) -> None:
    """Refuse a query whose windows may hold too much."""
    longest = round(limits.window * 1_000_000)
    for window in query.dataset.windows:
        held, counted = 0, 0
        match window.kind:
            case Range(width, _) | Past(width, _, _):
                held = width
            case Triples(count, _) | Elements(count, _):
                counted = count
            case All() if not limits.unbounded:
                raise UsageError(
                    f"the window <{window.name}> holds everything for ever", hint="use RANGE or TRIPLES"
                )
        held += window.semantics.lateness
        if held > longest:
            raise UsageError(
                f"the window <{window.name}> is longer than {limits.window:g} s", hint="make it shorter"
            )
        if counted > limits.window_items:
            raise UsageError(f"the window <{window.name}> counts more than {limits.window_items:,} items")


def check_services(query: Query, settings: Settings) -> None:
    """Declared endpoints may lie anywhere; others on public addresses of allowed hosts."""
    for call in services_of(query.pattern):
        if not isinstance(call.name, IRI):
            raise UsageError("SERVICE needs the IRI of an endpoint here, not a variable")
        endpoint = call.name.value.partition(HINT)[0]
        if endpoint in settings.services:
            continue
        try:
            Allowed(settings.allowed.hosts).check(endpoint)
        except RemoteError as error:
            hint = "allow its host under [allow] hosts, or declare the endpoint under [services]"
            raise Problem(403, error.primary, error.detail, hint=hint) from None
