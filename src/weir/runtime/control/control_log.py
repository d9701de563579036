"""The control log: what changed and from which batch on it counts, durable beside the checkpoint.

An entry names a batch that was not yet planned when it was written, and every task applies exactly the
entries up to the batch it works on, so a replayed batch sees what it saw the first time. A change is one
record: all its entries count or none. Records have numbers; the number behind the last one is the log's
position, and it travels with the tasks: a worker whose storage shows an old log waits until it sees the
position it was told.

Entries that every batch to come takes in, and that later ones have undone, go away (``compact``); positions
stay what they were.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from weir.errors import CheckpointError
from weir.runtime.control.catalog import FAIL, FAREWELL, Catalog, Entry, UpdateEntry, entry_of
from weir.runtime.control.failure import Failure
from weir.storage import record_log

CONTROL_FILE = "control"
PATIENCE = 60.0
"""Seconds that a worker waits for what it was told to be in the log: longer than NFS keeps attributes."""
_LOOK = 0.1
_SPARE = 256
"""Entries that may be undone, or updates one by one, before it is worth writing the log anew."""

Merge = Callable[[Sequence[UpdateEntry], Mapping[str, int]], UpdateEntry]
"""Puts updates together; given are the queries, with how many updates are in their extracts."""


class ControlLog:
    """Reads and appends; a reader keeps what it has read and looks only at what is new."""

    def __init__(self, folder: Path, durable: bool = True) -> None:
        self._log = record_log(folder / CONTROL_FILE, durable=durable)
        self._changes: list[list[Entry]] = []
        self._batches: list[int] = []
        self._catalog = Catalog()
        self._compact_at, self._merge_at = 0, _SPARE

    @property
    def position(self) -> int:
        """The number behind the last change that this reader knows."""
        self._follow()
        return self._log.end

    def version(self, batch: int) -> int:
        """Up to which position changes count in ``batch``."""
        self._follow()
        return self._log.first + self._until(batch)

    def append(self, entries: Sequence[Entry]) -> None:
        """Add a change, whose entries count from one batch on; it is durable when this returns. It gets the
        number behind what this reader knows: where another one has that, a ``CheckpointError``."""
        if entries:
            self._log.append([_record(entries)], self.position)

    def entries(self, batch: int | None = None) -> list[Entry]:
        """All entries that are left, or those effective in ``batch``, in the order they were written."""
        self._follow()
        return [entry for change in self._changes[: self._until(batch)] for entry in change]

    def catalog(self, batch: int | None = None) -> Catalog:
        """What they amount to; the same object as long as nothing changes."""
        self._follow()
        until = self._until(batch)
        version = self._log.first + until
        if self._catalog.version > version or self._catalog.version < self._log.first:
            self._catalog = Catalog(version=self._log.first)
        if self._catalog.version < version:
            done = self._catalog.version - self._log.first
            self._catalog = self._catalog.after(self._changes[done:until])
        return self._catalog

    def failing(self, batch: int) -> list[Failure]:
        """The failures that are known to happen in ``batch``, because it was evaluated before."""
        self._follow()
        return [
            Failure(**entry.values)
            for change in self._changes[bisect_left(self._batches, batch + 1) :]
            for entry in change
            if entry.operation == FAIL and entry.batch == batch + 1
        ]

    def expect(self, position: int, patience: float = PATIENCE) -> None:
        """Wait until the log is seen up to ``position``; a ``CheckpointError`` where it never is."""
        until = time.monotonic() + patience
        while self.position < position:
            if time.monotonic() > until:
                raise CheckpointError(
                    f"this worker sees {self._log.end} changes in {self._log.path}, and there are {position}",
                    detail="its view of the checkpoint's storage is old",
                    hint="mount the storage so that workers see what the driver wrote (for NFS: actimeo=1)",
                )
            time.sleep(_LOOK)

    def compact(self, committed: int) -> bool:
        """Leave out what later entries have undone, of those that count in every batch after ``committed``;
        whether there was enough of it. Only for the log's one writer."""
        self._follow()
        settled = bisect_right(self._batches, committed - FAREWELL)
        if settled < self._compact_at:
            return False
        before = sum(map(len, self._changes[:settled]))
        kept = snapshot(self._settled(settled))
        if before < 2 * len(kept) + _SPARE:
            self._compact_at = settled + max(_SPARE, settled // 4)
            return False
        self._rewrite(kept, settled)
        return True

    def merge(self, committed: int, merge: Merge) -> bool:
        """Put updates of graphs together that count in every batch after ``committed``; whether there were
        enough of them. Each time a few hundred, with those before that are as few: so an update is put
        together with others as often as their number doubles."""
        singles = sum(not update.merged for update in self.catalog().updates)
        if singles < self._merge_at:
            return False
        settled = bisect_right(self._batches, committed - FAREWELL)
        known = self._settled(settled)
        first = len(known.updates)
        while first and not known.updates[first - 1].merged:
            first -= 1
        count = len(known.updates) - first
        self._merge_at = singles - count + _SPARE
        if count < _SPARE:
            self._merge_at = singles + _SPARE // 4
            return False
        while first and len(known.updates[first - 1].each) <= 2 * count:
            first -= 1
            count += len(known.updates[first].each)
        queries = {name: query.updates for name, query in known.every_query.items()}
        known.updates[first:] = [merge(known.updates[first:], queries)]
        self._rewrite(snapshot(known), settled)
        return True

    def _settled(self, changes: int) -> Catalog:
        """What the first changes amount to, in a catalog of its own."""
        return Catalog(version=self._log.first).after(self._changes[:changes])

    def _rewrite(self, kept: Sequence[Entry], settled: int) -> None:
        """Put entries in place of the first changes."""
        rest = [_record(change) for change in self._changes[settled:]]
        self._log.rewrite([_record(kept), *rest], self._log.end)
        self._compact_at = 0

    def _until(self, batch: int | None) -> int:
        """How many changes count in a batch."""
        return len(self._changes) if batch is None else bisect_right(self._batches, batch)

    def _follow(self) -> None:
        version = self._log.version
        new = self._log.more()
        if self._log.version != version:
            self._changes, self._batches = [], []
            self._catalog = Catalog(version=self._log.first)
        for record in new:
            change = [Entry.of(values) for values in _values(record)]
            self._changes.append(change)
            effective = max((entry.batch for entry in change), default=0)
            self._batches.append(max(effective, *self._batches[-1:], 0))


def snapshot(catalog: Catalog) -> list[Entry]:
    """Entries that lead to the same catalog as all there were. Those of queries keep their batch."""
    entries = [Entry(0, "numbered", {"streams": catalog.numbered})]
    for items in (catalog.streams.values(), catalog.services.values(), catalog.graphs, catalog.updates):
        entries += [entry_of(item, 0) for item in items]
    entries += [entry_of(query, query.since) for query in catalog.queries.values()]
    for query in catalog.paused.values():
        failure = catalog.failures.get(query.name)
        left = Entry(query.since, "pause", {"name": query.name})
        entries.append(entry_of(query, query.since))
        entries.append(left if failure is None else Entry(query.since, FAIL, failure.as_json()))
    return entries


def _record(entries: Sequence[Entry]) -> bytes:
    return json.dumps([entry.as_json() for entry in entries]).encode()


def _values(record: bytes) -> list[dict[str, object]]:
    try:
        found: list[dict[str, object]] = json.loads(record)
        if not isinstance(found, list):
            raise ValueError("not a list")
    except ValueError as error:
        raise CheckpointError(
            f"the control log is damaged: {record[:80]!r}",
            detail=str(error),
            hint="put the folder back as it was, or start again with a new one",
        ) from None
    return found
