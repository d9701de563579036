"""A first-in first-out table of columns."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bags import thorough
from weir.kernel.windows.buffer import Buffer


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
