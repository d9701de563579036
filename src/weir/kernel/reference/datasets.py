"""Graphs and datasets of terms at one instant, and the pairs of terms that a property path connects there.

A ``Graph`` is a multiset of triples: an RDF graph has each triple once, the content of a ``BAG`` window
once per occurrence. What each part of a query's dataset is at τ is settled in
decision semantics-time, 31 to 35.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from weir.language.algebra import patterns as a
from weir.language.algebra.query import Query
from weir.plan.analysis.ticks import graphs_read
from weir.rdf.terms import IRI, Term, Triple

Quad: TypeAlias = tuple[Term, Term, Term, Term | None]
"""A triple and the name of its graph, None outside any."""


class Graph:
    """Triples in order of arrival, on top of another graph's where one is given; found by any part."""

    def __init__(self, triples: Iterable[Triple] = (), base: Graph | None = None) -> None:
        self.base = base
        self.own: list[Triple] = list(triples)

    @property
    def triples(self) -> list[Triple]:
        return self.own if self.base is None else self.base.triples + self.own

    @cached_property
    def distinct(self) -> set[Triple]:
        """The triples without their multiplicities."""
        return set(self.triples)

    @cached_property
    def _index(self) -> tuple[dict[Term, list[Triple]], ...]:
        """The triples by subject, by predicate and by object."""
        index: tuple[dict[Term, list[Triple]], ...] = ({}, {}, {})
        for triple in self.own:
            for place, term in zip(index, triple, strict=True):
                place.setdefault(term, []).append(triple)
        return index

    def match(self, *parts: Term | None) -> Iterator[Triple]:
        """Occurrences of triples with this subject, predicate and object; None matches anything."""
        if self.base is not None:
            yield from self.base.match(*parts)
        known = [
            place.get(part, []) for place, part in zip(self._index, parts, strict=True) if part is not None
        ]
        for triple in min(known, key=len, default=self.own):
            if all(part is None or part == term for part, term in zip(parts, triple, strict=True)):
                yield triple

    def nodes(self) -> list[Term]:
        """Every subject and object, once."""
        return list(dict.fromkeys(term for s, _, o in self.triples for term in (s, o)))


def as_set(triples: Iterable[Triple]) -> list[Triple]:
    """Each triple once, in order of first occurrence."""
    return list(dict.fromkeys(triples))


@dataclass(frozen=True, slots=True)
class Dataset:
    """A default graph and named ones: what ``GRAPH`` can reach."""

    default: Graph = field(default_factory=Graph)
    named: Mapping[Term, Graph] = field(default_factory=dict)


def window_dataset(quads: Iterable[Quad], *, bag: bool) -> Dataset:
    """A window's content: its default graph is all triples of all graphs, its named graphs are by name."""
    everything: list[Triple] = []
    named: dict[Term, list[Triple]] = {}
    for subject, predicate, object, graph in quads:
        everything.append((subject, predicate, object))
        if graph is not None:
            named.setdefault(graph, []).append((subject, predicate, object))
    if bag:
        return Dataset(Graph(everything), {name: Graph(part) for name, part in named.items()})
    return Dataset(Graph(as_set(everything)), {name: Graph(as_set(part)) for name, part in named.items()})


@dataclass(frozen=True, slots=True)
class WindowContent:
    """One window on one stream at one instant; ``bind`` is the variable of ``STREAM ?v`` and its stream."""

    dataset: Dataset
    bind: tuple[str, Term] | None = None


@dataclass(frozen=True, slots=True)
class SDS:
    """RSP-QL's streaming dataset at one instant: the dataset of the query, and its windows by name."""

    dataset: Dataset
    windows: Mapping[str, tuple[WindowContent, ...]] = field(default_factory=dict)
    nameable: tuple[str, ...] = ()
    """The windows over which ``WINDOW ?w`` ranges."""

    def everything(self) -> Graph:
        """All triples of all graphs and windows, each once: what DESCRIBE describes from."""
        graphs = [self.dataset.default, *self.dataset.named.values()]
        graphs += [content.dataset.default for parts in self.windows.values() for content in parts]
        return Graph(as_set(triple for graph in graphs for triple in graph.triples))


@dataclass(frozen=True, slots=True)
class Timed:
    """A static triple valid in ``[start, end)``; None is without bound."""

    triple: Triple
    start: int | None = None
    end: int | None = None

    def valid(self, time: int) -> bool:
        return (self.start is None or self.start <= time) and (self.end is None or time < self.end)


