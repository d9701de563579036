"""How often keys change, learned from what refreshes find, and how likely a copy of some age is still true.

A refresh a time δ after the one before says only *whether* a value changed between the two. Each key weighs a
grid of hypotheses by that: an interval of change, and one of two shapes. Changes at random times (Poisson,
rate λ) leave a copy true with the probability e^(−λδ); changes at equal intervals I whose times are not known
leave it true with 1 − δ/I. A copy's chance is the mean over what a key still believes (a calibrated
probability where the truth is among the shapes, or between them).

What keys have in common is learned as well: the weights of the hypotheses over all keys are the prior of each
(a step of expectation maximisation at each observation; the nonparametric estimate of a mixture), around the
interval that is declared or expected at first. A young key is judged by its like. Old evidence fades, so that
a key may become another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weir.rdf.columns import Ids, Mask

Floats: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float32]

INTERVALS: Floats = np.geomspace(2e4, 3e14, 48)
"""The intervals (µs) of the grid, from 20 ms to ten years."""

_EVERY = np.concatenate((INTERVALS, INTERVALS))
_RANDOM = np.arange(len(_EVERY)) < len(INTERVALS)
_FADE = 0.95
"""What evidence is multiplied by at each later observation of its key."""
_SLIP = 0.01
"""The chance of an outcome that a hypothesis rules out: no shape is quite true."""
_WIDTH = 1.5
"""The standard deviation of the first prior, in the logarithm of the interval."""
_STANDS_FOR = 2.0
"""How many keys the first prior counts for beside those that were watched."""
_SAMPLE = 4096
"""How many keys the shared prior is learned from at most."""


def surviving(elapsed: NDArray[Any], every: Floats, random: Mask) -> Floats:
    """The probability that nothing changed in a time, under each hypothesis (a row for each time)."""
    share = np.maximum(np.asarray(elapsed, np.float64), 0.0)[:, None] / every
    found: Floats = np.where(random, np.exp(-share), np.maximum(1.0 - share, 0.0))
    return found


def _summed(age: Ids, slide: int) -> Floats:
    """Σ of ``surviving`` at the evaluations 0 … age − 1, under each hypothesis."""
    share, count = slide / _EVERY, age[:, None].astype(np.float64)
    random = np.expm1(-share * count) / np.expm1(-share)
    fresh = np.minimum(count, np.floor(1.0 / share) + 1)
    found: Floats = np.where(_RANDOM, random, fresh - share * fresh * (fresh - 1) / 2)
    return found


class ChangeRates:
    """Of numbered keys. ``first`` is the interval (µs) expected before anything was seen."""

    def __init__(self, first: int) -> None:
        spread = np.log(_EVERY / np.clip(first, INTERVALS[0], INTERVALS[-1])) / _WIDTH
        start = np.exp(-0.5 * spread**2)
        self._start: Floats = start / start.sum()
        self._prior = self._start
        self._evidence: Matrix = np.empty((0, len(_EVERY)), np.float32)
        self.watched: Ids = np.empty(0, np.int64)

    def add(self, count: int) -> None:
        """So many keys more, of which nothing is known."""
        self._evidence = np.concatenate((self._evidence, np.zeros((count, len(_EVERY)), np.float32)))
        self.watched = np.concatenate((self.watched, np.zeros(count, np.int64)))

    def keep(self, kept: Mask) -> None:
        """Forget the other keys; the shared prior stays."""
        self._evidence, self.watched = self._evidence[kept], self.watched[kept]

    def observe(self, numbers: Ids, elapsed: Ids, changed: Mask) -> None:
        """Each key ``changed`` or did not in the time ``elapsed`` before its latest refresh."""
        if not len(numbers):
            return
        stayed = np.clip(surviving(elapsed, _EVERY, _RANDOM), _SLIP, 1 - 1e-9)
        chance = np.where(changed[:, None], np.maximum(1 - stayed, 1e-9), stayed)
        self._evidence[numbers] = self._evidence[numbers] * _FADE + np.log(chance)
        self.watched[numbers] += 1
        self._pool()

    def _pool(self) -> None:
        seen = np.flatnonzero(self.watched)
        seen = seen[:: -(-len(seen) // _SAMPLE)]
        total = self.beliefs(seen).sum(0) + _STANDS_FOR * self._start
        self._prior = total / total.sum()

    def beliefs(self, numbers: Ids) -> Floats:
        """The weights of the hypotheses for each key; they add up to 1."""
        weight = self._evidence[numbers] + np.log(np.maximum(self._prior, 1e-12))
        weight = np.exp(weight - weight.max(1, keepdims=True, initial=-1e30))
        found: Floats = weight / weight.sum(1, keepdims=True)
        return found

    def unchanged(self, numbers: Ids, elapsed: Ids, *, random: bool = False) -> Floats:
        """The chance that each key has not changed in a time since it was fetched; if ``random``, granted
        that its changes come at random times."""
        weight = self.beliefs(numbers)
        if random:
            weight = np.where(_RANDOM, weight + 1e-12, 0.0)
            weight /= weight.sum(1, keepdims=True)
        found: Floats = (weight * surviving(elapsed, _EVERY, _RANDOM)).sum(1)
        return found

    def intervals(self, numbers: Ids) -> Ids:
        """The time between changes of each key (µs), the mean by its logarithm."""
        found: Ids = np.exp(self.beliefs(numbers) @ np.log(_EVERY)).astype(np.int64)
        return found

    def even(self, numbers: Ids) -> Floats:
        """How likely the changes of each key come at equal intervals."""
        found: Floats = self.beliefs(numbers)[:, ~_RANDOM].sum(1)
        return found

    def lasting(self, numbers: Ids, age: Ids, slide: int, alive: Floats) -> Floats:
        """What a refresh of each key is worth now: over the coming evaluations k, until the key is as old as
        it is now, the sum of ``alive[key, k]`` rows × (the chance that a copy of now is true at k − the
        chance that the present one is true). The last column of ``alive`` holds for all later evaluations.

        ``age`` is in evaluations. Of a key that is needed as much at every evaluation this is the price of a
        request at which refreshing now or at the next evaluation come to the same: to ask for the dearest
        maximises fresh rows in the long run (an index policy, after Whittle).
        """
        beliefs = self.beliefs(numbers)
        now = (beliefs * surviving(age * np.float64(slide), _EVERY, _RANDOM)).sum(1)
        steady = alive[:, -1]
        worth: Floats = steady * ((beliefs * _summed(age, slide)).sum(1) - age * now)
        for k in range(alive.shape[1] - 1):
            later = beliefs @ surviving(np.array([k * slide]), _EVERY, _RANDOM)[0]
            worth += np.where(k < age, (alive[:, k] - steady) * (later - now), 0.0)
        return worth

    # State

    @property
    def prior(self) -> list[float]:
        """The weights that a key has of which nothing is known."""
        return [float(weight) for weight in self._prior]

    def state(self) -> dict[str, NDArray[Any]]:
        """Columns by number of the key."""
        columns = {f"evidence {place}": column for place, column in enumerate(self._evidence.T)}
        return {**columns, "watched": self.watched}

    def restore(self, prior: Sequence[float], columns: Mapping[str, Any]) -> None:
        """Replace everything by what ``prior`` and ``state`` gave."""
        found = [np.array(columns[f"evidence {place}"], np.float32) for place in range(len(_EVERY))]
        self._evidence = np.ascontiguousarray(np.stack(found, axis=1))
        self.watched = np.array(columns["watched"])
        self._prior = np.array(prior)
