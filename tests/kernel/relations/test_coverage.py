"""Unions of intervals, what they leave uncovered, and segments, against lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bags import (
    INDICES,
    check_each_index,
    intervals,
    relations,
    thorough,
)
from weir.kernel.relations.coverage import Sweep, expand, uncovered, unite
from weir.kernel.relations.relation import Relation


@thorough
@given(st.lists(st.tuples(st.integers(0, 3), intervals()), max_size=12), st.sampled_from([0, 1 << 58]))
def test_unions_and_gaps(pieces: list[tuple[int, tuple[int, int]]], far: int) -> None:
    """Far apart times exercise the layout by ranks."""
    owner = np.array([owner for owner, _ in pieces], np.int64)
    start = np.array([span[0] for _, span in pieces], np.int64)
    end = np.array([span[1] for _, span in pieces], np.int64)
    scale = 1 if not far else far // INDICES
    united = unite(owner, start * scale, end * scale)
    covered = {(row, k) for row, (first, last) in pieces for k in range(first, last)}
    listed = [
        (row, k)
        for row, first, last in zip(*(column.tolist() for column in united), strict=True)
        for k in range(first // scale, last // scale)
    ]
    assert len(listed) == len(set(listed)) and set(listed) == covered
    rows = np.zeros(4, np.int64)
    gaps = uncovered(rows, rows + INDICES * scale, owner, start * scale, end * scale)
    listed = [
        (row, k)
        for row, first, last in zip(*(column.tolist() for column in gaps), strict=True)
        for k in range(first // scale, last // scale)
    ]
    assert len(listed) == len(set(listed))
    assert set(listed) == {(row, k) for row in range(4) for k in range(INDICES)} - covered


@thorough
@given(relations(("x",), unbound=False))
def test_expand_lists_every_index(relation: Relation) -> None:
    rows, index = expand(relation.start, relation.end)
    single = relation.pieces(rows, index, index + 1)
    check_each_index(single, [relation], lambda bag: bag)


ROWS = st.lists(st.tuples(st.integers(0, 2), intervals(), st.integers(-5, 5)), min_size=1, max_size=12)


@thorough
@given(ROWS)
def test_segments_hold_the_rows_that_cover_them(rows: list[tuple[int, tuple[int, int], int]]) -> None:
    group = np.array([row[0] for row in rows])
    start, end = (np.array([row[1][side] for row in rows]) for side in range(2))
    values = np.array([row[2] for row in rows])
    sweep = Sweep(group, start, end)
    first, last = sweep.ranges(group, start, end)
    counts, sums = sweep.counts(first, last), sweep.sums(first, last, values)
    least = sweep.least(first, last, values, 99)
    alive = np.flatnonzero(counts)
    covered = set()
    for segment, owner, begin, stop in zip(
        alive.tolist(), *(c.tolist() for c in sweep.intervals(alive)), strict=True
    ):
        here = [
            value for which, (low, high), value in rows if which == owner and low <= begin and stop <= high
        ]
        assert (counts[segment], sums[segment], least[segment]) == (len(here), sum(here), min(here))
        covered |= {(owner, index) for index in range(begin, stop)}
    assert covered == {(which, index) for which, (low, high), _ in rows for index in range(low, high)}


@thorough
@given(ROWS)
def test_members_list_every_pair_once(rows: list[tuple[int, tuple[int, int], int]]) -> None:
    group = np.array([row[0] for row in rows])
    start, end = (np.array([row[1][side] for row in rows]) for side in range(2))
    sweep = Sweep(group, start, end)
    first, last = sweep.ranges(group, start, end)
    pairs = [
        pair for part in sweep.members(first, last) for pair in zip(*(c.tolist() for c in part), strict=True)
    ]
    expected = [(s, row) for row in range(len(rows)) for s in range(int(first[row]), int(last[row]))]
    assert sorted(pairs) == sorted(expected) and [s for s, _ in pairs] == sorted(s for s, _ in pairs)