@dataclass(frozen=True, slots=True)
class Static:
    """The registered default graph and named graphs: RSP-QL's time-varying graphs.

    ``made`` has the time from which a graph exists that was not there from the beginning.
    """

    default: Sequence[Timed] = ()
    named: Mapping[str, Sequence[Timed]] = field(default_factory=dict)
    made: Mapping[str, int] = field(default_factory=dict)

    def changes(self) -> list[int]:
        """The times at which some triple comes or goes, or a graph comes into being, in order."""
        timed = [*self.default, *(each for graph in self.named.values() for each in graph)]
        return sorted(_changes(timed).union(self.made.values()))


def static_dataset(query: Query, static: Static, time: int) -> Dataset:
    """The dataset of the static graphs [31, 34]: the registered one as the query's clauses change it."""
    asked, windows = query.dataset, query.dataset.windows
    default = valid_at(time, static.default)
    known = {
        name: valid_at(time, graph)
        for name, graph in static.named.items()
        if name not in static.made or static.made[name] <= time
    }
    if not windows and (asked.default or asked.named):
        default = []
    for name in asked.default:
        default += known.get(name, [])
    if asked.named or (not windows and asked.default):
        known = {name: known[name] for name in asked.named if name in known}
    named: dict[Term, Graph] = {IRI(name): Graph(as_set(triples)) for name, triples in known.items()}
    return Dataset(Graph(as_set(default)), named)


def changes_read(query: Query, static: Static) -> list[int]:
    """The times at which a graph that the query reads changes [31]."""
    read, asked = graphs_read(query), query.dataset
    named = read.of(static.named, asked.named)
    default = [name for name in asked.default if name in static.named] if read.default else []
    timed = [each for name in {*named, *default} for each in static.named[name]]
    timed += static.default if read.default else []
    times = _changes(timed)
    if not asked.named:
        times.update(static.made[name] for name in named if name in static.made)
    return sorted(times)


def _changes(timed: Iterable[Timed]) -> set[int]:
    """The times at which triples come or go."""
    return {time for each in timed for time in (each.start, each.end) if time is not None}


def valid_at(time: int, graph: Sequence[Timed]) -> list[Triple]:
    """The triples that a graph has at a time."""
    return [timed.triple for timed in graph if timed.valid(time)]


# Property paths (section 18.4)

Pair: TypeAlias = tuple[Term, Term]


def pairs(path: a.Path, start: Term | None, end: Term | None, graph: Graph) -> Iterator[Pair]:
    """The multiset of pairs (x, y) that ``path`` connects; x is ``start`` and y ``end`` where they are given.

    Zero-length paths connect every node of the graph with itself, and a known end also where the graph lacks
    it.
    """
    match path:
        case a.Link(iri):
            for subject, _, object in graph.match(start, iri, end):
                yield subject, object
        case a.Inverse(inner):
            for x, y in pairs(inner, end, start, graph):
                yield y, x
        case a.Sequence(left, right):
            for x, middle in pairs(left, start, None, graph):
                for _, y in pairs(right, middle, end, graph):
                    yield x, y
        case a.Alternative(left, right):
            yield from pairs(left, start, end, graph)
            yield from pairs(right, start, end, graph)
        case a.NegatedSet():
            yield from _negated(path, start, end, graph)
        case a.ZeroOrOne(inner):
            steps = pairs(inner, start, end, graph)
            yield from dict.fromkeys([*_zero(start, end, graph), *steps])
        case a.ZeroOrMore(inner):
            yield from dict.fromkeys(_closure(inner, start, end, graph, zero=True))
        case a.OneOrMore(inner):
            yield from dict.fromkeys(_closure(inner, start, end, graph, zero=False))


def _negated(path: a.NegatedSet, start: Term | None, end: Term | None, graph: Graph) -> Iterator[Pair]:
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
    known = {term for term in (start, end) if term is not None}
    return [(node, node) for node in known or graph.nodes()] if len(known) < 2 else []


def _closure(
    inner: a.Path, start: Term | None, end: Term | None, graph: Graph, *, zero: bool
) -> Iterator[Pair]:
    """Arbitrary length paths: from each start, everything reached, once (the ALP procedure)."""
    if start is None and end is not None:
        for y, x in _closure(a.Inverse(inner), end, None, graph, zero=zero):
            yield x, y
        return
    starts = [start] if start is not None else graph.nodes()
    for origin in starts:
        for reached in _reach(inner, origin, graph, zero=zero):
            if end is None or reached == end:
                yield origin, reached


def _reach(inner: a.Path, origin: Term, graph: Graph, *, zero: bool) -> list[Term]:
    seen: dict[Term, None] = {origin: None} if zero else {}
    frontier = [origin]
    while frontier:
        node = frontier.pop()
        for _, reached in pairs(inner, node, None, graph):
            if reached not in seen:
                seen[reached] = None
                frontier.append(reached)
    return list(seen)
