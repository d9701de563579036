"""Sums of doubles, exact and rounded once, for every segment of a sweep.

A double is an integer times a power of two. Over a common power the sum of what comes and goes is exact
integer arithmetic, so the sum in a segment does not depend on what was there before (a running float sum
would drift), nor on order. Where 64 bits do not hold it, Python's integers do.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.kernel.expressions.numeric import (
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    POWERS,
    Numbers,
    encode_numbers,
    numbers_of,
    reals,
    single,
)
from weir.kernel.expressions.term_cache import EXOTIC, NOT_A_NUMBER, Terms
from weir.kernel.relations.coverage import Operand, Sweep
from weir.rdf.columns import Ids, Mask
from weir.rdf.terms import Literal
from weir.rdf.xsd.numbers import Number, NumericError, NumericKind, bounded, divide, literal_of

Reals = NDArray[np.float64]
Kinds = NDArray[np.int8]

_SAFE = 2.0**62
_PLACES = 18
_MEAN_PLACES = 6


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
    totals, base = binary_sums(sweep, first, last, values)
    if totals.dtype != object and -1000 < base < 900:
        return np.ldexp(totals.astype(np.float64), base)
    return np.array([rounded(total, base) for total in totals.tolist()], np.float64)


def binary_sums(sweep: Sweep, first: Ids, last: Ids, values: Reals) -> tuple[NDArray[Any], int]:
    """For each segment the exact sum of the finite doubles that cover it, as an integer, and the power of two
    that it is to be multiplied with."""
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
        return np.zeros(sweep.segments, np.int64), 0
    base = int(power[used].min())
    shift = np.where(used, power - base, 0)
    bits = int((shift + 54 - zeros)[used].max()) + len(values).bit_length()
    if bits <= 62:
        return sweep.sums(first, last, mantissa << shift), base
    large = [each << power for each, power in zip(mantissa.tolist(), shift.tolist(), strict=True)]
    return sweep.sums(first, last, np.array(large, object)), base


def rounded(total: int, power: int) -> float:
    """``total · 2^power`` as the nearest double; Python divides integers correctly rounded."""
    try:
        return float(total << power) if power >= 0 else total / (1 << -power)
    except OverflowError:
        return float("inf") if total > 0 else float("-inf")


def sums(sweep: Sweep, values: Operand, terms: Terms, *, average: bool) -> Ids | None:
    """SUM or AVG in each segment; None where a number is too large for columns."""
    numbers = numbers_of(values.ids, terms)
    if (numbers.kind == EXOTIC).any():
        return None
    if len(numbers.kind) == 1:
        kind = np.full(sweep.segments, numbers.kind[0])
    else:
        kind = _highest_kind(sweep, values, numbers)
    counts = sweep.counts(values.first, values.last)
    digits, scale = exact_sums(sweep, values, numbers, kind)
    real = _real_sums(sweep, values, numbers, kind)
    if real is None:
        return None
    kind = np.where(counts == 0, INTEGER, kind)
    if not average and digits.dtype != object:
        whole = kind != DECIMAL
        digits = np.where(whole, digits // 10**scale, digits)
        return encode_numbers(Numbers(kind, digits, np.where(whole, 0, scale), real), sweep.segments, terms)
    return _encoded(kind, digits, scale, real, counts if average else np.zeros_like(counts), terms)


def _highest_kind(sweep: Sweep, values: Operand, numbers: Numbers) -> Kinds:
    """The type that all operands of a segment are promoted to; errors win."""
    kind = np.full(sweep.segments, INTEGER, np.int8)
    for level in (DECIMAL, FLOAT, DOUBLE, NOT_A_NUMBER):
        rows = np.flatnonzero(numbers.kind == level)
        if len(rows):
            kind[sweep.counts(values.first[rows], values.last[rows]) > 0] = level
    return kind


def exact_sums(sweep: Sweep, values: Operand, numbers: Numbers, kind: Kinds) -> tuple[NDArray[Any], int]:
    """Sums of integers and decimals as digits at one scale; Python's integers where 64 bits are few."""
    if not ((kind == INTEGER) | (kind == DECIMAL)).any():
        return np.zeros(sweep.segments, np.int64), 0
    # Rows of other kinds have no digits; segments they are in take none of these sums.
    exact = (numbers.kind == INTEGER) | (numbers.kind == DECIMAL)
    digits = np.where(exact, numbers.digits, 0)
    scale = np.where(exact, numbers.scale, 0)
    most = int(scale.max())
    factor = POWERS[most - scale]
    if float((np.abs(digits) * factor.astype(np.float64)).max()) * len(values.ids) < _SAFE:
        amounts: NDArray[Any] = digits * factor
    else:
        amounts = digits.astype(object) * factor.astype(object)
    return sweep.sums(values.first, values.last, np.broadcast_to(amounts, len(values.ids))), most


