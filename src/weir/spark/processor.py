"""The second stage: a group in a ``StatefulProcessor``, its state in RocksDB."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from weir.runtime.ingest.frames import Frame
from weir.runtime.output.metrics import SUMS
from weir.runtime.output.outputs import Output
from weir.runtime.pipeline import advance
from weir.runtime.worker.state_store import BundledStore
from weir.runtime.worker.worker_cache import worker_cache
from weir.spark.tasks import check_partitions, current_batch, slot_keys
from weir.storage.spool import SpoolWriter

OBSERVATION = "weir"


class GroupProcessor(StatefulProcessor):
    """One call per slot and batch; ``spooled`` says that large answers go by file."""

    spooled = True

    def __init__(self, folder: str, forms: Sequence[str]) -> None:
        self.folder = folder
        self.forms = tuple(forms)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """The two state variables: the head, and the panes by name."""
        self.heads = handle.getValueState("head", "head binary")
        self.panes = handle.getMapState("panes", "name string", "pane binary")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
        """Frames in, answers, metrics and what was set aside out."""
        found = self.advance(key, rows, timerValues)
        spool, batch = worker_cache(self.folder).checkpoint.spool(), current_batch()
        yield pd.DataFrame(
            {
                "kind": [item.kind for item in found],
                "name": [item.name for item in found],
                "slot": [item.slot for item in found],
                "data": [spool.put(batch, item.data) for item in found],
                "counts": [item.counts for item in found],
            }
        )

    def over(self, frames: DataFrame, schema: str) -> DataFrame:
        """What comes out of frames."""
        return frames.groupBy("slot").transformWithStateInPandas(self, schema, "append", "processingTime")

    def advance(self, key: Any, rows: Any, timerValues: Any) -> list[Output]:
        """One step of the group of a slot; its state is put away when this returns."""
        place, batch = worker_cache(self.folder), current_batch()
        check_partitions(place.checkpoint.slots)
        slot = slot_keys(place.checkpoint.slots).index(int(key[0]))
        spool = place.checkpoint.spool()
        frames = [Frame.from_bytes(spool.get(bytes(data))) for table in rows for data in table["frame"]]
        now = int(timerValues.getCurrentProcessingTimeInMs()) * 1000
        _, found = advance(
            place,
            slot,
            batch,
            frames,
            BundledStore(self),
            self.forms,
            now=now,
            writer=partial(spool.writer, batch) if self.spooled else SpoolWriter,
        )
        return found

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


def observed(rows: DataFrame, name: str = OBSERVATION) -> DataFrame:
    """The rows, which have a column ``counts``, with their sums as metrics of Spark's own.

    Spark computes them while the rows pass, without a job or a shuffle for it. They stand in the progress of
    the query, and so come to every ``StreamingQueryListener``, under ``name``: what each batch brought, and
    the state after it.
    """
    sums = [F.sum(F.col("counts")[place]).alias(name) for place, name in enumerate(SUMS)]
    return rows.observe(name, *sums, F.max(F.col("counts")[len(SUMS)]).alias("lag_ms"))
