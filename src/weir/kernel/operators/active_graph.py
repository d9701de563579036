"""Operators that look at the active graph as a whole: property paths (SPARQL 18.4) and ``GRAPH ?g``.

A pair is connected while every edge of some path between its ends is visible: sequences intersect
intervals, alternatives unite bags. ``*``, ``+`` and ``?`` are sets: their pairs' intervals are coalesced. A
closure is the least fixpoint by semi-naive steps: only pairs, or parts of intervals, not known before are
extended, so cycles end when no interval grows. ``GRAPH ?g`` is visible while its graph's name and the inner
solution are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weir.kernel.operators.filter import exists
from weir.kernel.operators.inputs.input import Input, Present
from weir.kernel.operators.inputs.pattern_inputs import EVERYTHING, PatternInputs, scan
from weir.kernel.operators.operator import Operator, project, seeded
from weir.kernel.relations.matches import Index, join
from weir.kernel.relations.relation import Relation, Slot, distinct, rename, union
from weir.language.algebra import patterns as a
from weir.language.algebra.scope import may_be_empty
from weir.plan import nodes as p
from weir.plan.analysis.variables import possible
from weir.rdf.columns import Ids
from weir.rdf.terms import IRI, Variable

FROM, TO, _VIA = ".from", ".to", ".via"


@dataclass(frozen=True)
class PathFinder:
    """Evaluates paths over the ``triples`` (subject, predicate, object) of one active graph in one slab."""

    triples: Relation
    encode: Callable[[IRI], int]
    indices: int

    def find(self, subject: Slot, path: a.Path, object: Slot) -> Relation:
        """The solutions of ``subject path object``."""
        if isinstance(subject, int):
            pairs = self._pairs(path, self._always(subject))
        elif isinstance(object, int):
            pairs = rename(self._pairs(a.Inverse(path), self._always(object)), {FROM: TO, TO: FROM})
        else:
            pairs = self._pairs(path, None)
        return _solutions(union(pairs, self._isolated(subject, path, object)), subject, object)

    def _isolated(self, subject: Slot, path: a.Path, object: Slot) -> Relation:
        """Given ends that are no node of the graph, joined to themselves by a path of length zero."""
        given = {end for end in (subject, object) if isinstance(end, int)}
        times = _zero_paths(path, isinstance(subject, int), isinstance(object, int))
        if not times or len(given) > 1:
            return Relation.empty((FROM, TO))
        alone = exists(self._always(*given), self.nodes, negated=True)
        return union(*[alone.having(TO, alone.columns[FROM])] * times)

    def _always(self, id: int) -> Relation:
        return Relation.unit(self.indices).having(FROM, np.full(1, id, np.int64))

    @cached_property
    def nodes(self) -> Relation:
        """The terms of the graph while they are in it, in the column ``FROM``."""
        ends = (rename(self.triples.keep([name]), {name: FROM}) for name in ("subject", "object"))
        return distinct(union(*ends))

    def _pairs(self, path: a.Path, sources: Relation | None) -> Relation:
        """Connected pairs as the columns FROM and TO, from ``sources`` at least."""
        match path:
            case a.Link(iri):
                return scan(self.triples, FROM, self.encode(iri), TO)
            case a.Inverse(a.Sequence(left, right)):
                return self._pairs(a.Sequence(a.Inverse(right), a.Inverse(left)), sources)
            case a.Inverse(a.Alternative(left, right)):
                return self._pairs(a.Alternative(a.Inverse(left), a.Inverse(right)), sources)
            case a.Inverse(a.ZeroOrMore(inner) | a.OneOrMore(inner) | a.ZeroOrOne(inner) as several):
                return self._pairs(type(several)(a.Inverse(inner)), sources)
            case a.Inverse(a.Inverse(inner)):
                return self._pairs(inner, sources)
            case a.Inverse(inner):
                return rename(self._pairs(inner, None), {FROM: TO, TO: FROM})
            case a.Sequence(left, right):
                first = rename(self._pairs(left, sources), {TO: _VIA})
                onward = distinct(rename(project(first, [_VIA]), {_VIA: FROM}))
                second = rename(self._pairs(right, onward), {FROM: _VIA})
                return project(join(first, second), [FROM, TO])
            case a.Alternative(left, right):
                return union(self._pairs(left, sources), self._pairs(right, sources))
            case a.ZeroOrOne(inner):
                return distinct(union(self._identity(sources), self._pairs(inner, sources)))
            case a.ZeroOrMore(inner):
                identity = self._identity(sources)
                return self._closure(identity, identity, self._pairs(inner, None))
            case a.OneOrMore(inner):
                edges = distinct(self._pairs(inner, None))
                first = edges if sources is None else join(edges, sources)
                return self._closure(first, first, edges)
            case a.NegatedSet(forward, inverse):
                return self._negated(forward, inverse)

    def _identity(self, sources: Relation | None) -> Relation:
        nodes = self.nodes
        if sources is not None:
            nodes = distinct(join(nodes, sources))
        return nodes.having(TO, nodes.columns[FROM])

    def _closure(self, known: Relation, frontier: Relation, edges: Relation) -> Relation:
        """All pairs that steps along ``edges`` reach from the frontier, and those known already."""
        steps = Index(rename(distinct(edges), {FROM: _VIA}), (_VIA,))
        while len(frontier):
            reached = join(rename(frontier, {TO: _VIA}), steps)
            reached = distinct(project(reached, [FROM, TO]))
            frontier = exists(reached, known, negated=True)
            known = union(known, frontier)
        return distinct(known)

    def _negated(self, forward: tuple[IRI, ...], inverse: tuple[IRI, ...]) -> Relation:
        parts: list[Relation] = []
        if forward or not inverse:
            parts.append(scan(self._without(forward), FROM, ".any", TO))
        if inverse:
            parts.append(scan(self._without(inverse), TO, ".any", FROM))
        return union(*(project(part, [FROM, TO]) for part in parts))

    def _without(self, predicates: tuple[IRI, ...]) -> Relation:
        refused = np.array([self.encode(iri) for iri in predicates], np.int64)
        return self.triples.take(~np.isin(self.triples.columns["predicate"], refused))


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


def _zero_paths(path: a.Path, start: bool, end: bool) -> int:
    """How many times a path joins a given term to itself in zero steps, if no triple has it.

    ``start`` and ``end`` say which ends are given; between unknown ends only nodes of the graph count.
    """
    match path:
        case a.Inverse(inner):
            return _zero_paths(inner, end, start)
        case a.Sequence(left, right):
            return _zero_paths(left, start, False) * _zero_paths(right, True, end)
        case a.Alternative(left, right):
            return _zero_paths(left, start, end) + _zero_paths(right, start, end)
        case a.ZeroOrOne() | a.ZeroOrMore():
            return int(start or end)
        case a.OneOrMore(inner):
            return min(1, _zero_paths(inner, start, end and not start))
        case _:
            return 0


_GRAPH = "graph"


class PathPattern(Operator):
    """The pairs that a path connects in the active graph."""

    def __init__(self, plan: p.PathPattern, leaves: PatternInputs, present: Present) -> None:
        self.plan = plan
        self.present = present
        self.leaves = leaves
        self.variables = tuple(sorted(possible(plan)))
        graph = plan.source.graph
        self._each = graph.name if isinstance(graph, Variable) else None
        source = plan.source if self._each is None else p.Source(plan.source.window, Variable(_GRAPH))
        self._triples = leaves.match(source, EVERYTHING)
        self._ends = (leaves.slot(plan.subject), leaves.slot(plan.object))
        self.steady = self._triples().steady

    def run(self) -> Relation:
        return self._find(self._triples().relation(), *self._ends)

    def _find(self, rows: Relation, subject: Slot, object: Slot) -> Relation:
        finder = PathFinder(rows, self.leaves.dictionary.encode, len(self.present))
        return finder.find(subject, self.plan.path, object)

    def within(self, seed: Relation, key: str) -> Relation:
        rows = self._triples().relation()
        if self._each is None:
            return self._seeded(rows, seed, key)
        found: list[Relation] = [Relation.empty((key, *self.variables))]
        for name in np.unique(seed.columns[self._each]).tolist():
            here = rows.take(np.flatnonzero(rows.columns[_GRAPH] == name))
            mine = seed.take(np.flatnonzero(seed.columns[self._each] == name))
            found.append(self._seeded(here, mine, key))
        return union(*found)

    def _seeded(self, rows: Relation, seed: Relation, key: str) -> Relation:
        known = [name for name in self.variables if name in seed.columns]
        if not known or not may_be_empty(self.plan.path):
            return seeded(self._find(rows, *self._ends), seed, key)
        # A path of length zero also connects a term that the graph does not have: it must be put in.
        return self._one_by_one(rows, seed, key)

    def _one_by_one(self, rows: Relation, seed: Relation, key: str) -> Relation:
        found: list[Relation] = [Relation.empty((key, *self.variables))]
        for row in range(len(seed)):
            values = {name: int(seed.columns[name][row]) for name in self.variables if name in seed.columns}
            ends = [values.get(end) or end if isinstance(end, str) else end for end in self._ends]
            pairs = self._find(rows, *ends)
            for name, value in values.items():
                if value:
                    pairs = pairs.having(name, np.full(len(pairs), value, np.int64))
            pairs = pairs.having(key, np.full(len(pairs), seed.columns[key][row], np.int64))
            found.append(pairs)
        return seeded(union(*found), seed, key)


class Graph(Operator):
    """``GRAPH ?g { … }``: the inner pattern for each graph name, carried along as the column ``name``."""

    def __init__(self, names: Callable[[], Input], inner: Operator, name: str, variable: str) -> None:
        self.names = names
        self.inner = inner
        self.name = name
        self.variable = variable
        self.variables = tuple(dict.fromkeys(each for each in (*inner.variables, variable) if each != name))
        self.nests = inner.nests
        self.steady = names().steady and inner.steady

    def run(self) -> Relation:
        seed = self.names().relation()
        if not len(seed):
            return Relation.empty(self.variables)
        rows = self.inner.within(seed, self.name)
        return self._agreeing(rows, rows.columns[self.name]).keep(self.variables)

    def _agreeing(self, rows: Relation, graph: Ids) -> Relation:
        """The rows with their graph as the variable, without those that bind it to another."""
        bound = rows.columns.get(self.variable)
        if bound is not None:
            good = np.flatnonzero((bound == graph) | (bound == 0))
            rows, graph = rows.take(good), graph[good]
        return rows.having(self.variable, graph)

    def within(self, seed: Relation, key: str) -> Relation:
        pairs = join(seed, self.names().relation())
        if self.variable in seed.columns:
            named = pairs.columns[self.variable]
            pairs = pairs.take(np.flatnonzero((named == 0) | (named == pairs.columns[self.name])))
        if not len(pairs):
            return Relation.empty((key, *self.variables))
        row = f"{self.name}.row"
        rows = self.inner.within(pairs.having(row, np.arange(1, len(pairs) + 1)), row)
        pair = rows.columns[row] - 1
        rows = rows.having(key, pairs.columns[key][pair])
        return self._agreeing(rows, pairs.columns[self.name][pair]).keep([key, *self.variables])
