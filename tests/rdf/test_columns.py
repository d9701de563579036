"""Sets of numbers as columns."""

from __future__ import annotations

import numpy as np
import pytest

from weir.rdf.columns import one_of, sorted_set


@pytest.mark.parametrize("shape", [0, 1, 50, (3, 20)])
def test_every_value_is_there_once_and_in_order(shape: int | tuple[int, int]) -> None:
    values = np.random.default_rng(1).integers(-9, 9, shape)
    assert sorted_set(values).tolist() == sorted(set(values.ravel().tolist()))


def test_which_values_are_known() -> None:
    values = np.array([3, -9, 3, 7, 2**62])
    assert one_of(values, np.array([3, 7])).tolist() == [True, False, True, True, False]
    assert one_of(values, values[:0]).tolist() == [False] * 5
    assert one_of(values[:0], values[:1]).tolist() == []
