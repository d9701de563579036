"""Graphs from URLs kept fresh: a timer fetches them again and turns the difference into updates.

The version last turned into updates lies beside the first one, which stays the base of the checkpoint. A
crash after an update was logged and before its version was put there makes the same update once more,
which changes nothing.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

from weir.errors import WeirError
from weir.kernel.contract import Background, GraphTable
from weir.linked.graphs import RemoteGraph
from weir.linked.graphs.graph_files import fetch, kept
from weir.linked.graphs.history import background_of, contains, graphs_of
from weir.linked.graphs.triple_tables import take

_LOG = logging.getLogger("weir.graphs")

Read = Callable[[str | None, Path], Background]
"""Reads a file for a graph."""

Change = Callable[[Background, Background], int]
"""Logs an update that inserts and deletes; its number."""


class Refresher(threading.Thread):
    """Fetches one document every so often. A failure is logged and tried again the next time."""

    def __init__(
        self, iri: str | None, graph: RemoteGraph, folders: tuple[Path, Path], read: Read, change: Change
    ) -> None:
        super().__init__(name=f"weir-refresh-{graph.stem}", daemon=True)
        self.iri = iri
        self.graph = graph
        self.base, self.latest = folders
        self.read = read
        self.change = change
        self.failures = 0
        self._ended = threading.Event()

    def run(self) -> None:
        assert self.graph.refresh is not None
        while not self._ended.wait(self.graph.refresh):
            try:
                self.refresh()
            except (WeirError, OSError) as error:
                self.failures += 1
                _LOG.warning("the graph at %s was not refreshed: %s", self.graph.url, error)

    def refresh(self) -> int:
        """Fetch and compare once; the number of the update, 0 where nothing changed."""
        before = kept(self.graph, self.latest) or kept(self.graph, self.base)
        fetched = fetch(self.graph, self.latest / "new")
        old = self._read(before)
        new = self._read(fetched)
        number = 0
        if not self._ended.is_set():
            number = self.change(minus(new, old), minus(old, new))
        for path in self.latest.glob(f"{self.graph.stem}.*"):
            path.unlink()
        for path in (self.latest / "new").glob(f"{self.graph.stem}.*"):
            shutil.move(path, self.latest / path.name)
        return number

    def _read(self, path: Path | None) -> Background:
        return Background() if path is None else self.read(self.iri, path)

    def stop(self) -> None:
        self._ended.set()
        if threading.current_thread() is not self:
            self.join(timeout=10)


def minus(left: Background, right: Background) -> Background:
    """The triples of ``left`` that are not in the same graph of ``right``."""
    others = graphs_of(right)
    found = {}
    for name, table in graphs_of(left).items():
        known = contains(others.get(name, GraphTable.empty()), table)
        found[name] = take(table, (~known).nonzero()[0])
    return background_of(found)
