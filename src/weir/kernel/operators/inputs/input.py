"""What a join reads: windows, static views and relations computed below, all probed the same way.

An input can list its rows, list those whose visibility changes within the slab, and find the partners of
a flow's rows. Partners' intervals are computed for the pairs found, not for all rows there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from weir.kernel.relations.keys import SortedKeys, combine
from weir.kernel.relations.matches import matches, merge
from weir.kernel.relations.relation import Relation, union
from weir.kernel.windows.instants import Instants


class Present:
    """The instants of the slab at hand, for everything that runs in it."""

    __slots__ = ("at",)

    def __init__(self, at: Instants) -> None:
        self.at = at

    def __len__(self) -> int:
        return len(self.at.time)


class Input(Protocol):
    """``variables`` are its columns; ``name`` is how routes are shown."""

    name: str
    variables: tuple[str, ...]

    @property
    def steady(self) -> bool:
        """Whether every row is always visible."""
        ...

    def __len__(self) -> int:
        """How many rows take part in the slab, or a close upper bound."""
        ...

    def standing(self) -> int:
        """The cardinality at the present time: what Algorithm 2 of CQELS looks at."""
        ...

    def relation(self) -> Relation:
        """All rows."""
        ...

    def changed(self) -> Relation:
        """The rows that are not visible throughout the slab."""
        ...

    def has_stable(self) -> bool:
        """Whether any row may be visible throughout the slab."""
        ...

    def join(self, flow: Relation, *, stable: bool = False) -> Relation:
        """The flow's rows with their partners; only partners visible throughout if ``stable``."""
        ...

    def estimate(self, flow: Relation) -> float:
        """About how many rows ``join`` would give."""
        ...


class RelationInput:
    """A relation that other operators compute in the same slab, once somebody asks for it."""

    steady = False

    def __init__(
        self, name: str, variables: tuple[str, ...], compute: Callable[[], Relation], instants: int
    ) -> None:
        self.name = name
        self.variables = variables
        self._compute = compute
        self.begin(instants)

    def begin(self, instants: int) -> None:
        """A slab of so many instants, in which nothing is computed yet."""
        self._instants = instants
        self._computed: Relation | None = None
        self._stable: Relation | None = None

    @property
    def _rows(self) -> Relation:
        if self._computed is None:
            self._computed = self._compute()
        return self._computed

    @property
    def computed(self) -> bool:
        """Whether its rows are there already."""
        return self._computed is not None

    def __len__(self) -> int:
        return len(self._rows)

    def standing(self) -> int:
        return len(self._rows)

    def has_stable(self) -> bool:
        return len(self._steady()) > 0

    def _steady(self) -> Relation:
        if self._stable is None:
            whole = (self._rows.start == 0) & (self._rows.end == self._instants)
            self._stable = self._rows.take(np.flatnonzero(whole))
        return self._stable

    def relation(self) -> Relation:
        return self._rows

    def changed(self) -> Relation:
        return unsteady(self._rows, self._instants)

    def join(self, flow: Relation, *, stable: bool = False) -> Relation:
        partners = self._steady() if stable else self._rows
        return merge(flow, partners, matches(flow, partners))

    def estimate(self, flow: Relation) -> float:
        on = [name for name in self._rows.columns if name in flow.columns]
        if not on or flow.optional.intersection(on) or self._rows.optional.intersection(on):
            return float(len(flow)) * len(self._rows)
        keys = SortedKeys(combine([self._rows.columns[name] for name in on]))
        return float(keys.ranges(combine([flow.columns[name] for name in on]))[1].sum())


class UnionInput:
    """Several inputs of the same variables, no row of which is also in another."""

    steady = False

    def __init__(self, name: str, parts: Sequence[Input]) -> None:
        self.name = name
        self.parts = tuple(parts)
        self.variables = self.parts[0].variables

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts)

    def standing(self) -> int:
        return sum(part.standing() for part in self.parts)

    def has_stable(self) -> bool:
        return any(part.has_stable() for part in self.parts)

    def relation(self) -> Relation:
        return union(*(part.relation() for part in self.parts))

    def changed(self) -> Relation:
        return union(*(part.changed() for part in self.parts))

    def join(self, flow: Relation, *, stable: bool = False) -> Relation:
        return union(*(part.join(flow, stable=stable) for part in self.parts))

    def estimate(self, flow: Relation) -> float:
        return sum(part.estimate(flow) for part in self.parts)


def instantaneous(flow: Relation) -> bool:
    """Whether every row is visible at one index only."""
    return bool((flow.end - flow.start == 1).all())


def unsteady(relation: Relation, instants: int) -> Relation:
    """Without the rows that are visible throughout."""
    moving = (relation.start > 0) | (relation.end < instants)
    return relation if moving.all() else relation.take(np.flatnonzero(moving))


def join_generally(flow: Relation, rows: Relation, instants: int, stable: bool) -> Relation:
    """A join where a shared variable may be unbound."""
    if stable:
        rows = rows.take(np.flatnonzero((rows.start == 0) & (rows.end == instants)))
    return merge(flow, rows, matches(flow, rows))
