"""Weir's own streaming source for Spark: the driver plans parts of files, workers read and match them.

Spark's text source would carry every line through the JVM. Here only frames pass it (``stage``), and
offsets say what no built-in source says: name order, cuts inside a file, and the end of the input. One
source of Spark serves all streams; which there are is read from the control log whenever a batch is planned.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

from weir.runtime.control.catalog import Catalog, StreamEntry
from weir.runtime.control.holding import HOLD, wait_while_held
from weir.runtime.control.log import ControlLog
from weir.runtime.ingest.parts import Part, shares_of
from weir.runtime.ingest.sources import Feed, Place, Reached, source_of
from weir.spark.shuffle import FRAME_SCHEMA, frame_rows

NAME = "weir"
STOP = "stop"
"""A file of this name beside the control log tells all sources to offer nothing more for now."""
FINISH = "finish"
"""A file of this name tells all sources that what is there is all there will be."""

_IDLE, _REST, _LOOK = 1.0, 0.1, 0.01
"""Seconds: after this long without input, the source rests so long between two looks."""


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
        self._catalog = Catalog()
        self._feeds: dict[str, tuple[StreamEntry, Feed]] = {}

    def latest(self, start: Reached) -> dict[str, Any]:
        """How far the next batch goes, in every stream. A finite stream waits for its first reader: a query
        that is registered after it would see nothing of it otherwise."""
        if (self.own / STOP).exists():
            return dict(start)
        finishing = (self.own / FINISH).exists()
        reached = dict(start)
        catalog = self._present()
        for key, feed in self._fed(catalog.streams.values()).items():
            if key in start or _wanted(self._feeds[key][0], catalog):
                reached[key] = feed.latest(start.get(key, {}), finishing)
        return dict(sorted(reached.items()))

    def _present(self) -> Catalog:
        entries = self._log.entries()
        if self._catalog.version != len(entries):
            self._catalog = Catalog.of(entries)
        return self._catalog

    def parts(self, start: Reached, end: Reached) -> list[str]:
        """The parts of a batch, as JSON texts; a replayed batch may have parts of a stream that is gone."""
        ever = [StreamEntry(**entry.values) for entry in self._log.entries() if entry.operation == "stream"]
        feeds = self._fed(ever)
        return [
            json.dumps(part.as_json())
            for key, reached in end.items()
            if key in feeds and reached != start.get(key, {})
            for part in feeds[key].parts(start.get(key, {}), reached)
        ]

    def committed(self, reached: Reached) -> None:
        """Spark will not ask again for anything before ``reached``."""
        for key, feed in self._fed(self._present().streams.values()).items():
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


class PartPartition(InputPartition):
    """Some parts, as JSON texts."""

    def __init__(self, parts: Sequence[str]) -> None:
        self.parts = list(parts)


class PartReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets and parts come from the feeds in the driver; ``read`` makes frames of them in a worker."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options
        self._known: Feeds | None = None
        self._idle_since: float | None = None

    @property
    def feeds(self) -> Feeds:
        if self._known is None:
            own = Path(self._options["folder"]) / "weir"
            self._known = Feeds(own, int(self._options["parallelism"]))
        return self._known

    def initialOffset(self) -> dict[str, Any]:
        return {}

    def latestOffset(self, start: dict[str, Any], limit: Any) -> dict[str, Any]:
        wait_while_held(self.feeds.own)
        found = self.feeds.latest(start)
        if found != start:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = time.monotonic()
        elif time.monotonic() - self._idle_since > _IDLE:
            self._rest()
        return found

    def _rest(self) -> None:
        """Spark asks a hundred times a second; where nothing has come for a while it is made to wait."""
        until = time.monotonic() + _REST
        own = self.feeds.own
        while time.monotonic() < until and not (own / STOP).exists() and not (own / HOLD).exists():
            time.sleep(_LOOK)

    def commit(self, end: dict[str, Any]) -> None:
        self.feeds.committed(end)

    def prepareForTriggerAvailableNow(self) -> None:
        """A finite source has been listed once and for all; nothing else to prepare."""

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        parts = [Part(**json.loads(text)) for text in self.feeds.parts(start, end)]
        return [
            PartPartition([json.dumps(part.as_json()) for part in share])
            for share in shares_of(parts, self.feeds.parallelism)
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, PartPartition)
        yield from frame_rows(self._options["folder"], partition.parts)


class WeirSource(DataSource):
    """``spark.readStream.format("weir")``; options: folder, parallelism."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return FRAME_SCHEMA

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        return PartReader(dict(self.options))
