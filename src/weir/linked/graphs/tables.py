"""Where the triples of static graphs come from: a Parquet store, or tables at hand; one interface."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import numpy as np

from weir.kernel.contract import Background, GraphTable
from weir.linked.graphs.store import GraphStore
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
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
    """The graphs of a Parquet store, as ids of ``dictionary``'s key.

    Where the store has another key, what a scan finds is encoded anew by its texts: right, but as slow as
    the scan is large. A new checkpoint takes the key of its store, so that this is the exception.
    """

    def __init__(self, store: GraphStore, dictionary: Dictionary) -> None:
        self.store = store
        self.dictionary = dictionary
        self._own = Dictionary(store.key)
        self._same = store.key == dictionary.key

    def names(self) -> Sequence[str]:
        return tuple(name for name in self.store.manifest.graphs if name != DEFAULT)

    def scan(
        self, graph: str, predicates: Collection[int] | None, subject: int | None, object: int | None
    ) -> GraphTable:
        if graph not in self.store.manifest.graphs:
            return GraphTable.empty()
        number = 0 if graph == DEFAULT else self._own.encode(IRI(graph))
        chosen = None if predicates is None else [self._there(each) for each in predicates]
        ends = [None if end is None else self._there(end) for end in (subject, object)]
        found = self.store.table(number, chosen, ends[0], ends[1])
        if self._same:
            return found
        return GraphTable(*(self._here(column) for column in (found.subject, found.predicate, found.object)))

    def add_texts(self, ids: Ids) -> None:
        """Put the texts of a column into the dictionary, where they are not yet."""
        if self._same:
            missing = [each for each in np.unique(ids).tolist() if each and each not in self.dictionary]
            self.store.add_texts(np.array(missing, np.int64), self.dictionary)

    def _there(self, identifier: int) -> int:
        if self._same or identifier < 0:
            return identifier
        return int(self._own.encode_texts([self.dictionary.text(identifier)])[0])

    def _here(self, column: Ids) -> Ids:
        distinct, where = np.unique(column, return_inverse=True)
        hashed = distinct > 0
        if hashed.any():
            distinct[hashed] = self.dictionary.encode_texts(self.store.texts(distinct[hashed]))
        return distinct[where]


class CombinedSource:
    """Several sources as one; each comes with the names under which its graphs are known here."""

    def __init__(self, parts: Sequence[tuple[TripleSource, Mapping[str, str]]]) -> None:
        self.parts = parts

    def names(self) -> Sequence[str]:
        return tuple(dict.fromkeys(name for _, names in self.parts for name in names if name != DEFAULT))

    def scan(
        self, graph: str, predicates: Collection[int] | None, subject: int | None, object: int | None
    ) -> GraphTable:
        found = [
            source.scan(names[graph], predicates, subject, object)
            for source, names in self.parts
            if graph in names
        ]
        return merged([table for table in found if len(table.subject)])


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


def merged(tables: Sequence[GraphTable]) -> GraphTable:
    """Tables of one graph as one table, equal rows once."""
    if not tables:
        return GraphTable.empty()
    if len(tables) == 1:
        return tables[0]
    columns = [
        np.concatenate([getattr(table, name) for table in tables])
        for name in ("subject", "predicate", "object")
    ]
    if any(table.start is not None or table.end is not None for table in tables):
        columns.append(np.concatenate([_bound(table, "start", np.iinfo(np.int64).min) for table in tables]))
        columns.append(np.concatenate([_bound(table, "end", np.iinfo(np.int64).max) for table in tables]))
    return GraphTable(*np.unique(np.stack(columns), axis=1))


def _bound(table: GraphTable, name: str, default: int) -> Ids:
    column: Ids | None = getattr(table, name)
    return np.full(len(table.subject), default, np.int64) if column is None else column


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
