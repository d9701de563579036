"""Where queries go: which slot evaluates which, decided once at registration (DESIGN.md, "A group").

Queries that read each other's output share a slot; the rest are spread over the slots by load.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weir.errors import UsageError
from weir.language.query import Query
from weir.runtime.catalog import Catalog


def place(
    queries: Mapping[str, Query], catalog: Catalog, known: Mapping[str, Query], slots: int
) -> dict[str, int]:
    """The slot of each new query. ``known`` are the parsed queries that ``catalog`` already has."""
    fixed = {name: registration.slots[0] for name, registration in catalog.queries.items()}
    load = [0] * slots
    for slot in fixed.values():
        load[slot] += 1
    out: dict[str, int] = {}
    for component in _components(queries, known):
        homes = {fixed[name] for name in component if name in fixed}
        new = [name for name in component if name not in fixed]
        if len(homes) > 1:
            raise UsageError(
                f"{', '.join(repr(name) for name in new)} would chain queries that already run apart",
                hint="register queries that read each other's output together",
            )
        slot = homes.pop() if homes else load.index(min(load))
        load[slot] += len(new)
        out |= dict.fromkeys(new, slot)
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
