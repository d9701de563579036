"""Results as Parquet: a folder for each query, in it a file for each batch that has results of it.

Columns: ``query``, ``at`` (a timestamp in UTC), ``op``, and the canonical text of a term per variable. A file
is written under a hidden name, synced and renamed; a log beside the checkpoint says which batches are done,
and on opening the files of others are removed. So a folder holds every batch once, whatever happened.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from weir.runtime.output.sinks.base import Results

_PATTERN = "batch-*.parquet"


class ParquetFolder:
    """Results of all queries below one folder."""

    form = "columns"
    promise = "exactly once"

    def __init__(self, folder: Path, log: Path) -> None:
        self.folder = folder
        self.log = log
        self._last = -1

    def open(self) -> None:
        """Forget what a crash left half-done, and what an earlier job without this checkpoint wrote."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        data = self.log.read_bytes() if self.log.exists() else b""
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(self.log, whole)
        done = [int(line) for line in data[:whole].split()]
        self._last = max(done, default=-1)
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in [*self.folder.glob(f"*/{_PATTERN}"), *self.folder.glob(f"*/.{_PATTERN}")]:
            if path.name.startswith(".") or int(path.stem.removeprefix("batch-")) not in done:
                path.unlink()

    def write(self, batch: int, results: Sequence[Results]) -> None:
        some = [result for result in results if len(result)]
        if not some or batch <= self._last:
            return
        for result in some:
            self._write(batch, result)
        with open(self.log, "ab") as log:
            log.write(f"{batch}\n".encode())
            log.flush()
            os.fsync(log.fileno())
        self._last = batch

    def close(self) -> None:
        """Every batch is closed already."""

    def _write(self, batch: int, result: Results) -> None:
        folder = self.folder / quote(result.name, safe="")
        folder.mkdir(exist_ok=True)
        path = folder / f"batch-{batch:08}.parquet"
        half = folder / f".{path.name}"
        with half.open("wb") as file:
            pq.write_table(parquet_table(result), file)
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)


def parquet_table(result: Results) -> pa.Table:
    """The table that is written. Variables named as the columns in front keep their ``?``."""
    table = result.table
    columns: dict[str, pa.Array | pa.ChunkedArray] = {
        "query": pa.array([result.name] * len(result), pa.string()),
        "at": table["at"].cast(pa.timestamp("us", tz="UTC")),
        "op": table["op"].cast(pa.string()),
    }
    for name, column in zip(table.column_names[2:], table.columns[2:], strict=True):
        columns["?query" if name == "query" else name] = column.cast(pa.string())
    return pa.table(columns)
