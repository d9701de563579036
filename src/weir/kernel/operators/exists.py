"""EXISTS: the pieces of a row's interval that compatible rows of the inner pattern cover.

``inner`` is the inner pattern's relation. Substituting the current solution into a pattern (18.6) is the
same as joining with it where every variable of the pattern is bound by each of its solutions: no
OPTIONAL, MINUS, FILTER, BIND or VALUES inside that sees an outer variable which its own group leaves
unbound. Where it is not, the inner pattern is evaluated *for* the outer rows: ``outer_rows`` numbers the
distinct values of the variables concerned, every leaf of the inner pattern is joined with them, and
the number takes part in every operator inside as one more shared column; ``exists`` is then asked with
the inner relation's number column alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.kernel.operators.distinct import distinct_on
from weir.kernel.relations.coverage import uncovered, unite
from weir.kernel.relations.keys import codes
from weir.kernel.relations.matches import matches
from weir.kernel.relations.relation import Relation, union
from weir.kernel.relations.sorted_keys import LIMIT, Index
from weir.rdf.columns import Ids


def exists(
    relation: Relation, inner: Relation | Index, *, negated: bool = False, limit: int = LIMIT
) -> Relation:
    """What is visible of each row while ``[NOT] EXISTS`` holds for it."""
    found = _coverage(relation, inner, limit)
    if negated:
        found = uncovered(relation.start, relation.end, *found)
    else:
        found = unite(*found)
    return relation.pieces(*found)


def mark_exists(
    relation: Relation,
    inner: Relation | Index,
    name: str,
    true: int,
    false: int,
    *,
    limit: int = LIMIT,
) -> Relation:
    """The rows cut into pieces at which EXISTS holds or not, with the answer as the column ``name``."""
    found = unite(*_coverage(relation, inner, limit))
    rest = uncovered(relation.start, relation.end, *found)
    holds, fails = relation.pieces(*found), relation.pieces(*rest)
    return union(
        holds.having(name, np.full(len(holds), true)), fails.having(name, np.full(len(fails), false))
    )


def outer_rows(relation: Relation, variables: Sequence[str], name: str) -> tuple[Relation, Relation]:
    """The relation with the number of each row's values of ``variables`` as the column ``name``,
    and the distinct values with their numbers, visible while any row has them."""
    kept = [variable for variable in variables if variable in relation.columns]
    numbers, firsts = codes([relation.columns[variable] for variable in kept], len(relation))
    pieces = unite(numbers, relation.start, relation.end)
    chosen = relation.keep(kept).pieces(firsts[pieces.owner], pieces.start, pieces.end)
    # Numbers count from 1: 0 would read as unbound.
    return relation.having(name, numbers + 1), chosen.having(name, pieces.owner + 1)


def _coverage(relation: Relation, inner: Relation | Index, limit: int) -> tuple[Ids, Ids, Ids]:
    if not isinstance(inner, Index):
        inner = distinct_on(inner, relation.variables)
    found = matches(relation, inner, limit=limit, operator="exists")
    return found.left, found.start, found.end
