"""MINUS: the pieces of a left row's interval at which no compatible right row shares a variable.

Two solutions without a variable bound in both never exclude each other (8.3.1, 18.5), so a right side
with nothing in common leaves the left as it is.
"""

from __future__ import annotations

from weir.kernel.operators.distinct import distinct_on
from weir.kernel.relations.coverage import uncovered
from weir.kernel.relations.matches import matches
from weir.kernel.relations.relation import Relation
from weir.kernel.relations.sorted_keys import LIMIT, Index


def minus(left: Relation, right: Relation | Index, *, limit: int = LIMIT) -> Relation:
    """Left rows, or what is left of them."""
    if not isinstance(right, Index):
        right = distinct_on(right, left.variables)
    found = matches(left, right, sharing=True, limit=limit, operator="minus")
    if not len(found):
        return left
    rest = uncovered(left.start, left.end, found.left, found.start, found.end)
    return left.pieces(rest.owner, rest.start, rest.end)
