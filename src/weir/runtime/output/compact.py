"""The answers of many queries as references to the triples that made them: a tenth of their texts' size.

A thousand queries may have fifty results a triple; written out, those would be a hundred times the stream.
Here a result that several queries share is there once, as numbers of the rows of a table of triples
(``kernel.matching.answers``), and each text once; what a query gets is put together when it is asked for.
Law: ``Compact.from_bytes(c.to_bytes())`` gives every query the same columns as ``c``.

The bytes are a container with the tables ``queries``, ``nodes`` and ``texts``; for each block of evaluations
the triples, the times, and the results in numbers of each width; then results whose values had to be listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from weir.kernel.matching.answers import Header, Listed, Matched, Near, SetAnswers
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.output.results import COLUMNS, Emission, by_query, set_tables
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.text_columns import distinct_values, texts_of
from weir.storage import Container, numbers, pack, unpack
from weir.storage.spool import Buffer

COMPACT = "compact"
"""The form that a sink asks for to get results of queries evaluated together as they are here."""

_KIND = "weir.compact/3"

Tables = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Compact:
    """One set's answers in one batch, with what it takes to write them: operators and texts."""

    answers: SetAnswers
    emissions: Mapping[str, Emission]
    dictionary: Dictionary

    def __len__(self) -> int:
        """The number of results, once per query that gets them."""
        return self.answers.delivered

    def tables(
        self, queries: Iterable[str] | None = None, form: str = COLUMNS
    ) -> Iterator[tuple[str, pa.Table]]:
        """The results of queries that have any, as columns ``at``, ``op`` and a text per variable, or in the
        form ``jsonl`` as columns ``at`` and ``line``."""
        answers = self.answers if queries is None else self.answers.only(queries)
        made = set_tables(answers, self.emissions, self.dictionary, form)
        return by_query(pa.Table.from_batches([table]) for table in made)

    def to_bytes(self) -> bytes:
        matched = [part for part in self.answers.parts if isinstance(part, Matched) and len(part)]
        listed = [part for part in self.answers.parts if isinstance(part, Listed) and len(part)]
        blocks: dict[int, list[Matched]] = {}
        for part in matched:
            blocks.setdefault(id(part.terms), []).append(part)
        values = [parts[0].terms for parts in blocks.values()] + [part.values for part in listed]
        ids, codes = distinct_values(np.concatenate([np.empty(0, np.int64), *map(np.ravel, values)]))
        texts = texts_of(np.where(ids > 0, ids, 0), self.dictionary)
        tables: Tables = {"queries": self._queries(), "texts": {"id": ids, "text": texts}}
        if matched:  # All results of one batch read the nodes alike.
            tables["nodes"] = {"channel": matched[0].plain, **_numbered(matched[0].origins.T)}
        widths = []
        first = 0
        for number, parts in enumerate(blocks.values()):
            terms, times = parts[0].terms, parts[0].times
            triples = codes[first : first + terms.size].reshape(terms.shape).astype(np.int32)
            first += terms.size
            tables[f"triples/{number}"] = _numbered(triples)
            tables[f"times/{number}"] = {"step": np.diff(times, prepend=0)}
            widths.append(_put_matches(parts, number, tables))
        for number, each in enumerate(listed):
            tables[f"listed/{number}"] = {"channel": each.channel, "at": each.at, **_numbered(each.values)}
        header = {
            "results": len(self),
            "evaluations": self.answers.evaluations,
            "through": self.answers.through,
            "members": len(self.answers.members),
            "blocks": widths,
            "listed": len(listed),
        }
        return bytes(pack(_KIND, header, tables, compression="lz4"))

    @staticmethod
    def from_bytes(data: Buffer) -> Compact:
        """The inverse of ``to_bytes``."""
        found = unpack(data, _KIND)
        header, texts = found.header, found.table("texts")
        headers, emissions = _read_queries(found.table("queries"))
        ids = numbers(texts["id"])
        parts: list[Matched | Listed] = []
        for number, widths in enumerate(header["blocks"]):
            parts += _read_block(found, number, widths, ids)
        for number in range(header["listed"]):
            channel, at, *values = map(numbers, found.table(f"listed/{number}").values())
            parts.append(
                Listed(channel, at, np.stack(values) if values else np.empty((0, len(at)), np.int64))
            )
        members = np.zeros(header["members"], np.int64)
        np.add.at(members, [each.channel for each in headers.values()], 1)
        dictionary = Dictionary()
        known = texts["text"].is_valid()
        dictionary.add(numbers(texts["id"].filter(known)), texts["text"].filter(known).to_pylist())
        answers = SetAnswers(headers, members, parts, header["evaluations"], header["through"])
        return Compact(answers, emissions, dictionary)

    def _queries(self) -> dict[str, pa.Array]:
        headers = self.answers.headers
        emissions = [self.emissions[name] for name in headers]
        return {
            "query": pa.array(list(headers), pa.string()),
            "channel": pa.array([each.channel for each in headers.values()], pa.int64()),
            "variables": pa.array([list(each.columns) for each in headers.values()], pa.list_(pa.string())),
            "columns": pa.array(
                [list(each.columns.values()) for each in headers.values()], pa.list_(pa.int16())
            ),
            "operator": pa.array([each.operator for each in emissions], pa.string()),
            "delay": pa.array([each.delay for each in emissions], pa.int64()),
        }


