"""Property paths over edges that come and go (18.4).

A pair is connected while every edge of some path between its ends is visible: sequences intersect
intervals, alternatives unite bags. ``*``, ``+`` and ``?`` are sets: their pairs' intervals are coalesced. A
closure is the least fixpoint by semi-naive steps: only pairs, or parts of intervals, not known before are
extended, so cycles end when no interval grows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weir.kernel.interval.operators.coverage import uncovered
from weir.kernel.interval.operators.distinct import distinct
from weir.kernel.interval.operators.index import Index
from weir.kernel.interval.operators.join import LIMIT, join, matches
from weir.kernel.interval.operators.rowwise import project, rename, union
from weir.kernel.interval.operators.scan import Slot, Triples, scan
from weir.kernel.interval.relation import Relation
from weir.language.algebra import (
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

    def find(self, subject: Slot, path: Path, object: Slot, sources: Relation | None = None) -> Relation:
        """The solutions of ``subject path object``.

        ``sources``, one column ``FROM``, limits where a variable subject may start to distinct terms;
        a caller that joins the outcome with them anyway saves the rest.
        """
        constants = [slot for slot in (subject, object) if isinstance(slot, int)]
        self._nodes = self._all_nodes(constants)
        backward = isinstance(object, int) and not isinstance(subject, int)
        if backward:
            subject, object, path = object, subject, Inverse(path)
            sources = None
        if isinstance(subject, int):
            sources = self._constant(subject)
        pairs = self._pairs(path, sources)
        if isinstance(subject, int):
            pairs = pairs.take(pairs.columns[FROM] == subject)
        if isinstance(object, int):
            pairs = pairs.take(pairs.columns[TO] == object)
        elif subject == object:
            pairs = pairs.take(pairs.columns[FROM] == pairs.columns[TO])
        names = {end: slot for end, slot in ((TO, object), (FROM, subject)) if isinstance(slot, str)}
        kept = dict.fromkeys(names.values())
        columns = {name: next(pairs.columns[end] for end in names if names[end] == name) for name in kept}
        return Relation(columns, pairs.start, pairs.end)

    def _constant(self, identifier: int) -> Relation:
        unit = Relation.unit(self.indices)
        return unit.having(FROM, np.full(1, identifier, np.int64))

    def _all_nodes(self, constants: list[int]) -> Relation:
        """The terms of the graph while they are in it, and the constants of the pattern always."""
        triples = self.triples
        ends = Relation(
            {FROM: np.concatenate([triples.subject, triples.object])},
            np.concatenate([triples.start, triples.start]),
            np.concatenate([triples.end, triples.end]),
        )
        return distinct(union(ends, *(self._constant(constant) for constant in constants)))

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
        nodes = self._nodes if self._nodes is not None else self._all_nodes([])
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
