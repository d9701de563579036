"""L and B as the paper's example has them, and the sums of minima against loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service_graphs import bounded, ids
from weir.linked.service.scores import capped_sums, capped_table, evaluations_fresh, remaining_life


def test_life_of_section_5_2() -> None:
    """ω = 150, β = 30, a row that arrived at 100: seen at 100, 130, 160, 190, 220."""
    assert remaining_life(ids([100]), 150, 100, 30).tolist() == [5]
    assert remaining_life(ids([100]), 150, 160, 30).tolist() == [3]


def test_fresh_evaluations_of_section_5_2() -> None:
    """A copy that is fresh at 100, 130 and 160 and stale at 190 expires in (160, 190]."""
    assert evaluations_fresh(ids([160, 161, 190, 191]), 100, 30).tolist() == [2, 3, 3, 4]
    assert evaluations_fresh(ids([100, 40]), 100, 30).tolist() == [0, 0]


@bounded
@given(st.integers(0, 50), st.integers(1, 40), st.integers(1, 10), st.integers(0, 60))
def test_life_counts_the_evaluations_that_see_a_row(t: int, width: int, slide: int, wait: int) -> None:
    now = t + wait
    seen = sum(now + k * slide < t + width for k in range(100))
    assert remaining_life(ids([t]), width, now, slide).tolist() == [seen]


@bounded
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), max_size=12),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=8),
)
def test_sums_of_minima(rows: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    group, life = ids([r[0] for r in rows]), ids([r[1] for r in rows])
    got = capped_sums(group, life, ids([a[0] for a in asked]), ids([a[1] for a in asked]))
    assert got.tolist() == [sum(min(x, b) for h, x in rows if h == g) for g, b in asked]
    table = capped_table(group, life, 4, 5)
    expected = [[sum(min(x, b) for h, x in rows if h == g) for b in range(6)] for g in range(4)]
    assert np.array_equal(table, expected)
