"""The second stage: a group in a ``StatefulProcessor``, its state in RocksDB."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from weir.errors import CheckpointError
from weir.runtime.control.failure import UNLIMITED, QueryLimits
from weir.runtime.ingest.frames import Frame
from weir.runtime.output.metrics import SUMS
from weir.runtime.output.outputs import Output
from weir.runtime.output.partial_answers import PART
from weir.runtime.output.putting_together import put_together
from weir.runtime.pipeline import SlotBatch, SlotWork, advance
from weir.runtime.worker.state_store import BundledStore
from weir.runtime.worker.worker_cache import WorkerCache, worker_cache
from weir.spark.tasks import check_partitions, current_batch, slot_of
from weir.storage.spool import SpoolWriter

OBSERVATION = "weir"
CONTROL = "control"
"""The kind of the row that tells up to which position of the control log a slot had it."""


class GroupProcessor(StatefulProcessor):
    """One call per slot and batch; ``spooled`` says that large answers go by file. A query that takes more
    than ``limits`` allow fails."""

    spooled = True
    staged = False
    """Whether there is a second stage, for queries that need one."""
    position = 0
    """How much of the control log there was when the query was started."""

    def __init__(self, folder: str, forms: Sequence[str], limits: QueryLimits = UNLIMITED) -> None:
        self.folder = folder
        self.forms = tuple(forms)
        self.limits = limits

    def init(self, handle: StatefulProcessorHandle) -> None:
        """The two state variables: the head, and the panes by name."""
        self.heads = handle.getValueState("head", "head binary")
        self.panes = handle.getMapState("panes", "name string", "pane binary")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
        """Frames in, answers, metrics and what was set aside out."""
        found = self.advance(key, rows, timerValues)
        place, batch = worker_cache(self.folder), current_batch()
        found.append(Output(CONTROL, str(place.catalog(batch).version), 0, b""))
        spool = place.checkpoint.spool()
        yield _rows([replace(item, data=spool.put(batch, item.data)) for item in found])

    def over(self, frames: DataFrame, schema: str) -> DataFrame:
        """What comes out of frames."""
        found = frames.groupBy("slot").transformWithStateInPandas(self, schema, "append", "processingTime")
        if not self.staged:
            return found
        tasks = worker_cache(self.folder).checkpoint.partitions
        owner = F.when(F.col("kind") == PART, F.col("name")).otherwise(F.col("slot").cast("string"))
        return found.repartition(tasks, owner).mapInPandas(self._second_stage, schema)

    def _second_stage(self, tables: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """Rows in, those of a query together; its answers in the place of what its slots said."""
        place, batch = worker_cache(self.folder), current_batch()
        place.log.expect(self.position)
        spool = place.checkpoint.spool()
        parts = []
        for table in tables:
            mine = table["kind"] == PART
            yield table[~mine]
            told = table[mine]
            for name, slot, data in zip(told["name"], told["slot"], told["data"], strict=True):
                parts.append(Output(PART, str(name), int(slot), spool.get(bytes(data))))
        if parts:
            catalog, key = place.catalog(batch), place.checkpoint.key
            writer = partial(spool.writer, batch) if self.spooled else SpoolWriter
            yield _rows(put_together(parts, catalog, key, self.forms, writer))

    def advance(self, key: Any, rows: Any, timerValues: Any) -> list[Output]:
        """One step of the group of a slot; its state is put away when this returns."""
        place, batch = worker_cache(self.folder), current_batch()
        check_partitions(place.checkpoint)
        slot = slot_of(int(key[0]))
        spool = place.checkpoint.spool()
        tables = list(rows)
        self._agree(place, batch, {int(told) for table in tables for told in table["control"]})
        frames = [Frame.from_bytes(spool.get(bytes(data))) for table in tables for data in table["frame"]]
        now = int(timerValues.getCurrentProcessingTimeInMs()) * 1000
        work = SlotWork(
            place,
            slot,
            BundledStore(self),
            self.forms,
            writer=partial(spool.writer, batch) if self.spooled else SpoolWriter,
            limit=place.limit(self.limits.seconds, slot, batch),
            rows=self.limits.rows,
        )
        try:
            return advance(work, SlotBatch(batch, frames, now))[1]
        finally:
            place.rest(slot)

    def _agree(self, place: WorkerCache, batch: int, told: set[int]) -> None:
        """See as much of the control log as the readers of the frames did; raise where one saw less."""
        place.log.expect(max([self.position, *told]))
        version = place.catalog(batch).version
        if told - {version}:
            raise CheckpointError(
                f"batch {batch} was read by {min(told)} changes of the control log, and there are {version}",
                detail="the storage of the checkpoint showed a worker an old log",
                hint="start the job again: the batch is read again; for NFS mount with actimeo=1",
            )

    # The state store (``worker.state_store``)

    def head(self) -> bytes | None:
        found = self.heads.get()
        return None if found is None else bytes(found[0])

    def pane(self, name: str) -> bytes:
        found = self.panes.getValue((name,))
        if found is None:
            raise RuntimeError(f"the state store lacks the pane {name!r}")
        return bytes(found[0])

    def put(self, name: str, data: bytes) -> None:
        self.panes.updateValue((name,), (data,))

    def remove(self, name: str) -> None:
        self.panes.removeKey((name,))

    def set_head(self, data: bytes) -> None:
        self.heads.update((data,))

    def clear(self) -> None:
        self.heads.clear()
        self.panes.clear()

    def close(self) -> None:
        """Nothing to close."""


def _rows(found: Sequence[Output]) -> pd.DataFrame:
    names = ("kind", "name", "slot", "data", "counts")
    return pd.DataFrame({name: [getattr(item, name) for item in found] for name in names})


def observed(
    rows: DataFrame, name: str = OBSERVATION, column: str = "counts", more: Sequence[str] = ()
) -> DataFrame:
    """The rows, which have a ``column`` of counts, with their sums as metrics of Spark's own; ``more`` sums
    stand behind the lag.

    Spark computes them while the rows pass, without a job or a shuffle for it. They stand in the progress of
    the query, and so come to every ``StreamingQueryListener``, under ``name``: what each batch brought, and
    the state after it.
    """
    counts, lag = F.col(f"`{column}`"), len(SUMS)
    sums = [F.sum(counts[place]).alias(each) for place, each in enumerate(SUMS)]
    behind = [F.sum(counts[lag + 1 + place]).alias(each) for place, each in enumerate(more)]
    return rows.observe(name, *sums, F.max(counts[lag]).alias("lag_ms"), *behind)
