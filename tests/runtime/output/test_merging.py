"""Answers of several slots, merged: the order is that of (time, text), whatever the slots."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.runtime.output import outputs
from weir.runtime.output.outputs import MergedResults, in_order

ROWS = st.lists(st.tuples(st.integers(0, 3), st.text('ab"<ä', max_size=4)), max_size=12)


@given(st.lists(ROWS, min_size=1, max_size=5))
def test_lines(slots: list[list[tuple[int, str]]]) -> None:
    tables = [_table(sorted(rows, key=lambda row: (row[0], row[1].encode()))) for rows in slots]
    found = in_order(tables)
    every = [row for rows in slots for row in rows]
    expected = sorted(every, key=lambda row: (row[0], row[1].encode()))
    assert list(zip(found["at"].to_pylist(), found["line"].to_pylist(), strict=True)) == expected


@given(st.lists(ROWS, min_size=1, max_size=5), st.integers(1, 5))
def test_block_by_block(slots: list[list[tuple[int, str]]], size: int) -> None:
    tables = [_table(sorted(rows, key=lambda row: (row[0], row[1].encode()))) for rows in slots]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outputs, "BLOCK", size)
        results = MergedResults("q", [(table, None) for table in tables])
        blocks = list(results.blocks())
        expected = in_order(tables)
        assert len(results) == len(expected)
        if blocks:
            assert pa.concat_tables(blocks).to_pydict() == expected.to_pydict()
        assert all(one["at"][-1].as_py() < other["at"][0].as_py() for one, other in pairwise(blocks))
        assert results.table.to_pydict() == expected.to_pydict()
        assert [block.to_pydict() for block in results.blocks()] == [expected.to_pydict()]


def _table(rows: list[tuple[int, str]]) -> pa.Table:
    at, line = [row[0] for row in rows], [row[1] for row in rows]
    return pa.table({"at": pa.array(at, pa.int64()), "line": pa.array(line, pa.large_string())})


@pytest.mark.parametrize("names", [[], ["x"], ["x", "y"]])
def test_columns_may_be_unbound(names: list[str]) -> None:
    front = {"at": pa.array([1, 2]), "op": pa.array(["I", "I"], pa.large_string())}
    one = pa.table({**front, **{name: pa.array(["b", None], pa.large_string()) for name in names}})
    other = pa.table({**front, **{name: pa.array(["a", "c"], pa.large_string()) for name in names}})
    found = in_order([one, other])
    assert found["at"].to_pylist() == [1, 1, 2, 2]
    for name in names:
        assert found[name].to_pylist() == ["a", "b", None, "c"]