class SharedResults(Results):
    """The answers of many queries in one batch, as a sink of the form ``compact`` gets them."""

    def __init__(self, data: Buffer) -> None:
        super().__init__("", pa.table({}))
        self.data = data

    def __len__(self) -> int:
        return int(unpack(self.data, _KIND).header["results"])

    @cached_property
    def compact(self) -> Compact:
        """What is in it."""
        return Compact.from_bytes(self.data)


def _numbered(columns: Iterable[NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {f"c{place}": column for place, column in enumerate(columns)}


def _put_matches(parts: Sequence[Matched], block: int, tables: Tables) -> list[list[list[int]]]:
    """Add the results of a block, a table for the parts of each width; where each part begins, its length."""
    alike: dict[Any, list[Matched]] = {}
    for part in parts:
        alike.setdefault((part.node.dtype, part.near.columns.dtype), []).append(part)
    for width, some in enumerate(alike.values()):
        columns = np.concatenate([part.near.columns for part in some], axis=1)
        node = np.concatenate([part.node for part in some])
        tables[f"matches/{block}/{width}"] = {"node": node, **_numbered(columns)}
    return [[[*part.near.begin, len(part)] for part in some] for some in alike.values()]


def _read_block(
    found: Container, block: int, widths: Sequence[Sequence[Sequence[int]]], ids: Ids
) -> Iterator[Matched]:
    plain, *origin = (_as_stored(column) for column in found.table("nodes").values())
    origins = np.stack(origin, axis=1)
    terms = np.stack([ids[_as_stored(column)] for column in found.table(f"triples/{block}").values()])
    times = np.cumsum(numbers(found.table(f"times/{block}")["step"]))
    for width, parts in enumerate(widths):
        node, *columns = (_as_stored(each) for each in found.table(f"matches/{block}/{width}").values())
        near = np.stack(columns)
        first = 0
        for index, row, length in parts:
            part = slice(first, first + length)
            yield Matched(node[part], Near((index, row), near[:, part]), terms, times, plain, origins)
            first += length


def _read_queries(table: Mapping[str, pa.Array]) -> tuple[dict[str, Header], dict[str, Emission]]:
    headers, emissions = {}, {}
    columns = [column.to_pylist() for column in table.values()]
    for query, channel, variables, places, operator, delay in zip(*columns, strict=True):
        headers[query] = Header(channel, dict(zip(variables, places, strict=True)))
        emissions[query] = Emission(operator, delay)
    return headers, emissions


def _as_stored(column: pa.Array) -> NDArray[Any]:
    """A column of numbers in the width that it was stored in."""
    found: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return found
