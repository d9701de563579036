"""Where queries go: which slot evaluates which, decided once at registration (DESIGN.md, "A group").

Queries that read each other's output share a slot, and so do queries that call the same SERVICE endpoint,
whose view and budget they share; so do conjunctions that are equal but for the names of their variables,
which are evaluated once. The rest are spread over the slots by load.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from weir.errors import UsageError
from weir.language.algebra.patterns import BGP, Pattern, Service
from weir.language.algebra.query import Query
from weir.language.algebra.walking import walk
from weir.linked.service import HINT
from weir.plan.analysis.conjunctions import signature
from weir.rdf.terms import IRI
from weir.runtime.control.catalog import Catalog


def place(
    queries: Mapping[str, Query], catalog: Catalog, known: Mapping[str, Query], slots: int
) -> dict[str, int]:
    """The slot of each new query. ``known`` are the parsed queries that ``catalog`` already has."""
    fixed = {name: registration.slots[0] for name, registration in catalog.queries.items()}
    load = [0] * slots
    for registration in catalog.queries.values():
        if registration.share is None:
            load[registration.slots[0]] += 1
    twins = {mark: fixed[name] for name, query in known.items() if (mark := signature(query)) is not None}
    out: dict[str, int] = {}
    for component in _components(queries, known):
        homes = {fixed[name] for name in component if name in fixed}
        new = [name for name in component if name not in fixed]
        if len(homes) > 1:
            raise UsageError(
                f"{', '.join(repr(name) for name in new)} would chain queries that already run apart",
                hint="register queries that read each other's output, or call one endpoint, together",
            )
        mark = signature(queries[new[0]]) if len(component) == 1 else None
        if mark in twins:
            out[new[0]] = twins[mark]
            continue
        slot = homes.pop() if homes else load.index(min(load))
        load[slot] += len(new)
        out |= dict.fromkeys(new, slot)
        if mark is not None:
            twins[mark] = slot
    return out


def _components(queries: Mapping[str, Query], known: Mapping[str, Query]) -> Iterable[list[str]]:
    """New queries with all that they are chained to, directly or not, in the order of registration."""
    every = {**known, **queries}
    makers = {query.output: name for name, query in every.items() if query.output is not None}
    links: dict[str, set[str]] = {name: set() for name in every}
    for name, query in every.items():
        for stream in query.streams:
            maker = makers.get(stream) if isinstance(stream, str) else None
            if maker is not None:
                links[name].add(maker)
                links[maker].add(name)
    for together in _callers(every).values():
        for name in together[1:]:
            links[name].add(together[0])
            links[together[0]].add(name)
    seen: set[str] = set()
    for name in queries:
        if name in seen:
            continue
        component, stack = [], [name]
        while stack:
            current = stack.pop()
            if current not in seen:
                seen.add(current)
                component.append(current)
                stack += sorted(links[current])
        yield component


def _callers(queries: Mapping[str, Query]) -> dict[str, list[str]]:
    """The queries that call each endpoint, hints left out; endpoints that a variable names are not known."""
    found: dict[str, list[str]] = {}
    for name, query in queries.items():
        for endpoint in dict.fromkeys(_endpoints(query.pattern)):
            found.setdefault(endpoint, []).append(name)
    return found


def _endpoints(pattern: Pattern) -> Iterator[str]:
    for node in walk(pattern, closed=(BGP,)):
        if isinstance(node, Service) and isinstance(node.name, IRI):
            yield node.name.value.partition(HINT)[0]
