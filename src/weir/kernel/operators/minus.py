"""MINUS: the pieces of a left row's interval at which no compatible right row shares a variable.

Two solutions without a variable bound in both never exclude each other (8.3.1, 18.5), so a right side
with nothing in common leaves the left as it is.
"""

from __future__ import annotations

import numpy as np

from weir.kernel.operators.distinct import distinct_on
from weir.kernel.operators.filter import exists, outer_rows
from weir.kernel.operators.left_join import _LEFT
from weir.kernel.operators.operator import Binary, Operator
from weir.kernel.relations.coverage import uncovered
from weir.kernel.relations.matches import matches
from weir.kernel.relations.relation import Relation
from weir.kernel.relations.sorted_keys import LIMIT, Index
from weir.rdf.columns import Ids


def minus(left: Relation, right: Relation | Index, *, limit: int = LIMIT) -> Relation:
    """Left rows, or what is left of them."""
    if not isinstance(right, Index):
        right = distinct_on(right, left.variables)
    found = matches(left, right, sharing=True, limit=limit, operator="minus")
    if not len(found):
        return left
    rest = uncovered(left.start, left.end, found.left, found.start, found.end)
    return left.pieces(rest.owner, rest.start, rest.end)


class Minus(Binary):
    """MINUS; ``shared`` are variables that both sides always bind, None where there are none or the
    right side cannot be evaluated for the left rows."""

    def __init__(self, left: Operator, right: Operator, shared: tuple[str, ...] | None) -> None:
        super().__init__(left, right)
        self.shared = shared
        self.variables = left.variables
        self.linear = left.linear and right.steady

    @property
    def steady(self) -> bool:
        return self.left.steady and self.right.steady

    def run(self) -> Relation:
        return self._reduced(self.left.run())

    def changes(self) -> Relation:
        return self._reduced(self.left.changes())

    def _reduced(self, left: Relation) -> Relation:
        if not len(left):
            return left
        if self.shared is None:
            return minus(left, self.right.run())
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
        owner: Ids = found.left[sharing]
        rest = uncovered(left.start, left.end, owner, found.start[sharing], found.end[sharing])
        return left.pieces(*rest)
