"""Lives inferred from counts are those that arrival times give."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from service_graphs import bounded, ids
from weir.linked.service.lifetimes import LONG, Lifetimes


def lives(tracker: Lifetimes, present: Counter[int], at: int, slide: int) -> list[tuple[int, int]]:
    bindings = sorted(present, reverse=True)
    place, life = tracker.update(ids(bindings), ids([present[b] for b in bindings]), at, slide)
    return sorted((bindings[p], n) for p, n in zip(place.tolist(), life.tolist(), strict=True))


@bounded
@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(10, 12)), max_size=25),
    st.integers(1, 5),
    st.integers(1, 10),
)
def test_lives_are_exact_where_the_slide_divides_the_width(
    arrivals: list[tuple[int, int]], steps: int, slide: int
) -> None:
    """Windows (τ − ω, τ] with ω = steps · slide, evaluated every slide."""
    width = steps * slide
    tracker = Lifetimes(width)
    for at in range(slide, 80, slide):
        inside = [(t, b) for t, b in arrivals if at - width < t <= at]
        expected = sorted((b, sum(at + k * slide < t + width for k in range(99))) for t, b in inside)
        assert lives(tracker, Counter(b for _, b in inside), at, slide) == expected


def test_rows_that_go_early_are_the_oldest() -> None:
    """
    1 row at 10, 2 more at 20, one missing at 25: the one of 10 has gone.
    """
    tracker = Lifetimes(40)
    assert lives(tracker, Counter({7: 1}), 10, 10) == [(7, 4)]
    assert lives(tracker, Counter({7: 3}), 20, 10) == [(7, 3), (7, 4), (7, 4)]
    assert lives(tracker, Counter({7: 2}), 25, 10) == [(7, 4), (7, 4)]


def test_without_a_width_rows_live_long() -> None:
    assert lives(Lifetimes(None), Counter({3: 2}), 5, 1) == [(3, LONG), (3, LONG)]


def test_nothing_in_the_window() -> None:
    tracker = Lifetimes(10)
    assert lives(tracker, Counter(), 5, 1) == []
    assert lives(tracker, Counter({1: 1}), 6, 1) == [(1, 10)]
    assert lives(tracker, Counter(), 7, 1) == []
    assert lives(tracker, Counter({1: 1}), 8, 1) == [(1, 10)]
