"""Patterns that are joined with each other, reduced by what they share until nothing more goes.

A semi-join keeps the rows of a pattern whose value of a shared variable occurs in every other pattern that
has the variable. It never drops a row that some solution uses, whatever the intervals of the rows are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weir.kernel.contract import GraphTable
from weir.linked.graphs.tables import IndexedTable, take
from weir.rdf.columns import Ids

_ROUNDS = 8
_RARE = 8

Scan = tuple[str, int | None, int | None, int | None]
"""A graph and the constants of a pattern; None is any."""


@dataclass(slots=True)
class Part:
    """One pattern on one graph while it is reduced: ``rows`` None stands for all of them.

    ``added`` says that the table is not of the graph as it was read but of what updates named.
    """

    scan: Scan
    table: IndexedTable
    places: dict[str, str]
    rows: Ids | None = None
    added: bool = False

    def __len__(self) -> int:
        return len(self.table) if self.rows is None else len(self.rows)

    def selected(self) -> GraphTable:
        """The triples that are left."""
        return self.table.table if self.rows is None else take(self.table.table, self.rows)

    def values(self, variable: str) -> Ids:
        column = self.table.columns[self.places[variable]]
        return np.unique(column if self.rows is None else column[self.rows])

    def keep(self, variable: str, values: Ids) -> None:
        place = self.places[variable]
        if self.rows is None and len(values) * _RARE < len(self.table):
            self.rows = self.table.rows_with(place, values)
            return
        column = self.table.columns[place]
        rows = np.arange(len(self.table)) if self.rows is None else self.rows
        self.rows = rows[np.isin(column[rows], values)]


def semi_join(groups: Sequence[list[Part]]) -> None:
    """Reduce patterns that are all joined: a value of a shared variable must occur in each of them."""
    variables = {name for parts in groups for part in parts for name in part.places}
    shared = [
        [parts for parts in groups if any(variable in part.places for part in parts)]
        for variable in sorted(variables)
    ]
    order = [pair for pair in zip(sorted(variables), shared, strict=True) if len(pair[1]) > 1]
    for _ in range(_ROUNDS):
        before = sum(len(part) for parts in groups for part in parts)
        for variable, holders in sorted(order, key=lambda pair: min(_size(parts) for parts in pair[1])):
            smallest = min(holders, key=_size)
            allowed = _values(smallest, variable)
            for parts in holders:
                if parts is not smallest:
                    for part in parts:
                        part.keep(variable, allowed)
                    allowed = np.intersect1d(allowed, _values(parts, variable), assume_unique=True)
            for parts in holders:
                for part in parts:
                    part.keep(variable, allowed)
        if sum(len(part) for parts in groups for part in parts) == before:
            return


def _size(parts: Sequence[Part]) -> int:
    return sum(len(part) for part in parts)


def _values(parts: Sequence[Part], variable: str) -> Ids:
    found = [part.values(variable) for part in parts]
    return found[0] if len(found) == 1 else np.unique(np.concatenate(found))
