"""Property paths over edges that come and go (18.4).

A pair is connected while every edge of some path between its ends is visible: sequences intersect
intervals, alternatives unite bags. ``*``, ``+`` and ``?`` are sets: their pairs' intervals are coalesced. A
closure is the least fixpoint by semi-naive steps: only pairs, or parts of intervals, not known before are
extended, so cycles end when no interval grows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from weir.kernel.operators.distinct import distinct
from weir.kernel.operators.join import join
from weir.kernel.operators.rowwise import project
from weir.kernel.operators.scan import Slot, Triples, scan
from weir.kernel.relations.coverage import uncovered
from weir.kernel.relations.matches import matches
from weir.kernel.relations.relation import Relation, rename, union
from weir.kernel.relations.sorted_keys import LIMIT, Index
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
from weir.rdf.columns import Ids
from weir.rdf.terms import IRI

FROM, TO, _VIA = ".from", ".to", ".via"


class PathFinder:
    """Evaluates paths over the triples of one active graph in one slab."""

    def __init__(
        self, triples: Triples, encode: Callable[[IRI], int], indices: int, *, limit: int = LIMIT
    ) -> None:
        self.triples = triples
        self.encode = encode
        self.indices = indices
        self.limit = limit
        self._nodes: Relation | None = None

    def find(
        self,
        subject: Slot,
        path: Path,
        object: Slot,
        *,
        sources: Relation | None = None,
        known: Mapping[str, Ids] | None = None,
    ) -> Relation:
        """The solutions of ``subject path object``.

        ``sources``, distinct terms in the one column ``FROM``, limit where a variable subject may start: a
        caller that joins the outcome with them anyway saves the rest. ``known`` gives the terms of
        variables whose values were put in from outside (EXISTS): like constants, they reach themselves
        by a path of length zero also where the graph lacks them.
        """
        if isinstance(subject, int):
            pairs = self._pairs(path, self._always(np.full(1, subject, np.int64)))
        elif isinstance(object, int):
            pairs = self._pairs(Inverse(path), self._always(np.full(1, object, np.int64)))
            pairs = rename(pairs, {FROM: TO, TO: FROM})
        else:
            pairs = self._pairs(path, sources)
        pairs = union(pairs, self._isolated(subject, path, object, known or {}))
        return _solutions(pairs, subject, object)

    def _isolated(self, subject: Slot, path: Path, object: Slot, known: Mapping[str, Ids]) -> Relation:
        """Given ends that are no node of the graph, joined to themselves by a path of length zero."""
        starts, ends = _given(subject, known), _given(object, known)
        times = _zero_paths(path, starts is not None, ends is not None)
        if not times:
            return Relation.empty((FROM, TO))
        if starts is None or ends is None:
            given = starts if starts is not None else ends
        else:
            given = np.intersect1d(starts, ends)
        assert given is not None
        always = self._always(np.unique(given[given != 0]))
        found = matches(always, self.nodes, limit=self.limit, operator="property path")
        alone = always.pieces(*uncovered(always.start, always.end, found.left, found.start, found.end))
        alone = alone.having(TO, alone.columns[FROM])
        return union(*[alone] * times)

    def _always(self, ids: Ids) -> Relation:
        return Relation({FROM: ids}, np.zeros(len(ids), np.int64), np.full(len(ids), self.indices, np.int64))

    @property
    def nodes(self) -> Relation:
        """The terms of the graph while they are in it, in the column ``FROM``."""
        if self._nodes is None:
            triples = self.triples
            ends = np.concatenate([triples.subject, triples.object])
            start = np.concatenate([triples.start, triples.start])
            self._nodes = distinct(Relation({FROM: ends}, start, np.concatenate([triples.end, triples.end])))
        return self._nodes

    def _pairs(self, path: Path, sources: Relation | None) -> Relation:
        """Connected pairs as the columns FROM and TO, from ``sources`` at least."""
        match path:
            case Link(iri):
                return scan(self.triples, FROM, self.encode(iri), TO)
            case Inverse(Sequence(left, right)):
                return self._pairs(Sequence(Inverse(right), Inverse(left)), sources)
            case Inverse(Alternative(left, right)):
                return self._pairs(Alternative(Inverse(left), Inverse(right)), sources)
            case Inverse(ZeroOrMore(inner)):
                return self._pairs(ZeroOrMore(Inverse(inner)), sources)
            case Inverse(OneOrMore(inner)):
                return self._pairs(OneOrMore(Inverse(inner)), sources)
            case Inverse(ZeroOrOne(inner)):
                return self._pairs(ZeroOrOne(Inverse(inner)), sources)
            case Inverse(Inverse(inner)):
                return self._pairs(inner, sources)
            case Inverse(inner):
                return rename(self._pairs(inner, None), {FROM: TO, TO: FROM})
            case Sequence(left, right):
                first = rename(self._pairs(left, sources), {TO: _VIA})
                onward = distinct(rename(project(first, [_VIA]), {_VIA: FROM}))
                second = rename(self._pairs(right, onward), {FROM: _VIA})
                return project(join(first, second, limit=self.limit), [FROM, TO])
            case Alternative(left, right):
                return union(self._pairs(left, sources), self._pairs(right, sources))
            case ZeroOrOne(inner):
                return distinct(union(self._identity(sources), self._pairs(inner, sources)))
            case ZeroOrMore(inner):
                identity = self._identity(sources)
                return self._closure(identity, identity, self._pairs(inner, None))
            case OneOrMore(inner):
                edges = distinct(self._pairs(inner, None))
                first = edges if sources is None else join(edges, sources, limit=self.limit)
                return self._closure(first, first, edges)
            case NegatedSet(forward, inverse):
                return self._negated(forward, inverse)

    def _identity(self, sources: Relation | None) -> Relation:
        nodes = self.nodes
        if sources is not None:
            nodes = distinct(join(nodes, sources, limit=self.limit))
        return nodes.having(TO, nodes.columns[FROM])

    def _closure(self, known: Relation, frontier: Relation, edges: Relation) -> Relation:
        """All pairs that steps along ``edges`` reach from the frontier, and those known already."""
        steps = Index(rename(distinct(edges), {FROM: _VIA}), (_VIA,))
        while len(frontier):
            reached = join(rename(frontier, {TO: _VIA}), steps, limit=self.limit)
            reached = distinct(project(reached, [FROM, TO]))
            found = matches(reached, known, limit=self.limit, operator="property path")
            new = uncovered(reached.start, reached.end, found.left, found.start, found.end)
            frontier = reached.pieces(*new)
            known = distinct(union(known, frontier))
        return known

    def _negated(self, forward: tuple[IRI, ...], inverse: tuple[IRI, ...]) -> Relation:
        parts: list[Relation] = []
        if forward or not inverse:
            parts.append(scan(self._without(forward), FROM, ".any", TO))
        if inverse:
            parts.append(scan(self._without(inverse), TO, ".any", FROM))
        return union(*(project(part, [FROM, TO]) for part in parts))

    def _without(self, predicates: tuple[IRI, ...]) -> Triples:
        refused = np.array([self.encode(iri) for iri in predicates], np.int64)
        return self.triples.take(~np.isin(self.triples.predicate, refused))


def _solutions(pairs: Relation, subject: Slot, object: Slot) -> Relation:
    """Pairs as bindings of the variables among the two ends."""
    columns: dict[str, Ids] = {}
    kept = np.ones(len(pairs), np.bool_)
    for slot, ids in ((subject, pairs.columns[FROM]), (object, pairs.columns[TO])):
        if isinstance(slot, int):
            kept &= ids == slot
        elif slot in columns:
            kept &= ids == columns[slot]
        else:
            columns[slot] = ids
    return Relation(columns, pairs.start, pairs.end).take(kept)


def _given(slot: Slot, known: Mapping[str, Ids]) -> Ids | None:
    return np.full(1, slot, np.int64) if isinstance(slot, int) else known.get(slot)


def _zero_paths(path: Path, start: bool, end: bool) -> int:
    """How many times a path joins a given term to itself in zero steps, if no triple has it.

    ``start`` and ``end`` say which ends are given; between unknown ends only nodes of the graph count.
    """
    match path:
        case Inverse(inner):
            return _zero_paths(inner, end, start)
        case Sequence(left, right):
            return _zero_paths(left, start, False) * _zero_paths(right, True, end)
        case Alternative(left, right):
            return _zero_paths(left, start, end) + _zero_paths(right, start, end)
        case ZeroOrOne() | ZeroOrMore():
            return int(start or end)
        case OneOrMore(inner):
            return min(1, _zero_paths(inner, start, end and not start))
        case _:
            return 0
