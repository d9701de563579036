"""What the next batch reads: the feeds of all streams, and the flags by which a driver steers planning.

Which streams there are is read from the control log whenever a batch is planned. The driver steers by files
beside the log. To let a log entry name a batch that is not planned yet, it holds planning: it puts down a
token; the next source that is asked for its offset answers the token and waits until the file is gone. Spark
plans in one thread, so from the answer on no batch is being planned, and every planned one is in Spark's log
of offsets.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from weir.runtime.control.catalog import Catalog, ControlLog, Entry, StreamEntry
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.ingest.parts import Part
from weir.runtime.ingest.sources import Feed, Place, Reached, source_of
from weir.storage import replace_file

SOURCE_NAME = "weir"
"""The name of the one source of Spark's that serves all streams, in Spark's log of offsets."""
STOP = "stop"
"""A file of this name beside the control log tells all sources to offer nothing more for now."""
FINISH = "finish"
"""A file of this name tells all sources that what is there is all there will be."""
HOLD = "hold"
HELD = "held"
_LOOK = 0.005
_LONGEST = 60.0
"""Seconds after which a source takes the driver for dead."""


@contextmanager
def planning_held(own: Path, active: Callable[[], bool]) -> Iterator[None]:
    """Hold planning while the block runs; ``active`` says whether there is still anybody to wait for."""
    token = secrets.token_hex(8)
    flag, answer = own / HOLD, own / HELD
    replace_file(flag, token.encode(), durable=False)
    try:
        while active() and _read(answer) != token:
            time.sleep(_LOOK)
        yield
    finally:
        flag.unlink(missing_ok=True)
        answer.unlink(missing_ok=True)


def wait_while_held(own: Path) -> None:
    """Called by a source before it offers anything."""
    token = _read(own / HOLD)
    if token is None:
        return
    with suppress(FileNotFoundError):
        replace_file(own / HELD, token.encode(), durable=False)
    until = time.monotonic() + _LONGEST
    while _read(own / HOLD) == token and time.monotonic() < until:
        time.sleep(_LOOK)


def _read(path: Path) -> str | None:
    try:
        return path.read_text()
    except FileNotFoundError:
        return None


class ControlWriter:
    """Appends changes to the control log, each for a batch that is not planned yet, one change at a time.

    ``ended`` says that the job is over, and takes no changes; ``next_batch`` which batch is planned next.
    While ``held`` is entered, none is planned.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        ended: Callable[[], bool],
        next_batch: Callable[[], int] | None = None,
        held: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.checkpoint = checkpoint
        self.lock = threading.RLock()
        self.ended = ended
        self._next_batch = next_batch or checkpoint.next_batch
        self._held = held
        self._log = checkpoint.control()
        self._reading = threading.Lock()

    def catalog(self) -> Catalog:
        """What is registered, counting changes whose batch is still to come."""
        with self._reading:
            return self._log.catalog()

    def append(self, entries: Callable[[int], list[Entry]]) -> int:
        """Log what counts from a batch on; that batch. It is durable when this returns."""
        with self.lock, self._held():
            batch = self._next_batch()
            self._log.append(entries(batch))
        return batch


def feed_key(entry: StreamEntry) -> str:
    """The name of a stream's feed in offsets and logs; a stream made again after a drop has another."""
    return hashlib.sha256(f"{entry.number} {entry.iri}".encode()).hexdigest()[:16]


def feed_of(entry: StreamEntry, own: Path, parallelism: int) -> Feed:
    """The feed of a registered stream."""
    assert entry.source is not None
    return source_of(entry.source).feed(Place(entry.iri, own, feed_key(entry), parallelism))


class Feeds:
    """The feeds of all streams in the control log, as of now; the offset of all is a map by their keys."""

    def __init__(self, own: Path, parallelism: int) -> None:
        self.own = own
        self.parallelism = max(1, parallelism)
        self._log = ControlLog(own)
        self._feeds: dict[str, tuple[StreamEntry, Feed]] = {}

    def latest(self, start: Reached) -> dict[str, Any]:
        """How far the next batch goes, in every stream. A finite stream waits for its first reader: a query
        that is registered after it would see nothing of it otherwise."""
        if (self.own / STOP).exists():
            return dict(start)
        finishing = (self.own / FINISH).exists()
        reached = dict(start)
        catalog = self._log.catalog()
        for key, feed in self._fed(catalog.streams.values()).items():
            if key in start or _wanted(self._feeds[key][0], catalog):
                reached[key] = feed.latest(start.get(key, {}), finishing)
        return dict(sorted(reached.items()))

    def parts(self, start: Reached, end: Reached) -> list[Part]:
        """The parts of a batch; a replayed batch may have parts of a stream that is gone."""
        ever = [each.item for each in self._log.entries() if isinstance(each.item, StreamEntry)]
        feeds = self._fed(ever)
        return [
            part
            for key, reached in end.items()
            if key in feeds and reached != start.get(key, {})
            for part in feeds[key].parts(start.get(key, {}), reached)
        ]

    def committed(self, reached: Reached) -> None:
        """Spark will not ask again for anything before ``reached``."""
        for key, feed in self._fed(self._log.catalog().streams.values()).items():
            if key in reached:
                feed.committed(reached[key])

    def _fed(self, entries: Iterable[StreamEntry]) -> dict[str, Feed]:
        wanted = {feed_key(entry): entry for entry in entries if entry.source is not None}
        for key, entry in wanted.items():
            known = self._feeds.get(key)
            if known is None or known[0] != entry:
                self._feeds[key] = entry, feed_of(entry, self.own, self.parallelism)
        return {key: self._feeds[key][1] for key in wanted}


def _wanted(entry: StreamEntry, catalog: Catalog) -> bool:
    """Whether to begin with a stream: it is live, or some query reads it."""
    if entry.source is not None and source_of(entry.source).endless:
        return True
    return any(not query.reads or entry.iri in query.reads for query in catalog.queries.values())
