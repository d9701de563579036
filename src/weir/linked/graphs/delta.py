"""What updates have changed so far, on top of graphs that are never written to.

The base keeps its indexes; the delta is looked at beside the base in every scan. A triple's history is its
presence in the base and its events here. To take in an update costs what the update is large, however many
there were before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.kernel.contract import Background, GraphTable
from weir.linked.graphs.history import background_of, contains, events, graphs_of
from weir.linked.graphs.triple_tables import DEFAULT, OPEN, TableSource, bounds, stacked, take

_ROOM = 64


class _Events:
    """The events of one graph, in the order of their numbers: rows of a table that doubles when full."""

    def __init__(self) -> None:
        self.size = 0
        self._rows = np.empty((5, _ROOM), np.int64)

    @property
    def table(self) -> GraphTable:
        return GraphTable(*self._rows[:, : self.size])

    def add(self, table: GraphTable) -> None:
        """Rows whose numbers are not lower than those that are there."""
        size = self.size + len(table.subject)
        if size > self._rows.shape[1]:
            grown = np.empty((5, max(size, 2 * self._rows.shape[1])), np.int64)
            grown[:, : self.size] = self._rows[:, : self.size]
            self._rows = grown
        columns = (table.subject, table.predicate, table.object, *bounds(table))
        for row, column in zip(self._rows, columns, strict=True):
            row[self.size : size] = column
        self.size = size

    def since(self, number: int) -> int:
        """The first row of an update, or of one after it."""
        start, end = self._rows[3:, : self.size]
        low, high = 0, self.size
        while low < high:
            middle = (low + high) // 2
            if (start[middle] if start[middle] != OPEN else end[middle]) < number:
                low = middle + 1
            else:
                high = middle
        return low


class Delta:
    """Events by graph. ``number`` is that of the latest update, ``inserting`` those that inserted into each
    graph: they make it where it was not there before."""

    def __init__(self) -> None:
        self.number = 0
        self.inserting: dict[str, list[int]] = {}
        self._graphs: dict[str, _Events] = {}

    @property
    def events(self) -> dict[str, GraphTable]:
        """All events by graph."""
        return {name: each.table for name, each in self._graphs.items()}

    def names(self) -> Sequence[str]:
        """The named graphs that updates have inserted into."""
        return tuple(name for name in self.inserting if name != DEFAULT)

    def apply(self, inserted: Background, deleted: Background) -> int:
        """Take in an update; its number. No triple may be in both."""
        self.number += 1
        for background, added in ((deleted, False), (inserted, True)):
            for name, table in graphs_of(background).items():
                if len(table.subject):
                    self._graph(name).add(events(table, self.number, inserted=added))
                    if added:
                        self.inserting.setdefault(name, []).append(self.number)
        return self.number

    def take_in(self, made: Background, number: int) -> None:
        """Take in what ``since`` gave of another delta, whose latest update had this number."""
        for name, table in graphs_of(made).items():
            start, end = bounds(table)
            order = np.argsort(np.where(start != OPEN, start, end), kind="stable")
            self._graph(name).add(take(table, order))
        for name, numbers in made.made.items():
            self.inserting.setdefault(name, []).extend(numbers)
        self.number = number

    def since(self, number: int, until: int) -> Background:
        """The events of the updates ``number`` to ``until``."""
        found = {}
        for name, each in self._graphs.items():
            rows = np.arange(each.since(number), each.since(until + 1))
            if len(rows):
                found[name] = take(each.table, rows)
        made = {
            name: tuple(each for each in numbers if number <= each <= until)
            for name, numbers in self.inserting.items()
        }
        graphs = background_of(found)
        return Background(graphs.default, graphs.named, {name: own for name, own in made.items() if own})

    def undo(self, number: int) -> None:
        """Take back the latest update."""
        if number != self.number:
            raise ValueError(f"the latest update is {self.number}, not {number}")
        self.number -= 1
        for name, each in list(self._graphs.items()):
            each.size = each.since(number)
            if not each.size:
                del self._graphs[name]
        for name, numbers in list(self.inserting.items()):
            if numbers[-1] == number:
                numbers.pop()
            if not numbers:
                del self.inserting[name]

    def of(self, number: int) -> TableSource:
        """Every triple that one update named, as plain graphs."""
        return TableSource(_plain(self.since(number, number)))

    def triples(self) -> TableSource:
        """Every triple that some update named, as plain graphs, as often as one did."""
        return TableSource(_plain(background_of(self.events)))

    def history(self, graph: str, there: GraphTable, others: GraphTable) -> GraphTable:
        """The events of triples that are in the base, and of others."""
        known = self._graphs.get(graph)
        parts = [GraphTable(there.subject, there.predicate, there.object)]
        if known is not None:
            for wanted in (there, others):
                rows = np.flatnonzero(contains(wanted, known.table))
                if len(rows):
                    parts.append(take(known.table, rows))
        return stacked(parts)

    def _graph(self, name: str) -> _Events:
        if name not in self._graphs:
            self._graphs[name] = _Events()
        return self._graphs[name]


def _plain(background: Background) -> Background:
    tables = {
        name: GraphTable(table.subject, table.predicate, table.object)
        for name, table in graphs_of(background).items()
    }
    return background_of(tables)
