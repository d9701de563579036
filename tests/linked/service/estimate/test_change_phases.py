"""Periods and phases that are learned."""

from __future__ import annotations

import numpy as np
import pytest

from weir.linked.service.estimate import ChangePhases, ChangeRates
from weir.linked.service.estimate.change_phases import CURIOUS, SAMPLES

SECOND = 1_000_000
KEYS = 20
EVERY = np.arange(KEYS)


def watched(
    period: np.ndarray, phase: np.ndarray, times: int, *, random: bool = False
) -> tuple[ChangePhases, int]:
    """Keys refreshed every second, but for some refreshes left out; gives when the last was."""
    chance = np.random.default_rng(4)
    rates, phases = ChangeRates(5 * SECOND), ChangePhases(5 * SECOND)
    rates.add(KEYS)
    phases.add(KEYS)
    fetched, seen = np.zeros(KEYS, np.int64), np.floor(-phase / period)
    for step in range(1, times + 1):
        at = step * SECOND
        version = np.floor((at - phase) / period)
        changed = chance.random(KEYS) < -np.expm1(-(at - fetched) / period) if random else version != seen
        some = EVERY[chance.random(KEYS) < (0.7 if step < times else 1.0)]
        gone = at - fetched[some]
        phases.observe(some, fetched[some], at, changed[some], rates.unchanged(some, gone, random=True))
        rates.observe(some, gone, changed[some])
        fetched[some], seen[some] = at, version[some]
    return phases, times * SECOND


PERIOD = np.linspace(2.6, 6.4, KEYS) * SECOND
PHASE = np.linspace(0.05, 0.95, KEYS) * PERIOD


def test_the_next_change_is_foreseen() -> None:
    phases, now = watched(PERIOD, PHASE, 60)
    assert (phases.even(EVERY) > 0.9).sum() >= 0.9 * KEYS
    assert np.abs(np.median(phases.period, axis=1) / PERIOD - 1).max() < 0.1
    coming = PHASE + (np.floor((now - PHASE) / PERIOD) + 1) * PERIOD - now
    error = np.abs(np.median(phases.next, axis=1) - coming)
    assert np.median(error) < 0.3 * SECOND


def test_chances_fall_at_the_time_of_the_change() -> None:
    phases, now = watched(PERIOD, PHASE, 60)
    coming = PHASE + (np.floor((now - PHASE) / PERIOD) + 1) * PERIOD - now
    before = phases.unchanged(EVERY, np.maximum(coming - 0.8 * SECOND, 0).astype(np.int64))
    after = phases.unchanged(EVERY, (coming + 0.8 * SECOND).astype(np.int64))
    assert before.mean() > 0.85 and after.mean() < 0.15


def test_random_changes_are_not_even() -> None:
    phases, _ = watched(PERIOD, PHASE, 60, random=True)
    assert np.median(phases.even(EVERY)) < 0.1


def test_a_key_that_takes_up_another_period_is_followed() -> None:
    phases, now = ChangePhases(SECOND), 0
    phases.add(1)
    one, fetched, seen = np.zeros(1, np.int64), 0, 0
    for step in range(1, 181):
        now = step * SECOND
        version = now // int(7.3 * SECOND) if step < 60 else 1000 + now // int(3.4 * SECOND)
        phases.observe(one, one + fetched, now, np.array([version != seen]), np.array([0.7]))
        fetched, seen = now, version
    assert np.median(phases.period) / SECOND == pytest.approx(3.4, rel=0.05)
    assert phases.even(one)[0] > 0.9


def test_only_what_is_stale_is_worth_a_refresh() -> None:
    phases, _ = watched(PERIOD, PHASE, 60)
    alive = np.ones((KEYS, 2))
    fresh = phases.lasting(EVERY, np.zeros(KEYS, np.int64), SECOND, alive)
    stale = phases.lasting(EVERY, phases.next.max(1).astype(np.int64) + 1, SECOND, alive)
    assert fresh.max() == 0.0
    assert stale.min() > 0.0
    assert stale.max() <= phases.period.max() // SECOND + 1


def test_what_a_refresh_is_worth_by_its_definition() -> None:
    """Pair by pair, evaluation by evaluation; and more where it is not known whether the copy is true."""
    phases, _ = watched(PERIOD, PHASE, 30)
    chance = np.random.default_rng(3)
    elapsed, alive = chance.integers(0, 9 * SECOND, KEYS), chance.uniform(0, 9, (KEYS, 4))
    found = phases.lasting(EVERY, elapsed, SECOND, alive)
    for key in range(KEYS):
        total, stale = 0.0, []
        for period, left in zip(phases.period[key].tolist(), phases.next[key].tolist(), strict=True):
            change = left - int(elapsed[key])
            stale.append(change <= 0)
            while change <= 0:
                change += period
            if stale[-1]:
                total += sum(alive[key, min(k, 3)] for k in range(64) if k * SECOND < change)
        doubt = np.mean(stale) * (1 - np.mean(stale))
        assert found[key] - total / SAMPLES == pytest.approx(CURIOUS * alive[key, 0] * doubt, rel=1e-4)


def test_state_is_kept_and_keys_are_forgotten() -> None:
    phases, now = watched(PERIOD, PHASE, 30)
    twin = ChangePhases(5 * SECOND)
    twin.restore(phases.state())
    for each in (phases, twin):
        each.observe(EVERY, np.full(KEYS, now), now + SECOND, EVERY % 2 == 0, np.full(KEYS, 0.8))
    assert np.array_equal(twin.next, phases.next) and np.array_equal(twin.period, phases.period)
    assert np.array_equal(twin.even(EVERY), phases.even(EVERY))
    phases.keep(EVERY >= 10)
    assert np.array_equal(phases.period, twin.period[10:])


@pytest.mark.parametrize("changed", [True, False])
def test_one_observation_says_little(changed: bool) -> None:
    phases = ChangePhases(SECOND)
    phases.add(2)
    one = np.zeros(1, np.int64)
    phases.observe(one, one, SECOND, np.array([changed]), np.array([0.5]))
    assert 0.2 < phases.even(one)[0] < 0.7
    assert phases.even(one + 1)[0] == 0.0
