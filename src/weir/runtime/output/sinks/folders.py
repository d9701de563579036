"""Folders to which every batch adds files of its own, exactly once also across ``kill -9``.

Parquet is for other tools, the compact form for thousands of queries. A file appears whole, and a batch that
comes again after a failure changes nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from weir.errors import UsageError
from weir.extras import lazily
from weir.runtime.output.compact import COMPACT, SharedResults
from weir.runtime.output.sinks.base import Results, Sink
from weir.storage import Commits, pack, unpack
from weir.storage.files import make_folder, remove, replace_file, writing
from weir.storage.places import file_name

if TYPE_CHECKING:
    import pyarrow.parquet as pq
else:
    pq = lazily("pyarrow.parquet")

_BATCH = "weir.results/1"


class BatchFolder(Sink):
    """A folder to which every batch adds files of its own, named by its number.

    A log beside the checkpoint says how far batches are done; on opening, the files of others are removed:
    what a crash left half-done, and what an earlier job without this checkpoint wrote.
    """

    promise = "exactly once"
    below = ""
    """Where in the folder its files are."""

    def __init__(self, folder: Path, log: Path) -> None:
        self.folder = folder
        self._commits = Commits(log)

    def open(self) -> None:
        make_folder(self.folder)
        self._commits.open()
        for path in self.folder.glob(self.below + "batch-*"):
            number = path.name.removeprefix("batch-").partition(".")[0]
            if number.isdigit() and not self._commits.has(int(number)):
                remove(path)
        for path in self.folder.glob(self.below + ".batch-*"):
            remove(path)

    def write(self, batch: int, results: Sequence[Results]) -> None:
        some = [result for result in results if len(result)]
        if some and not self._commits.has(batch):
            self.write_files(f"batch-{batch:08}", some)
            self._commits.commit(batch, {})

    @abstractmethod
    def write_files(self, name: str, results: Sequence[Results]) -> None:
        """Write what a batch brings, in place of what it left before; ``name`` is that of its files."""


class ParquetFolder(BatchFolder):
    """Parquet: a folder for each query, in it a file for each batch that has results of it.

    Columns are ``query``, ``at`` (a timestamp in UTC), ``op``, and the canonical text of a term per variable.
    """

    form = "columns"
    below = "*/"

    def write_files(self, name: str, results: Sequence[Results]) -> None:
        for result in results:
            folder = self.folder / file_name(result.name)
            make_folder(folder)
            with writing(folder / f"{name}.parquet") as file:
                pq.write_table(parquet_table(result), file)


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


class ResultsFolder(BatchFolder):
    """What thousands of queries answer, each result kept once; ``read_results`` gives them back by query.

    Results of queries that were evaluated together stay in their compact form, those of other queries are
    columns of texts. The file ``batch-N.weir`` has the results of batch N.
    """

    form = COMPACT

    def write_files(self, name: str, results: Sequence[Results]) -> None:
        columns = {
            "query": pa.array([result.name for result in results]),
            "data": pa.array([_bytes_of(result) for result in results], pa.large_binary()),
        }
        replace_file(self.folder / f"{name}.weir", pack(_BATCH, {}, {"results": columns}))


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
