"""Where the triples of static graphs come from: a Parquet store, or tables at hand; one interface."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import numpy as np

from weir.background.graphs.store import GraphStore
from weir.kernel.background import Background, GraphTable
from weir.rdf.columns import Ids
from weir.rdf.dictionary import Dictionary
from weir.rdf.terms import IRI

DEFAULT = ""
"""The name of the default graph."""


class TripleSource(Protocol):
    """Static graphs by name, scanned by constants; ids are those of one key."""

    def names(self) -> Sequence[str]:
        """The named graphs."""
        ...

    def scan(
        self, graph: str, predicates: Collection[int] | None, subject: int | None, object: int | None
    ) -> GraphTable:
        """The triples of a graph (none if there is no such graph) that the constants allow."""
        ...


class StoreSource:
    """The graphs of a Parquet store; ``dictionary`` has the store's key."""

    def __init__(self, store: GraphStore, dictionary: Dictionary) -> None:
        self.store = store
        self.dictionary = dictionary

    def names(self) -> Sequence[str]:
        return tuple(name for name in self.store.manifest.graphs if name != DEFAULT)

    def scan(
        self, graph: str, predicates: Collection[int] | None, subject: int | None, object: int | None
    ) -> GraphTable:
        if graph not in self.store.manifest.graphs:
            return GraphTable.empty()
        number = 0 if graph == DEFAULT else self.dictionary.encode(IRI(graph))
        return self.store.table(number, predicates, subject, object)


class TableSource:
    """Graphs that are in memory already."""

    def __init__(self, background: Background) -> None:
        self.tables: Mapping[str, GraphTable] = {DEFAULT: background.default, **background.named}

    def names(self) -> Sequence[str]:
        return tuple(name for name in self.tables if name != DEFAULT)

    def scan(
        self, graph: str, predicates: Collection[int] | None, subject: int | None, object: int | None
    ) -> GraphTable:
        table = self.tables.get(graph)
        if table is None:
            return GraphTable.empty()
        keep = np.ones(len(table.subject), np.bool_)
        if predicates is not None:
            keep &= np.isin(table.predicate, list(predicates))
        if subject is not None:
            keep &= table.subject == subject
        if object is not None:
            keep &= table.object == object
        return take(table, np.flatnonzero(keep))


def take(table: GraphTable, rows: Ids) -> GraphTable:
    """Some rows of a table."""
    return GraphTable(
        table.subject[rows],
        table.predicate[rows],
        table.object[rows],
        None if table.start is None else table.start[rows],
        None if table.end is None else table.end[rows],
    )


class IndexedTable:
    """A table whose rows are found by subject or object without a scan, once somebody asked for it."""

    def __init__(self, table: GraphTable) -> None:
        self.table = table
        self.columns: Mapping[str, Ids] = {
            "subject": table.subject,
            "predicate": table.predicate,
            "object": table.object,
        }
        self._orders: dict[str, tuple[Ids, Ids]] = {}

    def __len__(self) -> int:
        return len(self.table.subject)

    def rows_with(self, column: str, values: Ids) -> Ids:
        """The rows whose column is one of ``values``, ascending."""
        if column not in self._orders:
            order = np.argsort(self.columns[column], kind="stable")
            self._orders[column] = (order, self.columns[column][order])
        order, ordered = self._orders[column]
        first = np.searchsorted(ordered, values)
        counts = np.searchsorted(ordered, values, side="right") - first
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.sort(order[np.repeat(first, counts) + within])
