"""A folder of results, a file per batch: what thousands of queries answer, each result kept once.

Results of queries that were evaluated together stay in their compact form (``runtime.compact``), those of
other queries are columns of texts. A batch's file is written under another name, synced and renamed, and a
batch that comes again after a failure replaces it: exactly once.

    batch-00000012.weir: a line of JSON, [[name or "", length], …], then the parts one after the other
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from weir.errors import UsageError
from weir.runtime.output.compact import COMPACT, SharedResults
from weir.runtime.output.sinks.base import Results


class ResultsFolder:
    """Results by batch in ``folder``; ``read_results`` gives them back query by query."""

    form = COMPACT
    promise = "exactly once"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def write(self, batch: int, results: Sequence[Results]) -> None:
        parts = [(each.name, _data(each)) for each in results if len(each)]
        if not parts:
            return
        head = json.dumps([[name, len(data)] for name, data in parts]).encode()
        path = self.folder / f"batch-{batch:08}.weir"
        half = path.with_suffix(".part")
        with half.open("wb") as file:
            file.writelines([head, b"\n", *(data for _, data in parts)])
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)

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
        data = path.read_bytes()
        place = data.index(b"\n") + 1
        for name, length in json.loads(data[:place]):
            part = data[place : place + length]
            place += length
            if not name:
                yield from SharedResults(part).compact.tables(queries)
            elif queries is None or name in queries:
                yield name, pa.ipc.open_stream(pa.py_buffer(part)).read_all()


def _data(results: Results) -> bytes:
    if isinstance(results, SharedResults):
        return results.data[:]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, results.table.schema) as writer:
        writer.write_table(results.table)
    return bytes(sink.getvalue())
