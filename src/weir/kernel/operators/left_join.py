"""LeftJoin (OPTIONAL): joined rows where a partner passes the condition, and the left row itself elsewhere.

A left row ``[i, j)`` yields its joins on the intersections, and keeps the pieces of ``[i, j)`` that no
passing match covers, with the right columns unbound (SPARQL 18.5).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weir.kernel.operators.filter import Filter
from weir.kernel.operators.operator import Binary, Operator, informed
from weir.kernel.relations.coverage import uncovered
from weir.kernel.relations.matches import matches, merge
from weir.kernel.relations.relation import Relation, fresh, union
from weir.kernel.relations.sorted_keys import LIMIT, Index
from weir.rdf.columns import Ids


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


class LeftJoin(Binary):
    """OPTIONAL; ``nested`` says that the right side may be evaluated for the left rows."""

    def __init__(self, left: Operator, right: Operator, check: Filter | None, *, nested: bool) -> None:
        super().__init__(left, right)
        self.check = check
        self.nested = nested
        self.variables = tuple(dict.fromkeys((*left.variables, *right.variables)))
        self.linear = left.linear and self._settled

    @property
    def _settled(self) -> bool:
        return self.right.steady and (self.check is None or self.check.steady)

    @property
    def steady(self) -> bool:
        return self.left.steady and self._settled

    def run(self) -> Relation:
        return self._extended(self.left.run())

    def changes(self) -> Relation:
        return self._extended(self.left.changes())

    def _extended(self, left: Relation) -> Relation:
        if not len(left):
            return Relation.empty(self.variables)
        if not self.nested:
            return left_join(left, self.right.run(), None if self.check is None else self.check.keep)
        numbered = left.having(_LEFT, np.arange(1, len(left) + 1))
        joined = _attached(numbered, self.right.within(numbered, _LEFT))
        if self.check is not None:
            joined = self.check.keep(joined)
        alone = uncovered(left.start, left.end, joined.columns[_LEFT] - 1, joined.start, joined.end)
        joined = joined.keep(name for name in joined.columns if name != _LEFT)
        return union(joined, left.pieces(*alone)) if len(alone.owner) else joined

    def within(self, seed: Relation, key: str) -> Relation:
        left, right = self.left.within(seed, key), self.right.within(seed, key)
        if self.check is None:
            return left_join(left, right)
        check = self.check

        def keep(joined: Relation) -> Relation:
            known = informed(joined, seed, key, seed.variables)
            return check.keep(known).keep(joined.variables)

        return left_join(left, right, keep)


_LEFT = ".left"


def _attached(left: Relation, partners: Relation) -> Relation:
    """Each partner with the left row whose number it carries."""
    owner = partners.columns[_LEFT] - 1
    columns: dict[str, Ids] = {}
    for name, column in left.columns.items():
        values = column[owner]
        if name in left.optional and name in partners.columns:
            values = np.where(values == 0, partners.columns[name], values)
        columns[name] = values
    for name, column in partners.columns.items():
        if name not in columns:
            columns[name] = column
    optional = left.optional | partners.optional.difference(left.columns)
    return Relation(columns, partners.start, partners.end, optional)
