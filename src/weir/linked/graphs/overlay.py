"""What updates have changed so far, on top of graphs that are never written to.

The base keeps its indexes; the overlay is small, and is looked at beside the base in every scan. A triple's
history is its presence in the base and its events in the overlay.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.kernel.background import Background, GraphTable
from weir.linked.graphs.history import contains, events, graphs_of, stacked
from weir.linked.graphs.tables import DEFAULT, TableSource


class Overlay:
    """Events by graph. ``number`` is that of the latest update, ``inserting`` those that inserted into each
    graph: they make it where it was not there before."""

    def __init__(self) -> None:
        self.number = 0
        self.events: dict[str, GraphTable] = {}
        self.inserting: dict[str, list[int]] = {}

    def names(self) -> Sequence[str]:
        """The named graphs that updates have inserted into."""
        return tuple(name for name in self.inserting if name != DEFAULT)

    def apply(self, inserted: Background, deleted: Background) -> int:
        """One update more; its number. A triple may be in one of the two only."""
        self.number += 1
        for background, added in ((deleted, False), (inserted, True)):
            for name, table in graphs_of(background).items():
                if len(table.subject):
                    found = events(table, self.number, inserted=added)
                    known = self.events.get(name)
                    self.events[name] = found if known is None else stacked([known, found])
                    if added:
                        self.inserting.setdefault(name, []).append(self.number)
        return self.number

    def of(self, number: int) -> Overlay:
        """What one update changed."""
        part = Overlay()
        part.number = number
        for name, table in self.events.items():
            rows = np.flatnonzero((table.start == number) | (table.end == number))
            if len(rows):
                part.events[name] = _rows(table, rows)
        return part

    def triples(self) -> TableSource:
        """Every triple that some update named, as plain graphs."""
        tables = {name: _distinct(table) for name, table in self.events.items()}
        return TableSource(Background(tables.pop(DEFAULT, GraphTable.empty()), tables))

    def history(self, graph: str, there: GraphTable, others: GraphTable) -> GraphTable:
        """The events of triples that are in the base, and of others."""
        known = self.events.get(graph)
        parts = [GraphTable(there.subject, there.predicate, there.object)]
        if known is not None:
            for wanted in (there, others):
                rows = np.flatnonzero(contains(wanted, known))
                if len(rows):
                    parts.append(_rows(known, rows))
        return stacked(parts)


def _rows(table: GraphTable, rows: np.ndarray) -> GraphTable:
    assert table.start is not None and table.end is not None
    columns = (table.subject, table.predicate, table.object, table.start, table.end)
    return GraphTable(*(column[rows] for column in columns))


def _distinct(table: GraphTable) -> GraphTable:
    columns = np.stack([table.subject, table.predicate, table.object])
    return GraphTable(*np.unique(columns, axis=1))
