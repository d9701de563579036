"""DISTINCT: the intervals of equal rows are united, so each solution is visible once at a time.

REDUCED keeps every duplicate, which SPARQL permits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.kernel.operators.operator import Operator, Unary
from weir.kernel.relations.coverage import uncovered, unite
from weir.kernel.relations.keys import codes
from weir.kernel.relations.matches import matches
from weir.kernel.relations.relation import Relation


def distinct(relation: Relation) -> Relation:
    """Each solution once at each index, as few rows as possible."""
    if len(relation) <= 1:
        return relation
    numbers, firsts = codes(tuple(relation.columns.values()), len(relation))
    if len(firsts) == len(relation):
        return relation
    pieces = unite(numbers, relation.start, relation.end)
    return relation.pieces(firsts[pieces.owner], pieces.start, pieces.end)


def distinct_on(relation: Relation, variables: Sequence[str]) -> Relation:
    """The distinct values of some columns, visible while any row has them."""
    return distinct(relation.keep(variables))


class Distinct(Unary):
    """DISTINCT; of an ordered relation, equal rows keep the place of the first that is visible."""

    def __init__(self, inner: Operator, *, ordered: bool) -> None:
        super().__init__(inner)
        self.ordered = ordered

    def run(self) -> Relation:
        rows = self.inner.run()
        return _first_of_equal(rows) if self.ordered else distinct(rows)

    def within(self, seed: Relation, key: str) -> Relation:
        rows = self.inner.within(seed, key)
        return _first_of_equal(rows) if self.ordered else distinct(rows)


def _first_of_equal(relation: Relation) -> Relation:
    """What is visible of each row while no equal row before it is."""
    numbers, firsts = codes(tuple(relation.columns.values()), len(relation))
    if len(firsts) == len(relation):
        return relation
    places = np.arange(len(relation))
    numbered = Relation({".number": numbers + 1}, relation.start, relation.end)
    found = matches(numbered, numbered)
    earlier = found.right < found.left
    owner, start, end = found.left[earlier], found.start[earlier], found.end[earlier]
    rest = uncovered(relation.start, relation.end, places[owner], start, end)
    return relation.pieces(rest.owner, rest.start, rest.end)
