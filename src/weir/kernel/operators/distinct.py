"""DISTINCT: the intervals of equal rows are united, so each solution is visible once at a time.

REDUCED keeps every duplicate, which SPARQL permits.
"""

from __future__ import annotations

from collections.abc import Sequence

from weir.kernel.relations.coverage import unite
from weir.kernel.relations.keys import codes
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


def reduced(relation: Relation) -> Relation:
    """The relation itself."""
    return relation


def distinct_on(relation: Relation, variables: Sequence[str]) -> Relation:
    """The distinct values of some columns, visible while any row has them."""
    return distinct(relation.keep(variables))
