"""What a group sends to the driver: rows of (kind, name, data).

The kind of answers is their form: a query's results of one batch as JSON lines or as columns of texts, or,
without a name, those of many queries that were evaluated together; ``metrics`` are the group's counters, some
of them as ``counts`` for Spark (``spark.processor``); ``dead`` and ``late`` what was set aside; ``failed`` a
query that failed; ``part`` what a slot answered to the first stage of a query (``putting_together``).

The driver puts together what the slots of a split query answered, as one slot would have written it. Each
slot's answers are in the order of (time, text) already, so they are merged and never sorted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weir.kernel.contract import Answers, FailedAt
from weir.kernel.matching.answers import SetAnswers
from weir.language.algebra.query import Query
from weir.rdf.columns import Ids
from weir.rdf.compiled import njit
from weir.rdf.formats.tnq_split import Bytes, Words, words_of
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.control.failure import Failure, earliest
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.order import Dropped
from weir.runtime.output.compact import COMPACT, Compact, SharedResults
from weir.runtime.output.json_columns import bytes_of
from weir.runtime.output.metrics import counts, told_by
from weir.runtime.output.partial_answers import PART, part_of
from weir.runtime.output.results import (
    APART,
    COLUMNS,
    JSONL,
    PARTS,
    Emission,
    by_query,
    query_tables,
    set_tables,
    texts_in,
)
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.text_columns import timestamp
from weir.runtime.worker.group import Group, Step
from weir.runtime.worker.together import Answered
from weir.storage.spool import Buffer, Mapped, SpoolWriter

FAILED = "failed"
WRITTEN = "written"
"""The kind of the row that tells how many results a task has written itself."""
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


def answers_of(
    step: Step,
    group: Group,
    slot: int,
    forms: Iterable[str],
    writer: Callable[[], SpoolWriter] = SpoolWriter,
) -> Iterator[Output]:
    """The answers of one step, in each of ``forms``: ``jsonl``, ``columns``, or ``compact``, which is
    columns, and those of queries that were evaluated together as one row of references. ``writer`` makes what
    they are written to. A query whose answers cannot be written fails."""
    staged = [each for each in step.answered if each.member.registration.staged]
    for each in staged:
        data = None
        with group.failures.of(each.member.registration, OSError):
            data = part_of(each.answers, each.member.query, group.dictionary)
        if data is not None:
            yield Output(PART, each.member.name, slot, data)
    if staged:
        step = replace(step, answered=[each for each in step.answered if not each.member.registration.staged])
    for form in forms:
        for name, data in _answers(step, group, form, writer):
            yield Output(form, name, slot, data)


def outputs(
    group: Group,
    step: Step,
    frames: Iterable[Frame],
    slot: int,
) -> Iterator[Output]:
    """The other rows of one step."""
    dead = [letter for frame in frames for letter in frame.side.get("rejected", ())]
    dead += [
        {**_dropped(stream, item), "reason": "further ahead of its lane than AHEAD allows"}
        for stream, item in step.dropped
        if item.reason == "ahead"
    ]
    if dead:
        yield Output("dead", "", slot, _lines(dead))
    kept = {
        (frame.stream, frame.lane, position): said
        for frame in frames
        if "messages" in frame.side
        for position, said in zip(frame.positions.tolist(), frame.side["messages"], strict=True)
    }
    late = [
        {
            **_dropped(stream, item),
            "triples": item.triples,
            "statements": kept.get((stream, item.lane, item.position), []),
        }
        for stream, item in step.dropped
        if item.reason == "late"
    ]
    if late:
        yield Output("late", "", slot, _lines(late))
    told = told_by(group, step, frames)
    yield Output("metrics", "", slot, json.dumps(told).encode(), counts(step, told))


def _dropped(stream: str, item: Dropped) -> dict[str, Any]:
    """Which message did not get in."""
    return {"stream": stream, "lane": item.lane, "position": item.position, "at": timestamp(item.time)}


def _lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def _answers(
    step: Step, group: Group, form: str, writer: Callable[[], SpoolWriter]
) -> Iterator[tuple[str, bytes]]:
    """The answers of each query; those of queries evaluated together in rows without a name, unless each of
    them has its own."""
    dictionary = group.dictionary
    apart = [each for each in step.answered if len(each.answers.at) or len(each.answers.empty)]
    for together in step.shared:
        emissions = {name: Emission.of(member.query) for name, member in together.members.items()}
        for part in together.answers.parts:
            if not isinstance(part, SetAnswers) or (part.makes_triples and form == JSONL):
                apart += [Answered(together.members[name], answers) for name, answers in part.items()]
                continue
            try:
                found = list(_together(part, emissions, dictionary, form, writer))
            except OSError:
                raise
            except Exception:
                # One of them cannot be written: which one is found by writing each by itself.
                apart += [Answered(together.members[name], answers) for name, answers in part.items()]
            else:
                yield from (("", data) for data in found)
    own = COLUMNS if form == COMPACT else form
    for each in apart:
        data = None
        with group.failures.of(each.member.registration, OSError):
            data = written_answers(each.member.query, each.member.name, each.answers, dictionary, own, writer)
        if data is not None:
            yield each.member.name, data


def _together(
    part: SetAnswers,
    emissions: Mapping[str, Emission],
    dictionary: Dictionary,
    form: str,
    writer: Callable[[], SpoolWriter],
) -> Iterator[bytes]:
    if form != COMPACT:
        for table in set_tables(part, emissions, dictionary, form):
            yield _written([table], writer())
    elif len(part):
        yield Compact(part, emissions, dictionary).to_bytes()


def written_answers(
    query: Query,
    name: str,
    answers: Answers,
    dictionary: Dictionary,
    form: str,
    writer: Callable[[], SpoolWriter],
) -> bytes:
    """The answers of one query. Raises ``FailedAt`` with the first evaluation that cannot be written."""

    def written(some: Answers) -> bytes:
        return _written(query_tables(query, name, some, dictionary, form), writer())

    try:
        return written(answers)
    except OSError:
        raise
    except Exception as error:
        times = np.unique(np.concatenate([answers.at, answers.empty]))
        good, bad = 0, len(times) - 1
        while good < bad:
            middle = (good + bad) // 2
            try:
                written(answers.older(int(times[middle]) + 1))
                good = middle + 1
            except Exception:
                bad = middle
        raise FailedAt(int(times[bad]), None) from error


def _written(tables: Iterable[pa.RecordBatch], writer: SpoolWriter) -> bytes:
    stream: Any = None
    for table in tables:
        stream = stream or pa.ipc.new_stream(writer, table.schema)
        stream.write_batch(table)
    stream.close()
    return writer.carried()


def read_answers(data: Buffer) -> pa.Table:
    """The table of a row of answers; many result lines are in numbered parts (``results.texts_in``)."""
    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()


def failed_row(failure: Failure) -> Output:
    """The row of a query that failed."""
    return Output(FAILED, failure.name, failure.slot, json.dumps(failure.as_json()).encode())


def failure_in(row: Output) -> Failure:
    """What such a row says."""
    return Failure(**json.loads(row.data[:]))


def written_row(results: int) -> Output:
    """The row of a task that has written so many results."""
    return Output(WRITTEN, "", 0, str(results).encode())


def without_later(rows: Sequence[Output], failures: Iterable[Failure], forms: Sequence[str]) -> list[Output]:
    """The rows without what other slots answered for a query beyond the time at which it failed in one."""
    ends = {name: each for name, each in earliest(failures).items() if each.at is not None}
    kept = []
    for row in rows:
        end = ends.get(row.name) if row.kind in forms else None
        if end is None or end.at is None or end.slot == row.slot:
            kept.append(row)
            continue
        table = read_answers(row.data)
        older = table.filter(pc.less(table["at"], pa.scalar(end.at + end.delay, table["at"].type)))
        if len(older):
            data = _written(older.to_batches(), SpoolWriter())
            kept.append(Output(row.kind, row.name, row.slot, data))
    return kept


def merged(rows: Sequence[Output]) -> list[Results]:
    """The answers of each query, in rows whose kind is their form; those of several slots in the order of
    their times. What came in the compact form stays in it, and is last."""
    tables: dict[str, list[tuple[pa.Table, Path | None]]] = {}
    shared = []
    for row in sorted(rows, key=lambda row: row.slot):
        if row.kind == COMPACT and not row.name:
            shared.append(SharedResults(row.data))
            continue
        table = read_answers(row.data)
        path = row.data.path if isinstance(row.data, Mapped) else None
        for name, part in [(row.name, table)] if row.name else by_query([table]):
            tables.setdefault(name, []).append((part, path))
    return [*(MergedResults(name, tables[name]) for name in sorted(tables)), *shared]


class MergedResults(Results):
    """The answers of several slots, each in the order of (``at``, texts); put together when asked for."""

    def __init__(self, name: str, parts: Sequence[tuple[pa.Table, Path | None]]) -> None:
        self._told = [each for each in parts if len(each[0])] or list(parts[:1])
        self._parts = [part for part, _ in self._told]
        self._at = [part["at"].to_numpy() for part in self._parts]
        one_by_one = all(one[-1] < other[0] for one, other in pairwise(self._at))
        numbered = any(PARTS in part.column_names for part in self._parts)
        super().__init__(name, pa.concat_tables(self._parts) if one_by_one and not numbered else None)

    def __len__(self) -> int:
        return sum(map(len, self._at))

    @property
    def parts(self) -> Sequence[tuple[pa.Table, Path | None]]:
        return self._told

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
                yield in_order([texts_in(part) for part in some if len(part)])


def in_order(parts: Sequence[pa.Table]) -> pa.Table:
    """Tables that are each in the order of (``at``, texts), as one that is."""
    if len(parts) == 1:
        return parts[0]
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


@njit(over=("order",), cache=True)
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
