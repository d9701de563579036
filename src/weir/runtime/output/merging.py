"""What the slots of a split query answered, put together as one slot would have written it.

Each slot's answers are in the order of (time, text) already, so they are merged and never sorted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa
from numba import njit

from weir.rdf.columns import Ids
from weir.rdf.formats.tnq_split import Bytes, Words, words_of
from weir.runtime.output.compact import COMPACT, SharedResults
from weir.runtime.output.outputs import Output, read_answers
from weir.runtime.output.results import by_query
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.text_columns import arrow_texts, bytes_of, row_texts, taken

BLOCK = 1 << 16
"""Rows of the longest part that are put together at a time, with those of the others at the same times."""


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
    names = [name for name in table.column_names if name not in ("at", "op")]
    at = table["at"].to_numpy()
    if names == ["line"]:
        lines = table["line"].chunk(0) if table["line"].num_chunks else pa.array([], pa.large_string())
        order = merged_order(at, lines, [len(part) for part in parts])
        return pa.table({"at": at[order], "line": taken(lines, order)})
    columns = [pl.Series(name, table[name]) for name in names]
    texts = arrow_texts(row_texts(columns)) if columns else pa.array([""] * len(at), pa.large_string())
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
