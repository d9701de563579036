"""When keys change that change at equal intervals: period and phase, learned from what refreshes find.

Whether a value changed between two refreshes says, for each period it may have, in which part of the period
its changes can fall. Periods from half to twice the interval that the key's rate suggests are tried, each
with 64 phases, a bit each: what is left after all observations is what is possible. The chance that a period
and phase drawn at random fit is the evidence for regular changes; that of changes at random times is known;
keys of which the first is much larger are *regular*. Of those a few of the possible times of the next change
are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.linked.service.estimate.change_rates import ChangeRates, Floats
from weir.rdf.columns import Ids, Mask

KEPT = 16
"""How many observations of a key are remembered."""
SAMPLES = 8
"""How many possible times of the next change are kept of a regular key."""
_PERIODS = 256
"""How many periods are tried."""
_BINS = 64
_REACH = 40.0
"""For how many intervals an observation counts: over more, a period that is slightly wrong loses its
phase."""
_FARTHEST = 64
"""How many evaluations ahead what a refresh is worth is summed up."""
_EVEN = 0.3
"""How likely even changes have to be for a key that periods are tried for."""
_ODDS = 4.0
"""How much likelier regular changes have to be."""
_LEAST = 5
"""How many observations a key has before it is called regular."""


class ChangePhases:
    """Of numbered keys. Times are µs; ``next`` are possible times from a key's latest refresh to its next
    change, ``period`` the time between changes, 0 where a key is not regular."""

    period: Ids
    next: NDArray[np.int64]

    def __init__(self) -> None:
        self._began: NDArray[np.int64] = np.empty((0, KEPT), np.int64)
        self._ended: NDArray[np.int64] = np.empty((0, KEPT), np.int64)
        self._changed: NDArray[np.int64] = np.empty((0, KEPT), np.int64)
        self.next = np.empty((0, SAMPLES), np.int64)
        self.period = np.empty(0, np.int64)

    def add(self, count: int) -> None:
        """So many keys more, of which nothing is known."""
        for name in ("_began", "_ended", "_changed"):
            more = np.full((count, KEPT), -1, np.int64)
            setattr(self, name, np.concatenate((getattr(self, name), more)))
        self.next = np.concatenate((self.next, np.zeros((count, SAMPLES), np.int64)))
        self.period = np.concatenate((self.period, np.zeros(count, np.int64)))

    def keep(self, kept: Mask) -> None:
        """Forget the other keys."""
        for name in ("_began", "_ended", "_changed", "next", "period"):
            setattr(self, name, getattr(self, name)[kept])

    def observe(self, numbers: Ids, began: Ids, ended: int, changed: Mask, rates: ChangeRates) -> None:
        """Each key ``changed`` or did not between the refreshes at ``began`` and ``ended``; ``rates`` say
        what its interval may be, and whether its changes look regular at all."""
        if not len(numbers):
            return
        for name, values in (
            ("_began", began),
            ("_ended", np.full(len(began), ended)),
            ("_changed", changed),
        ):
            rows = getattr(self, name)
            rows[numbers, :-1] = rows[numbers, 1:]
            rows[numbers, -1] = values
        self.period[numbers] = 0
        maybe = numbers[rates.even(numbers) > _EVEN]
        self.period[maybe], self.next[maybe] = _fitted(
            self._began[maybe],
            self._ended[maybe],
            self._changed[maybe],
            rates.intervals(maybe).astype(np.float64),
        )

    @property
    def regular(self) -> Mask:
        """Which keys are."""
        return self.period > 0

    def unchanged(self, numbers: Ids, elapsed: Ids) -> Floats:
        """The chance that regular keys have not changed in a time since they were fetched."""
        found: Floats = (self.next[numbers] > elapsed[:, None]).mean(1)
        return found

    def lasting(self, numbers: Ids, elapsed: Ids, slide: int, alive: Floats) -> Floats:
        """What a refresh of regular keys is worth now: Σ of ``alive[key, k]`` rows × the chance that a copy
        of now is true at the k-th evaluation from now and the present copy is not. The last column of
        ``alive`` holds for all later evaluations."""
        period = np.maximum(self.period[numbers], 1)[:, None]
        left = self.next[numbers] - elapsed[:, None]
        stale = left <= 0
        again = np.where(stale, left + (-left // period + 1) * period, left)
        worth = np.zeros(len(numbers))
        for k in range(min(int(period.max(initial=0)) // slide + 1, _FARTHEST)):
            rows = alive[:, min(k, alive.shape[1] - 1)]
            worth += rows * (stale & (again > k * slide)).mean(1)
        return worth

    # State

    def state(self) -> dict[str, NDArray[Any]]:
        """Columns by number of the key."""
        found: dict[str, NDArray[Any]] = {"period": self.period}
        for name in ("_began", "_ended", "_changed", "next"):
            found |= {f"{name} {place}": column for place, column in enumerate(getattr(self, name).T)}
        return found

    def restore(self, columns: Mapping[str, Any]) -> None:
        """Replace everything by what ``state`` gave."""
        self.period = np.array(columns["period"])
        for name, count in (("_began", KEPT), ("_ended", KEPT), ("_changed", KEPT), ("next", SAMPLES)):
            rows = [np.array(columns[f"{name} {place}"]) for place in range(count)]
            setattr(self, name, np.ascontiguousarray(np.stack(rows, axis=1)))


def _fitted(
    began: NDArray[np.int64], ended: NDArray[np.int64], changed: NDArray[np.int64], interval: Floats
) -> tuple[Ids, NDArray[np.int64]]:
    """The period of each key, 0 where it is not regular, and its possible next changes after the latest
    refresh; a row of observations for each key, the latest last."""
    origin = ended[:, -1:]
    used = (changed >= 0) & ((origin - began) < _REACH * interval[:, None])
    frequency = np.linspace(0.5, 2.0, _PERIODS) / interval[:, None]
    left = np.full(frequency.shape, ~np.uint64(0), np.uint64)
    by_chance = np.zeros(len(interval))
    for place in range(KEPT):
        here = used[:, place]
        if not here.any():
            continue
        first, last = ((times[:, place] - origin[:, 0]).astype(np.float64) for times in (began, ended))
        fits = _phases(first[:, None] * frequency, last[:, None] * frequency, changed[:, place, None] == 1)
        left = np.where(here[:, None], left & fits, left)
        stayed = -(last - first) / interval
        chance = np.where(changed[:, place] == 1, np.log(np.maximum(-np.expm1(stayed), 1e-9)), stayed)
        by_chance += np.where(here, chance, 0.0)
    bits = np.bitwise_count(left).astype(np.int64)
    likely = bits / frequency
    evidence = likely.sum(1) / (1 / frequency).sum(1) / _BINS
    regular = (used.sum(1) >= _LEAST) & (np.log(np.maximum(evidence, 1e-300)) > by_chance + np.log(_ODDS))
    period, following = np.zeros(len(interval), np.int64), np.zeros((len(interval), SAMPLES), np.int64)
    for row in np.flatnonzero(regular):
        period[row], following[row] = _sampled(left[row], likely[row], frequency[row])
    return period, following


def _phases(first: Floats, last: Floats, changed: Mask) -> NDArray[np.uint64]:
    """The phases, a bit each, that fit an observation from ``first`` to ``last``, in periods."""
    low, high = np.mod(first, 1.0) * _BINS, np.mod(last, 1.0) * _BINS
    whole = last - first >= 1.0
    some = _arc(np.floor(low), np.floor(high) + 1)
    some = np.where(whole | (np.floor(low) == np.floor(high)) & (high < low), ~np.uint64(0), some)
    inner = np.where(np.ceil(low) == np.floor(high), np.uint64(0), _arc(np.ceil(low), np.floor(high)))
    inside = np.where((np.floor(low) == np.floor(high)) & (high >= low), np.uint64(0), inner)
    found: NDArray[np.uint64] = np.where(changed, some, np.where(whole, np.uint64(0), ~inside))
    return found


def _arc(low: Floats, high: Floats) -> NDArray[np.uint64]:
    """The bits from ``low`` up to ``high``, around the end where that is less."""
    around = high < low
    from_low, below_high = ~_below(low), _below(high)
    found: NDArray[np.uint64] = np.where(around, from_low | below_high, from_low & below_high)
    return found


def _below(bit: Floats) -> NDArray[np.uint64]:
    """The bits below one of 0 … 64."""
    place = np.clip(bit, 0, _BINS - 1).astype(np.uint64)
    found: NDArray[np.uint64] = np.where(bit >= _BINS, ~np.uint64(0), (np.uint64(1) << place) - np.uint64(1))
    return found


def _sampled(left: NDArray[np.uint64], likely: Floats, frequency: Floats) -> tuple[int, NDArray[np.int64]]:
    """The mean period, and possible times to the next change, spread over what is possible: a period is as
    likely as it leaves phases, and all are equally likely in the logarithm."""
    ends = np.cumsum(likely)
    wanted = (np.arange(SAMPLES) + 0.5) * ends[-1] / SAMPLES
    which = np.minimum(np.searchsorted(ends, wanted, side="right"), len(ends) - 1)
    share = (wanted - (ends[which] - likely[which])) / likely[which]
    rows = np.unpackbits(left[which].view(np.uint8).reshape(SAMPLES, 8), axis=1, bitorder="little")
    counts = np.cumsum(rows, axis=1)
    phase = np.argmax(counts > (share * counts[:, -1])[:, None], axis=1)
    return int((1 / frequency[which]).mean()), ((phase + 0.5) / _BINS / frequency[which]).astype(np.int64)
