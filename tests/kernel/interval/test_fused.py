"""The last join of a flow with its distinct answers: the compiled loop and the arrays say what a set says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bags import thorough
from weir.kernel.interval import fused
from weir.kernel.interval.buffer import Buffer

Row = tuple[int, int, int]


@st.composite
def flows(draw: st.DrawFn) -> tuple[list[Row], list[int]]:
    """Rows of (owner, first place, count), owners ascending with the rows' instants, and the numbers."""
    numbers = draw(st.lists(st.integers(0, 5), min_size=1, max_size=20))
    owners = sorted(draw(st.lists(st.integers(0, 6), min_size=1, max_size=12)))
    rows = []
    for owner in owners:
        first = draw(st.integers(0, len(numbers)))
        rows.append((owner, first, draw(st.integers(0, len(numbers) - first))))
    return rows, numbers


def expected(rows: list[Row], numbers: list[int]) -> set[tuple[int, int]]:
    return {(owner, numbers[place]) for owner, first, count in rows for place in range(first, first + count)}


@thorough
@given(flows())
def test_blocks_find_every_combination_once(drawn: tuple[list[Row], list[int]]) -> None:
    rows, numbers = drawn
    owner, first, count = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    found = [
        pair
        for block in fused._blocks(first, count, owner, np.array(numbers), 3, owner)
        for pair in zip(*(column.tolist() for column in block), strict=True)
    ]
    assert len(found) == len(set(found))
    assert set(found) == expected(rows, numbers)


@pytest.mark.skipif(fused.compiled is None, reason="numba, which compiles the loop, is not installed")
@thorough
@given(flows())
def test_the_compiled_loop_finds_every_combination_once(drawn: tuple[list[Row], list[int]]) -> None:
    rows, numbers = drawn
    owner, first, count = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    owners, codes = fused.compiled.distinct_pairs(
        np.argsort(owner, kind="stable"), first, count, owner, np.array(numbers), 6
    )
    found = list(zip(owners.tolist(), codes.tolist(), strict=True))
    assert len(found) == len(set(found))
    assert set(found) == expected(rows, numbers)
    assert owners.tolist() == sorted(owners.tolist())


@thorough
@given(st.lists(st.integers(0, 20)), st.integers(-1, 21), st.integers(-5, 40), st.integers(0, 10))
def test_a_search_from_a_guess_finds_what_a_search_of_all_finds(
    values: list[int], wanted: int, near: int, gone: int
) -> None:
    buffer = Buffer(("value",))
    buffer.append([np.array(sorted(values), np.int64)])
    buffer.drop(min(gone, len(values)))
    kept = sorted(values)[min(gone, len(values)) :]
    place = next((i for i, value in enumerate(kept) if value >= wanted), len(kept))
    assert buffer.seek(0, wanted, near) == buffer.first + place
