"""ORDER BY, LIMIT and OFFSET at each evaluation time.

A sort key does not change while a row is visible (what does is cut into pieces before), so one sort of
the rows orders them at every index at once: after ``order`` the position of a row is its place. A slice
counts, in every stretch between the ends of intervals, the rows that come before, and keeps each row for
the stretches in which its place is within ``[offset, offset + limit)``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.kernel.relations.coverage import Pieces, uncovered, unite
from weir.kernel.relations.keys import codes
from weir.kernel.relations.relation import Relation
from weir.kernel.relations.sweep import Sweep
from weir.rdf.columns import Ids

_PEEL = 8


def order(relation: Relation, ranks: Sequence[Ids]) -> Relation:
    """The rows sorted by columns of ranks, the first weighing most; equal ones stay as they are."""
    if len(relation) <= 1 or not ranks:
        return relation
    if len(ranks) == 1:
        return relation.take(np.argsort(ranks[0], kind="stable"))
    return relation.take(np.lexsort(tuple(reversed(ranks))))


def slice(relation: Relation, offset: int, limit: int | None, by: Ids | None = None) -> Relation:
    """At each index the rows from place ``offset`` on, at most ``limit``, of an ordered relation; of each
    number in ``by`` apart, if that is given."""
    rows = len(relation)
    if limit == 0 or rows <= offset:
        return relation.take(np.empty(0, np.int64))
    if not offset and (limit is None or rows <= limit):
        return relation
    group = np.zeros(rows, np.int64) if by is None else codes([by], rows)[0]
    sweep = Sweep(group, relation.start, relation.end)
    first, last = sweep.ranges(group, relation.start, relation.end)
    upto = None if limit is None else offset + limit
    if upto is not None and upto * _PEEL * (rows + sweep.segments) < int((last - first).sum()):
        row, segment = _peeled(sweep, first, last, offset, upto)
        return relation.pieces(*unite(row, *sweep.intervals(segment)[1:]))
    parts: list[Pieces] = []
    for segment, row in sweep.members(first, last):
        heads = np.flatnonzero(np.diff(segment, prepend=-1))
        place = np.arange(len(segment)) - np.repeat(heads, np.diff(heads, append=len(segment)))
        kept = place >= offset
        if upto is not None:
            kept &= place < upto
        _, start, end = sweep.intervals(segment[kept])
        parts.append(unite(row[kept], start, end))
    if len(parts) > 1:
        parts = [unite(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))]
    return relation.pieces(*parts[0])


def _peeled(sweep: Sweep, first: Ids, last: Ids, offset: int, upto: int) -> tuple[Ids, Ids]:
    """For a small limit: the first row of every stretch, then the first of what is left, and so on."""
    rows = np.arange(len(first))
    row, begin, stop = rows, first, last
    gone_rows: list[Ids] = []
    gone_segments: list[Ids] = []
    for _ in range(upto):
        found = sweep.least(begin, stop, row, len(rows))
        segment = np.flatnonzero(found < len(rows))
        gone_rows.append(found[segment])
        gone_segments.append(segment)
        taken = np.concatenate(gone_segments)
        row, begin, stop = uncovered(first, last, np.concatenate(gone_rows), taken, taken + 1)
    return np.concatenate(gone_rows[offset:]), np.concatenate(gone_segments[offset:])
