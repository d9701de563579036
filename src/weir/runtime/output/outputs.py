"""What a group sends to the driver: rows of (kind, name, data).

The kind of answers is their form: a query's results of one batch as JSON lines or as columns of texts, or,
without a name, those of many queries that were evaluated together; ``metrics`` are the group's counters, some
of them as ``counts`` for Spark (``spark.processor``); ``dead`` and ``late`` what was set aside.

The driver puts together what the slots of a split query answered, as one slot would have written it. Each
slot's answers are in the order of (time, text) already, so they are merged and never sorted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit

from weir.kernel.matching.answers import SetAnswers
from weir.rdf.columns import Ids
from weir.rdf.formats.tnq_split import Bytes, Words, words_of
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.ingest.frames import Frame
from weir.runtime.output.compact import COMPACT, Compact, SharedResults
from weir.runtime.output.metrics import counts, told_by
from weir.runtime.output.results import APART, COLUMNS, Emission, by_query, query_tables, set_tables
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.text_columns import bytes_of, timestamp
from weir.runtime.worker.group import Answered, Group, Step
from weir.storage.spool import Buffer, SpoolWriter

OUTPUT_SCHEMA = "kind string, name string, slot bigint, data binary, counts array<bigint>"
BLOCK = 1 << 16
"""Rows of the longest part that are put together at a time, with those of the others at the same times."""


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
    forms: Iterable[str],
    counted: Collection[str] | None = None,
    writer: Callable[[], SpoolWriter] = SpoolWriter,
) -> Iterator[Output]:
    """The rows of one step, answers in each of ``forms``: ``jsonl``, ``columns``, or ``compact``, which is
    columns, and those of queries that were evaluated together as one row of references. ``counted`` is as in
    ``metrics``; ``writer`` makes what answers are written to."""
    for form in forms:
        for name, data in _answers(step, group.dictionary, form, writer):
            yield Output(form, name, slot, data)
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


def merged(rows: Sequence[Output]) -> list[Results]:
    """The answers of each query, in rows whose kind is their form; those of several slots in the order of
    their times. What came in the compact form stays in it, and is last."""
    tables: dict[str, list[pa.Table]] = {}
    shared = []
    for row in sorted(rows, key=lambda row: row.slot):
        if row.kind == COMPACT and not row.name:
            shared.append(SharedResults(row.data))
            continue
        table = read_answers(row.data)
        for name, part in [(row.name, table)] if row.name else by_query([table]):
            tables.setdefault(name, []).append(part)
    return [*(MergedResults(name, tables[name]) for name in sorted(tables)), *shared]


class MergedResults(Results):
    """The answers of several slots, each in the order of (``at``, texts); put together when asked for."""

    def __init__(self, name: str, parts: Sequence[pa.Table]) -> None:
        self._parts = [part for part in parts if len(part)] or list(parts[:1])
        self._at = [part["at"].to_numpy() for part in self._parts]
        one_by_one = all(one[-1] < other[0] for one, other in pairwise(self._at))
        super().__init__(name, pa.concat_tables(self._parts) if one_by_one else None)

    def __len__(self) -> int:
        return sum(map(len, self._at))

    @property
    def table(self) -> pa.Table:
        if self._table is None:
            self._table = pa.concat_tables(self.blocks())
        return self._table

    def blocks(self) -> Iterator[pa.Table]:
        """Cut at times, so that what is put together anew stays in memory that is used again."""
        if self._table is not None:
            yield self._table
            return
        longest = max(self._at, key=len)
        cuts = [np.searchsorted(at, longest[BLOCK::BLOCK]).tolist() for at in self._at]
        bounds = [pairwise([0, *inner, len(at)]) for inner, at in zip(cuts, self._at, strict=True)]
        for each in zip(*bounds, strict=True):
            some = [part[first:last] for part, (first, last) in zip(self._parts, each, strict=True)]
            if any(map(len, some)):
                yield in_order([part for part in some if len(part)])


def in_order(parts: Sequence[pa.Table]) -> pa.Table:
    """Tables that are each in the order of (``at``, texts), as one that is."""
    table = pa.concat_tables(parts).combine_chunks()
    at, names = table["at"].to_numpy(), [name for name in table.column_names if name not in ("at", "op")]
    if not len(at) or not names:
        return table.take(pa.array(np.argsort(at, kind="stable")))
    columns = [table[name].chunk(0).cast(pa.large_string()) for name in names]
    texts = columns[0]
    if names != ["line"]:
        apart = pa.scalar(APART, pa.large_string())
        texts = pc.binary_join_element_wise(*columns, apart, null_handling="replace", null_replacement="")
    return table.take(pa.array(merged_order(at, texts, [len(part) for part in parts])))


def merged_order(at: Ids, texts: pa.LargeStringArray, lengths: Sequence[int]) -> Ids:
    """The rows of runs that follow each other, each in the order of (``at``, text), in that order."""
    begins, data = bytes_of(texts)
    words = words_of(data)
    order = np.arange(len(at))
    ends = np.cumsum(lengths).tolist()
    while len(ends) > 1:
        kept, first = [], 0
        for place in range(0, len(ends) - 1, 2):
            _merge(order, first, ends[place], ends[place + 1], at, begins, data, words)
            first = ends[place + 1]
            kept.append(first)
        ends = kept if len(ends) % 2 == 0 else [*kept, ends[-1]]
    return order


@njit(cache=True)
def _merge(
    order: Ids, first: int, middle: int, last: int, at: Ids, begins: Ids, data: Bytes, words: Words
) -> None:
    """Merge two neighbouring runs; of equal rows those of the first run come first. Texts begin alike, which
    is found eight bytes at a time."""
    out = np.empty(last - first, np.int64)
    left, right = first, middle
    for place in range(last - first):
        if right == last:
            mine = True
        elif left == middle:
            mine = False
        else:
            one, other = order[left], order[right]
            mine = at[one] <= at[other]
            if at[one] == at[other]:
                here, there = begins[one], begins[other]
                end, stop = begins[one + 1], begins[other + 1]
                while here + 8 <= end and there + 8 <= stop and words[here] == words[there]:
                    here += 8
                    there += 8
                while here < end and there < stop and data[here] == data[there]:
                    here += 1
                    there += 1
                mine = here == end or (there < stop and data[here] < data[there])
        if mine:
            out[place] = order[left]
            left += 1
        else:
            out[place] = order[right]
            right += 1
    order[first:last] = out
