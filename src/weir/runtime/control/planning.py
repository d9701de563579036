"""What the next batch reads: the feeds of all streams, and the flags by which a driver steers planning.

Which streams there are is read from the control log whenever a batch is planned. The driver steers by files
beside the log. To let a log entry name a batch that is not planned yet, it holds planning: it puts down a
token; the next source that is asked for its offset answers the token and waits until the file is gone. Spark
plans in one thread, so from the answer on no batch is being planned, and every planned one is in Spark's log
of offsets. The same thread runs the batches: while a planned one is not committed, the next one cannot have
been begun, and it finds the token. Whoever cannot wait for a batch under way (``pause``) goes by that.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from weir.errors import StorageError
from weir.runtime.control.catalog import Catalog, Entry, StreamEntry, failed
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.control_log import ControlLog, Merge
from weir.runtime.control.failure import Failure
from weir.runtime.ingest.parts import Part
from weir.runtime.ingest.sources import Feed, Place, Reached, source_of
from weir.storage.files import make_folder, remove, replace_file
from weir.storage.places import beside_driver

Held = Callable[[bool], AbstractContextManager[int]]

SOURCE_NAME = "weir"
"""The name of the one source of Spark's that serves all streams, in Spark's log of offsets."""
STOP = "stop"
"""A file of this name, ``beside_driver``, tells all sources to offer nothing more for now."""
FINISH = "finish"
"""A file of this name beside the control log tells all sources that what is there is all there will be."""
HOLD = "hold"
HELD = "held"
_LOOK = 0.005
_LONGEST = 60.0
"""Seconds after which a source takes the driver for dead."""


class PlanningHold:
    """Holds planning of the job whose folder is ``own``, for as long as anybody is in one of its blocks.
    ``active`` says whether there is still somebody to wait for."""

    def __init__(self, own: Path, active: Callable[[], bool]) -> None:
        here = beside_driver(own)
        make_folder(here, durable=False)
        self._flag, self._answer = here / HOLD, here / HELD
        self._active = active
        self._lock = threading.Lock()
        self._inside = 0
        self._token = ""

    @contextmanager
    def __call__(self, enough: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """No batch is planned in here. ``enough`` says, once the token is put down, that none can be though
        nobody has answered."""
        self._enter()
        try:
            while self._active() and _read(self._answer) != self._token and not enough():
                time.sleep(_LOOK)
            yield
        finally:
            self._leave()

    def _enter(self) -> None:
        with self._lock:
            if not self._inside:
                self._token = secrets.token_hex(8)
                replace_file(self._flag, self._token.encode(), durable=False)
            self._inside += 1

    def _leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                remove(self._flag)
                remove(self._answer)


def wait_while_held(own: Path) -> None:
    """Called by a source before it offers anything."""
    here = beside_driver(own)
    token = _read(here / HOLD)
    if token is None:
        return
    with suppress(StorageError):
        replace_file(here / HELD, token.encode(), durable=False)
    until = time.monotonic() + _LONGEST
    while _read(here / HOLD) == token and time.monotonic() < until:
        time.sleep(_LOOK)


def _read(path: Path) -> str | None:
    try:
        return path.read_text()
    except FileNotFoundError:
        return None


class ControlWriter:
    """Appends changes to the control log, each for a batch that is not planned yet, one change at a time.

    ``ended`` says that the job is over, and takes no changes. While ``held`` is entered, no batch is planned;
    it gives the one that is next. It waits until none is under way, but where it is told not to.
    """

    def __init__(self, checkpoint: Checkpoint, ended: Callable[[], bool], held: Held | None = None) -> None:
        self.checkpoint = checkpoint
        self.lock = threading.RLock()
        self.ended = ended
        self.held: Held = held or (lambda wait: nullcontext(checkpoint.next_batch()))
        self._log = checkpoint.control()
        self._reading = threading.Lock()

    def catalog(self) -> Catalog:
        """What is registered, counting changes whose batch is still to come."""
        with self._reading:
            return self._log.catalog()

    @property
    def position(self) -> int:
        """How far the control log goes."""
        with self._reading:
            return self._log.position

    def version(self, batch: int) -> int:
        """Up to which position its changes count in a batch."""
        with self._reading:
            return self._log.version(batch)

    def append(self, entries: Callable[[int], list[Entry]]) -> int:
        """Log what counts from a batch on; that batch. It is durable when this returns."""
        with self.lock, self.held(True) as batch:
            self.checkpoint.check()
            with self._reading:
                self._log.append(entries(batch))
                # The change is promised already; what fails here is done with the next one.
                with suppress(StorageError):
                    self._log.compact(self.checkpoint.committed())
        return batch

    def append_now(self, entries: Callable[[Catalog, int], list[Entry]]) -> int:
        """As ``append``, but it waits neither for a batch that is under way nor for changes that do.
        ``entries`` are made of what is registered at that moment."""
        with self.held(False) as batch:
            self.checkpoint.check()
            with self._reading:
                self._log.append(entries(self._log.catalog(), batch))
        return batch

    def merge(self, merge: Merge) -> None:
        """Put updates of graphs together where there are many; what the disk refuses is done with the next
        one."""
        with self.lock, self._reading, suppress(StorageError):
            self.checkpoint.check()
            self._log.merge(self.checkpoint.committed(), merge)

    def fail(self, batch: int, failures: Sequence[Failure]) -> None:
        """Log that queries failed in ``batch``, which is under way: called from its own thread, which nobody
        who waits for planning may hold up. What a batch that is repeated has logged before is not again."""
        self.checkpoint.check()
        with self._reading:
            known = self._log.failing(batch)
            self._log.append([failed(each, batch) for each in failures if each not in known])


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
        if (beside_driver(self.own) / STOP).exists():
            return dict(start)
        finishing = (self.own / FINISH).exists()
        reached = dict(start)
        catalog = self._log.catalog()
        for key, feed in self._fed(catalog.streams.values()).items():
            if key in start or _wanted(self._feeds[key][0], catalog):
                reached[key] = feed.latest(start.get(key, {}), finishing)
        return dict(sorted(reached.items()))

    @property
    def position(self) -> int:
        """How far the control log goes: whoever reads a part planned by now has to see as much of it."""
        return self._log.position

    def parts(self, start: Reached, end: Reached) -> list[Part]:
        """The parts of a batch; a replayed batch may have parts of a stream that is gone."""
        feeds = self._fed(self._log.catalog().streams.values())
        if not end.keys() <= feeds.keys():
            feeds = self._fed([e.item for e in self._log.entries() if isinstance(e.item, StreamEntry)])
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
