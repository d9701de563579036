"""Change intervals learned from refreshes that only say whether something changed."""

from __future__ import annotations

import numpy as np
import pytest

from weir.linked.service.intervals import learned_interval, observe, pooled_interval

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
