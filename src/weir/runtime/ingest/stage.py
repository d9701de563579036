"""The first stage: read a part, parse, encode, match, and make the frames of each slot.

Rows of a streaming DataFrame (``spark.dataframes`` says what they are) become frames as files do: ``time`` is
in µs, or ``clock`` is the text of a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from weir.extras import load
from weir.rdf.formats.media import format_of
from weir.rdf.formats.payloads import parse_payloads
from weir.rdf.formats.times import read_time
from weir.rdf.formats.tnq import BOM, parse_lines
from weir.rdf.formats.tnq_split import PADDING, padded
from weir.rdf.formats.units import Document, parse_documents
from weir.rdf.messages import Rejected
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.parts import (
    FILE_SHIFT,
    OFFSET_SHIFT,
    LaneInput,
    LineCounter,
    Part,
    dead_letters,
    is_packed,
    read_part,
    unpacked,
)
from weir.runtime.ingest.sources.log_source import read_log_part
from weir.runtime.worker.worker_cache import WorkerCache
from weir.storage.places import path_at

_KAFKA = "weir.runtime.ingest.sources.kafka_client"
_counter = LineCounter()

TRIPLE = ("subject", "predicate", "object")


def part_frames(place: WorkerCache, batch: int, part: Part) -> Iterator[tuple[int, Frame]]:
    """What each slot gets of a part."""
    plan = place.match_plan(batch)
    if part.path is None and part.kafka is None:
        for slot in plan.active:
            yield slot, Frame(part.stream, part.lane, part.number << FILE_SHIFT, ended=part.final)
        return
    for found in part_inputs(part, place.checkpoint.key):
        yield from plan.frames(part.stream, found)


def packed_part(place: WorkerCache, batch: int, part: Part) -> Iterator[tuple[int, bytes | memoryview]]:
    """The same as bytes."""
    if part.path is None and part.kafka is None:
        yield from ((slot, frame.to_bytes()) for slot, frame in part_frames(place, batch, part))
        return
    for found in part_inputs(part, place.checkpoint.key):
        yield from place.match_plan(batch).packed(part.stream, found)


def part_inputs(part: Part, key: bytes) -> list[LaneInput]:
    """What a part holds of each lane; several items of one lane are in order."""
    if part.log:
        return read_log_part(part, key)
    if part.kafka is not None:
        found: LaneInput = load(_KAFKA).read_kafka_part(part, key)
        return [found]
    return [read_messages(part, key)]


def read_messages(part: Part, key: bytes) -> LaneInput:
    """The messages of a part of files."""
    found = _lines(part, key) if format_of(part.format).timed else _documents(part, key)
    if not part.shift:
        return found
    messages = found.parsed.messages
    shifted = replace(messages, time=messages.time + part.shift)
    return replace(found, parsed=replace(found.parsed, messages=shifted))


def _lines(part: Part, key: bytes) -> LaneInput:
    assert part.path is not None
    path = path_at(part.path)
    if is_packed(path):
        whole, damage = unpacked(path)
        begin = len(BOM) if whole.startswith(BOM) else 0
        data = whole[begin:]
        room, lines = padded(data), data.count(b"\n")
    else:
        (room, begin), damage, lines = read_part(part), None, 0
    position = part.number << FILE_SHIFT
    parsed = parse_lines(room, scope=f"{part.stream} {part.lane}", key=key, base=position + begin)
    rejected = [*parsed.rejected, *([] if damage is None else [Rejected(lines + 1, damage, "")])]
    before = _counter.before(part.path, begin) if rejected and begin and not is_packed(path) else 0
    dead = dead_letters(part.stream, rejected, files=part.paths, before=before)
    return LaneInput(part.lane, parsed, position, len(room) - PADDING, dead, ended=part.final)


def _documents(part: Part, key: bytes) -> LaneInput:
    """Files that are read whole; one that is damaged is set aside as a whole."""
    assert part.time is not None
    documents, damaged = [], []
    for place, name in enumerate(part.paths):
        path = path_at(name)
        data, damage = unpacked(path) if is_packed(path) else (path.read_bytes(), None)
        if damage is not None:
            damaged.append(Rejected(data.count(b"\n") + 1, damage, "", place))
            data = b""
        documents.append(Document(data, (part.number + place) << FILE_SHIFT, path.absolute().as_uri()))
    parsed = parse_documents(
        documents,
        format_of(part.format),
        time_predicate=part.time,
        scope=f"{part.stream} {part.lane}",
        key=key,
        unit=part.unit,
    )
    rejected = sorted([*parsed.rejected, *damaged], key=lambda item: item.record)
    size = sum(len(document.data) for document in documents)
    dead = dead_letters(part.stream, rejected, files=part.paths)
    return LaneInput(part.lane, parsed, part.number << FILE_SHIFT, size, dead, ended=part.final)


def row_frames(
    place: WorkerCache,
    batch: int,
    rows: pl.DataFrame,
    stream: str,
    base: int,
    format: str = "tnq",
    predicate: str | None = None,
) -> Iterator[tuple[int, bytes | memoryview]]:
    """What each slot gets of one task's rows as bytes, a frame for each lane. Positions of rows that have
    none count from ``base``; ``predicate`` states the time of messages in ``format``."""
    plan = place.match_plan(batch)
    if "lane" not in rows.columns:
        rows = rows.with_columns(pl.lit("").alias("lane"))
    for part in rows.with_columns(pl.col("lane").fill_null("")).partition_by("lane"):
        lane = str(part["lane"][0])
        made = _triples(part, base) if "subject" in part.columns else _values(part, base, format)
        found = parse_payloads(
            made.payloads,
            format_of(made.format),
            scope=f"{stream} {lane}",
            key=place.checkpoint.key,
            positions=made.positions,
            times=made.times,
            time_predicate=predicate,
        )
        dead = dead_letters(stream, found.rejected, source=lane)
        size = sum(map(len, made.payloads))
        yield from plan.packed(stream, LaneInput(lane, found, base, size, dead))


@dataclass(frozen=True, slots=True)
class _Payloads:
    payloads: list[bytes]
    positions: np.ndarray
    times: list[int | None] | None
    format: str


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
        positions = rows["position"].fill_null(0).to_numpy() << (OFFSET_SHIFT if timed else 0)
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
