"""Rows found by their keys, also within a range of positions, against plain search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bags import thorough
from weir.errors import EvaluationError
from weir.kernel.relations import sorted_keys
from weir.kernel.relations.sorted_keys import SortedKeys, spread

KEYS = st.lists(st.integers(0, 4), max_size=20)


@thorough
@given(KEYS, KEYS)
def test_ranges_list_the_positions_of_each_key(keys: list[int], probes: list[int]) -> None:
    index = SortedKeys(np.array(keys, np.int64))
    probe, place = spread(*index.ranges(np.array(probes, np.int64)))
    found = list(zip(probe.tolist(), index.order[place].tolist(), strict=True))
    assert found == [(i, j) for i, key in enumerate(probes) for j, other in enumerate(keys) if key == other]


@pytest.mark.parametrize("many", [0, 1 << 9])
@thorough
@given(KEYS, st.lists(st.tuples(st.integers(0, 5), st.integers(-2, 22), st.integers(-2, 22)), max_size=9))
def test_ranges_within_leave_out_other_positions(
    many: int, keys: list[int], probes: list[tuple[int, int, int]]
) -> None:
    index = SortedKeys(np.array(keys, np.int64))
    columns = [np.array(column, np.int64) for column in zip(*probes, strict=True)] or [
        np.empty(0, np.int64)
    ] * 3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_keys, "_MANY", many)
        probe, place = spread(*index.ranges_within(*columns))
    found = list(zip(probe.tolist(), index.order[place].tolist(), strict=True))
    assert found == [
        (i, j)
        for i, (key, low, high) in enumerate(probes)
        for j, other in enumerate(keys)
        if key == other and low <= j < high
    ]


def test_more_pairs_than_a_slab_may_have_are_refused() -> None:
    with pytest.raises(EvaluationError, match="more than"):
        spread(np.zeros(1, np.int64), np.array([sorted_keys.LIMIT + 1]))
