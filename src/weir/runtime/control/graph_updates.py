"""The static graphs of a running job, as its user and the timers of remote graphs change them.

A timer fetches a document again and turns the difference into an update. The version last turned into updates
lies beside the first one, which stays the base of the checkpoint. A crash after an update was logged and
before its version was put there makes the same update once more, which changes nothing.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from weir.errors import UsageError, WeirError
from weir.kernel.contract import Background, GraphTable
from weir.language.update import Update, parse_update
from weir.linked.graphs import RemoteGraph
from weir.linked.graphs.graph_files import fetch, kept
from weir.linked.graphs.history import background_of, contains, graphs_of
from weir.linked.graphs.triple_tables import take
from weir.rdf.formats.times import read_time
from weir.runtime.control.catalog import entry_of
from weir.runtime.control.extracts import Extractor
from weir.runtime.control.planning import ControlWriter
from weir.storage.files import move, remove

When: TypeAlias = int | str | datetime | None
"""A time of the data: microseconds since 1970, an xsd:dateTime, a ``datetime``; None is the present."""

BASE, LATEST = "fetched", "refreshed"
"""Folders beside the extracts: documents as they were first fetched, and as they were last."""

_LOG = logging.getLogger("weir.graphs")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
        # The note goes first: a document without one would have another base.
        paths = sorted((self.latest / "new").glob(f"{self.graph.stem}.*"), reverse=True)
        for path in paths:
            move(path, self.latest / path.name)
        for path in self.latest.glob(f"{self.graph.stem}.*"):
            if path.name not in {each.name for each in paths}:
                remove(path)
        return number

    def _read(self, path: Path | None) -> Background:
        return Background() if path is None else self.read(self.iri, path)

    def stop(self) -> None:
        self._ended.set()
        if threading.current_thread() is not self:
            self.join(timeout=10)


class GraphUpdates:
    """Updates go into the control log one at a time, each for a batch that is not planned yet."""

    def __init__(self, control: ControlWriter, extractor: Extractor | None) -> None:
        self.extractor = extractor
        self.lock = control.lock
        self.refreshers: list[Refresher] = []
        self.control = control

    def update(self, request: str | Sequence[Update], at: When = None) -> int:
        """INSERT DATA and DELETE DATA; the number of the update, 0 where there was nothing to do."""
        operations = parse_update(request) if isinstance(request, str) else request
        with self.lock:
            inserted, deleted = self._graphs.data(operations)
            return self._log(inserted, deleted, moment(at))

    def insert(self, graph: str | None, path: Path, at: When = None) -> int:
        """Add the triples of a file or folder."""
        with self.lock:
            return self._log(self._graphs.file(graph, path), Background(), moment(at))

    def replace(self, inserted: Background, deleted: Background) -> int:
        """Insert and delete triples whose terms the extractor's dictionary has, at the present."""
        with self.lock:
            return self._log(inserted, deleted, None)

    def keep_fresh(self, remotes: Sequence[tuple[str | None, RemoteGraph]]) -> None:
        """Start the timers of graphs from URLs that are to be refreshed."""
        folder = self.control.checkpoint.graphs
        for iri, graph in remotes:
            if graph.refresh is not None:
                folders = (folder / BASE, folder / LATEST)
                timer = Refresher(iri, graph, folders, self._read, self.replace)
                self.refreshers.append(timer)
                timer.start()

    def close(self) -> None:
        """The job has ended: stop the timers."""
        while self.refreshers:
            self.refreshers.pop().stop()

    def _read(self, graph: str | None, path: Path) -> Background:
        return self._graphs.file(graph, path)

    @property
    def _graphs(self) -> Extractor:
        if self.extractor is None:
            raise UsageError("this job was started without its graphs, so they cannot be updated")
        if self.control.ended():
            raise UsageError("the job has ended: its graphs can no longer be updated")
        return self.extractor

    def _log(self, inserted: Background, deleted: Background, at: int | None) -> int:
        if is_empty(inserted) and is_empty(deleted):
            return 0
        catalog = self.control.catalog()
        graphs = self._graphs
        number = graphs.apply(inserted, deleted)
        try:
            entry = graphs.update(
                number, inserted, deleted, at, catalog.queries.values(), tuple(catalog.streams)
            )
            self.control.append(lambda batch: [entry_of(entry, batch)])
        except BaseException:
            graphs.undo(number)
            raise
        self.control.merge(graphs.merge)
        return number


def moment(at: When) -> int | None:
    """Microseconds since 1970."""
    if isinstance(at, datetime):
        if at.tzinfo is None:
            raise UsageError(f"{at!r} has no time zone", hint="give one, for example tzinfo=datetime.UTC")
        return (at - _EPOCH) // timedelta(microseconds=1)
    if isinstance(at, str):
        found = read_time(at)
        if found is None:
            raise UsageError(f"not a time: {at!r}", hint="an xsd:dateTime, such as 2026-11-15T12:00:00Z")
        return found
    return at


def minus(left: Background, right: Background) -> Background:
    """The triples of ``left`` that are not in the same graph of ``right``."""
    others = graphs_of(right)
    found = {}
    for name, table in graphs_of(left).items():
        known = contains(others.get(name, GraphTable.empty()), table)
        found[name] = take(table, (~known).nonzero()[0])
    return background_of(found)


def is_empty(background: Background) -> bool:
    """Whether no graph holds a triple."""
    return not any(len(table.subject) for table in graphs_of(background).values())
