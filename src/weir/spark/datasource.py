"""Weir's own streaming source for Spark: the driver plans parts of files, workers read and match them.

Spark's text source would carry every line through the JVM. Here only frames pass it (``stage``), and
offsets say what no built-in source says: name order, cuts inside a file, and the end of the input. One
source of Spark serves all streams; which there are is read from the control log whenever a batch is planned.
Spark starts several processes that plan, one after the other, so what reads is loaded by workers alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

from weir.extras import load
from weir.runtime.control.planning import HOLD, SOURCE_NAME, STOP, Feeds, wait_while_held
from weir.runtime.ingest.parts import shares_of
from weir.runtime.output.task_reports import Reports
from weir.spark.task_shares import FRAME_SCHEMA, Share
from weir.storage.lease import check
from weir.storage.places import beside_driver, path_at

_IDLE, _REST, _LOOK = 1.0, 0.1, 0.01
"""Seconds: after this long without input, the source rests so long between two looks."""


class PartReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets and parts come from the feeds in the driver; ``read`` makes frames of them in a worker."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options
        self._known: Feeds | None = None
        self._idle_since: float | None = None

    @property
    def feeds(self) -> Feeds:
        if self._known is None:
            own = path_at(self._options["folder"]) / "weir"
            self._known = Feeds(own, int(self._options["parallelism"]))
        return self._known

    def initialOffset(self) -> dict[str, Any]:
        return {}

    def latestOffset(self, start: dict[str, Any], limit: Any) -> dict[str, Any]:
        wait_while_held(self.feeds.own)
        if "epoch" in self._options:
            check(self.feeds.own, int(self._options["epoch"]))
            Reports(self.feeds.own).wait()
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
        here = beside_driver(self.feeds.own)
        while time.monotonic() < until and not (here / STOP).exists() and not (here / HOLD).exists():
            time.sleep(_LOOK)

    def commit(self, end: dict[str, Any]) -> None:
        self.feeds.committed(end)

    def prepareForTriggerAvailableNow(self) -> None:
        """A finite source has been listed once and for all; nothing else to prepare."""

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        parts = self.feeds.parts(start, end)
        position = self.feeds.position
        shares = shares_of(parts, self.feeds.parallelism)
        return [InputPartition(Share(share, position)) for share in shares]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        yield from load("weir.spark.tasks").frame_rows(self._options["folder"], partition.value)


class WeirSource(DataSource):
    """``spark.readStream.format("weir")``; options: folder, parallelism, and the epoch of the driver: where
    another one has taken over, nothing more is planned."""

    @classmethod
    def name(cls) -> str:
        return SOURCE_NAME

    def schema(self) -> str:
        return FRAME_SCHEMA

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        return PartReader(dict(self.options))
