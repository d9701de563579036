"""What the slots of a split query answered, put together as one slot would have written it.

Each slot's answers are in the order of (time, text) already, so they are merged and never sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa
from numba import njit

from weir.rdf.columns import Ids
from weir.rdf.splitting import Bytes
from weir.runtime.bulk import parted
from weir.runtime.compact import SharedResults, is_compact
from weir.runtime.outputs import Output, read_answers
from weir.runtime.sinks.base import Results
from weir.runtime.weaving import arrow_texts, bytes_of, taken
from weir.runtime.writing import side_by_side


def merged(rows: Sequence[Output]) -> list[Results]:
    """The answers of each query; those of several slots in the order of their times. What came in the compact
    form stays in it, and is last."""
    tables: dict[str, list[tuple[int, pa.Table]]] = {}
    shared = [row for row in rows if is_compact(row.data)]
    for row in rows:
        if is_compact(row.data):
            continue
        table = read_answers(row.data)
        for name, part in [(row.name, table)] if row.name else parted(table):
            tables.setdefault(name, []).append((row.slot, part))
    out = []
    for name in sorted(tables):
        parts = [table for _, table in sorted(tables[name], key=lambda pair: pair[0])]
        out.append(Results(name, in_order(parts)))
    return out + [SharedResults(row.data) for row in sorted(shared, key=lambda row: row.slot)]


def in_order(parts: Sequence[pa.Table]) -> pa.Table:
    """Tables that are each in the order of (``at``, texts), as one that is."""
    parts = [part for part in parts if len(part)] or list(parts[:1])
    if all(_end(one) < _begin(other) for one, other in pairwise(parts)):
        return pa.concat_tables(parts)
    table = pa.concat_tables(parts).combine_chunks()
    names = [name for name in table.column_names if name not in ("at", "op")]
    at = table["at"].to_numpy()
    if names == ["line"]:
        lines = table["line"].chunk(0) if table["line"].num_chunks else pa.array([], pa.large_string())
        order = merged_order(at, lines, [len(part) for part in parts])
        return pa.table({"at": at[order], "line": taken(lines, order)})
    columns = [pl.Series(name, table[name]) for name in names]
    texts = arrow_texts(side_by_side(columns)) if columns else pa.array([""] * len(at), pa.large_string())
    return table.take(pa.array(merged_order(at, texts, [len(part) for part in parts])))


def _begin(part: pa.Table) -> int:
    return int(part["at"][0].as_py())


def _end(part: pa.Table) -> int:
    return int(part["at"][-1].as_py())


def merged_order(at: Ids, texts: pa.LargeStringArray, lengths: Sequence[int]) -> Ids:
    """The rows of runs that follow each other, each in the order of (``at``, text), in that order."""
    begins, data = bytes_of(texts)
    order = np.arange(len(at))
    ends = np.cumsum(lengths).tolist()
    while len(ends) > 1:
        kept, first = [], 0
        for place in range(0, len(ends) - 1, 2):
            _merge(order, first, ends[place], ends[place + 1], at, begins, data)
            first = ends[place + 1]
            kept.append(first)
        ends = kept if len(ends) % 2 == 0 else [*kept, ends[-1]]
    return order


@njit(cache=True)
def _merge(order: Ids, first: int, middle: int, last: int, at: Ids, begins: Ids, data: Bytes) -> None:
    """Merge two neighbouring runs; of equal rows those of the first run come first."""
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
