"""Conjunctive constraints resolved for all queries at once: CTP-automata's CCR stage as joins.

A *combination* is one triple for each step of a query such that all links hold; it is visible while all of
its triples are, ``[max start, min end)``. Combinations grow down the tree of steps. A node's partners are
found by one look-up in a table of all (probe, value) pairs. Windows show triples in the order of arrival
(neither end ever goes back), so the partners that are visible together with a combination are a run of
them. Cost follows shared prefixes and matches; the number of queries does not appear.

The loops are in ``combinations``; here the slab is cut into blocks whose data stay in the processor's cache.

Where a window's content is a set, a later occurrence of a triple takes over from an earlier one: each is
visible from its own start until the later one's start. Occurrences whose visibility touches or overlaps are a
*chain*. ISTREAM and DSTREAM compare multisets: a solution that starts where an equal one ends is no change.
Equal solutions are made of equal triples, so their number at an index is the product of how often each of
their triples is there; and only a combination with a triple in a chain, of which another comes or goes at the
index in question, has to be looked at: those are *contested*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.errors import EvaluationError
from weir.kernel.matching.combinations import Kept, group, grow
from weir.kernel.matching.trie import Layout
from weir.kernel.relations.keys import grouped, positions_in
from weir.rdf.columns import Ids, Mask

Rows = NDArray[np.int32]

BLOCK = 1 << 16
"""How many combinations are handed over together."""

STRIDE = 1 << 11
"""How many triples are resolved together, at least."""

LIMIT = 1 << 27
"""The most combinations one slab may make."""

_INDEX = 32


@dataclass(frozen=True, slots=True)
class Visible:
    """The triples of a slab in the order of arrival, visible in ``[start, end)``.

    ``limit`` is the end before equal triples were told apart (``end`` may be earlier where a window's
    content is a set); ``start`` and ``limit`` never fall. ``indices`` is the number of instants.
    """

    terms: NDArray[np.int64]  # subject, predicate, object: three rows
    start: Rows
    end: Rows
    limit: Rows
    indices: int

    def __len__(self) -> int:
        return len(self.start)


class Duplicates:
    """Equal triples among ``terms`` whose visibility, ``[start, end)``, overlaps or touches.

    ``end`` is where each row ends after later ones took over, which they do ``as_set``; ``marked`` tells
    which rows are in a chain with others, ``chain`` is equal for those of one chain.
    """

    def __init__(self, terms: NDArray[np.int64], start: Rows, end: Rows, *, as_set: bool) -> None:
        order, new = grouped(list(terms), len(start))
        again = np.flatnonzero(~new)
        earlier, later = order[again - 1], order[again]
        meet = start[later] <= end[earlier]
        earlier, later = earlier[meet], later[meet]
        self.marked = np.zeros(len(start), np.bool_)
        self.marked[earlier] = self.marked[later] = True
        self.chain = _chains(len(start), earlier, later)
        self.end = end
        if as_set and len(later):
            self.end = end.copy()
            self.end[earlier] = np.minimum(end[earlier], start[later])
        self.as_set = as_set
        self._start, self._limit = start, end

    @cached_property
    def _sorted(self) -> tuple[Ids, Ids]:
        """Where marked rows start, and where they end, as ascending numbers (chain, index)."""
        marked = np.flatnonzero(self.marked)
        base = self.chain[marked] << _INDEX
        return np.sort(base + self._start[marked]), np.sort(base + self._limit[marked])

    def changes(self, rows: Rows, index: Rows, *, rising: bool) -> Ids:
        """By how much the number of solutions equal to each combination rises, or falls, at its index."""
        now, before = self._copies(rows, index), self._copies(rows, index - 1)
        change: Ids = np.maximum(now - before if rising else before - now, 0)
        return change

    def _copies(self, rows: Rows, index: Rows) -> Ids:
        """How many equal solutions there are: the product of how often each triple is there."""
        at = (self.chain[rows] << _INDEX) + index[:, None]
        started, ended = (np.searchsorted(each, at, side="right") for each in self._sorted)
        count = started - ended
        # What is not in a chain is there once or, before it came and after it went, not at all.
        alone = (self._start[rows] <= index[:, None]) & (index[:, None] < self._limit[rows])
        count = np.where(self.marked[rows], count, alone)
        if self.as_set:
            count = np.minimum(count, 1)
        product: Ids = np.multiply.reduce(np.where(rows >= 0, count, 1), axis=1)
        return product


def _chains(count: int, earlier: Ids, later: Ids) -> Ids:
    """A number per row, equal for rows that are linked; links lead from a row to a later one."""
    number = np.arange(count)
    number[later] = earlier
    while True:
        further = number[number]
        if np.array_equal(further, number):
            return number
        number = further


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which combinations to make.

    ``only_new`` wants those that start at an index which is ``shown``, and not at index 0; besides, all
    of the nodes that are ``whole``. Those contested among ``duplicates`` are told apart.
    """

    only_new: bool
    shown: Mask
    whole: Mask
    duplicates: Duplicates | None


