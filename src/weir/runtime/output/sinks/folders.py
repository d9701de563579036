"""Folders of results in which every batch is a file: Parquet for other tools, and Weir's own compact form.

A file appears whole, and a batch that comes again after a failure changes nothing: exactly once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from weir.errors import UsageError
from weir.runtime.output.compact import COMPACT, SharedResults
from weir.runtime.output.sinks.base import Results
from weir.storage import LineLog, pack, unpack, writing

_BATCH = "weir.results/1"


class ParquetFolder:
    """Parquet: a folder for each query, in it a file for each batch that has results of it.

    Columns are ``query``, ``at`` (a timestamp in UTC), ``op``, and the canonical text of a term per variable.
    A log beside the checkpoint says which batches are done; on opening the files of others are removed.
    """

    form = "columns"
    promise = "exactly once"

    def __init__(self, folder: Path, log: Path) -> None:
        self.folder = folder
        self._log = LineLog(log)
        self._last = -1

    def open(self) -> None:
        """Forget what a crash left half-done, and what an earlier job without this checkpoint wrote."""
        self._log.path.parent.mkdir(parents=True, exist_ok=True)
        done = {int(line) for line in self._log.lines()}
        self._last = max(done, default=-1)
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in [*self.folder.glob("*/batch-*.parquet"), *self.folder.glob("*/.batch-*")]:
            if path.name.startswith(".") or int(path.stem.removeprefix("batch-")) not in done:
                path.unlink()

    def write(self, batch: int, results: Sequence[Results]) -> None:
        some = [result for result in results if len(result)]
        if not some or batch <= self._last:
            return
        for result in some:
            folder = self.folder / quote(result.name, safe="")
            folder.mkdir(exist_ok=True)
            with writing(folder / f"batch-{batch:08}.parquet") as file:
                pq.write_table(parquet_table(result), file)
        self._log.append([str(batch).encode()])
        self._last = batch

    def close(self) -> None:
        """Every batch is closed already."""


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


class ResultsFolder:
    """What thousands of queries answer, each result kept once; ``read_results`` gives them back by query.

    Results of queries that were evaluated together stay in their compact form, those of other queries are
    columns of texts. The file ``batch-N.weir`` has the results of batch N.
    """

    form = COMPACT
    promise = "exactly once"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def write(self, batch: int, results: Sequence[Results]) -> None:
        some = [result for result in results if len(result)]
        if not some:
            return
        columns = {
            "query": pa.array([result.name for result in some]),
            "data": pa.array([_bytes_of(result) for result in some], pa.large_binary()),
        }
        with writing(self.folder / f"batch-{batch:08}.weir") as file:
            file.write(pack(_BATCH, {}, {"results": columns}))

    def close(self) -> None:
        """Every batch is closed already."""


def read_results(
    folder: str | Path, queries: Collection[str] | None = None
) -> Iterator[tuple[str, pa.Table]]:
    """Results in the order of batches: a query and its table of ``at``, ``op`` and a text per variable."""
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(f"no such folder of results: {folder}")
    for path in sorted(root.glob("batch-*.weir")):
        results = unpack(path.read_bytes(), _BATCH).table("results")
        for query, data in zip(results["query"].to_pylist(), results["data"], strict=True):
            if not query:
                yield from SharedResults(data.as_py()).compact.tables(queries)
            elif queries is None or query in queries:
                yield query, pa.ipc.open_stream(data.as_buffer()).read_all()


def _bytes_of(results: Results) -> bytes:
    if isinstance(results, SharedResults):
        return results.data[:]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, results.table.schema) as writer:
        writer.write_table(results.table)
    return bytes(sink.getvalue())
