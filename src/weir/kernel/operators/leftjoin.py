"""OPTIONAL: joined rows where a partner passes the condition, and the left row itself elsewhere.

A left row ``[i, j)`` yields its joins on the intersections, and keeps the pieces of ``[i, j)`` that no
passing match covers, with the right columns unbound (18.5, LeftJoin).
"""

from __future__ import annotations

from collections.abc import Callable

from weir.kernel.relations.coverage import uncovered
from weir.kernel.relations.matches import matches, merge
from weir.kernel.relations.relation import Relation, fresh, union
from weir.kernel.relations.sorted_keys import LIMIT, Index


def left_join(
    left: Relation,
    right: Relation | Index,
    condition: Callable[[Relation], Relation] | None = None,
    *,
    limit: int = LIMIT,
) -> Relation:
    """``condition`` keeps the joined rows, or pieces of them, for which the filter is true."""
    found = matches(left, right, limit=limit, operator="left join")
    partner = right.relation if isinstance(right, Index) else right
    joined = merge(left, partner, found)
    if condition is None:
        owner, start, end = found.left, found.start, found.end
    else:
        mark = fresh(joined, ".left")
        joined = condition(joined.having(mark, found.left))
        owner, start, end = joined.columns[mark], joined.start, joined.end
        joined = joined.keep(name for name in joined.columns if name != mark)
    alone = uncovered(left.start, left.end, owner, start, end)
    if not len(alone.owner):
        return joined
    return union(joined, left.pieces(alone.owner, alone.start, alone.end))
