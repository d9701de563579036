"""A Parquet store as a source of extracts: small scans are read, large ones reduced where they lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.kernel.contract import GraphTable
from weir.linked.graphs import large_scans
from weir.linked.graphs.large_scans import Scanner, StreamedScan
from weir.linked.graphs.parquet_store import GraphStore
from weir.linked.graphs.triple_tables import DEFAULT, LargeScan, Scan
from weir.rdf.columns import Ids, sorted_set
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI

_MANY = 100_000
"""So many texts are attached to the dictionary as columns."""


class StoreSource:
    """The graphs of a Parquet store, as ids of ``dictionary``'s key.

    Where the store has another key, what a scan finds is encoded anew by its texts: right, but as slow as
    the scan is large. A new checkpoint takes the key of its store, so that this is the exception.
    """

    def __init__(self, store: GraphStore, dictionary: Dictionary, scanner: Scanner = StreamedScan) -> None:
        self.store = store
        self._scanner = scanner
        self.dictionary = dictionary
        self._own = Dictionary(store.key)
        self._same = store.key == dictionary.key

    def names(self) -> Sequence[str]:
        return tuple(name for name in self.store.manifest.graphs if name != DEFAULT)

    def scan(self, scan: Scan) -> GraphTable:
        graph, *constants = scan
        if graph not in self.store.manifest.graphs:
            return GraphTable.empty()
        number = 0 if graph == DEFAULT else self._own.encode(IRI(graph))
        found = self.store.table(number, *(None if each is None else self._there(each) for each in constants))
        if self._same:
            return found
        return GraphTable(*(self._here(column) for column in (found.subject, found.predicate, found.object)))

    def large(self, scan: Scan) -> LargeScan | None:
        graph, _, predicate, _ = scan
        if not self._same or predicate is None or graph not in self.store.manifest.graphs:
            return None
        if self.store.manifest.predicates.get(str(predicate), 0) <= large_scans.LARGE:
            return None
        number = 0 if graph == DEFAULT else self._own.encode(IRI(graph))
        return self._scanner(self.store, number, predicate)

    def size(self, graph: str) -> int:
        return self.store.manifest.graphs.get(graph, 0)

    def predicates(self, graph: str) -> Ids:
        """Those of all graphs of the store."""
        known = np.array([int(each) for each in self.store.manifest.predicates], np.int64)
        return known if self._same else self._here(known)

    def add_texts(self, ids: Ids) -> None:
        hashed = sorted_set(ids[ids > 0])
        if self._same and len(hashed) > _MANY:
            self.dictionary.attach(f"texts of {self.store.folder}", self.store.text_table(hashed))
            return
        wanted = [each for each in hashed.tolist() if each not in self.dictionary]
        if self._same and wanted:
            missing = np.array(wanted, np.int64)
            self.dictionary.add(missing, self.store.texts(missing))

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
