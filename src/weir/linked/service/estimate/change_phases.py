"""When keys change that change at equal intervals: period and phase, learned from what refreshes find.

Each key has a sample of what may be: pairs of a period and the time from the latest refresh to the next
change, all of equal weight. A refresh says whether anything changed since the one before: pairs that say
otherwise die out, the others take their places and are moved about among what the key's latest observations
allow (a particle filter with Metropolis steps, differences between pairs as proposals). New pairs come from
the periods that all keys have in common, at any phase, so that a key may take up other habits.

What the pairs foretold against what rates alone foretold, observation by observation, gives the odds that a
key's changes are even at all (a Bayes factor); their mean over the keys is the prior of each. Law: the same
observations in the same order give the same sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.linked.service.estimate.change_rates import INTERVALS, Floats, Matrix
from weir.rdf.columns import Ids, Mask

KEPT = 24
"""How many observations of a key are remembered."""
SAMPLES = 64
"""How many pairs a key has."""
_ROUNDS = 2
"""How often pairs are moved after an observation."""
_SLIP = 0.01
"""The chance of an observation that a pair rules out: nothing is quite regular."""
_FADE = 0.97
"""What the evidence of a key is multiplied by at each later observation."""
_SURE = 9.0
"""The most that the odds of a key may be, as a logarithm."""
_STANDS_FOR = 3.0
"""How many keys the first priors count for beside those that were watched."""
_SAMPLE = 4096
"""How many keys the prior of being even is learned from at most."""
_UNLIKELY = 0.02
"""Keys that are less likely to be even are not looked at."""
CURIOUS = 6.0
"""How many of the present rows a refresh is worth for what it teaches, by the variance of whether its copy is
true: one that is as likely true as not teaches most."""
_FARTHEST = 64
"""How many evaluations ahead what a refresh is worth is summed up."""

_EDGES = np.log(INTERVALS)
_STEP = _EDGES[1] - _EDGES[0]


class ChangePhases:
    """Of numbered keys. ``first`` is the interval (µs) expected before anything was seen. ``period`` and
    ``next`` (times from a key's latest refresh to its next change, never beyond a period) are its pairs; 0
    where a key has none."""

    period: Matrix
    next: Matrix

    def __init__(self, first: int) -> None:
        spread = (_EDGES - np.log(np.clip(first, INTERVALS[0], INTERVALS[-1]))) / 1.5
        start = np.exp(-0.5 * spread**2)
        self._start: Floats = _STANDS_FOR * start / start.sum()
        self._common = self._start.copy()
        self._ended: NDArray[np.int64] = np.empty((0, KEPT + 1), np.int64)
        self._changed: NDArray[np.int8] = np.empty((0, KEPT), np.int8)
        self._evidence: Floats = np.empty(0)
        self.period = np.empty((0, SAMPLES), np.float32)
        self.next = np.empty((0, SAMPLES), np.float32)

    def add(self, count: int) -> None:
        """So many keys more, of which nothing is known."""
        self._ended = np.concatenate((self._ended, np.zeros((count, KEPT + 1), np.int64)))
        self._changed = np.concatenate((self._changed, np.full((count, KEPT), -1, np.int8)))
        self._evidence = np.concatenate((self._evidence, np.zeros(count)))
        for name in ("period", "next"):
            setattr(self, name, np.concatenate((getattr(self, name), np.zeros((count, SAMPLES), np.float32))))

    def keep(self, kept: Mask) -> None:
        """Forget the other keys."""
        for name in ("_ended", "_changed", "_evidence", "period", "next"):
            setattr(self, name, getattr(self, name)[kept])
        self._common = self._start + self._spread(np.arange(len(self.period))).sum(0)

    def even(self, numbers: Ids) -> Floats:
        """How likely the changes of each key come at equal intervals; 0 of keys that have no pairs."""
        return np.where(self.period[numbers, 0] > 0, self._likely(numbers), 0.0)

    def _likely(self, numbers: Ids) -> Floats:
        watched, prior = self._evidence[self._changed[:, -1] >= 0], 0.5
        watched = watched[:: max(-(-len(watched) // _SAMPLE), 1)]
        for _ in range(20):
            odds = np.log(prior / (1 - prior))
            prior = (0.5 * _STANDS_FOR + _chance(watched + odds).sum()) / (_STANDS_FOR + len(watched))
        return _chance(self._evidence[numbers] + np.log(prior / (1 - prior)))

    # Learning

    def observe(self, numbers: Ids, began: Ids, ended: int, changed: Mask, expected: Floats) -> None:
        """Each key ``changed`` or did not between the refreshes at ``began`` and ``ended``; that it would not
        was ``expected`` so by its rate."""
        if not len(numbers):
            return
        chance = np.random.default_rng((ended & 0xFFFF_FFFF_FFFF, int(numbers[0]), len(numbers)))
        for rows, latest in ((self._ended, ended), (self._changed, changed)):
            rows[numbers, :-1] = rows[numbers, 1:]
            rows[numbers, -1] = latest
        self._ended[numbers, -2] = began
        self._common = self._common - self._spread(numbers).sum(0)
        likely = self._likely(numbers) > _UNLIKELY
        self._leave(numbers[~likely])
        self._follow(numbers[likely], (ended - began)[likely], changed[likely], expected[likely], chance)
        self._common = self._common + self._spread(numbers).sum(0)

    def _leave(self, numbers: Ids) -> None:
        """Keys that are hardly even lose their pairs; in time they are looked at again."""
        self._evidence[numbers] *= _FADE
        self.period[numbers] = self.next[numbers] = 0.0

    def _follow(
        self, numbers: Ids, elapsed: Ids, changed: Mask, expected: Floats, chance: np.random.Generator
    ) -> None:
        log, share = self._drawn(chance, (len(numbers), SAMPLES))
        none, gone = self.period[numbers, :1] == 0, elapsed[:, None].astype(np.float64)
        period = np.where(none, np.exp(log), self.period[numbers])
        left = np.where(none, share * period, self.next[numbers])
        agreed = np.where((left <= gone) == changed[:, None], 1 - _SLIP, _SLIP)
        self._weigh(numbers, agreed.mean(1), expected, changed)
        kept = _resampled(agreed, chance)
        period, left = np.take_along_axis(period, kept, 1), np.take_along_axis(left, kept, 1)
        left = np.where(left <= gone, left + ((gone - left) // period + 1) * period, left) - gone
        period, left = self._moved(numbers, np.log(period), left / period, chance)
        self.period[numbers], self.next[numbers] = period, np.maximum(left, 1.0)

    def _weigh(self, numbers: Ids, foretold: Floats, expected: Floats, changed: Mask) -> None:
        by_rate = np.where(changed, 1 - expected, expected)
        gain = np.log(foretold) - np.log(np.clip(by_rate, 0.01, 0.99))
        self._evidence[numbers] = np.clip(self._evidence[numbers] * _FADE + gain, -_SURE, _SURE)

    def _drawn(self, chance: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
        """Periods (logarithms) as they are common, and any phases, as shares of the period."""
        ends = np.cumsum(np.maximum(self._common, 0.0))
        place = np.searchsorted(ends, chance.random(shape) * ends[-1], side="right")
        place = np.minimum(place, len(ends) - 1)
        return _EDGES[place] + (chance.random(shape) - 0.5) * _STEP, chance.random(shape)

    def _moved(
        self, numbers: Ids, log: Floats, share: Floats, chance: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Pairs after Metropolis steps; ``share`` is the time to the next change as a share of the period."""
        fit = self._fit(numbers, log, share)
        shape = log.shape
        for turn in range(2 * _ROUNDS):
            if turn % 2:
                near, far = self._drawn(chance, shape)
                size = np.exp(chance.uniform(np.log(0.002), np.log(0.3), shape))
                fresh = chance.random(shape) < 0.3
                new = np.where(fresh, near, log + size * chance.standard_normal(shape))
                phase = np.where(fresh, far, share + size * chance.standard_normal(shape))
                toll = np.where(fresh, 0.0, self._density(new) - self._density(log))
            else:
                first, second = (chance.integers(0, SAMPLES, shape) for _ in range(2))
                one, two = (np.take_along_axis(log, each, 1) for each in (first, second))
                away = np.take_along_axis(share, first, 1) - np.take_along_axis(share, second, 1)
                away -= np.round(away)
                new = log + 0.9 * (one - two) + 1e-3 * chance.standard_normal(shape)
                phase = share + 0.9 * away + 1e-3 * chance.standard_normal(shape)
                toll = self._density(new) - self._density(log)
            phase = phase - np.floor(phase)
            fitting = self._fit(numbers, new, phase)
            taken = np.log(chance.random(shape)) < fitting - fit + toll
            log, share, fit = (np.where(taken, a, b) for a, b in ((new, log), (phase, share), (fitting, fit)))
        period = np.exp(log)
        return period, share * period

    def _density(self, log: Floats) -> Floats:
        place = np.clip(np.rint((log - _EDGES[0]) / _STEP), 0, len(_EDGES) - 1).astype(np.int64)
        inside = (log > _EDGES[0] - _STEP) & (log < _EDGES[-1] + _STEP)
        found: Floats = np.where(inside, np.log(np.maximum(self._common, 1e-6))[place], -np.inf)
        return found

    def _fit(self, numbers: Ids, log: Floats, share: Floats) -> Floats:
        """The logarithm of how well pairs explain the latest observations of their key."""
        period = np.exp(log)
        phase = (self._ended[numbers] - self._ended[numbers, -1:]).astype(np.float64)
        count = np.floor(phase[:, :, None] / period[:, None, :] - share[:, None, :])
        seen = self._changed[numbers]
        wrong = ((count[:, 1:] > count[:, :-1]) != (seen == 1)[:, :, None]) & (seen >= 0)[:, :, None]
        found: Floats = wrong.sum(1) * np.log(_SLIP / (1 - _SLIP))
        return found

    def _spread(self, numbers: Ids) -> Floats:
        """The share of each key's pairs at each interval of the grid."""
        log = np.log(np.maximum(self.period[numbers], 1.0))
        place = np.clip(np.rint((log - _EDGES[0]) / _STEP), 0, len(_EDGES) - 1).astype(np.int64)
        where = np.arange(len(numbers))[:, None] * len(_EDGES) + place
        found = np.bincount(where.ravel(), minlength=len(numbers) * len(_EDGES)).reshape(-1, len(_EDGES))
        return found / SAMPLES * (self.period[numbers, :1] > 0)

    # What follows

    def unchanged(self, numbers: Ids, elapsed: Ids) -> Floats:
        """The chance that keys have not changed in a time since they were fetched."""
        found: Floats = (self.next[numbers] > elapsed[:, None]).mean(1)
        return found

    def lasting(self, numbers: Ids, elapsed: Ids, slide: int, alive: Floats) -> Floats:
        """What a refresh of keys is worth now: Σ of ``alive[key, k]`` rows × the chance that a copy of now is
        true at the k-th evaluation from now and the present copy is not. The last column of ``alive`` holds
        for all later evaluations. What a refresh teaches comes on top (``CURIOUS``)."""
        left = self.next[numbers] - elapsed[:, None]
        stale = left <= 0
        period = self.period[numbers]
        again = np.where(stale, left + (-left // period + 1) * period, 0.0)
        count = np.minimum(np.ceil(again / slide), _FARTHEST).astype(np.int64)
        more = np.repeat(alive[:, -1:], max(_FARTHEST - alive.shape[1], 0), axis=1)
        total = np.cumsum(np.concatenate((np.zeros((len(alive), 1)), alive, more), axis=1), axis=1)
        doubt = stale.mean(1) * (1 - stale.mean(1))
        worth: Floats = np.take_along_axis(total, count, 1).mean(1) + CURIOUS * alive[:, 0] * doubt
        return worth

    # State

    def state(self) -> dict[str, NDArray[Any]]:
        """Columns by number of the key."""
        found: dict[str, NDArray[Any]] = {"evidence": self._evidence}
        for name in ("_ended", "_changed", "next", "period"):
            found |= {f"{name} {place}": column for place, column in enumerate(getattr(self, name).T)}
        return found

    def restore(self, columns: Mapping[str, Any]) -> None:
        """Replace everything by what ``state`` gave."""
        self._evidence = np.array(columns["evidence"], np.float64)
        for name, count in (("_ended", KEPT + 1), ("_changed", KEPT), ("next", SAMPLES), ("period", SAMPLES)):
            rows = [np.array(columns[f"{name} {place}"], getattr(self, name).dtype) for place in range(count)]
            setattr(self, name, np.ascontiguousarray(np.stack(rows, axis=1)))
        self._common = self._start + self._spread(np.arange(len(self.period))).sum(0)


def _chance(odds: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-odds))
    return found


def _resampled(weight: Floats, chance: np.random.Generator) -> Ids:
    """Places drawn by weight, each row for itself (systematic resampling)."""
    ends = np.cumsum(weight, axis=1)
    wanted = (np.arange(SAMPLES) + chance.random((len(weight), 1))) / SAMPLES * ends[:, -1:]
    row = np.arange(len(weight))[:, None]
    places, marks = ends / ends[:, -1:] + 2.0 * row, wanted / ends[:, -1:] + 2.0 * row
    found = np.searchsorted(places.ravel(), marks.ravel()).reshape(weight.shape) - row * SAMPLES
    kept: Ids = np.clip(found, 0, SAMPLES - 1)
    return kept
