"""Numbers of distinct rows, also where the hashes of different rows are equal; rows found by their keys, also
within a range of positions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bags import thorough
from weir.errors import EvaluationError
from weir.kernel.relations import keys as module
from weir.kernel.relations.keys import (
    SortedKeys,
    codes,
    combine,
    firsts,
    grouped,
    occurrences,
    positions_in,
    spread,
)

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 2)), max_size=30)


@pytest.mark.parametrize("large", [1, 1 << 9])
@thorough
@given(ROWS)
def test_equal_rows_have_one_number(large: int, rows: list[tuple[int, int]]) -> None:
    columns = [np.array([row[place] for row in rows], np.int64) for place in range(2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LARGE", large)
        numbers, first = codes(columns, len(rows))
        places = firsts(columns, len(rows))
    assert [rows[first[number]] for number in numbers.tolist()] == rows
    assert len(first) == len(set(rows))
    assert places.tolist() == [rows.index(row) for row in dict.fromkeys(rows)]


def test_no_columns_are_one_row() -> None:
    assert codes((), 3)[0].tolist() == [0, 0, 0]


def test_one_column_is_its_own_key() -> None:
    column = np.array([5, 3])
    assert combine([column]) is column


KEYS = st.lists(st.integers(0, 4), max_size=20)


@pytest.mark.parametrize("many", [0, 1 << 9])
@thorough
@given(KEYS, KEYS)
def test_ranges_list_the_positions_of_each_key(many: int, keys: list[int], probes: list[int]) -> None:
    index = SortedKeys(np.array(keys, np.int64))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MANY", many)
        probe, place = spread(*index.ranges(np.array(probes, np.int64)))
    found = list(zip(probe.tolist(), index.order[place].tolist(), strict=True))
    assert found == [(i, j) for i, key in enumerate(probes) for j, other in enumerate(keys) if key == other]


@thorough
@given(KEYS, st.lists(st.tuples(st.integers(0, 5), st.integers(-2, 22), st.integers(-2, 22)), max_size=9))
def test_ranges_within_leave_out_other_positions(keys: list[int], probes: list[tuple[int, int, int]]) -> None:
    index = SortedKeys(np.array(keys, np.int64))
    columns = [np.array(column, np.int64) for column in zip(*probes, strict=True)] or [
        np.empty(0, np.int64)
    ] * 3
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
        spread(np.zeros(1, np.int64), np.array([module.LIMIT + 1]))


@thorough
@given(ROWS)
def test_occurrences_count_equal_rows(rows: list[tuple[int, int]]) -> None:
    columns = [np.array([row[place] for row in rows], np.int64) for place in range(2)]
    assert occurrences(columns, len(rows)).tolist() == [
        rows[: i + 1].count(row) for i, row in enumerate(rows)
    ]


@thorough
@given(st.lists(st.integers(0, 9)), st.lists(st.integers(-1, 10)))
def test_positions_in_ascending_values(values: list[int], probes: list[int]) -> None:
    found = positions_in(np.array(sorted(values), np.int64), np.array(sorted(probes), np.int64))
    assert found.tolist() == [sum(value < probe for value in values) for probe in sorted(probes)]


@given(st.lists(st.tuples(*[st.integers(1, 3)] * 3), max_size=30))
def test_equal_rows_become_neighbours_in_their_old_order(rows: list[tuple[int, int, int]]) -> None:
    order, new = grouped(list(np.array(rows, np.int64).reshape(-1, 3).T), len(rows))
    groups: dict[tuple[int, int, int], list[int]] = {}
    for place, row in enumerate(rows):
        groups.setdefault(row, []).append(place)
    found = np.split(order, np.flatnonzero(new)[1:]) if rows else []
    assert sorted(part.tolist() for part in found) == sorted(groups.values())
