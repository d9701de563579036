"""The static graphs that an engine was given: files read into memory, Parquet stores left where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from weir.errors import UsageError
from weir.kernel.contract import Background
from weir.language.algebra.query import Query
from weir.linked.graphs.embedded import read_graphs
from weir.linked.graphs.extract import Extractor
from weir.linked.graphs.files import graph_files
from weir.linked.graphs.remote import RemoteGraph, fetch, kept
from weir.linked.graphs.store import MANIFEST, GraphStore
from weir.linked.graphs.tables import (
    DEFAULT,
    CombinedSource,
    StoreSource,
    TableSource,
    TripleSource,
)
from weir.rdf.ids.dictionary import Dictionary


class Library:
    """Graphs by IRI, None for the default graph; each may have several sources."""

    def __init__(self) -> None:
        self._files: dict[str, list[Path]] = {}
        self._stores: list[tuple[str | None, GraphStore]] = []
        self.remotes: list[tuple[str | None, RemoteGraph]] = []

    def add_remote(self, iri: str | None, graph: RemoteGraph) -> None:
        """A document at a URL, fetched when the library is opened."""
        self.remotes.append((iri, graph))

    def add(self, iri: str | None, source: Path) -> None:
        """A file, a folder of files, or a store, whose default graph then goes by ``iri``; a store
        without an IRI brings all its graphs under their own names. Nothing is read yet."""
        if (source / MANIFEST).is_file():
            self._stores.append((iri, GraphStore(source)))
            return
        graph_files([source])
        self._files.setdefault(iri or DEFAULT, []).append(source)

    @property
    def key(self) -> bytes | None:
        """The key of the first store, which a new checkpoint should take; None without a store."""
        return self._stores[0][1].key if self._stores else None

    def open(self, dictionary: Dictionary, downloads: Path | None = None) -> Shelf:
        """Read the files, and make everything ready for extracts.

        Documents from URLs are kept in ``downloads``; what is there already is not fetched again, so that
        the base of a checkpoint stays what it was.
        """
        files = {name: list(paths) for name, paths in self._files.items()}
        for iri, graph in self.remotes:
            if downloads is None:
                raise UsageError(f"nowhere to keep the graph at {graph.url}")
            files.setdefault(iri or DEFAULT, []).append(kept(graph, downloads) or fetch(graph, downloads))
        return Shelf(files, self._stores, dictionary)


class Shelf:
    """An opened library under one dictionary."""

    def __init__(
        self,
        files: Mapping[str, Sequence[Path]],
        stores: Sequence[tuple[str | None, GraphStore]],
        dictionary: Dictionary,
    ) -> None:
        self.dictionary = dictionary
        background = read_graphs(files, dictionary)
        tables = TableSource(background)
        parts: list[tuple[TripleSource, Mapping[str, str]]] = [
            (tables, {name: name for name in tables.tables})
        ]
        self._stores = [StoreSource(store, dictionary) for _, store in stores]
        for (iri, store), source in zip(stores, self._stores, strict=True):
            names = {name: name for name in store.manifest.graphs} if iri is None else {iri: DEFAULT}
            parts.append((source, names))
        self._extractor = Extractor(CombinedSource(parts), dictionary)

    def extract(self, query: Query, streams: Sequence[str]) -> Background:
        """The query's extract; the texts of its terms are in the dictionary."""
        return self._with_texts(self._extractor.extract(query, streams))

    @property
    def number(self) -> int:
        """The number of the latest update; 0 before the first."""
        return self._extractor.overlay.number

    def names(self) -> Sequence[str]:
        """The named graphs."""
        return self._extractor.names()

    def apply(self, inserted: Background, deleted: Background) -> int:
        """Take in an update; its number. Their terms are in the dictionary, and no triple is in both."""
        return self._extractor.apply(inserted, deleted)

    def change(self, query: Query, number: int, streams: Sequence[str]) -> Background | None:
        """What an update adds to the query's extract, None where it does not concern the query."""
        found = self._extractor.change(query, number, streams)
        return None if found is None else self._with_texts(found)

    def _with_texts(self, found: Background) -> Background:
        for source in self._stores:
            for table in (found.default, *found.named.values()):
                source.add_texts(np.concatenate([table.subject, table.predicate, table.object]))
        return found
