"""Conjunctive constraints: what equal variables demand of the triples that match a query's patterns.

CTP-automata's Table 1 names ten of them by the places that must be equal in two triples: SS, PP, OO, SO,
OS, SSPP, SSOO, PPOO, SOPP, OSPP. Here a constraint is any set of such pairs of places, so that the other
combinations (SP, three at once, a variable twice in one pattern) are no special cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations

import numpy as np

from weir.rdf.columns import Ids, Mask


class Place(IntEnum):
    """A component of a triple, or the graph it is in."""

    S = 0
    P = 1
    O = 2  # noqa: E741
    G = 3


Pair = tuple[Place, Place]

_TABLE_1 = (
    (Place.S, Place.O),
    (Place.O, Place.S),
    (Place.S, Place.S),
    (Place.P, Place.P),
    (Place.O, Place.O),
)


@dataclass(frozen=True, slots=True)
class Constraint:
    """Triple ``left`` of a combination and triple ``right`` agree at every pair of places.

    ``left`` and ``right`` number the query's patterns; they are equal where one pattern uses a
    variable twice.
    """

    left: int
    right: int
    equal: tuple[Pair, ...]

    @property
    def name(self) -> str:
        """The name in Table 1, and for combinations beyond it the one made in the same way."""
        return "".join(one.name + two.name for one, two in self.equal)

    def holds(self, left: Sequence[Ids], right: Sequence[Ids]) -> Mask:
        """Which rows satisfy it, given the columns s, p, o (and g) of both triples."""
        out = np.ones(len(left[0]), np.bool_)
        for one, two in self.equal:
            out &= left[one] == right[two]
        return out

    def __str__(self) -> str:
        return f"m{self.left + 1}m{self.right + 1} → {self.name}"


def constraints(variables: Sequence[Sequence[int]]) -> tuple[Constraint, ...]:
    """The constraints of a query, pattern pair by pattern pair.

    ``variables`` has a row per pattern: the number of the variable in each place, −1 for a constant.
    A pair of patterns that shares no variable gives none.
    """
    found = []
    for number, row in enumerate(variables):
        own = [
            (Place(one), Place(two))
            for one, two in combinations(range(len(row)), 2)
            if row[one] >= 0 and row[one] == row[two]
        ]
        if own:
            found.append(Constraint(number, number, _ordered(own)))
    for left, right in combinations(range(len(variables)), 2):
        shared = [
            (Place(one), Place(two))
            for one, mine in enumerate(variables[left])
            for two, yours in enumerate(variables[right])
            if mine >= 0 and mine == yours
        ]
        if shared:
            found.append(Constraint(left, right, _ordered(shared)))
    return tuple(found)


def _ordered(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """In the order that Table 1's names have; pairs beyond it come last."""
    known = [pair for pair in _TABLE_1 if pair in pairs]
    return tuple(known + sorted(pair for pair in pairs if pair not in _TABLE_1))
