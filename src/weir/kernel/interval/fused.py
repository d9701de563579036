"""The last join of a flow and the distinct combinations of what is wanted of it, in one go.

CONSTRUCT sends a set of triples at each evaluation. Where a flow has one instant a row, the triples are
combinations of what the flow gives and what a window gives: both are numbered, every pair marks its place
in the table of all combinations, and the marked places are the answer. No pair becomes a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from weir.kernel.interval.gathering import groups_of
from weir.kernel.interval.keys import codes
from weir.kernel.interval.relation import Relation
from weir.kernel.interval.sorting import SortedKeys
from weir.kernel.interval.windowed import WindowInput
from weir.rdf.columns import Ids

try:
    from weir.kernel.interval import compiled
except ImportError:
    compiled = None  # type: ignore[assignment]

_BLOCK = 12_288
"""Pairs at a time: what they need stays in a processor's cache, and in memory that is not given back."""

_WIDEST = 14
_FEWEST = 1 << 8
_MOST = 1 << 22
"""Pairs that the compiled loop takes at once."""


def distinct_join(
    flow: Relation, window: WindowInput, names: Sequence[str], times: Ids
) -> tuple[Ids, dict[str, Ids]] | None:
    """The distinct combinations of time and ``names`` in ``flow ⋈ window``, in the order of time.

    The flow's rows have one instant each, whose times are ``times``. None where it does not apply or would
    not pay.
    """
    on = [name for name in window.variables if name in flow.columns]
    if len(on) != 1 or len(flow) < _FEWEST or not window.takes_ranges(flow) or not _ascends(flow.start):
        return None
    ours = [name for name in names if name in flow.columns]
    theirs = [name for name in names if name not in flow.columns]
    low, high, first, end = window.ranges(flow)
    group, instant, mine = groups_of(flow.columns, flow.start, ours)
    number, rows = codes([window.column(name)[first:end] for name in theirs], end - first)
    bits = max(len(rows) - 1, 1).bit_length()
    if not len(rows) or bits > _WIDEST:
        return None
    keys = SortedKeys(window.column(on[0])[first:end])
    start, counts = keys.ranges_within(flow.columns[on[0]], low - first, high - first)
    order = np.argsort(instant, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    owners = [times[instant[order]], *(mine[name][order] for name in ours)]
    values = [window.column(name)[first:end][rows] for name in theirs]
    owner, number = rank[group], number[keys.order]
    if compiled is not None and counts.sum() <= _MOST:
        by_owner = np.argsort(owner, kind="stable")
        blocks = iter([compiled.distinct_pairs(by_owner, start, counts, owner, number, len(rows))])
    else:
        blocks = _blocks(start, counts, owner, number, bits, flow.start)
    parts = [
        [*(column[owner] for column in owners), *(column[code] for column in values)]
        for owner, code in blocks
    ]
    if not parts:
        return None
    if len(parts) == 1:
        return parts[0][0], dict(zip([*ours, *theirs], parts[0][1:], strict=True))
    at, *columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    return at, dict(zip([*ours, *theirs], columns, strict=True))


def _blocks(
    start: Ids, counts: Ids, owner: Ids, number: Ids, bits: int, instant: Ids
) -> Iterator[tuple[Ids, Ids]]:
    """The distinct (owner, number) of the pairs of each row with ``number[start : start + count]``.

    Owners ascend with the rows' instants, so rows are taken in blocks that end with an instant.
    """
    ends = np.cumsum(counts)
    total = int(ends[-1])
    if not total:
        return
    offset = start - (ends - counts)
    shifted = owner << bits
    edges = np.append(np.flatnonzero(instant[1:] != instant[:-1]) + 1, len(instant))
    full = ends.searchsorted(np.arange(_BLOCK, total, _BLOCK)) + 1
    cuts = np.unique(np.append(edges[edges.searchsorted(full)], edges[-1]))
    begin = 0
    for cut in cuts.tolist():
        size = counts[begin:cut]
        least = int(owner[begin:cut].min())
        cell = np.arange(int(ends[begin] - counts[begin]), int(ends[cut - 1]))
        cell += offset[begin:cut].repeat(size)
        cell = number[cell]
        cell += (shifted[begin:cut] - (least << bits)).repeat(size)
        marks = np.zeros((int(owner[begin:cut].max()) - least + 1) << bits, np.bool_)
        marks[cell] = True
        places = marks.nonzero()[0]
        yield (places >> bits) + least, places & ((1 << bits) - 1)
        begin = cut


def _ascends(instant: Ids) -> bool:
    return bool((instant[1:] >= instant[:-1]).all())
