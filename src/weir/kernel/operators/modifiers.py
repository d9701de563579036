"""Solution modifiers: Distinct, OrderBy and Slice, at each evaluation time.

DISTINCT unites the intervals of equal rows, so that each solution is visible once at a time; REDUCED keeps
every duplicate, which SPARQL permits. A sort key does not change while a row is visible (what does is cut
into pieces before), so one sort of the rows orders them at every index at once: after ``order`` the position
of a row is its place, and rows keep their intervals. A slice counts, in every stretch between the ends of
intervals, the rows that come before, and keeps each row for the stretches in which its place is within
``[offset, offset + limit)``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.kernel.expressions.ranks import canonical_ranks, order_ranks
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.operators.operator import Operator, Unary
from weir.kernel.relations.coverage import Pieces, Sweep, uncovered, unite
from weir.kernel.relations.keys import codes, turns
from weir.kernel.relations.matches import matches
from weir.kernel.relations.relation import Relation, distinct
from weir.language.algebra.patterns import OrderKey
from weir.rdf.columns import Ids

_PEEL = 8


class Distinct(Unary):
    """DISTINCT; of an ordered relation, equal rows keep the place of the first that is visible."""

    def __init__(self, inner: Operator, *, ordered: bool) -> None:
        super().__init__(inner)
        self.ordered = ordered

    def _kept(self, rows: Relation) -> Relation:
        return _first_of_equal(rows) if self.ordered else distinct(rows)


def _first_of_equal(relation: Relation) -> Relation:
    """What is visible of each row while no equal row before it is."""
    numbers, firsts = codes(tuple(relation.columns.values()), len(relation))
    if len(firsts) == len(relation):
        return relation
    numbered = Relation({".number": numbers + 1}, relation.start, relation.end)
    found = matches(numbered, numbered)
    earlier = found.right < found.left
    pieces = found.left[earlier], found.start[earlier], found.end[earlier]
    return relation.pieces(*uncovered(relation.start, relation.end, *pieces))


def order(relation: Relation, ranks: Sequence[Ids]) -> Relation:
    """The rows sorted by columns of ranks, the first weighing most; equal ones stay as they are."""
    if len(relation) <= 1 or not ranks:
        return relation
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
        place = turns(segment)
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


class OrderBy(Unary):
    """ORDER BY: rows in order, ties by the canonical order of the visible variables."""

    def __init__(
        self,
        inner: Operator,
        keys: Sequence[tuple[OrderKey, str]],
        visible: tuple[str, ...],
        terms: Terms,
    ) -> None:
        super().__init__(inner)
        self.keys = tuple(keys)
        self.visible = tuple(sorted(visible))
        self.terms = terms

    def _kept(self, rows: Relation) -> Relation:
        if len(rows) <= 1:
            return rows
        ranks: list[Ids] = []
        for key, name in self.keys:
            if name in rows.columns:
                rank = order_ranks(rows.columns[name], self.terms)
                ranks.append(-rank if key.descending else rank)
        ranks += _canonical(rows, self.visible, self.terms)
        return order(rows, ranks)


class Slice(Unary):
    """LIMIT and OFFSET; of the canonical order where there is no other."""

    def __init__(
        self, inner: Operator, offset: int, limit: int | None, terms: Terms, *, ordered: bool
    ) -> None:
        super().__init__(inner)
        self.offset, self.limit = offset, limit
        self.terms = terms
        self.ordered = ordered

    def _kept(self, rows: Relation) -> Relation:
        return slice(self._sorted(rows), self.offset, self.limit)

    def _sorted(self, rows: Relation) -> Relation:
        if self.ordered or len(rows) <= 1:
            return rows
        named = sorted(name for name in rows.columns if not name.startswith("."))
        return order(rows, _canonical(rows, named, self.terms))

    def within(self, seed: Relation, key: str) -> Relation:
        rows = self._sorted(self.inner.within(seed, key))
        return slice(rows, self.offset, self.limit, by=rows.columns[key])


def _canonical(rows: Relation, names: Sequence[str], terms: Terms) -> list[Ids]:
    return [canonical_ranks(rows.columns[name], terms) for name in names if name in rows.columns]
