"""Rows of a table as messages: what a task of a streaming DataFrame has, made into frames as files are.

A row is a triple (``subject``, ``predicate``, ``object`` and maybe ``graph``, as N-Triples texts) or a text
(``value``) of ``.tnq`` lines or of one message. ``time`` is in µs, or ``clock`` is the text of a time;
``lane`` and ``position`` say where it stands. Rows of one lane and position are one message; without
positions, triples of one time are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from weir.rdf.formats.media import format_of
from weir.rdf.formats.payloads import parse_payloads
from weir.rdf.formats.times import read_time
from weir.rdf.messages import Parsed
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.parts import LaneInput, dead_letters
from weir.runtime.worker.worker_cache import WorkerCache

TRIPLE = ("subject", "predicate", "object")
_PAYLOAD = 20
"""Bits of a position behind that of a payload, for the lines in it."""


def row_frames(
    place: WorkerCache,
    batch: int,
    rows: pl.DataFrame,
    stream: str,
    base: int,
    format: str = "tnq",
    predicate: str | None = None,
) -> Iterator[tuple[int, Frame]]:
    """What each slot gets of one task's rows, a frame for each lane. Positions of rows that have none count
    from ``base``; ``predicate`` states the time of messages in ``format``."""
    plan = place.match_plan(batch)
    if "lane" not in rows.columns:
        rows = rows.with_columns(pl.lit("").alias("lane"))
    for part in rows.with_columns(pl.col("lane").fill_null("")).partition_by("lane"):
        lane = str(part["lane"][0])
        made = _triples(part, base) if "subject" in part.columns else _values(part, base, format)
        found = _messages(made, f"{stream} {lane}", place.checkpoint.key, predicate)
        dead = dead_letters(stream, found.rejected, source=lane)
        size = sum(map(len, made.payloads))
        yield from plan.frames(stream, LaneInput(lane, found, base, size, dead))


@dataclass(frozen=True, slots=True)
class _Payloads:
    payloads: list[bytes]
    positions: np.ndarray
    times: list[int | None] | None
    format: str


def _messages(made: _Payloads, scope: str, key: bytes, predicate: str | None) -> Parsed:
    return parse_payloads(
        made.payloads,
        format_of(made.format),
        scope=scope,
        key=key,
        positions=made.positions,
        times=made.times,
        time_predicate=predicate,
    )


def _triples(rows: pl.DataFrame, base: int) -> _Payloads:
    """Messages of triples: those of one position, or else of one time."""
    rows = _clocked(rows)
    graph = pl.col("graph").fill_null("") if "graph" in rows.columns else pl.lit("")
    parts = [pl.col(name).fill_null("") for name in TRIPLE]
    statement = pl.concat_str([*parts, graph, pl.lit(".")], separator=" ")
    placed = "position" in rows.columns
    key = ["position", "time"] if placed else ["time"]
    lines = rows.with_columns(statement.alias("text")).group_by(key, maintain_order=True)
    found = lines.agg(pl.col("text").str.join("\n")).sort(key, maintain_order=True, nulls_last=True)
    positions = found["position"].fill_null(0).to_numpy() if placed else base + np.arange(len(found))
    return _Payloads([text.encode() for text in found["text"]], positions, found["time"].to_list(), "nquads")


def _values(rows: pl.DataFrame, base: int, format: str) -> _Payloads:
    """A message each; lines of ``.tnq`` without positions are as lines of a file."""
    rows = _clocked(rows)
    timed = format_of(format).timed
    if timed and "position" not in rows.columns:
        whole = b"\n".join(value or b"" for value in rows["value"])
        return _Payloads([whole], np.array([base]), None, format)
    if "position" in rows.columns:
        rows = rows.sort("position", maintain_order=True)
        positions = rows["position"].fill_null(0).to_numpy() << (_PAYLOAD if timed else 0)
    else:
        positions = base + np.arange(len(rows))
    payloads = [value or b"" for value in rows["value"]]
    return _Payloads(payloads, positions, rows["time"].to_list(), format)


def _clocked(rows: pl.DataFrame) -> pl.DataFrame:
    """With a column of microseconds; a text that is no time is none."""
    if "clock" in rows.columns:
        known = {text: None if text is None else read_time(text) for text in rows["clock"].unique().to_list()}
        times = pl.Series("time", [known[text] for text in rows["clock"].to_list()], dtype=pl.Int64)
        return rows.with_columns(times)
    return rows if "time" in rows.columns else rows.with_columns(pl.lit(None, pl.Int64).alias("time"))
