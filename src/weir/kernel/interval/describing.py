"""DESCRIBE: concise bounded descriptions over everything that a query can see at each instant.

A description is the resource's triples, and those of blank nodes they lead to (decision
semantics-values, 13).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.kernel.expressions.term_cache import TermClass, Terms
from weir.kernel.interval.calculus import Operator
from weir.kernel.operators import distinct, join
from weir.kernel.operators.evaluate import each_index
from weir.kernel.relations.keys import codes
from weir.kernel.relations.relation import Relation, union
from weir.rdf.columns import Ids
from weir.rdf.terms import IRI, Variable


class Descriptions:
    """``sources`` give the triples of all graphs and windows as subject, predicate, object."""

    def __init__(self, sources: Sequence[Operator], terms: Terms) -> None:
        self.sources = tuple(sources)
        self.terms = terms

    def of(
        self, targets: Sequence[Variable | IRI], rows: Relation, index: Ids, places: Ids
    ) -> tuple[Ids, list[Ids]]:
        """The descriptions for the solutions sent at ``index``: indices and columns of triples."""
        resources: list[Ids] = []
        for target in targets:
            if isinstance(target, IRI):
                resources.append(np.full(len(places), self.terms.encode(target), np.int64))
            else:
                column = rows.columns.get(target.name)
                resources.append(np.zeros(len(places), np.int64) if column is None else column[places])
        subjects = np.concatenate(resources) if resources else np.empty(0, np.int64)
        at = np.concatenate([index] * len(resources)) if resources else subjects
        frontier = self._nodes(subjects, at, (TermClass.IRI, TermClass.BLANK))
        graph = union(*(source.run() for source in self.sources))
        found: list[Relation] = []
        seen = frontier
        while len(frontier):
            reached = each_index(distinct(join(frontier, graph)))
            found.append(reached)
            nodes = self._nodes(reached.columns["object"], reached.start, (TermClass.BLANK,))
            frontier = _new(nodes, seen)
            seen = union(seen, frontier)
        triples = union(*found) if found else Relation.empty(("subject", "predicate", "object"))
        return triples.start, [triples.columns[name] for name in ("subject", "predicate", "object")]

    def _nodes(self, ids: Ids, index: Ids, classes: Sequence[TermClass]) -> Relation:
        """The distinct resources among terms, each at one index."""
        distinct_ids, where = np.unique(ids, return_inverse=True)
        good = np.array([self.terms.classify(each) in classes for each in distinct_ids.tolist()], np.bool_)
        kept = np.flatnonzero(good[where]) if len(good) else np.empty(0, np.int64)
        return each_index(distinct(Relation({"subject": ids[kept]}, index[kept], index[kept] + 1)))


def _new(nodes: Relation, seen: Relation) -> Relation:
    """The nodes not seen before at their index."""
    both = np.concatenate([seen.columns["subject"], nodes.columns["subject"]])
    starts = np.concatenate([seen.start, nodes.start])
    numbers, _ = codes([both, starts + 1], len(both))
    known = np.isin(numbers[len(seen) :], numbers[: len(seen)])
    return nodes.take(np.flatnonzero(~known))
