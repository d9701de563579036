"""Property paths, and ``GRAPH ?g`` around patterns that see one graph at a time, as operators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weir.kernel.interval.calculus import Operator, seeded
from weir.kernel.interval.inputs import Input, Present
from weir.kernel.interval.leaves import EVERYTHING, Leaves
from weir.kernel.interval.views import StaticInput
from weir.kernel.operators import PathFinder, Slot, Triples, join, union
from weir.kernel.relations.relation import Relation
from weir.plan import nodes as p
from weir.plan.analysis.substitution import may_be_empty
from weir.plan.analysis.variables import possible
from weir.rdf.columns import Ids
from weir.rdf.terms import IRI, Variable

_GRAPH = "graph"


class PathSearch(Operator):
    """The pairs that a path connects in the active graph."""

    def __init__(self, plan: p.PathPattern, leaves: Leaves, present: Present) -> None:
        self.plan = plan
        self.present = present
        self.leaves = leaves
        self.variables = tuple(sorted(possible(plan)))
        graph = plan.source.graph
        self._each = graph.name if isinstance(graph, Variable) else None
        source = plan.source if self._each is None else p.Source(plan.source.window, Variable(_GRAPH))
        self._triples = leaves.match(source, EVERYTHING)
        self._ends = (leaves.slot(plan.subject), leaves.slot(plan.object))

    @property
    def steady(self) -> bool:  # type: ignore[override]
        found = self._triples()
        return isinstance(found, StaticInput) and not found.varies

    def run(self) -> Relation:
        return self._find(self._content(), *self._ends)

    def _content(self) -> Relation:
        return self._triples().relation()

    def _find(self, rows: Relation, subject: Slot | None, object: Slot | None) -> Relation:
        assert subject is not None and object is not None
        triples = Triples(
            rows.columns["subject"], rows.columns["predicate"], rows.columns["object"], rows.start, rows.end
        )
        finder = PathFinder(triples, self._encode, len(self.present))
        return finder.find(subject, self.plan.path, object)

    def _encode(self, iri: IRI) -> int:
        return self.leaves.dictionary.encode(iri)

    def within(self, seed: Relation, key: str) -> Relation:
        rows = self._content()
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


class ForEachGraph(Operator):
    """``GRAPH ?g { … }``: the inner pattern for each graph name, carried along as the column ``name``."""

    def __init__(self, names: Callable[[], Input], inner: Operator, name: str, variable: str) -> None:
        self.names = names
        self.inner = inner
        self.name = name
        self.variable = variable
        self.variables = tuple(dict.fromkeys((*inner.variables, variable)))
        self.variables = tuple(each for each in self.variables if each != name)
        self.nests = inner.nests

    @property
    def steady(self) -> bool:  # type: ignore[override]
        return self.names().steady and self.inner.steady

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
