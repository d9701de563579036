"""Conjunctive constraints resolved for all queries at once: CTP-automata's CCR stage as joins.

A *combination* is one triple for each step of a query such that all links hold; it is visible while all of
its triples are, ``[max start, min end)``. Combinations grow down the tree of steps. A node's partners are
found by one search in an index of all (lane, value) pairs. Windows show triples in the order of arrival
(neither end ever goes back), so the partners that are visible together with a combination are a run of the
index. Cost follows shared prefixes and matches; the number of queries does not appear.

This is the form in plain numpy, which grows whole blocks of combinations; ``compiled`` gives the same
combinations, faster, where numba is installed. ``combinations`` chooses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.errors import EvaluationError
from weir.kernel.matching import speed
from weir.kernel.matching.duplicates import Duplicates
from weir.kernel.matching.layout import Layout
from weir.kernel.matching.steps import PLACES, link
from weir.rdf.columns import Ids, Mask

Rows = NDArray[np.int32]

BLOCK = 1 << 16
"""How many combinations are handed over together."""

STRIDE = 1 << 11
"""How many triples are resolved together, at least."""

LIMIT = 1 << 27
"""The most combinations one slab may make."""

_LANE = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_FOLD = np.int64(-4658895280553007687)
_LOW = np.uint64(0xFFFF_FFFF)
_HALF = np.uint64(32)


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


def combinations(
    visible: Visible, rows: Ids, machines: Ids, layout: Layout, wanted: Wanted, width: int
) -> Iterator[Combinations]:
    """The combinations of all queries of a tree, in blocks.

    ``rows`` and ``machines`` are the matches, by row; ``width`` is the most steps a query has.
    """
    made = 0
    resolve = _plain if speed.compiled is None else _compiled
    for block in resolve(visible, rows, machines, layout, wanted, width):
        made += len(block)
        if made > LIMIT:
            raise EvaluationError(
                f"matching: more than {LIMIT} combinations in one slab",
                hint="a query joins on a value that most triples share: use a smaller window",
            )
        yield block


def passed(edges: NDArray[np.signedinteger[Any]], values: Ids) -> Rows:
    """For each value how many of the edges are not beyond it; neither column ever falls."""
    if speed.compiled is not None:
        places: Rows = speed.compiled.passed(edges, values)
        return places
    return np.searchsorted(edges, values, side="right").astype(np.int32)


def _bounds(visible: Visible) -> tuple[Rows, Rows]:
    """By index: the first row still visible there or later, and the end of those visible before it."""
    indices = np.arange(visible.indices + 1)
    return passed(visible.limit, indices), passed(visible.start, indices - 1)


def _compiled(
    visible: Visible, rows: Ids, machines: Ids, layout: Layout, wanted: Wanted, width: int
) -> Iterator[Combinations]:
    compiled = speed.compiled
    assert compiled is not None
    low, high = _bounds(visible)
    kept = compiled.Kept(
        wanted.only_new, int(high[1]), wanted.shown, wanted.whole, *_marks(wanted.duplicates)
    )
    room = BLOCK
    for first, stop, inner, outer in _blocks(visible, rows, low, high):
        groups = compiled.group(visible.terms, rows, machines, inner, outer, layout)
        while first < stop:
            following, plain, heads, found = compiled.grow(
                layout, groups, kept, visible.terms, visible.start, visible.end, low, high, rows, machines,
                first, stop, room, width,
            )  # fmt: skip
            if following == first:
                if room > LIMIT:
                    raise EvaluationError(f"matching: one triple begins more than {LIMIT} combinations")
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


def _plain(
    visible: Visible, rows: Ids, machines: Ids, layout: Layout, wanted: Wanted, width: int
) -> Iterator[Combinations]:
    for held, apart in _Resolver(visible, rows, machines, layout, wanted):
        order = np.argsort(apart, kind="stable")
        plain = len(order) - int(np.count_nonzero(apart))
        found = held.padded(width)
        yield Combinations(held.node[order], held.start[order], held.end[order], found[order], plain)


@dataclass(frozen=True, slots=True)
class _Held:
    """Combinations of one depth, complete or not."""

    node: Rows
    start: Rows
    end: Rows
    rows: tuple[Rows, ...]

    def padded(self, width: int) -> Rows:
        """The triples of each combination in a row, −1 behind the last."""
        out = np.full((len(self.node), width), -1, np.int32)
        for step, column in enumerate(self.rows):
            out[:, step] = column
        return out

    def take(self, kept: Ids) -> _Held:
        return _Held(
            self.node[kept], self.start[kept], self.end[kept], tuple(rows[kept] for rows in self.rows)
        )


class _Index:
    """Matches by (lane, value), each run in the order of arrival.

    An entry is a match of a lane's machine; its key is a hash of lane and value above, its own number below,
    so that one sorted array answers which entries of a run lie between two rows. Lane and value are
    compared where a run begins, and where two pairs have the same hash for every entry (``mixed``): a
    collision costs time, never a wrong answer.
    """

    def __init__(self, visible: Visible, rows: Ids, machines: Ids, layout: Layout) -> None:
        counts = np.diff(layout.lane_offsets)
        inside = machines < len(counts)
        rows, machines = rows[inside], machines[inside]
        which, place = _spread(counts[machines])
        lane = layout.lanes[layout.lane_offsets[machines][which] + place]
        row = rows[which]
        places = layout.lane_places[lane]
        self.values = np.zeros(len(row), np.int64)
        for at in range(PLACES):
            some = np.flatnonzero(places & (1 << at))
            self.values[some] = _fold(self.values[some], visible.terms[at, row[some]])
        self.lane = lane.astype(np.int32)
        self.row = row.astype(np.int32)
        self._keys = np.sort(_hash(lane, self.values) | np.arange(len(row), dtype=np.uint64))
        self.mixed = self._collides()
        self._first_entry = np.searchsorted(row, np.arange(len(visible) + 1)).astype(np.uint64)

    def runs(self, lane: Ids, values: Ids, low: Rows, high: Rows) -> tuple[Ids, Ids]:
        """The run of keys of each (lane, value) whose rows lie in ``[low, high)``: first and length."""
        needles = np.empty((len(lane), 2), np.uint64)
        base = _hash(lane, values)
        needles[:, 0] = base | self._first_entry[low]
        needles[:, 1] = base | self._first_entry[high]
        found = np.searchsorted(self._keys, needles.ravel()).reshape(-1, 2)
        return found[:, 0], found[:, 1] - found[:, 0]

    def entries(self, places: Ids) -> Ids:
        """The entries at places of the sorted keys."""
        return (self._keys[places] & _LOW).view(np.int64)

    def _collides(self) -> bool:
        entry = (self._keys & _LOW).view(np.int64)
        near = (self._keys[1:] >> _HALF) == (self._keys[:-1] >> _HALF)
        lane, values = self.lane[entry], self.values[entry]
        return bool((near & ((lane[1:] != lane[:-1]) | (values[1:] != values[:-1]))).any())


class _Resolver:
    """One slab's combinations, grown block by block."""

    def __init__(self, visible: Visible, rows: Ids, machines: Ids, layout: Layout, wanted: Wanted) -> None:
        self._visible = visible
        self._layout = layout
        self._wanted = wanted
        self._rows, self._machines = rows, machines
        self._index = _Index(visible, rows, machines, layout)
        self._low, self._high = _bounds(visible)
        self._fresh = int(self._high[1])
        self._trimmed = bool((visible.end < visible.limit).any())
        self._contested = wanted.duplicates if wanted.duplicates and wanted.duplicates.marked.any() else None

    def __iter__(self) -> Iterator[tuple[_Held, Mask]]:
        counts = np.diff(self._layout.root_offsets)
        inside = self._machines < len(counts)
        rows, machines = self._rows[inside], self._machines[inside]
        for at in range(0, len(rows), BLOCK):
            yield from self._grow(self._roots(rows[at : at + BLOCK], machines[at : at + BLOCK]))

    def _roots(self, rows: Ids, machines: Ids) -> _Held:
        layout, visible = self._layout, self._visible
        first = layout.root_offsets[machines]
        owner, place = _spread(layout.root_offsets[machines + 1] - first)
        node = layout.roots[first[owner] + place]
        row = rows[owner].astype(np.int32)
        good = visible.start[row] < visible.end[row]
        good &= self._linked(layout.links[node], (), row)
        node, row = node[good].astype(np.int32), row[good]
        return _Held(node, visible.start[row], visible.end[row], (row,))

    def _grow(self, roots: _Held) -> Iterator[tuple[_Held, Mask]]:
        """Complete combinations and which of them stand apart: those contested, and of whole nodes.

        Depth first by blocks, so that memory stays bounded however much a block fans out.
        """
        layout = self._layout
        waiting = [iter([roots])]
        while waiting:
            held = next(waiting[-1], None)
            if held is None:
                waiting.pop()
                continue
            ends = np.flatnonzero(layout.ends[held.node] > 0)
            if len(ends):
                yield self._complete(held.take(ends))
            inner = np.flatnonzero(layout.child_offsets[held.node + 1] > layout.child_offsets[held.node])
            if len(inner):
                waiting.append(self._children(held.take(inner)))

    def _complete(self, held: _Held) -> tuple[_Held, Mask]:
        apart: Mask = self._wanted.whole[held.node]
        if self._wanted.only_new:
            kept = np.flatnonzero(((held.start > 0) & self._wanted.shown[held.start]) | apart)
            held, apart = held.take(kept), apart[kept]
        if self._contested is not None:
            apart = apart | self._contested.contested(held.padded(len(held.rows)), held.start, held.end)
        return held, apart

    def _children(self, held: _Held) -> Iterator[_Held]:
        layout, index = self._layout, self._index
        first = layout.child_offsets[held.node]
        owner, place = _spread(layout.child_offsets[held.node + 1] - first)
        node = layout.children[first[owner] + place]
        lane = layout.lane[node]
        values = self._values(held, node, owner)
        low = self._low[held.start][owner]
        if self._wanted.only_new:
            # What is old so far and ends here needs a new triple.
            last = layout.child_offsets[node + 1] == layout.child_offsets[node]
            last &= (held.start == 0)[owner] & ~self._wanted.whole[node]
            low = np.where(last, np.maximum(low, self._fresh), low)
        high = np.maximum(self._high[held.end][owner], low)
        begin, counts = index.runs(lane, values, low, high)
        some = np.flatnonzero(counts)
        head = index.entries(begin[some])
        if not index.mixed:
            some = some[(index.lane[head] == lane[some]) & (index.values[head] == values[some])]
        owner, node, values, begin, counts = (x[some] for x in (owner, node, values, begin, counts))
        ends = np.cumsum(counts)
        at = 0
        while at < len(counts):
            before = int(ends[at - 1]) if at else 0
            upto = max(at + 1, int(np.searchsorted(ends, before + BLOCK, side="right")))
            part = slice(at, upto)
            yield self._extended(held, owner[part], node[part], values[part], begin[part], counts[part])
            at = upto

    def _values(self, held: _Held, node: Ids, owner: Ids) -> Ids:
        """What each child is looked up by: the values of the places that it is linked to."""
        layout, visible = self._layout, self._visible
        triples, terms = np.concatenate(held.rows), visible.terms.ravel()
        values = np.zeros(len(node), np.int64)
        for place in range(PLACES):
            step = layout.from_step[place, node]
            some = np.flatnonzero(step >= 0)
            if len(some):
                row = triples[step[some] * len(held.node) + owner[some]]
                found = terms[layout.from_place[place, node[some]] * len(visible) + row]
                values[some] = _fold(values[some], found)
        return values

    def _extended(self, held: _Held, owner: Ids, node: Ids, values: Ids, begin: Ids, counts: Ids) -> _Held:
        layout, visible, index = self._layout, self._visible, self._index
        which, place = _spread(counts)
        entry = index.entries(begin[which] + place)
        row = index.row[entry]
        owner = owner[which]
        start = np.maximum(held.start[owner], visible.start[row])
        end = np.minimum(held.end[owner], visible.end[row])
        good: Mask | None = None
        if index.mixed:
            good = (index.lane[entry] == layout.lane[node][which]) & (index.values[entry] == values[which])
        if self._trimmed:
            good = (start < end) if good is None else good & (start < end)
        rest = layout.rest[node]
        if rest.any():
            linked = self._linked(rest[which], tuple(rows[owner] for rows in held.rows), row)
            good = linked if good is None else good & linked
        if good is not None and not good.all():
            kept = np.flatnonzero(good)
            owner, which, row, start, end = owner[kept], which[kept], row[kept], start[kept], end[kept]
        rows = tuple(rows[owner] for rows in held.rows)
        return _Held(node[which].astype(np.int32), start, end, (*rows, row))

    def _linked(self, links: Ids, rows: tuple[Rows, ...], row: Rows) -> Mask:
        """Where the links hold between the newest triple and the earlier ones, or within itself."""
        terms = self._visible.terms
        good = np.ones(len(row), np.bool_)
        linked = np.flatnonzero(links)
        if not len(linked):
            return good
        links, row = links[linked], row[linked]
        stacked = np.concatenate([*(column[linked] for column in rows), row])
        for place in range(PLACES):
            step, origin = link(links, place)
            some = np.flatnonzero(step >= 0)
            other = stacked[step[some] * len(row) + some]
            good[linked[some]] &= terms[place, row[some]] == terms[origin[some], other]
        return good


def _fold(values: Ids, more: Ids) -> Ids:
    """Two keys as one; a single value, folded into 0, stays what it is."""
    mixed = values * _FOLD
    mixed ^= mixed >> 29
    mixed += more
    return mixed


def _hash(lane: Ids, values: Ids) -> NDArray[np.uint64]:
    """A hash of lane and value in the upper 32 bits, the lower ones 0."""
    mixed = lane.view(np.uint64) * _LANE
    mixed += values.view(np.uint64)
    mixed ^= mixed >> np.uint64(30)
    mixed *= _MIX1
    mixed ^= mixed >> np.uint64(27)
    mixed *= _MIX2
    mixed >>= _HALF
    mixed <<= _HALF
    return mixed


def _spread(counts: Ids) -> tuple[Ids, Ids]:
    """Each owner as often as its count, and the place within its run."""
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
