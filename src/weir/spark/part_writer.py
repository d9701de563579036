"""Weir's stream writer for Spark: tasks write results, and the commit of a batch has the driver publish them.

Spark commits in processes of its own beside the driver. They read this module and what the module imports,
which therefore is next to nothing; what tasks need is loaded by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamArrowWriter, WriterCommitMessage

from weir.extras import load
from weir.runtime.output.task_reports import Reports
from weir.storage.lease import check
from weir.storage.places import path_at

if TYPE_CHECKING:
    import pyarrow as pa

PARTS_NAME = "weir-parts"
_TASK = "weir.spark.writers"


@dataclass
class Written(WriterCommitMessage):
    """What a task has written, and what else it tells the driver: a report."""

    told: bytes


class PartsStreamWriter(DataSourceStreamArrowWriter):
    """``write`` runs in tasks, ``commit`` on the driver's host in a process of its own."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Write what the slots of one task answered."""
        return Written(load(_TASK).write_parts(self._options, iterator))

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Tell the driver of the batch, which publishes it, and wait until it has."""
        own = path_at(self._options["folder"]) / "weir"
        reports, epoch = Reports(own), int(self._options["epoch"])
        check(own, epoch)
        reports.tell(batchId, "all", [each.told for each in messages if isinstance(each, Written)])
        reports.wait()
        check(own, epoch)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Leave what tasks wrote: it goes when the batch is published."""


class WeirParts(DataSource):
    """``writeStream.format("weir-parts")``; options: folder (of the checkpoint), epoch, place, form; ``rows``
    is the schema of what is written."""

    @classmethod
    def name(cls) -> str:
        return PARTS_NAME

    def schema(self) -> str:
        return self.options["rows"]

    def streamWriter(self, schema: Any, overwrite: bool) -> DataSourceStreamArrowWriter:
        return PartsStreamWriter(dict(self.options))
