"""Numbers of distinct rows, also where the hashes of different rows are equal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bags import thorough
from weir.kernel.relations import keys
from weir.kernel.relations.keys import codes, combine, firsts

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 2)), max_size=30)


@pytest.mark.parametrize("large", [1, 1 << 9])
@thorough
@given(ROWS)
def test_equal_rows_have_one_number(large: int, rows: list[tuple[int, int]]) -> None:
    columns = [np.array([row[place] for row in rows], np.int64) for place in range(2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "_LARGE", large)
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
