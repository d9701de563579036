"""``weir.query``: a query over streams that end, answered at once."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from weir.engine import Engine
from weir.errors import EvaluationError, UsageError
from weir.language import Query
from weir.language.algebra.query import Ask, Select
from weir.notebook.frame_streams import FrameStream, is_frame
from weir.notebook.result_set import Results
from weir.runtime.ingest.sources import Source, source_from
from weir.runtime.output.sinks.base import Results as Answers
from weir.runtime.output.sinks.base import Sink
from weir.storage.files import replace_file

Streams = Mapping[str, Any]


class _Tables(Sink):
    """Keeps the columns of all results."""

    form = "columns"
    promise = "at least once"

    def __init__(self) -> None:
        self.found: list[pa.Table] = []

    def write(self, batch: int, results: Sequence[Answers]) -> None:
        self.found += [each.table for each in results if len(each)]


def query(
    text: str,
    streams: Streams,
    graphs: Mapping[str | None, str | Path] | None = None,
    *,
    runner: str = "direct",
    dialect: str = "auto",
    evaluator: str = "auto",
) -> Results:
    """Run a continuous query over streams that end, and return all its results.

    ``streams`` has for each IRI a path or address, as ``Engine.stream`` takes them, or a frame of pandas,
    Polars or Arrow: with columns ``time``, ``subject``, ``predicate``, ``object`` and maybe ``graph``, or any
    other mapped to them by ``FrameStream``. ``graphs`` are files, folders, stores or URLs by IRI, None for
    the default graph. The ``runner`` is ``direct`` or ``spark``. A query that fails raises.
    """
    engine = Engine(runner=runner)
    tables = _Tables()
    with tempfile.TemporaryDirectory(prefix="weir-frames-") as folder:
        for number, (iri, source) in enumerate(streams.items()):
            _give(engine, iri, source, Path(folder) / f"{number}.tnq")
        for name, place in (graphs or {}).items():
            engine.graph(name, place)
        parsed = engine.register(text, name="query", dialect=dialect, evaluator=evaluator)
        metrics = engine.run(sinks=[tables])
    for failure in metrics.failures.values():
        raise EvaluationError("the query failed", detail=failure.reason)
    return Results(parsed, _joined(parsed, tables.found), metrics)


def _give(engine: Engine, iri: str, source: Any, path: Path) -> None:
    """A stream of the engine; a frame becomes the file ``path``."""
    if isinstance(source, FrameStream) or is_frame(source):
        made = source if isinstance(source, FrameStream) else FrameStream(source)
        replace_file(path, made.lines(), durable=False)
        engine.stream(iri, path)
        return
    made_source = source_from(source) if isinstance(source, str) else source
    if isinstance(made_source, Source) and made_source.endless:
        raise UsageError(
            f"the stream <{iri}> does not end, and weir.query answers when all streams have",
            hint="use weir.Engine and start(), which gives results while they come",
        )
    engine.stream(iri, source)


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
