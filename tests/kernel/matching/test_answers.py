"""Results as small numbers: whatever the width, they are again what they were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.kernel.matching.answers import Near

far = st.sampled_from([3, 127, 128, 129, 40_000, 2**31 - 1])


@given(st.data(), st.integers(1, 4), st.integers(0, 8))
def test_a_result_comes_back_as_it_was(data, width, count):
    most = data.draw(far)
    number = st.integers(0, most)
    index = np.array([data.draw(number) for _ in range(count)], np.int32)
    rows = np.array([[data.draw(number) for _ in range(width)] for _ in range(count)], np.int32)
    rows = rows.reshape(count, width)
    for row in rows:
        row[data.draw(st.integers(1, width)) :] = -1
    near = Near.of(index, rows)
    assert len(near) == count
    assert near.index.tolist() == index.tolist()
    assert near.rows.tolist() == rows.tolist()


@pytest.mark.parametrize(
    ("distance", "width"), [(127, np.int8), (128, np.int16), (32_767, np.int16), (32_768, np.int32)]
)
def test_the_longest_distance_decides_the_width(distance, width):
    for other in (1_000_000 - distance, 1_000_000 + distance):
        near = Near.of(np.array([5, 6], np.int32), np.array([[1_000_000, other], [1_000_000, -1]], np.int32))
        assert near.columns.dtype == width
        assert near.rows.tolist() == [[1_000_000, other], [1_000_000, -1]]
