"""Operators that act row by row: each row keeps its interval.

Project, filter, extend, rename, values, union and clipping. What varies *within* a row's interval
(EXISTS, ``NOW()``) is split into pieces before it comes here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from weir.errors import EvaluationError
from weir.kernel.relations.relation import Relation
from weir.rdf.columns import Ids, Mask


def project(relation: Relation, variables: Iterable[str]) -> Relation:
    """Solutions restricted to ``variables``, as a bag; a variable without a column is unbound."""
    columns: dict[str, Ids] = {}
    missing: list[str] = []
    for name in variables:
        column = relation.columns.get(name)
        if column is None:
            column = np.zeros(len(relation), np.int64)
            missing.append(name)
        columns[name] = column
    optional = relation.optional.intersection(columns).union(missing)
    return Relation(columns, relation.start, relation.end, optional)


def filter(relation: Relation, mask: Mask) -> Relation:
    """The rows where the condition is true; errors count as false."""
    return relation if mask.all() else relation.take(np.flatnonzero(mask))


def extend(relation: Relation, name: str, ids: Ids) -> Relation:
    """Each solution with ``name`` bound to its id, unbound where it is 0."""
    if name in relation.columns and relation.columns[name].any():
        raise EvaluationError(f"extend: ?{name} is already bound")
    return relation.having(name, ids, optional=not ids.all())


def values(names: Sequence[str], rows: Sequence[Sequence[int]], indices: int) -> Relation:
    """Inline data, visible at all ``indices`` of the slab; 0 is UNDEF."""
    table = np.array(rows, np.int64).reshape(len(rows), len(names))
    columns = {name: np.ascontiguousarray(table[:, place]) for place, name in enumerate(names)}
    optional = frozenset(name for name, column in columns.items() if not column.all())
    start = np.zeros(len(rows), np.int64)
    return Relation(columns, start, np.full(len(rows), indices, np.int64), optional)
