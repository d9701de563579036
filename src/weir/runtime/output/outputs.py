"""What a group sends to the driver: rows of (kind, name, data).

``answers`` holds a query's results of one batch, as JSON lines or as columns of texts, or, without a name,
those of many queries that were evaluated together; ``metrics`` the group's counters, some of them as
``counts`` for Spark (``spark.processor``); ``dead`` and ``late`` what was set aside.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from weir.kernel.matching.answers import SetAnswers
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.ingest.frames import Frame
from weir.runtime.output.compact import COMPACT, Compact
from weir.runtime.output.metrics import counts, told_by
from weir.runtime.output.results import COLUMNS, Emission, query_tables, set_tables
from weir.runtime.output.text_columns import timestamp
from weir.runtime.worker.group import Answered, Group, Step
from weir.runtime.worker.spool import Buffer, SpoolWriter

OUTPUT_SCHEMA = "kind string, name string, slot bigint, data binary, counts array<bigint>"


@dataclass(frozen=True, slots=True)
class Output:
    """One row."""

    kind: str
    name: str
    slot: int
    data: Buffer
    counts: list[int] | None = None


def outputs(
    group: Group,
    step: Step,
    frames: Iterable[Frame],
    slot: int,
    form: str,
    counted: Collection[str] | None = None,
    writer: Callable[[], SpoolWriter] = SpoolWriter,
) -> Iterator[Output]:
    """The rows of one step; ``form`` is ``jsonl``, ``columns``, or ``compact``: columns, and those of queries
    that were evaluated together as one row of references. ``counted`` is as in ``metrics``;
    ``writer`` makes what answers are written to."""
    for name, data in _answers(step, group.dictionary, form, writer):
        yield Output("answers", name, slot, data)
    dead = [letter for frame in frames for letter in frame.side.get("rejected", ())]
    dead += [
        {
            "stream": stream,
            "lane": item.lane,
            "position": item.position,
            "at": timestamp(item.time),
            "reason": "further ahead of its lane than AHEAD allows",
        }
        for stream, item in step.dropped
        if item.reason == "ahead"
    ]
    if dead:
        yield Output("dead", "", slot, _lines(dead))
    kept = {
        (frame.stream, frame.lane, frame.position + place): said
        for frame in frames
        for place, said in enumerate(frame.side.get("messages", ()))
    }
    late = [
        {
            "stream": stream,
            "lane": item.lane,
            "position": item.position,
            "at": timestamp(item.time),
            "triples": item.triples,
            "statements": kept.get((stream, item.lane, item.position), []),
        }
        for stream, item in step.dropped
        if item.reason == "late"
    ]
    if late:
        yield Output("late", "", slot, _lines(late))
    told = told_by(group, step, frames)
    yield Output("metrics", "", slot, json.dumps(told).encode(), counts(step, told, counted))


def _lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def _answers(
    step: Step, dictionary: Dictionary, form: str, writer: Callable[[], SpoolWriter]
) -> Iterator[tuple[str, bytes]]:
    """The answers of each query; those of queries evaluated together in rows without a name, unless each of
    them has its own."""
    apart = [each for each in step.answered if len(each.answers.at) or len(each.answers.empty)]
    for together in step.shared:
        emissions = {name: Emission.of(member.query) for name, member in together.members.items()}
        for part in together.answers.parts:
            if not isinstance(part, SetAnswers):
                apart += [Answered(together.members[name], answers) for name, answers in part.items()]
            elif form != COMPACT:
                for table in set_tables(part, emissions, dictionary, form):
                    yield "", _written([table], writer())
            elif len(part):
                yield "", Compact(part, emissions, dictionary).to_bytes()
    own = COLUMNS if form == COMPACT else form
    for each in apart:
        name, query = each.member.name, each.member.query
        yield name, _written(query_tables(query, name, each.answers, dictionary, own), writer())


def _written(tables: Iterable[pa.RecordBatch], writer: SpoolWriter) -> bytes:
    stream: Any = None
    for table in tables:
        stream = stream or pa.ipc.new_stream(writer, table.schema)
        stream.write_batch(table)
    stream.close()
    return writer.carried()


def read_answers(data: Buffer) -> pa.Table:
    """The table of an ``answers`` row."""
    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()
