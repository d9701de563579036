"""``weir.query``: a query over streams that end, answered at once; ``weir.live``: results while they come."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from weir.engine import Engine
from weir.errors import EvaluationError, UsageError, kind_of, warn
from weir.language import Query
from weir.language.algebra.query import Ask, Select
from weir.notebook.frame_streams import FrameStream, is_frame
from weir.notebook.result_set import Results
from weir.runtime.output.metrics import Metrics
from weir.runtime.output.sinks.base import Results as Answers
from weir.runtime.output.sinks.base import Sink
from weir.runtime.running import RunningJob
from weir.storage.files import replace_file

Streams = Mapping[str, Any]
Graphs = Mapping[str | None, str | Path]
_AHEAD = 64
"""Batches of results that wait to be read before a live query waits."""
_LOOK = 0.1


class _Tables(Sink):
    """Keeps the columns of all results."""

    form = "columns"
    promise = "at least once"

    def __init__(self) -> None:
        self.found: list[pa.Table] = []

    def write(self, batch: int, results: Sequence[Answers]) -> None:
        self.found += [each.table for each in results if len(each)]


class _Handed(Sink):
    """Hands the columns of results over, batch by batch; waits while nobody takes them, until ``over``."""

    form = "columns"
    promise = "at least once"

    def __init__(self) -> None:
        self.found: Queue[list[pa.Table]] = Queue(_AHEAD)
        self.over = Event()

    def write(self, batch: int, results: Sequence[Answers]) -> None:
        tables = [each.table for each in results if len(each)]
        while tables and not self.over.is_set():
            try:
                return self.found.put(tables, timeout=_LOOK)
            except Full:
                continue


def query(
    text: str,
    streams: Streams,
    graphs: Graphs | None = None,
    *,
    runner: str = "direct",
    dialect: str = "auto",
    evaluator: str = "auto",
) -> Results:
    """Run a continuous query over streams that end, and return all its results.

    ``streams`` has for each IRI a path or address, as ``Engine.stream`` takes them, or a frame of pandas,
    Polars, Arrow or Spark: with columns ``time``, ``subject``, ``predicate``, ``object`` and maybe ``graph``,
    or any other mapped to them by ``FrameStream``. ``graphs`` are files, folders, stores or URLs by IRI, None
    for the default graph. The ``runner`` is ``direct`` or ``spark``. A query that fails raises.
    """
    tables = _Tables()
    with tempfile.TemporaryDirectory(prefix="weir-frames-") as folder:
        engine = Engine(runner=runner)
        parsed = _prepared(engine, text, streams, graphs, Path(folder), dialect, evaluator)
        for iri, source in engine.sources.items():
            if source.endless:
                raise UsageError(
                    f"the stream <{iri}> does not end, and weir.query answers when all streams have",
                    hint="weir.live gives results while they come",
                )
        metrics = engine.run(sinks=[tables])
    _refuse_failed(metrics)
    _tell_left_out(metrics)
    return Results(parsed, _joined(parsed, tables.found), metrics)


def live(
    text: str,
    streams: Streams,
    graphs: Graphs | None = None,
    *,
    runner: str = "direct",
    dialect: str = "auto",
    evaluator: str = "auto",
) -> Live:
    """Run a continuous query and give its results while they come: ``for row in weir.live(…)``.

    The arguments are those of ``query``; streams may be endless. It runs until it is closed, which leaving a
    ``with`` does, or until all its streams have ended.
    """
    return Live(text, streams, graphs, runner, dialect, evaluator)


class Live:
    """A query that runs. Iterating gives rows as those of ``Results``; ``batches`` gives ``Results``, as many
    at a time as came together, with columns typed by what is in them."""

    def __init__(
        self, text: str, streams: Streams, graphs: Graphs | None, runner: str, dialect: str, evaluator: str
    ) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="weir-frames-"))
        self._sink = _Handed()
        try:
            engine = Engine(runner=runner)
            self.query = _prepared(engine, text, streams, graphs, self._folder, dialect, evaluator)
            self.job: RunningJob = engine.start(sinks=[self._sink])
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for part in self.batches():
            yield from part

    def batches(self) -> Iterator[Results]:
        """Results as they come. A query that fails raises here, and so does a job."""
        while True:
            ended = not self.job.active
            try:
                tables = self._sink.found.get(timeout=_LOOK)
            except Empty:
                _refuse_failed(self.job.metrics)
                if ended:
                    self.close()
                    _tell_left_out(self.job.metrics)
                    return
                continue
            yield Results(self.query, _joined(self.query, tables), self.job.metrics)

    def push(self, stream: str, lines: str) -> None:
        """Put stream lines into a stream whose source is ``push:``."""
        if not isinstance(lines, str):
            raise UsageError(f"stream lines are a text, not {kind_of(lines)}")
        self.job.receivers.writer(stream).append(lines.encode())

    def close(self) -> None:
        """End the query after the batch under way; what was not read is forgotten."""
        self._sink.over.set()
        try:
            if self.job.active:
                self.job.stop()
            self.job.wait(1)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "running" if self.job.active else "ended"
        return f"<weir.Live: {state}, {self.job.metrics.results:,} results so far>"


def _prepared(
    engine: Engine,
    text: str,
    streams: Streams,
    graphs: Graphs | None,
    folder: Path,
    dialect: str,
    evaluator: str,
) -> Query:
    """Give an engine everything; frames become files in ``folder``."""
    for what, value in (("streams", streams), ("graphs", graphs or {})):
        if not isinstance(value, Mapping):
            raise UsageError(
                f"{what} is {kind_of(value)}, not a mapping from IRIs",
                hint=f'{what}={{"http://example.org/a": "PATH"}}',
            )
    for number, (iri, source) in enumerate(streams.items()):
        _give(engine, iri, source, folder / f"{number}.tnq")
    for name, place in (graphs or {}).items():
        engine.graph(name, place)
    return engine.register(text, name="query", dialect=dialect, evaluator=evaluator)


def _give(engine: Engine, iri: str, source: Any, path: Path) -> None:
    """A stream of the engine; a frame becomes the file ``path``."""
    if isinstance(source, FrameStream) or is_frame(source):
        made = source if isinstance(source, FrameStream) else FrameStream(source)
        replace_file(path, made.lines(), durable=False)
        source = path
    engine.stream(iri, source)


def _refuse_failed(metrics: Metrics) -> None:
    for failure in list(metrics.failures.values()):
        raise EvaluationError("the query failed", detail=failure.reason)


def _tell_left_out(metrics: Metrics) -> None:
    for count, what in (
        (metrics.rejected, "lines or messages that cannot be read"),
        (metrics.late, "late messages"),
        (metrics.ahead, "messages too far ahead"),
    ):
        if count:
            warn(f"{what}, left out: {count:,}")


def _joined(parsed: Query, found: Sequence[pa.Table]) -> pa.Table:
    """The tables of all batches as one; evaluations without results, which EMPTY tells of, are no rows."""
    names = ["at", "op", *_variables(parsed)]
    columns: dict[str, Any] = {}
    every = [table.rename_columns(names) for table in found]
    kept = [table.filter(table["op"].is_valid()) for table in every]
    for name, kind in zip(names, [pa.int64(), pa.string(), *[pa.large_string()] * len(names)], strict=False):
        chunks = [chunk for table in kept for chunk in table[name].cast(kind).chunks]
        columns[name] = pa.chunked_array(chunks, kind)
    columns["at"] = columns["at"].cast(pa.timestamp("us", tz="UTC"))
    if isinstance(parsed.form, Ask):
        columns["boolean"] = columns["boolean"].cast(pa.bool_())
    return pa.table(columns)


def _variables(parsed: Query) -> list[str]:
    """The columns behind ``at`` and ``op``."""
    if isinstance(parsed.form, Select):
        names = [variable.name for variable in parsed.form.variables]
        return [f"?{name}" if name in ("at", "op") else name for name in names]
    return ["boolean"] if isinstance(parsed.form, Ask) else ["subject", "predicate", "object"]
