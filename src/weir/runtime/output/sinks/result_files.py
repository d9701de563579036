"""Results on disk, exactly once also across ``kill -9``: one file, one for each query, folders of batches.

In a folder every batch is a file: Parquet for other tools, and Weir's own compact form. A file appears whole,
and a batch that comes again after a failure changes nothing. What goes to a stream goes at least once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import IO
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from weir.errors import UsageError
from weir.runtime.output.compact import COMPACT, SharedResults
from weir.runtime.output.sinks.base import Results, Sink, plain_name
from weir.storage import AppendFile, LineLog, pack, unpack, writing

_BATCH = "weir.results/1"

Text = bytes | Iterable[memoryview]
Render = Callable[[Sequence[Results], str], tuple[Text, str]]
"""The text of a batch's results, given a note on the text before it (``""`` where there is none), and the
note for the text after it. What is written depends on these alone, so that a restart changes nothing."""


class ExactFile:
    """An append-only file with a log of (batch, length, note) beside the checkpoint.

    The log is written after the data. On opening, the file is cut to the last length logged, so what a crash
    left half-done is gone; a batch that the log already has is not written again. Both are synced to disk
    while the next batch is computed. ``note`` is what its writer wanted to remember with the last batch.
    """

    def __init__(self, path: Path, log: Path) -> None:
        self.path = path
        self._log = LineLog(log)
        self._file: AppendFile | None = None
        self._syncing: Thread | None = None
        self._last = -1
        self.note = ""

    def has(self, batch: int) -> bool:
        """Whether the batch was written before."""
        return batch <= self._last

    def open(self, *, lazy: bool = False) -> None:
        """Cut to what is known to be done; a lazy file is made when there is something to write."""
        self._log.path.parent.mkdir(parents=True, exist_ok=True)
        length = 0
        if logged := self._log.lines():
            batch, size, *note = logged[-1].split(maxsplit=2)
            self._last, length, self.note = int(batch), int(size), b"".join(note).decode()
        if lazy and not length:
            self.path.unlink(missing_ok=True)
        else:
            self._file = self._opened(length)

    def _opened(self, length: int) -> AppendFile:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return AppendFile(self.path, length)

    def append(self, batch: int, data: Text, note: str = "") -> bool:
        """Write a batch and log it; False where it was written before. A note is one line."""
        if self.has(batch):
            return False
        self._file = self._file or self._opened(0)
        self._wait_for_sync()
        for piece in [data] if isinstance(data, bytes) else data:
            self._file.append(piece, sync=False)
        self._log.append([f"{batch} {self._file.size} {note}".rstrip().encode()], sync=False)
        self._syncing = Thread(target=self._sync, name="weir-sync", daemon=True)
        self._syncing.start()
        self._last, self.note = batch, note
        return True

    def close(self) -> None:
        self._wait_for_sync()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _sync(self) -> None:
        assert self._file is not None
        self._file.sync()
        self._log.sync()

    def _wait_for_sync(self) -> None:
        """Wait until what was written last is on disk."""
        if self._syncing is not None:
            self._syncing.join()
            self._syncing = None


class TextSink:
    """A way to write results, into a file exactly once or to a stream at least once."""

    def __init__(self, render: Render, target: ExactFile | IO[bytes], form: str = "columns") -> None:
        self.form = form
        self.promise = "exactly once" if isinstance(target, ExactFile) else "at least once"
        self._render = render
        self._target = target
        self._note = ""

    def open(self) -> None:
        if isinstance(self._target, ExactFile):
            self._target.open()
            self._note = self._target.note

    def write(self, batch: int, results: Sequence[Results]) -> None:
        some = [result for result in results if len(result)]
        if not some or (isinstance(self._target, ExactFile) and self._target.has(batch)):
            return
        data, self._note = self._render(some, self._note)
        if isinstance(self._target, ExactFile):
            self._target.append(batch, data, self._note)
        else:
            self._target.writelines([data] if isinstance(data, bytes) else data)
            self._target.flush()

    def close(self) -> None:
        """A stream is left open: it is not ours."""
        if isinstance(self._target, ExactFile):
            self._target.close()


def json_lines_sink(target: ExactFile | IO[bytes]) -> TextSink:
    """Result lines, as they are."""
    return TextSink(lambda results, note: (pieces(results), note), target, "jsonl")


def pieces(results: Sequence[Results]) -> Iterator[memoryview]:
    """The result lines of all results one after the other; Arrow holds them that way already."""
    for result in results:
        for block in result.blocks():
            for chunk in block["line"].chunks:
                offsets, data = chunk.buffers()[1:]
                starts = memoryview(offsets).cast("q")
                first, last = starts[chunk.offset], starts[chunk.offset + len(chunk)]
                if last > first:
                    yield memoryview(data)[first:last]


def joined(results: Sequence[Results]) -> bytes:
    """The same as one text."""
    return b"".join(pieces(results))


def lines_of(result: Results) -> list[bytes]:
    """The result lines one by one, without their ends."""
    return joined([result]).splitlines()


class FilePerQuery:
    """Result lines in ``folder/NAME.jsonl``, a file for each query, made with its first result."""

    form = "jsonl"
    promise = "exactly once"

    def __init__(self, folder: Path, logs: Path) -> None:
        self.folder = folder
        self.logs = logs / "per-query"
        self._files: dict[str, ExactFile] = {}

    def path(self, query: str) -> Path:
        """Where the results of a query go."""
        return self.folder / f"{plain_name(query)}.jsonl"

    def open(self) -> None:
        """Cut every file to what is known to be done, also those of queries that write no more."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.logs.mkdir(parents=True, exist_ok=True)
        for log in sorted(self.logs.glob("*.log")):
            self._file(log.stem)

    def write(self, batch: int, results: Sequence[Results]) -> None:
        for result in results:
            if len(result):
                self._file(plain_name(result.name)).append(batch, joined([result]))

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files = {}

    def _file(self, name: str) -> ExactFile:
        if name not in self._files:
            file = ExactFile(self.folder / f"{name}.jsonl", self.logs / f"{name}.log")
            file.open()
            self._files[name] = file
        return self._files[name]


class ParquetFolder(Sink):
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


class ResultsFolder(Sink):
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
