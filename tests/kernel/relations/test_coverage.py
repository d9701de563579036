"""Unions of intervals, and what they leave uncovered."""

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
from weir.kernel.relations.coverage import expand, uncovered, unite
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
