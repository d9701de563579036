"""LeftJoin (OPTIONAL) and Minus: what the right side makes of a left row, piece by piece of its interval.

A left row ``[i, j)`` of LeftJoin yields its joins on the intersections, and keeps the pieces of ``[i, j)``
that no match which passes the condition covers, with the right columns unbound (SPARQL 18.5). Of Minus it
keeps the pieces at which no compatible right row shares a variable: two solutions without a variable bound in
both never exclude each other (8.3.1), so a right side with nothing in common leaves the left as it is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weir.kernel.operators.filter import Filter, exists, outer_rows
from weir.kernel.operators.operator import Binary, Operator, informed
from weir.kernel.relations.coverage import uncovered
from weir.kernel.relations.matches import Matches, matches, merge
from weir.kernel.relations.relation import Relation, fresh, union

_LEFT = ".left"


def left_join(
    left: Relation, right: Relation, condition: Callable[[Relation], Relation] | None = None
) -> Relation:
    """``condition`` keeps the joined rows, or pieces of them, for which the filter is true."""
    return _completed(left, right, matches(left, right, operator="left join"), condition)


def _completed(
    left: Relation, right: Relation, found: Matches, condition: Callable[[Relation], Relation] | None
) -> Relation:
    """The joined rows of matches that pass, and what is left of the left rows."""
    joined = merge(left, right, found)
    owner, start, end = found.left, found.start, found.end
    if condition is not None:
        mark = fresh(joined, _LEFT)
        joined = condition(joined.having(mark, owner))
        owner, start, end = joined.columns[mark], joined.start, joined.end
        joined = joined.keep(name for name in joined.columns if name != mark)
    alone = uncovered(left.start, left.end, owner, start, end)
    return union(joined, left.pieces(*alone)) if len(alone.owner) else joined


class LeftJoin(Binary):
    """OPTIONAL; ``nested`` says that the right side may be evaluated for the left rows."""

    def __init__(self, left: Operator, right: Operator, check: Filter | None, *, nested: bool) -> None:
        super().__init__(left, right)
        self.condition = None if check is None else check.keep
        self.nested = nested
        self.variables = tuple(dict.fromkeys((*left.variables, *right.variables)))
        if check is not None and not check.steady:
            self.linear = self.steady = False

    def _kept(self, left: Relation) -> Relation:
        if not len(left):
            return Relation.empty(self.variables)
        if not self.nested:
            return left_join(left, self.right.run(), self.condition)
        right = self.right.within(left.having(_LEFT, np.arange(1, len(left) + 1)), _LEFT)
        found = Matches(right.columns[_LEFT] - 1, np.arange(len(right)), right.start, right.end)
        right = right.keep(name for name in right.columns if name != _LEFT)
        return _completed(left, right, found, self.condition)

    def within(self, seed: Relation, key: str) -> Relation:
        left, right = self.left.within(seed, key), self.right.within(seed, key)
        condition = self.condition
        if condition is None:
            return left_join(left, right)

        def keep(joined: Relation) -> Relation:
            return condition(informed(joined, seed, key, seed.variables)).keep(joined.variables)

        return left_join(left, right, keep)


class Minus(Binary):
    """MINUS; ``nested`` says that both sides always bind some shared variable and the right side may be
    evaluated for the left rows."""

    def __init__(self, left: Operator, right: Operator, *, nested: bool) -> None:
        super().__init__(left, right)
        self.nested = nested
        self.variables = left.variables

    def _kept(self, left: Relation) -> Relation:
        if not len(left):
            return left
        if not self.nested:
            return exists(left, self.right.run(), negated=True, sharing=True)
        names = [name for name in self.right.variables if name in left.columns]
        numbered, seed = outer_rows(left, names, _LEFT)
        partners = self.right.within(seed, _LEFT).keep([_LEFT])
        return exists(numbered, partners, negated=True).keep(left.variables)

    def within(self, seed: Relation, key: str) -> Relation:
        left, right = self.left.within(seed, key), self.right.within(seed, key)
        found = matches(left, right)
        sharing = np.zeros(len(found), np.bool_)
        for name in left.columns:
            if name != key and not name.startswith(".") and name in right.columns:
                sharing |= (left.columns[name][found.left] != 0) & (right.columns[name][found.right] != 0)
        pieces = found.left[sharing], found.start[sharing], found.end[sharing]
        return left.pieces(*uncovered(left.start, left.end, *pieces))
