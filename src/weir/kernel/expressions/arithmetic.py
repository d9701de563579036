"""Arithmetic on columns of numbers (section 17.3): exact where SPARQL is exact, IEEE where it is IEEE.

Each function gives the outcome and the rows it could not do: results that leave 64 bits, quotients
that do not end soon, exotic operands. Those go the scalar way (``scalar``), so that no result depends on
which way it took.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weir.kernel.expressions.numeric import (
    DECIMAL,
    FLOAT,
    POWERS,
    SAFE,
    Kinds,
    Numbers,
    Reals,
    aligned,
    reals,
    single,
)
from weir.kernel.expressions.termcache import EXOTIC, NOT_A_NUMBER
from weir.language.algebra.expressions import Arithmetic
from weir.rdf.columns import Ids, Mask

_PLACES = 18
_QUOTIENT_PLACES = 6
_EXACT_KIND = np.int8(DECIMAL)


def calculate(operator: Arithmetic, left: Numbers, right: Numbers) -> tuple[Numbers, Mask]:
    """``left operator right``, and which rows are still to be done."""
    kind = np.maximum(left.kind, right.kind)
    failed = (left.kind == NOT_A_NUMBER) | (right.kind == NOT_A_NUMBER)
    pending = (kind == EXOTIC) & ~failed
    if failed.any():
        kind = np.where(failed, np.int8(NOT_A_NUMBER), kind)
    exact = (kind <= DECIMAL) & ~failed
    digits, scale = _ZERO, _ZERO
    if exact.any():
        digits, scale, undone = _EXACT[operator](left, right)
        pending = pending | (undone & exact)
        if operator is Arithmetic.DIVIDE:
            # Integers divide into decimals; by zero is an error.
            zero = exact & (right.digits == 0)
            kind = np.where(zero, np.int8(NOT_A_NUMBER), np.where(exact, _EXACT_KIND, kind))
    real = _ZERO_REAL
    if ((kind > DECIMAL) & (kind != EXOTIC)).any():
        real, undone = _inexact(operator, left, right, kind)
        pending = pending | (undone & (kind > DECIMAL) & (kind != EXOTIC))
    return Numbers(kind, digits, scale, real), pending


def _inexact(operator: Arithmetic, left: Numbers, right: Numbers, kind: Kinds) -> tuple[Reals, Mask]:
    (a, a_fits), (b, b_fits) = reals(left), reals(right)
    floats = kind == FLOAT
    if floats.any():
        a, b = np.where(floats, single(a), a), np.where(floats, single(b), b)
    with np.errstate(all="ignore"):
        value = _REAL[operator](a, b)
    if floats.any():
        value = np.where(floats, single(value), value)
    return value, ~(a_fits & b_fits)


def _add(left: Numbers, right: Numbers) -> tuple[Ids, Ids, Mask]:
    a, b, scale, undone = aligned(left, right)
    return a + b, scale, undone | (np.abs(a.astype(np.float64) + b) >= SAFE)


def _subtract(left: Numbers, right: Numbers) -> tuple[Ids, Ids, Mask]:
    a, b, scale, undone = aligned(left, right)
    return a - b, scale, undone | (np.abs(a.astype(np.float64) - b) >= SAFE)


def _multiply(left: Numbers, right: Numbers) -> tuple[Ids, Ids, Mask]:
    scale = left.scale + right.scale
    undone = np.abs(left.digits.astype(np.float64) * right.digits) >= SAFE
    return left.digits * right.digits, np.minimum(scale, _PLACES), undone | (scale > _PLACES)


def _divide(left: Numbers, right: Numbers) -> tuple[Ids, Ids, Mask]:
    """Quotients that end within a few places; the others are rounded the scalar way."""
    a, b, _, undone = aligned(left, right)
    divisor = np.where(b == 0, 1, b)
    fits = np.abs(a) < SAFE / 10**_QUOTIENT_PLACES
    scaled = np.where(fits, a, 0) * 10**_QUOTIENT_PLACES
    quotient = scaled // divisor
    undone = undone | ~fits | (quotient * divisor != scaled)
    return quotient, np.full(1, _QUOTIENT_PLACES), undone


_EXACT: dict[Arithmetic, Callable[[Numbers, Numbers], tuple[Ids, Ids, Mask]]] = {
    Arithmetic.ADD: _add,
    Arithmetic.SUBTRACT: _subtract,
    Arithmetic.MULTIPLY: _multiply,
    Arithmetic.DIVIDE: _divide,
}
_REAL: dict[Arithmetic, Callable[[Reals, Reals], Reals]] = {
    Arithmetic.ADD: np.add,
    Arithmetic.SUBTRACT: np.subtract,
    Arithmetic.MULTIPLY: np.multiply,
    Arithmetic.DIVIDE: np.divide,
}
_ZERO = np.zeros(1, np.int64)
_ZERO_REAL = np.zeros(1)


def negate(numbers: Numbers) -> Numbers:
    """Unary minus."""
    return Numbers(numbers.kind, -numbers.digits, numbers.scale, -numbers.real, numbers.ids)


def plus(numbers: Numbers) -> Numbers:
    """Unary plus: the number in its canonical form."""
    return numbers


def absolute(numbers: Numbers) -> Numbers:
    """ABS."""
    return numbers._replace(digits=np.abs(numbers.digits), real=np.abs(numbers.real))


def floor(numbers: Numbers) -> Numbers:
    """FLOOR: of the same type."""
    digits = numbers.digits // POWERS[numbers.scale]
    return numbers._replace(digits=digits, scale=_ZERO, real=np.floor(numbers.real))


def ceiling(numbers: Numbers) -> Numbers:
    """CEIL: of the same type."""
    return negate(floor(negate(numbers)))


def round_half_up(numbers: Numbers) -> Numbers:
    """ROUND: to the nearest, halves towards positive infinity."""
    power = POWERS[numbers.scale]
    low = numbers.digits // power
    digits = low + (2 * (numbers.digits - low * power) >= power)
    whole = np.floor(numbers.real)
    with np.errstate(invalid="ignore"):
        real = whole + (numbers.real - whole >= 0.5)
    return numbers._replace(digits=digits, scale=_ZERO, real=np.copysign(real, numbers.real))
