"""Sinks by the name of their format, as ``--format`` and ``--out`` give them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO

from rich.console import Console

from weir.errors import UsageError
from weir.runtime.output.sinks.base import Sink
from weir.runtime.output.sinks.graphs import GRAPHS
from weir.runtime.output.sinks.lines import ExactFile, JsonLinesFile, JsonLinesOutput
from weir.runtime.output.sinks.parquet import ParquetFolder
from weir.runtime.output.sinks.tables import TABLES
from weir.runtime.output.sinks.text import Render, TextSink, table_text

SinkMaker = Callable[[Path], Sink]
"""Makes a sink, given the folder for its log."""

FORMATS = ("table", "jsonl", *TABLES, *GRAPHS, "parquet")
"""What results can be written as."""


def sink_for(form: str, out: str | Path | None, stream: IO[bytes]) -> SinkMaker:
    """The sink of a format: into the file or folder ``out`` exactly once, or to ``stream``."""
    if form not in FORMATS:
        raise UsageError(f"unknown format {form!r}", hint=f"one of {', '.join(FORMATS)}")
    path = None if out is None else Path(out).absolute()
    if form == "parquet":
        if path is None:
            raise UsageError("parquet is written into a folder", hint="name it with --out DIR")
        return lambda logs: ParquetFolder(path, logs / "parquet.log")
    if path is not None and path.is_dir():
        raise UsageError(f"{form} is written into one file, and {out} is a folder")
    if form == "jsonl":
        if path is None:
            return lambda logs: JsonLinesOutput(stream)
        return lambda logs: JsonLinesFile(path, logs / "jsonl.log")
    renders: dict[str, Render] = {"table": table_text(Console()), **TABLES, **GRAPHS}
    if path is None:
        return lambda logs: TextSink(renders[form], stream)
    return lambda logs: TextSink(renders[form], ExactFile(path, logs / f"{form}.log"))