@dataclass(frozen=True, slots=True)
class Combinations:
    """Complete combinations: ``node`` where they end, ``rows`` a triple per step, −1 behind the last.

    The first ``plain`` ones are not contested and have a node that is not whole.
    """

    node: Rows
    start: Rows
    end: Rows
    rows: Rows
    plain: int

    def __len__(self) -> int:
        return len(self.node)

    def take(self, places: Ids | slice) -> Combinations:
        """Some of them, by position."""
        return Combinations(self.node[places], self.start[places], self.end[places], self.rows[places], 0)


def passed(edges: NDArray[Any], values: NDArray[Any]) -> Rows:
    """For each value how many of the edges are not beyond it; neither column ever falls."""
    return positions_in(edges, values + 1).astype(np.int32)


def combinations(
    visible: Visible, rows: Ids, machines: Ids, layout: Layout, wanted: Wanted, width: int
) -> Iterator[Combinations]:
    """The combinations of all queries of a tree, in blocks.

    ``rows`` and ``machines`` are the matches, by row; ``width`` is the most steps a query has.
    """
    indices = np.arange(visible.indices + 1)
    # By index: the first row still visible there or later, and the end of those visible before it.
    low, high = passed(visible.limit, indices), passed(visible.start, indices - 1)
    kept = Kept(wanted.only_new, int(high[1]), wanted.shown, wanted.whole, *_marks(wanted.duplicates))
    made, room = 0, BLOCK
    for first, stop, inner, outer in _blocks(visible, rows, low, high):
        groups = group(visible.terms, rows, machines, inner, outer, layout)
        while first < stop:
            following, plain, heads, found = grow(
                layout, groups, kept, visible.terms, visible.start, visible.end, low, high, rows, machines,
                first, stop, room, width,
            )  # fmt: skip
            made += heads.shape[1]
            if made > LIMIT or (following == first and room > LIMIT):
                raise EvaluationError(
                    f"matching: more than {LIMIT} combinations in one slab",
                    hint="a query joins on a value that most triples share: use a smaller window",
                )
            if following == first:
                room *= 4
                continue
            first, room = following, BLOCK
            if heads.shape[1]:
                yield Combinations(heads[0], heads[1], heads[2], found, plain)


def _marks(duplicates: Duplicates | None) -> tuple[bool, Mask, Ids, bool]:
    if duplicates is None:
        return False, np.zeros(0, np.bool_), np.zeros(0, np.int64), False
    return bool(duplicates.marked.any()), duplicates.marked, duplicates.chain, duplicates.as_set


def _blocks(visible: Visible, rows: Ids, low: Rows, high: Rows) -> Iterator[tuple[int, int, int, int]]:
    """Matches in blocks of rows, each with the matches that may be visible together with any of them.

    What a block touches should stay in the processor's cache; but a block reaches as far again as the
    window on both sides, so it is not shorter than the window.
    """
    count = len(visible)
    reach = int((high[visible.end] - np.arange(count)).max(initial=1))
    size = max(STRIDE, reach)
    for at in range(0, count, size):
        upto = min(at + size, count)
        least, most = int(low[visible.start[at]]), int(high[visible.end[at:upto].max()])
        first, stop, inner, outer = np.searchsorted(rows, [at, upto, least, most]).tolist()
        yield first, stop, inner, outer