def _real_sums(sweep: Sweep, values: Operand, numbers: Numbers, kind: Kinds) -> Reals | None:
    """Sums of doubles, and of floats as doubles rounded to floats; None where 64 bits do not do."""
    out = np.zeros(sweep.segments)
    for level in (FLOAT, DOUBLE):
        chosen = kind == level
        if not chosen.any():
            continue
        operands, fits = reals(numbers)
        if not (fits | (numbers.kind == NOT_A_NUMBER)).all():
            return None
        operands = np.where(numbers.kind == NOT_A_NUMBER, 0.0, operands)
        if level == FLOAT:
            operands = single(operands)
        sums = real_sums(sweep, values.first, values.last, np.broadcast_to(operands, len(values.ids)))
        out[chosen] = (single(sums) if level == FLOAT else sums)[chosen]
    return out


def _encoded(kind: Kinds, digits: NDArray[Any], scale: int, real: Reals, counts: Ids, terms: Terms) -> Ids:
    """Sums, divided by the rules of ``/`` where they have a count."""
    out = np.zeros(len(kind), np.int64)
    inexact = np.flatnonzero(kind >= FLOAT)
    if len(inexact):
        means = real[inexact] / np.maximum(counts[inexact], 1)
        means = np.where(kind[inexact] == FLOAT, single(means), means)
        out[inexact] = encode_numbers(Numbers(kind[inexact], real=means), len(inexact), terms)
    rows = np.flatnonzero((kind == INTEGER) | (kind == DECIMAL))
    if digits.dtype != object and scale + _MEAN_PLACES <= _PLACES:
        rows = _short_means(rows, digits, scale, counts, out, terms)
    columns = (kind[rows].tolist(), digits[rows].tolist(), counts[rows].tolist())
    out[rows] = terms.encode_all([exact_literal(*each, scale) for each in zip(*columns, strict=True)])
    return out


def exact_literal(kind: int, digits: int, count: int, scale: int) -> Literal | None:
    """``digits / 10^scale``, divided by the count where there is one; None where that is too large."""
    value = digits // 10**scale if kind == INTEGER else Decimal(f"{digits}E{-scale}")
    try:
        number = bounded(Number(NumericKind(kind), value))
        return literal_of(divide(number, Number(NumericKind.INTEGER, count)) if count else number)
    except NumericError:
        return None


def _short_means(rows: Ids, digits: Ids, scale: int, counts: Ids, out: Ids, terms: Terms) -> Ids:
    """Means that end within a few places, put into ``out``; the rows of the others."""
    fits = (counts[rows] > 0) & (np.abs(digits[rows]) < _SAFE / 10**_MEAN_PLACES)
    scaled = np.where(fits, digits[rows], 0) * 10**_MEAN_PLACES
    means = scaled // np.maximum(counts[rows], 1)
    done = fits & (means * counts[rows] == scaled)
    chosen = rows[done]
    if len(chosen):
        decimals = Numbers(np.full(1, DECIMAL, np.int8), means[done], np.full(1, scale + _MEAN_PLACES))
        out[chosen] = encode_numbers(decimals, len(chosen), terms)
    undone: Ids = rows[~done]
    return undone
