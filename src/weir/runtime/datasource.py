"""Weir's own streaming source for Spark: it plans parts of files; workers read them in the next stage.

Spark's text source would carry every line through the JVM. Here only the names of byte ranges do, and
offsets say what no built-in source says: name order, cuts inside a file, and the end of the input.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

from weir.runtime.feeds import FileFeed, FileSource, Offset, offset_of
from weir.runtime.holding import wait_while_held

NAME = "weir"


class PartPartition(InputPartition):
    """Some parts, as JSON texts."""

    def __init__(self, parts: Sequence[str]) -> None:
        self.parts = list(parts)


class PartReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets and parts come from a ``FileFeed`` in the driver; ``read`` hands a part to its worker."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options
        self._feed: FileFeed | None = None

    @property
    def feed(self) -> FileFeed:
        if self._feed is None:
            source = FileSource(**json.loads(self._options["source"]))
            self._feed = FileFeed(
                self._options["stream"],
                source,
                Path(self._options["folder"]) / "weir" / "sources",
                int(self._options["parallelism"]),
            )
        return self._feed

    def initialOffset(self) -> dict[str, Any]:
        return Offset().as_json()

    def latestOffset(self, start: dict[str, Any], limit: Any) -> dict[str, Any]:
        wait_while_held(Path(self._options["folder"]) / "weir")
        return self.feed.latest(offset_of(start)).as_json()

    def prepareForTriggerAvailableNow(self) -> None:
        """A finite source has been listed once and for all; nothing else to prepare."""

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        parts = self.feed.parts(offset_of(start), offset_of(end))
        shares: list[list[str]] = [[] for _ in range(min(len(parts), self.feed.parallelism))]
        for place, part in enumerate(parts):
            shares[place % len(shares)].append(json.dumps(part.as_json()))
        return [PartPartition(share) for share in shares]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, PartPartition)
        yield pa.record_batch([pa.array(partition.parts, pa.string())], names=["part"])


class WeirSource(DataSource):
    """``spark.readStream.format("weir")``; options: stream, source (JSON), folder, parallelism."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return "part string"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        return PartReader(dict(self.options))
