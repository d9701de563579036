"""Queries that read each other's output, what keeps a set of queries from running together, and which slot
evaluates which query, decided once when it is registered.

Queries that read each other's output share a slot, and so do queries that call the same SERVICE endpoint,
whose view and budget they share; so do conjunctions that are equal but for the names of their variables,
which are evaluated once. The rest are spread over the slots by load.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter

from weir.errors import UsageError
from weir.language import parse
from weir.language.algebra.query import Construct, Query
from weir.plan.analysis.demand import streams_of
from weir.rdf.terms import Variable


@lru_cache(maxsize=1 << 16)
def parsed(text: str, dialect: str) -> Query:
    """A registered query; the same object for the same text, so that nothing is parsed twice."""
    return parse(text, dialect=dialect)


def evaluation_order(queries: Mapping[str, Query]) -> tuple[str, ...]:
    """Names such that a query comes after those whose output it reads; refuses cycles and SELECT sources."""
    makers: dict[str, str] = {}
    for name, query in queries.items():
        if query.output is not None:
            if query.output in makers:
                raise UsageError(f"two queries write the stream <{query.output}>")
            makers[query.output] = name
    needs: dict[str, set[str]] = {}
    for name, query in queries.items():
        needs[name] = {makers[s] for s in query.streams if isinstance(s, str) and s in makers}
        for source in needs[name]:
            if not isinstance(queries[source].form, Construct):
                raise UsageError(
                    f"query {name!r} reads the output of {source!r}, which makes no triples",
                    hint="only the output of a CONSTRUCT query is a stream",
                )
    try:
        return tuple(TopologicalSorter({name: sorted(needs[name]) for name in sorted(needs)}).static_order())
    except CycleError as error:
        raise UsageError(f"queries read each other in a circle: {' -> '.join(error.args[1])}") from None


def streams_read(query: Query, streams: Collection[str]) -> tuple[str, ...]:
    """The streams that a query reads; a variable ranges over the registered ``streams``."""
    return tuple(dict.fromkeys(s for w in query.dataset.windows for s in streams_of(w, streams)))


def refuse_bad_chains(queries: Mapping[str, Query], streams: Collection[str]) -> None:
    """Raise where a stream is unknown or has two makers, where queries read each other in a circle, and where
    one reads what makes no triples."""
    for name, query in queries.items():
        if query.output in streams:
            raise UsageError(
                f"query {name!r} writes the stream <{query.output}>, which has a source of its own",
                hint="give the output or the stream another name",
            )
    evaluation_order(queries)
    outputs = {query.output: name for name, query in queries.items() if query.output is not None}
    for name, query in queries.items():
        for stream in query.streams:
            if isinstance(stream, Variable) and not streams:
                raise UsageError(f"query {name!r} ranges over the registered streams, and there is none")
            if isinstance(stream, str) and stream not in streams and stream not in outputs:
                known = ", ".join(f"<{iri}>" for iri in streams) or "none"
                raise UsageError(
                    f"query {name!r} reads the unknown stream <{stream}>",
                    detail=f"known streams: {known}",
                    hint=f"give it with --stream {stream}=SOURCE, in Python by streams or Engine.stream",
                )


def readers_of(output: str | None, queries: Mapping[str, Query]) -> list[str]:
    """The queries that name a stream as theirs."""
    return [name for name, query in queries.items() if output is not None and output in query.streams]


def place(
    queries: Mapping[str, Query],
    known: Mapping[str, Query],
    slots: Mapping[str, int],
    load: Sequence[int],
    calls: Mapping[str, Collection[str]],
    marks: Mapping[str, str],
    twins: Mapping[str, int],
) -> dict[str, int]:
    """The slot of each new query. ``known`` are those that run already, in the ``slots`` given; ``load`` is
    how many queries each slot has, and ``calls`` names the endpoints that each query calls, new or known.
    Those that have a mark go where the others of it are; ``twins`` are the slots of those that run."""
    counts, at = list(load), dict(twins)
    out: dict[str, int] = {}
    for component in _components(queries, known, calls):
        homes = {slots[name] for name in component if name in slots}
        new = [name for name in component if name not in slots]
        if len(homes) > 1:
            raise UsageError(
                f"{', '.join(repr(name) for name in new)} would chain queries that already run apart",
                hint="register queries that read each other's output, or call one endpoint, together",
            )
        mark = marks.get(new[0]) if len(component) == 1 else None
        if mark and mark in at:
            out[new[0]] = at[mark]
            continue
        slot = homes.pop() if homes else counts.index(min(counts))
        counts[slot] += len(new)
        out |= dict.fromkeys(new, slot)
        if mark:
            at[mark] = slot
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
