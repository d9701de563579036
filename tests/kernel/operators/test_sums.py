"""Sums of doubles, exact and rounded once."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bags import thorough
from weir.kernel.operators.sums import real_sums
from weir.kernel.relations.coverage import Sweep


@thorough
@given(
    st.lists(
        st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 8), st.integers(1, 4)),
        min_size=1,
        max_size=30,
    )
)
def test_real_sums_are_correctly_rounded(rows: list[tuple[float, int, int]]) -> None:
    values = np.array([value for value, _, _ in rows])
    start = np.array([first for _, first, _ in rows])
    end = start + np.array([length for _, _, length in rows])
    nothing = np.zeros(len(rows), np.int64)
    sweep = Sweep(nothing, start, end)
    first, last = sweep.ranges(nothing, start, end)
    sums = real_sums(sweep, first, last, values)
    for segment in range(sweep.segments):
        inside = [value for value, a, b in zip(values.tolist(), first, last, strict=True) if a <= segment < b]
        try:
            expected = math.fsum(inside)
        except OverflowError:
            continue
        assert sums[segment] == expected
