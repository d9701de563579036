"""What a group sends to the driver: rows of (kind, name, data).

``answers`` holds a query's results of one batch, as JSON lines or as columns of texts, or, without a name,
those of many queries that were evaluated together (``bulk``); ``metrics`` the group's counters, some of them
as ``counts`` for Spark (``spark.processor``); ``dead`` and ``late`` what was set aside.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from weir.kernel.contract import Answers
from weir.kernel.matching.answers import SetAnswers
from weir.language.algebra.query import Ask, Query, Select
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.ingest.frames import Frame
from weir.runtime.output.bulk import BulkTexts, Voice
from weir.runtime.output.compact import COMPACT, Compact
from weir.runtime.output.metrics import counts, told_by
from weir.runtime.output.results import column_name, json_lines, keeps_order, order_of_text
from weir.runtime.output.text_columns import arrow_texts, coded_texts, same, side_by_side, timestamp
from weir.runtime.worker.group import Answered, AnsweredTogether, Group, Step
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
    that were evaluated together as one row of references. ``counted`` is as in ``counters``;
    ``writer`` makes what answers are written to."""
    for answered in step.answered:
        if len(answered.answers.at) or len(answered.answers.empty):
            data = _answers(answered, group.dictionary, form, writer())
            yield Output("answers", answered.member.name, slot, data)
    for together in step.shared:
        for name, data in _together(together, group.dictionary, form, writer):
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


def _answers(answered: Answered, dictionary: Dictionary, form: str, pile: SpoolWriter) -> bytes:
    query = answered.member.query
    writer: Any = None
    for answers in slices(answered.answers):
        if form == "jsonl":
            lines = json_lines(query, answered.member.name, answers, dictionary)
            columns = {"at": pa.array(lines.at), "line": lines.text}
        else:
            columns = text_columns(query, answers, dictionary)
        batch = pa.record_batch(list(columns.values()), names=list(columns))
        writer = writer or pa.ipc.new_stream(pile, batch.schema)
        writer.write_batch(batch)
    writer.close()
    return pile.carried()


def slices(answers: Answers) -> Iterator[Answers]:
    """The same a few at a time, cut between evaluation times: texts of a million results would be made in
    memory that has to be asked for anew each time."""
    at = answers.at
    if len(at) <= _SLICE or len(answers.empty):
        yield answers
        return
    cuts = np.unique(np.searchsorted(at, at[_SLICE::_SLICE])).tolist()
    for first, last in pairwise([0, *(cut for cut in cuts if cut), len(at)]):
        yield Answers(at[first:last], {name: ids[first:last] for name, ids in answers.columns.items()})


_SLICE = 1 << 16


def _together(
    together: AnsweredTogether, dictionary: Dictionary, form: str, writer: Callable[[], SpoolWriter]
) -> Iterator[tuple[str, bytes]]:
    """The answers of a hub's queries: those of conjunctions in one, those of templates by their names."""
    voices = {name: Voice.of(member.query) for name, member in together.members.items()}
    for part in together.answers.parts:
        if not isinstance(part, SetAnswers):
            for name, answers in part.items():
                own = Answered(together.members[name], answers)
                yield name, _answers(own, dictionary, "jsonl" if form == "jsonl" else "columns", writer())
            continue
        if not len(part):
            continue
        if form == COMPACT:
            yield "", Compact(part, voices, dictionary).to_bytes()
            continue
        texts = BulkTexts(part, voices, dictionary)
        for table in texts.lines() if form == "jsonl" else texts.columns():
            spooled = writer()
            with pa.ipc.new_stream(spooled, table.schema) as stream:
                stream.write_batch(table)
            yield "", spooled.carried()


def read_answers(data: Buffer) -> pa.Table:
    """The table of an ``answers`` row."""
    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()


def text_columns(query: Query, answers: Answers, dictionary: Dictionary) -> dict[str, pa.Array]:
    """``at`` and ``op``, then a column of canonical texts per variable (or per part of a triple). Variables
    that are themselves named ``at`` or ``op`` keep their question mark. Where EMPTY asks for it, a row
    without ``op`` is an evaluation that had no results."""
    if isinstance(query.form, Select):
        names = [variable.name for variable in query.form.variables]
    elif isinstance(query.form, Ask):
        names = []
    else:
        names = ["subject", "predicate", "object"]
    at = answers.at + query.semantics.emit_after
    columns = {"at": pa.array(at), "op": arrow_texts(same(query.semantics.r2s.value, len(at)))}
    for name in names:
        texts = coded_texts(answers.columns[name], dictionary)
        columns[column_name(name)] = arrow_texts(texts.texts).take(pa.array(texts.codes))
    if isinstance(query.form, Ask):
        columns["boolean"] = pa.array(np.where(answers.columns["boolean"] != 0, "true", "false"))
    elif names and not keeps_order(query):
        every = [pl.Series(columns[column_name(name)]) for name in names]
        order = pa.array(order_of_text(at, side_by_side(every)))
        columns = {name: column.take(order) for name, column in columns.items()}
    if not len(answers.empty):
        return columns
    return _with_nothing(columns, answers.empty + query.semantics.emit_after)


def _with_nothing(columns: Mapping[str, pa.Array], times: Ids) -> dict[str, pa.Array]:
    """The columns with the evaluations that had no results, in their places: rows of a time and nulls."""
    order = pa.array(np.argsort(np.concatenate([columns["at"].to_numpy(), times]), kind="stable"))
    rows = {name: pa.nulls(len(times), column.type) for name, column in columns.items()}
    rows["at"] = pa.array(times)
    return {name: pa.concat_arrays([columns[name], rows[name]]).take(order) for name in columns}
