"""Periods and phases that are learned."""

from __future__ import annotations

import numpy as np
import pytest

from weir.linked.service.estimate import ChangePhases, ChangeRates

SECOND = 1_000_000
KEYS = 20
EVERY = np.arange(KEYS)


def watched(
    period: np.ndarray, phase: np.ndarray, times: int, *, random: bool = False
) -> tuple[ChangePhases, int]:
    """Keys refreshed every second, but for some refreshes left out; gives when the last was."""
    chance = np.random.default_rng(4)
    rates, phases = ChangeRates(5 * SECOND), ChangePhases()
    rates.add(KEYS)
    phases.add(KEYS)
    fetched, seen = np.zeros(KEYS, np.int64), np.floor(-phase / period)
    for step in range(1, times + 1):
        at = step * SECOND
        version = np.floor((at - phase) / period)
        changed = chance.random(KEYS) < -np.expm1(-(at - fetched) / period) if random else version != seen
        some = EVERY[chance.random(KEYS) < (0.7 if step < times else 1.0)]
        rates.observe(some, at - fetched[some], changed[some])
        phases.observe(some, fetched[some], at, changed[some], rates)
        fetched[some], seen[some] = at, version[some]
    return phases, times * SECOND


PERIOD = np.linspace(2.6, 6.4, KEYS) * SECOND
PHASE = np.linspace(0.05, 0.95, KEYS) * PERIOD


def test_the_next_change_is_foreseen() -> None:
    phases, now = watched(PERIOD, PHASE, 60)
    regular = np.flatnonzero(phases.regular)
    assert len(regular) >= 0.6 * KEYS
    assert np.abs(phases.period[regular] / PERIOD[regular] - 1).max() < 0.1
    coming = PHASE + (np.floor((now - PHASE) / PERIOD) + 1) * PERIOD - now
    error = np.abs(np.median(phases.next[regular], axis=1) - coming[regular])
    assert np.median(error) < 0.5 * SECOND


def test_chances_fall_at_the_time_of_the_change() -> None:
    phases, now = watched(PERIOD, PHASE, 60)
    some = np.flatnonzero(phases.regular)
    coming = (PHASE + (np.floor((now - PHASE) / PERIOD) + 1) * PERIOD - now)[some]
    before = phases.unchanged(some, np.maximum(coming - 0.8 * SECOND, 0).astype(np.int64))
    after = phases.unchanged(some, (coming + 0.8 * SECOND).astype(np.int64))
    assert before.mean() > 0.85 and after.mean() < 0.15


def test_random_changes_are_not_regular() -> None:
    phases, _ = watched(PERIOD, PHASE, 60, random=True)
    assert phases.regular.sum() <= 0.15 * KEYS


def test_only_what_is_stale_is_worth_a_refresh() -> None:
    phases, _ = watched(PERIOD, PHASE, 60)
    some = np.flatnonzero(phases.regular)
    alive = np.ones((len(some), 2))
    fresh = phases.lasting(some, np.zeros(len(some), np.int64), SECOND, alive)
    stale = phases.lasting(some, phases.next[some].max(1), SECOND, alive)
    assert fresh.max() == 0.0
    assert stale.min() > 0.0
    assert stale.max() <= phases.period[some].max() // SECOND + 1


def test_state_is_kept_and_keys_are_forgotten() -> None:
    phases, _ = watched(PERIOD, PHASE, 30)
    twin = ChangePhases()
    twin.restore(phases.state())
    assert np.array_equal(twin.next, phases.next) and np.array_equal(twin.period, phases.period)
    phases.keep(EVERY >= 10)
    assert np.array_equal(phases.period, twin.period[10:])


@pytest.mark.parametrize("changed", [True, False])
def test_one_observation_says_little(changed: bool) -> None:
    rates, phases = ChangeRates(SECOND), ChangePhases()
    rates.add(1)
    phases.add(1)
    one = np.zeros(1, np.int64)
    phases.observe(one, one, SECOND, np.array([changed]), rates)
    assert not phases.regular.any()
