"""The static graphs of a running job, as its user changes them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from weir.errors import UsageError
from weir.kernel.contract import Background
from weir.language.update import Update, parse_update
from weir.linked.graphs import RemoteGraph
from weir.plan.analysis.chain import parsed
from weir.rdf.formats.times import read_time
from weir.runtime.control.entries import entry_of
from weir.runtime.control.extracts import Extractor
from weir.runtime.control.planning import ControlWriter
from weir.runtime.control.refresh import Refresher
from weir.runtime.control.updates import is_empty

When: TypeAlias = int | str | datetime | None
"""A time of the data: microseconds since 1970, an xsd:dateTime, a ``datetime``; None is the present."""

BASE, LATEST = "fetched", "refreshed"
"""Folders beside the extracts: documents as they were first fetched, and as they were last."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
        with self.lock:
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
        queries = {
            name: parsed(registration.text, registration.dialect)
            for name, registration in catalog.queries.items()
        }
        entry = self._graphs.update(inserted, deleted, at, queries, tuple(catalog.streams))
        self.control.append(lambda batch: [entry_of(entry, batch)])
        return entry.number


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
