"""Rates that are learned, and the chances that follow from them."""

from __future__ import annotations

import numpy as np
import pytest

from weir.linked.service.estimate import ChangeRates

SECOND = 1_000_000
KEYS = 200
EVERY = np.arange(KEYS)


def watched(
    interval: np.ndarray, gap: float, times: int, first: float, *, even: bool = False, seed: int = 1
) -> ChangeRates:
    """Keys with mean change intervals (s), refreshed ``times`` times every ``gap`` seconds."""
    chance = np.random.default_rng(seed)
    rates = ChangeRates(int(first * SECOND))
    rates.add(len(interval))
    stays = np.maximum(1 - gap / interval, 0) if even else np.exp(-gap / interval)
    for _ in range(times):
        changed = chance.random(len(interval)) >= stays
        rates.observe(np.arange(len(interval)), np.full(len(interval), int(gap * SECOND)), changed)
    return rates


@pytest.mark.parametrize("gap", [0.3, 1.0, 1.5])
@pytest.mark.parametrize("first", [0.2, 1.0, 20.0])
def test_the_mean_interval_is_found(gap: float, first: float) -> None:
    """Whatever was believed first, and whether refreshes are rarer or more frequent than changes."""
    learned = watched(np.ones(KEYS), gap, 60, first).intervals(EVERY) / SECOND
    assert 0.65 < np.median(learned) < 1.5


@pytest.mark.parametrize("even", [False, True])
def test_chances_are_calibrated(even: bool) -> None:
    """Of copies with about the same chance as many are true as that says, whether changes are random or
    even."""
    interval = np.exp(np.random.default_rng(3).uniform(np.log(0.5), np.log(30), KEYS))
    rates = watched(interval, 2.0, 12, 10.0, even=even)
    for age in (1.0, 4.0):
        thought = rates.unchanged(EVERY, np.full(KEYS, int(age * SECOND)))
        true = np.maximum(1 - age / interval, 0) if even else np.exp(-age / interval)
        assert abs(thought.mean() - true.mean()) < 0.04
        for low, high in ((0.0, 0.5), (0.5, 1.01)):
            some = (thought >= low) & (thought < high)
            assert abs(thought[some].mean() - true[some].mean()) < 0.1


def test_a_key_never_watched_is_judged_by_its_like() -> None:
    rates = watched(np.full(KEYS, 2.0), 1.0, 20, 3600.0)
    rates.add(1)
    assert 1.0 < rates.intervals(np.array([KEYS]))[0] / SECOND < 4.0
    alone = ChangeRates(77 * SECOND)
    alone.add(1)
    assert alone.unchanged(np.zeros(1, np.int64), np.array([SECOND]))[0] > 0.8


def test_a_drifting_source_is_followed() -> None:
    chance = np.random.default_rng(2)
    rates = ChangeRates(SECOND)
    rates.add(KEYS)
    for interval in [0.2] * 60 + [5.0] * 60:
        changed = chance.random(KEYS) < -np.expm1(-0.5 / interval)
        rates.observe(EVERY, np.full(KEYS, SECOND // 2), changed)
    assert np.median(rates.intervals(EVERY)) > 2 * SECOND


def test_what_a_refresh_is_worth_by_its_definition() -> None:
    """The sum over evaluations, term by term."""
    rates = watched(np.geomspace(0.5, 40, KEYS), 1.0, 15, 5.0)
    ages, alive = np.arange(KEYS) % 12, np.random.default_rng(5).uniform(0, 9, (KEYS, 4))
    found = rates.lasting(EVERY, ages, SECOND, alive)
    for key in range(0, KEYS, 17):
        one = np.array([key])
        true = [float(rates.unchanged(one, np.array([k * SECOND]))[0]) for k in range(13)]
        age = int(ages[key])
        worth = sum(alive[key, min(k, 3)] * (true[k] - true[age]) for k in range(age))
        assert found[key] == pytest.approx(worth, abs=1e-6)


def test_state_is_kept_and_keys_are_forgotten() -> None:
    rates = watched(np.geomspace(0.5, 40, KEYS), 1.0, 5, 5.0)
    twin = ChangeRates(5 * SECOND)
    twin.restore(rates.prior, rates.state())
    ages = np.full(KEYS, 3 * SECOND)
    assert np.array_equal(twin.unchanged(EVERY, ages), rates.unchanged(EVERY, ages))
    rates.keep(EVERY >= 100)
    assert np.array_equal(rates.unchanged(EVERY[:100], ages[:100]), twin.unchanged(EVERY[100:], ages[100:]))


def test_observations_at_once_do_no_harm() -> None:
    rates = ChangeRates(SECOND)
    rates.add(2)
    rates.observe(np.arange(2), np.zeros(2, np.int64), np.array([True, False]))
    assert np.isfinite(rates.unchanged(np.arange(2), np.array([0, 5 * SECOND]))).all()
