"""Join: the union of two compatible solutions is visible while both are, ``[max start, min end)``.

Solutions are compatible where every shared variable is equal or unbound on one side (18.3). Shared
columns without 0 are matched by key; where a shared column holds 0, both sides fall into groups by
*which* of those columns are bound, and each pair of groups is matched on what is bound in both.

A join that would make more rows than ``limit`` is refused: matches are produced in chunks, empty
intersections dropped at once, so memory follows the result and not the fan-out.
"""

from __future__ import annotations

from weir.kernel.relations.matches import (
    _relation,
    matches,
    merge,
)
from weir.kernel.relations.relation import Relation
from weir.kernel.relations.sorted_keys import LIMIT, Index


def join(left: Relation | Index, right: Relation | Index, *, limit: int = LIMIT) -> Relation:
    """All unions of compatible solutions; an ``Index`` is probed where its columns are shared ones."""
    found = matches(left, right, limit=limit, operator="join")
    return merge(_relation(left), _relation(right), found)
