"""Property paths (section 18.4): the multiset of pairs that a path connects.

``pairs`` takes either end as a term where it is known. Zero-length paths connect every node of the graph
with itself, and a known end also where the graph lacks it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from weir.kernel.reference.datasets import Graph
from weir.language.algebra.patterns import (
    Alternative,
    Inverse,
    Link,
    NegatedSet,
    OneOrMore,
    Path,
    Sequence,
    ZeroOrMore,
    ZeroOrOne,
)
from weir.rdf.terms import Term

Pair: TypeAlias = tuple[Term, Term]


def pairs(path: Path, start: Term | None, end: Term | None, graph: Graph) -> Iterator[Pair]:
    """Pairs (x, y) connected by ``path``, x = ``start`` and y = ``end`` where they are given."""
    match path:
        case Link(iri):
            for subject, _, object in graph.match(start, iri, end):
                yield subject, object
        case Inverse(inner):
            for x, y in pairs(inner, end, start, graph):
                yield y, x
        case Sequence(left, right):
            for x, middle in pairs(left, start, None, graph):
                for _, y in pairs(right, middle, end, graph):
                    yield x, y
        case Alternative(left, right):
            yield from pairs(left, start, end, graph)
            yield from pairs(right, start, end, graph)
        case NegatedSet():
            yield from _negated(path, start, end, graph)
        case ZeroOrOne(inner):
            steps = pairs(inner, start, end, graph)
            yield from dict.fromkeys([*_zero(start, end, graph), *steps])
        case ZeroOrMore(inner):
            yield from dict.fromkeys(_closure(inner, start, end, graph, zero=True))
        case OneOrMore(inner):
            yield from dict.fromkeys(_closure(inner, start, end, graph, zero=False))


def _negated(path: NegatedSet, start: Term | None, end: Term | None, graph: Graph) -> Iterator[Pair]:
    if path.forward or not path.inverse:
        for subject, predicate, object in graph.match(start, None, end):
            if predicate not in path.forward:
                yield subject, object
    if path.inverse:
        for subject, predicate, object in graph.match(end, None, start):
            if predicate not in path.inverse:
                yield object, subject


def _zero(start: Term | None, end: Term | None, graph: Graph) -> Iterable[Pair]:
    """The zero-length path: a term reaches itself."""
    if start is not None and end is not None:
        return [(start, start)] if start == end else []
    if start is not None or end is not None:
        known = start if start is not None else end
        assert known is not None
        return [(known, known)]
    return [(node, node) for node in graph.nodes()]


def _closure(
    inner: Path, start: Term | None, end: Term | None, graph: Graph, *, zero: bool
) -> Iterator[Pair]:
    """Arbitrary length paths: from each start, everything reached, once (the ALP procedure)."""
    if start is None and end is not None:
        for y, x in _closure(Inverse(inner), end, None, graph, zero=zero):
            yield x, y
        return
    starts = [start] if start is not None else graph.nodes()
    for origin in starts:
        for reached in _reach(inner, origin, graph, zero=zero):
            if end is None or reached == end:
                yield origin, reached


def _reach(inner: Path, origin: Term, graph: Graph, *, zero: bool) -> list[Term]:
    seen: dict[Term, None] = {origin: None} if zero else {}
    frontier = [origin]
    while frontier:
        node = frontier.pop()
        for _, reached in pairs(inner, node, None, graph):
            if reached not in seen:
                seen[reached] = None
                frontier.append(reached)
    return list(seen)
