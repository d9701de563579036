"""Where queries go: which slot evaluates which, decided once when they are registered.

Queries that read each other's output share a slot, and so do queries that call the same SERVICE endpoint,
whose view and budget they share; so do conjunctions that are equal but for the names of their variables,
which are evaluated once. The rest are spread over the slots by load.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from weir.errors import UsageError
from weir.language.algebra.query import Query
from weir.plan.analysis.conjunctions import signature


def place(
    queries: Mapping[str, Query],
    known: Mapping[str, Query],
    slots: Mapping[str, int],
    load: Sequence[int],
    calls: Mapping[str, Collection[str]],
) -> dict[str, int]:
    """The slot of each new query. ``known`` are those that run already, in the ``slots`` given; ``load`` is
    how many queries each slot has, and ``calls`` names the endpoints that each query calls, new or known."""
    counts = list(load)
    twins = {mark: slots[name] for name, query in known.items() if (mark := signature(query)) is not None}
    out: dict[str, int] = {}
    for component in _components(queries, known, calls):
        homes = {slots[name] for name in component if name in slots}
        new = [name for name in component if name not in slots]
        if len(homes) > 1:
            raise UsageError(
                f"{', '.join(repr(name) for name in new)} would chain queries that already run apart",
                hint="register queries that read each other's output, or call one endpoint, together",
            )
        mark = signature(queries[new[0]]) if len(component) == 1 else None
        if mark in twins:
            out[new[0]] = twins[mark]
            continue
        slot = homes.pop() if homes else counts.index(min(counts))
        counts[slot] += len(new)
        out |= dict.fromkeys(new, slot)
        if mark is not None:
            twins[mark] = slot
    return out


def _components(
    queries: Mapping[str, Query], known: Mapping[str, Query], calls: Mapping[str, Collection[str]]
) -> Iterable[list[str]]:
    """New queries with all that they are chained to, directly or not, in the order of registration."""
    every = {**known, **queries}
    makers = {query.output: name for name, query in every.items() if query.output is not None}
    links: dict[str, set[str]] = {name: set() for name in every}
    callers: dict[str, str] = {}
    for name, query in every.items():
        read = [makers[stream] for stream in query.streams if isinstance(stream, str) and stream in makers]
        alike = [callers.setdefault(endpoint, name) for endpoint in calls.get(name, ())]
        for other in (*read, *alike):
            links[name].add(other)
            links[other].add(name)
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
