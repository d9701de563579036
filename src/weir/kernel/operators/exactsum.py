"""Sums of doubles, exact and rounded once, for every segment of a sweep.

A double is an integer times a power of two. Over a common power the sum of what comes and goes is exact
integer arithmetic, so the sum in a segment does not depend on what was there before (a running float sum
would drift), nor on order. Where one 64-bit integer does not hold it, 32-bit limbs do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.kernel.relations.sweep import Sweep
from weir.rdf.columns import Ids, Mask

Reals = NDArray[np.float64]

_LIMB = 32
_MASK = (1 << _LIMB) - 1


def real_sums(sweep: Sweep, first: Ids, last: Ids, values: Reals) -> Reals:
    """For each segment the exact sum of the doubles that cover it, rounded to the nearest double.

    With infinities or NaN the sum is IEEE's: NaN, or the one infinity there is.
    """
    finite = np.isfinite(values)
    if finite.all():
        return _finite_sums(sweep, first, last, values)
    out = _finite_sums(sweep, first, last, np.where(finite, values, 0.0))

    def some(mask: Mask) -> Mask:
        return np.asarray(sweep.counts(first[mask], last[mask]) > 0)

    above, below = some(values == np.inf), some(values == -np.inf)
    out[above] = np.inf
    out[below] = -np.inf
    out[(above & below) | some(np.isnan(values))] = np.nan
    return out


def _finite_sums(sweep: Sweep, first: Ids, last: Ids, values: Reals) -> Reals:
    fraction, exponent = np.frexp(values)
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    power = exponent.astype(np.int64) - 53
    # Trailing zeros go to the power, so that integers and halves stay small.
    low = mantissa & -mantissa
    zeros = np.where(mantissa == 0, 0, np.frexp(low.astype(np.float64))[1] - 1).astype(np.int64)
    mantissa >>= zeros
    power += zeros
    used = mantissa != 0
    if not used.any():
        return np.zeros(sweep.segments)
    base = int(power[used].min())
    shift = np.where(used, power - base, 0)
    bits = int((shift + 54 - zeros)[used].max()) + len(values).bit_length()
    if bits <= 62 and -1000 < base < 900:
        whole = sweep.sums(first, last, mantissa << shift)
        return np.ldexp(whole.astype(np.float64), base)
    return _by_limbs(sweep, first, last, mantissa, shift, base)


def _by_limbs(sweep: Sweep, first: Ids, last: Ids, mantissa: Ids, shift: Ids, base: int) -> Reals:
    sign = np.sign(mantissa)
    size = np.abs(mantissa)
    place, within = shift // _LIMB, shift % _LIMB
    low = (size & _MASK) << within
    middle = ((size >> _LIMB) << within) + (low >> _LIMB)
    parts = ((low & _MASK) * sign, (middle & _MASK) * sign, (middle >> _LIMB) * sign)
    totals: NDArray[Any] = np.zeros(sweep.segments, object)
    for limb in range(int(place.max()) + 3):
        for offset, part in enumerate(parts):
            rows = np.flatnonzero((place + offset == limb) & (part != 0))
            if len(rows):
                sums = sweep.sums(first[rows], last[rows], part[rows])
                totals += sums.astype(object) * (1 << (_LIMB * limb))
    return np.array([_rounded(total, base) for total in totals.tolist()], np.float64)


def _rounded(total: int, power: int) -> float:
    """``total · 2^power`` as the nearest double; Python divides integers correctly rounded."""
    try:
        return float(total << power) if power >= 0 else total / (1 << -power)
    except OverflowError:
        return float("inf") if total > 0 else float("-inf")
