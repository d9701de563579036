"""The static graphs that an engine was given: files read into memory, Parquet stores left where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from weir.errors import DataError, UsageError
from weir.kernel.contract import Background, GraphTable
from weir.linked.graphs.extract import StaticGraphs
from weir.linked.graphs.graph_files import RemoteGraph, fetch, graph_files, kept, read_file
from weir.linked.graphs.history import background_of
from weir.linked.graphs.large_scans import Scanner, StreamedScan
from weir.linked.graphs.parquet_store import MANIFEST, GraphStore
from weir.linked.graphs.store_source import StoreSource
from weir.linked.graphs.triple_tables import (
    DEFAULT,
    CombinedSource,
    TableSource,
    TripleSource,
    distinct,
    stacked,
)
from weir.rdf.ids.dictionary import Dictionary
from weir.storage.remote import RemotePath

_SHOWN = 20
"""How many malformed lines an error lists."""


class GraphSources:
    """Graphs by IRI, None for the default graph; each may have several sources."""

    def __init__(self) -> None:
        self._files: dict[str, list[Path]] = {}
        self._stores: list[tuple[str | None, GraphStore]] = []
        self.remotes: list[tuple[str | None, RemoteGraph]] = []

    def add_remote(self, iri: str | None, graph: RemoteGraph) -> None:
        """A document at a URL, fetched when the graphs are opened."""
        self.remotes.append((iri, graph))

    def add(self, iri: str | None, source: Path) -> None:
        """A file, a folder of files, or a store, whose default graph then goes by ``iri``; a store
        without an IRI brings all its graphs under their own names. Nothing is read yet."""
        if (source / MANIFEST).is_file():
            if isinstance(source, RemotePath):
                raise UsageError(f"a graph store is read from a disk: {source}", hint="mount or copy it")
            self._stores.append((iri, GraphStore(source)))
            return
        graph_files([source])
        self._files.setdefault(iri or DEFAULT, []).append(source)

    @property
    def key(self) -> bytes | None:
        """The key of the first store, which a new checkpoint should take; None without a store."""
        return self._stores[0][1].key if self._stores else None

    def open(
        self, dictionary: Dictionary, downloads: Path | None = None, scanner: Scanner = StreamedScan
    ) -> StaticGraphs:
        """Read the files, and make everything ready for extracts. ``scanner`` reads what is large in stores.

        Documents from URLs are kept in ``downloads``; what is there already is not fetched again, so that
        the base of a checkpoint stays what it was.
        """
        files = {name: list(paths) for name, paths in self._files.items()}
        for iri, graph in self.remotes:
            if downloads is None:
                raise UsageError(f"nowhere to keep the graph at {graph.url}")
            files.setdefault(iri or DEFAULT, []).append(kept(graph, downloads) or fetch(graph, downloads))
        tables = TableSource(read_graphs(files, dictionary))
        parts: list[tuple[TripleSource, Mapping[str, str]]] = [
            (tables, {name: name for name in tables.tables})
        ]
        for iri, store in self._stores:
            names = {name: name for name in store.manifest.graphs} if iri is None else {iri: DEFAULT}
            parts.append((StoreSource(store, dictionary, scanner), names))
        return StaticGraphs(CombinedSource(parts), dictionary)


def read_graphs(sources: Mapping[str, Sequence[Path]], dictionary: Dictionary) -> Background:
    """The graphs of files and folders, by IRI ("" is the default graph); texts go into ``dictionary``.

    Statements that name a graph of their own (N-Quads, TriG, JSON-LD) go there; the rest into the graph
    that the file was given for. Malformed input is a ``DataError`` that lists file, line and reason.
    """
    tables: dict[str, list[GraphTable]] = {}
    problems: list[str] = []
    for name, paths in sources.items():
        tables.setdefault(name, [])
        for file in graph_files(paths):
            for piece in read_file(file, dictionary.key):
                problems += [f"{file.path}:{item.line}: {item.reason}" for item in piece.rejected]
                for terms in piece.columns:
                    known = terms.ids > 0
                    dictionary.add(terms.ids[known], terms.texts.filter(known).to_list())
                graph = piece.columns[3].column
                for number in np.unique(graph).tolist():
                    target = dictionary.text(number)[1:-1] if number else name
                    rows = graph == number
                    table = GraphTable(*(terms.column[rows] for terms in piece.columns[:3]))
                    tables.setdefault(target, []).append(table)
    if problems:
        raise DataError(
            f"{len(problems)} malformed {'line' if len(problems) == 1 else 'lines'} in graph files",
            detail="\n".join(problems[:_SHOWN]) + ("\n…" if len(problems) > _SHOWN else ""),
            hint="mend or remove these lines: a graph is read whole or not at all",
        )
    return background_of({name: distinct(stacked(parts)) for name, parts in tables.items() if parts}, tables)
