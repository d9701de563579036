"""Scores L and B against their definitions; lives of window rows; change intervals that are learned."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_graphs import bounded, ids
from weir.linked.service.estimates import (
    LONG,
    Lifetimes,
    evaluations_fresh,
    learned_interval,
    observe,
    pooled_interval,
    remaining_life,
)
from weir.linked.service.policies import capped_sums, capped_table


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


KEYS = 400


def watch(interval: float, gap: float, times: int, prior: int, seed: int = 3) -> np.ndarray:
    """Learned intervals of keys that change as a Poisson process and are looked at every ``gap``."""
    chance = np.random.default_rng(seed)
    changes, watched = np.zeros(KEYS), np.zeros(KEYS)
    for _ in range(times):
        changed = chance.random(KEYS) < -np.expm1(-gap / interval)
        changes, watched = observe(changes, watched, np.full(KEYS, int(gap)), changed, prior)
    return learned_interval(changes, watched, prior)


@pytest.mark.parametrize("gap", [300.0, 1_000.0, 1_500.0])
@pytest.mark.parametrize("prior", [200, 1_000, 5_000])
def test_the_mean_interval_is_found(gap: float, prior: int) -> None:
    """Whatever was believed first, and whether refreshes are rarer or more frequent than changes."""
    learned = watch(1_000.0, gap, 120, prior)
    assert 650 < np.median(learned) < 1_500


def test_a_key_never_watched_has_the_prior() -> None:
    assert learned_interval(np.zeros(1), np.zeros(1), 77).tolist() == [77]


def test_the_pool_stands_for_new_keys() -> None:
    chance = np.random.default_rng(1)
    changes, watched = np.zeros(KEYS), np.zeros(KEYS)
    for _ in range(30):
        changed = chance.random(KEYS) < -np.expm1(-0.5)
        changes, watched = observe(changes, watched, np.full(KEYS, 500), changed, 60_000)
    assert 500 < pooled_interval(changes, watched, 60_000) < 2_000


def test_a_drifting_source_is_followed() -> None:
    chance = np.random.default_rng(2)
    changes, watched = np.zeros(KEYS), np.zeros(KEYS)
    for interval in [200.0] * 60 + [5_000.0] * 60:
        changed = chance.random(KEYS) < -np.expm1(-500 / interval)
        changes, watched = observe(changes, watched, np.full(KEYS, 500), changed, 1_000)
    assert np.median(learned_interval(changes, watched, 1_000)) > 2_000


def test_something_that_never_changes_is_left_alone_longer_and_longer() -> None:
    changes, watched = np.zeros(1), np.zeros(1)
    seen = []
    for _ in range(10):
        interval = learned_interval(changes, watched, 100)
        seen.append(int(interval[0]))
        changes, watched = observe(changes, watched, interval, np.zeros(1, bool), 100)
    assert seen == sorted(seen) and seen[-1] > 20 * seen[0]


def test_observations_at_once_do_no_harm() -> None:
    changes, watched = observe(np.zeros(2), np.zeros(2), np.zeros(2, np.int64), np.array([True, False]), 100)
    assert np.isfinite(changes).all() and learned_interval(changes, watched, 100).min() >= 1
