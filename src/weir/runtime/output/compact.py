"""The answers of many queries as references to the triples that made them: a tenth of their texts' size.

A thousand queries may have fifty results a triple; written out, those would be a hundred times the stream.
Here a result that several queries share is there once, as numbers of the rows of a table of triples, and each
text once; what a query gets is put together when it is asked for. Law: ``Compact.from_bytes(c.to_bytes())``
gives every query the same columns as ``c``.

    WEIR-COMPACT 2 <length of JSON>\\n JSON, then Arrow IPC streams: queries, nodes, texts, and for each block
    of evaluations the triples, the times and the results, those in numbers of one width in a stream
    (``kernel.matching.answers``); then results whose values had to be listed
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from weir.errors import CheckpointError
from weir.kernel.matching.answers import Header, Listed, Matched, Near, SetAnswers
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.output.bulk import BulkTexts, Voice, parted
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.text_columns import arrow_texts, distinct_values, texts_of
from weir.runtime.worker.spool import Buffer

COMPACT = "compact"
"""The form that a sink asks for to get results of queries evaluated together as they are here."""

_MAGIC = b"WEIR-COMPACT 2 "
_PLAIN, _PRESSED = pa.ipc.IpcWriteOptions(), pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True)
class Compact:
    """One set's answers in one batch, with what it takes to write them: operators and texts."""

    answers: SetAnswers
    voices: Mapping[str, Voice]
    dictionary: Dictionary

    def __len__(self) -> int:
        """The number of results, once per query that gets them."""
        return self.answers.delivered

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries that could have results here."""
        return tuple(self.answers.headers)

    def tables(self, queries: Iterable[str] | None = None) -> Iterator[tuple[str, pa.Table]]:
        """The results of queries that have any, as columns ``at``, ``op`` and a text per variable."""
        answers = self.answers if queries is None else self.answers.only(queries)
        for table in BulkTexts(answers, self.voices, self.dictionary).columns():
            yield from parted(pa.Table.from_batches([table]))

    def lines(self, queries: Iterable[str] | None = None) -> Iterator[tuple[str, pa.Table]]:
        """The same as JSON lines: columns ``at`` and ``line``."""
        answers = self.answers if queries is None else self.answers.only(queries)
        for table in BulkTexts(answers, self.voices, self.dictionary).lines():
            yield from parted(pa.Table.from_batches([table]))

    def to_bytes(self) -> bytes:
        matched = [part for part in self.answers.parts if isinstance(part, Matched) and len(part)]
        listed = [part for part in self.answers.parts if isinstance(part, Listed) and len(part)]
        blocks: dict[int, list[Matched]] = {}
        for part in matched:
            blocks.setdefault(id(part.terms), []).append(part)
        terms = [parts[0].terms for parts in blocks.values()]
        ids, codes = distinct_values(_flat([*terms, *(part.values for part in listed)]))
        streams = [self._queries(), _nodes(matched), self._texts(ids)]
        begins: list[list[list[list[int]]]] = []
        first = 0
        for parts in blocks.values():
            last = first + parts[0].terms.size
            triples = codes[first:last].reshape(parts[0].terms.shape)
            first = last
            streams += [_triples(triples), _times(parts[0].times)]
            begins.append([])
            for begin, stream in _matches(parts):
                begins[-1].append(begin)
                streams.append(stream)
        streams += [_listing(part) for part in listed]
        header = {
            "results": len(self),
            "evaluations": self.answers.evaluations,
            "through": self.answers.through,
            "members": len(self.answers.members),
            "blocks": begins,
            "lengths": [len(each) for each in streams],
        }
        head = json.dumps(header).encode()
        return b"".join([_MAGIC, b"%d\n" % len(head), head, *streams])

    @staticmethod
    def from_bytes(data: Buffer) -> Compact:
        """The inverse of ``to_bytes``."""
        header, place = _header(data)
        view, found = memoryview(data), []
        for length in header["lengths"]:
            found.append(view[place : place + length])
            place += length
        headers, voices = _read_queries(_read(found[0]))
        nodes, texts = _read(found[1]), _read(found[2])
        ids = _numbers(texts["id"])
        parts: list[Matched | Listed] = []
        rest = iter(found[3:])
        for begins in header["blocks"]:
            triples, times = _read(next(rest)), _read(next(rest))
            terms = np.stack([ids[column.to_numpy()] for column in triples.columns])
            parts += _read_block(nodes, terms, times, [(begin, _read(next(rest))) for begin in begins])
        parts += [_read_listing(_read(each)) for each in rest]
        members = np.zeros(header["members"], np.int64)
        np.add.at(members, [each.channel for each in headers.values()], 1)
        dictionary = Dictionary()
        kept = texts.filter(texts["text"].is_valid())
        dictionary.add(kept["id"].to_numpy(), kept["text"].to_pylist())
        answers = SetAnswers(headers, members, parts, header["evaluations"], header["through"])
        return Compact(answers, voices, dictionary)

    def _queries(self) -> pa.Buffer:
        headers = self.answers.headers
        voices = [self.voices[name] for name in headers]
        columns = {
            "query": pa.array(list(headers), pa.string()),
            "channel": pa.array([each.channel for each in headers.values()], pa.int64()),
            "variables": pa.array([list(each.columns) for each in headers.values()], pa.list_(pa.string())),
            "columns": pa.array(
                [list(each.columns.values()) for each in headers.values()], pa.list_(pa.int16())
            ),
            "op": pa.array([each.operator for each in voices], pa.string()),
            "shift": pa.array([each.shift for each in voices], pa.int64()),
        }
        return _stream([_record(columns)], _PRESSED)

    def _texts(self, ids: Ids) -> pa.Buffer:
        """The terms that occur, with their texts but for those whose ids say what they are."""
        texts = texts_of(np.where(ids > 0, ids, 0), self.dictionary)
        return _stream([_record({"id": ids, "text": arrow_texts(texts)})], _PRESSED)


def is_compact(data: Buffer) -> bool:
    """Whether these are bytes of a ``Compact``."""
    return data[: len(_MAGIC)] == _MAGIC


def _header(data: Buffer) -> tuple[dict[str, Any], int]:
    """The header, and where the streams begin."""
    if not is_compact(data):
        raise CheckpointError("not compact results of this version of Weir", detail=repr(data[:16]))
    line = data.find(b"\n") + 1
    end = line + int(data[len(_MAGIC) : line])
    return json.loads(data[line:end]), end


class SharedResults(Results):
    """The answers of many queries in one batch, as a sink of the form ``compact`` gets them."""

    def __init__(self, data: Buffer) -> None:
        super().__init__("", pa.table({}))
        self.data = data

    def __len__(self) -> int:
        return int(_header(self.data)[0]["results"])

    @cached_property
    def compact(self) -> Compact:
        """What is in it."""
        return Compact.from_bytes(self.data)


def _flat(tables: Sequence[NDArray[np.int64]]) -> Ids:
    return np.concatenate([np.empty(0, np.int64), *(table.ravel() for table in tables)])


def _nodes(matched: Sequence[Matched]) -> pa.Buffer:
    """The channel and the columns of each node; all results of one batch read them alike."""
    if not matched:
        return _stream([_record({"channel": np.empty(0, np.int64)})])
    origins = {f"c{place}": column for place, column in enumerate(matched[0].origins.T)}
    return _stream([_record({"channel": matched[0].plain, **origins})], _PRESSED)


def _triples(codes: Ids) -> pa.Buffer:
    """The triples of a block as numbers of their terms."""
    subject, predicate, target = codes.astype(np.int32)
    return _stream([_record({"subject": subject, "predicate": predicate, "object": target})], _PRESSED)


def _times(times: Ids) -> pa.Buffer:
    """Evaluation times as steps from the one before."""
    return _stream([_record({"step": np.diff(times, prepend=0)})], _PRESSED)


def _matches(parts: Sequence[Matched]) -> Iterator[tuple[list[list[int]], pa.Buffer]]:
    """The results of a block, a record batch per part: streams of parts of one width, each with where its
    parts begin."""
    streams: dict[Any, tuple[list[list[int]], list[pa.RecordBatch]]] = {}
    for part in parts:
        columns = part.near.columns
        begins, batches = streams.setdefault((part.node.dtype, columns.dtype), ([], []))
        begins.append(list(part.near.begin))
        near = {f"n{place}": column for place, column in enumerate(columns)}
        batches.append(_record({"node": part.node, **near}))
    for begins, batches in streams.values():
        yield begins, _stream(batches, _PRESSED)


def _listing(part: Listed) -> pa.Buffer:
    values = {f"c{place}": column for place, column in enumerate(part.values)}
    return _stream([_record({"channel": part.channel, "at": part.at, **values})], _PRESSED)


def _read_queries(table: pa.Table) -> tuple[dict[str, Header], dict[str, Voice]]:
    headers, voices = {}, {}
    for row in table.to_pylist():
        headers[row["query"]] = Header(
            row["channel"], dict(zip(row["variables"], row["columns"], strict=True))
        )
        voices[row["query"]] = Voice(row["op"], row["shift"])
    return headers, voices


def _read_block(
    nodes: pa.Table, terms: Ids, times: pa.Table, results: Sequence[tuple[list[list[int]], pa.Table]]
) -> Iterator[Matched]:
    origins = np.stack([column.to_numpy() for column in nodes.columns[1:]], axis=1)
    at, plain = np.cumsum(_numbers(times["step"])), _numbers(nodes["channel"])
    for begins, table in results:
        for begin, batch in zip(begins, table.to_batches(), strict=True):
            node, *columns = (column.to_numpy() for column in batch.columns)
            near = Near((begin[0], begin[1]), np.stack(columns))
            yield Matched(node, near, terms, at, plain, origins)


def _read_listing(table: pa.Table) -> Listed:
    channel, at, *values = (_numbers(column) for column in table.columns)
    return Listed(channel, at, np.stack(values) if values else np.empty((0, len(at)), np.int64))


def _numbers(column: pa.ChunkedArray) -> Ids:
    numbers: Ids = column.to_numpy()
    return numbers


def _record(columns: Mapping[str, Any]) -> pa.RecordBatch:
    arrays = [each if isinstance(each, pa.Array) else pa.array(each) for each in columns.values()]
    return pa.record_batch(arrays, names=list(columns))


def _stream(batches: Sequence[pa.RecordBatch], options: pa.ipc.IpcWriteOptions = _PLAIN) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()


def _read(data: memoryview) -> pa.Table:
    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()
