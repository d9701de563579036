"""Columns of numbers: ids of numeric literals as integers, scaled integers and floats, arithmetic, and back.

A column keeps each number in the type SPARQL computes it in (17.3): integers and decimals exactly, as
``digits / 10^scale`` in 64 bits; floats and doubles as IEEE values. What does not fit is *exotic*: it keeps
its id and goes the scalar way. Arrays have the column's length or, where all rows agree, length 1.

Arithmetic gives the outcome and the rows it could not do: results that leave 64 bits, quotients that do not
end soon, exotic operands. Those go the scalar way too (``columnar.Scalar``), so that no result depends on
which way it took.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weir.kernel.expressions.term_cache import EXOTIC, NOT_A_NUMBER, Terms
from weir.language.algebra.expressions import Arithmetic
from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.inline import TYPE_SHIFT, Inline, make, payloads
from weir.rdf.xsd.numbers import NumericKind

Reals = NDArray[np.float64]
Kinds = NDArray[np.int8]

INTEGER, DECIMAL = int(NumericKind.INTEGER), int(NumericKind.DECIMAL)
FLOAT, DOUBLE = int(NumericKind.FLOAT), int(NumericKind.DOUBLE)
_HASHED = -2

POWERS = 10 ** np.arange(19, dtype=np.int64)
_REAL_POWERS = 10.0 ** np.arange(23)
SAFE = 2.0**62
_EXACT_REAL = 1 << 53
_INLINE_LIMIT = 1 << 57
_ZERO = np.zeros(1, np.int64)
_ZERO_REAL = np.zeros(1)

_KIND_OF = np.full(32, NOT_A_NUMBER, np.int8)
_KIND_OF[0] = _HASHED
_KIND_OF[Inline.INTEGER : Inline.POSITIVE_INTEGER + 1] = INTEGER
_KIND_OF[Inline.DECIMAL] = DECIMAL
_KIND_OF[[Inline.DOUBLE, Inline.DOUBLE_E]] = DOUBLE
_KIND_OF[Inline.FLOAT] = FLOAT
_PLACES = 18
_QUOTIENT_PLACES = 6
_EXACT_KIND = np.int8(DECIMAL)


class Numbers(NamedTuple):
    """``kind`` is a ``NumericKind``, ``NOT_A_NUMBER`` (an error) or ``EXOTIC`` (see ``ids``)."""

    kind: Kinds
    digits: Ids = _ZERO
    scale: Ids = _ZERO
    real: Reals = _ZERO_REAL
    ids: Ids = _ZERO

    def spread(self, length: int) -> Numbers:
        """Every array at full length."""
        return Numbers._make(np.broadcast_to(part, length) for part in self)

    def take(self, rows: Ids | Mask) -> Numbers:
        """The given rows of a spread column."""
        return Numbers._make(part[rows] for part in self)

    def patched(self, rows: Ids, other: Numbers) -> Numbers:
        """A spread column with some rows replaced by another spread one."""
        new: list[Any] = [part.copy() for part in self]
        for part, values in zip(new, other, strict=True):
            part[rows] = values
        return Numbers._make(new)


def aligned(left: Numbers, right: Numbers) -> tuple[Ids, Ids, Ids, Mask]:
    """Digits of both sides at the greater scale of each row, that scale, and where they do not fit."""
    if len(left.scale) == len(right.scale) == 1 and left.scale[0] == right.scale[0]:
        return left.digits, right.digits, left.scale, np.zeros(1, np.bool_)
    scale = np.maximum(left.scale, right.scale)
    up, over = POWERS[scale - left.scale], POWERS[scale - right.scale]
    a, b = left.digits * up, right.digits * over
    too_large = np.abs(left.digits) * up.astype(np.float64) >= SAFE
    too_large = too_large | (np.abs(right.digits) * over.astype(np.float64) >= SAFE)
    return a, b, scale, too_large


def numbers_of(ids: Ids, terms: Terms) -> Numbers:
    """The numbers that ids stand for."""
    if not len(ids):
        return Numbers(np.empty(0, np.int8), *(np.empty(0, np.int64),) * 2, np.empty(0), ids)
    high = ids >> TYPE_SHIFT
    if ids[0] < 0 and (len(ids) == 1 or bool((high == high[0]).all())):
        return _of_one_kind(ids, int(high[0]) & 31)
    return _of_any_kind(ids, high, terms)


def _of_one_kind(ids: Ids, inline: int) -> Numbers:
    kind = int(_KIND_OF[inline])
    kinds = np.full(1, kind, np.int8)
    if kind == NOT_A_NUMBER:
        return Numbers(np.full(len(ids), kind, np.int8))
    payload = payloads(ids)
    if kind == INTEGER:
        return Numbers(kinds, payload)
    if kind == DECIMAL:
        scale = payload & 15
        return Numbers(kinds, payload >> 4, scale[:1] if (scale == scale[0]).all() else scale)
    real = _with_exponent(payload) if inline == Inline.DOUBLE_E else _plain(payload)
    return Numbers(kinds, real=real if kind == DOUBLE else single(real))


def _of_any_kind(ids: Ids, high: Ids, terms: Terms) -> Numbers:
    inline = np.where(ids < 0, high & 31, 0)
    kind = _KIND_OF[inline]
    payload = payloads(ids)
    decimal = kind == DECIMAL
    digits = np.where(decimal, payload >> 4, payload)
    scale = np.where(decimal, payload & 15, 0)
    real = np.zeros(len(ids))
    exotic = np.zeros(len(ids), np.int64)
    for form in (Inline.DOUBLE, Inline.DOUBLE_E, Inline.FLOAT):
        rows = np.flatnonzero(inline == form)
        if len(rows):
            part = payload[rows]
            value = _with_exponent(part) if form == Inline.DOUBLE_E else _plain(part)
            real[rows] = single(value) if form == Inline.FLOAT else value
    hashed = np.flatnonzero(kind == _HASHED)
    if len(hashed):
        distinct, where = np.unique(ids[hashed], return_inverse=True)
        entries = zip(*(terms.number(identifier) for identifier in distinct.tolist()), strict=True)
        columns = (np.array(part)[where] for part in entries)
        kind[hashed], digits[hashed], scale[hashed], real[hashed] = columns
        exotic[hashed] = np.where(kind[hashed] == EXOTIC, ids[hashed], 0)
    return Numbers(kind, digits, scale, real, exotic)


def _plain(payload: Ids) -> Reals:
    return np.asarray((payload >> 4) / _REAL_POWERS[payload & 15])


def _with_exponent(payload: Ids) -> Reals:
    digits = payload >> 7
    power = (payload & 127) - 64 - (length_of(digits) - 1)
    # One exact float operation, so the value is what a correctly rounding parser gives.
    up, down = _REAL_POWERS[np.maximum(power, 0)], _REAL_POWERS[np.maximum(-power, 0)]
    real: Reals = np.where(power >= 0, digits * up, digits / down)
    return real


def length_of(digits: Ids) -> Ids:
    """The number of decimal digits of integers (at least 1)."""
    return np.maximum(np.searchsorted(POWERS, np.abs(digits), side="right"), 1)


def single(real: Reals) -> Reals:
    """The nearest values of single precision."""
    with np.errstate(over="ignore"):
        return real.astype(np.float32).astype(np.float64)


def reals(numbers: Numbers) -> tuple[Reals, Mask]:
    """Every number as a double, and where that is the correctly rounded value of a number that fits."""
    exact = numbers.kind <= DECIMAL
    fits = (numbers.kind != EXOTIC) & (numbers.kind != NOT_A_NUMBER)
    if not exact.any():
        return numbers.real, fits
    # Dividing is right only if both sides are exact doubles; an integer is rounded by the conversion.
    fits = fits & (~exact | (numbers.scale == 0) | (np.abs(numbers.digits) <= _EXACT_REAL))
    value = numbers.digits / _REAL_POWERS[np.minimum(numbers.scale, 22)]
    return (value if exact.all() else np.where(exact, value, numbers.real)), fits


def encode_numbers(numbers: Numbers, length: int, terms: Terms) -> Ids:
    """The ids of the canonical literals of computed numbers; 0 where they are errors."""
    if not length:
        return np.empty(0, np.int64)
    kind = int(numbers.kind[0])
    if kind in _ENCODERS and (len(numbers.kind) == 1 or bool((numbers.kind == kind).all())):
        return np.broadcast_to(_ENCODERS[kind](numbers, terms), length)
    numbers = numbers.spread(length)
    out = np.where(numbers.kind == EXOTIC, numbers.ids, 0)
    for kind, encode in _ENCODERS.items():
        rows = np.flatnonzero(numbers.kind == kind)
        if len(rows):
            out[rows] = encode(numbers.take(rows), terms)
    return out


def _integers(numbers: Numbers, terms: Terms) -> Ids:
    digits = numbers.digits
    out = make(Inline.INTEGER, digits)
    large = np.flatnonzero((digits < -_INLINE_LIMIT) | (digits >= _INLINE_LIMIT))
    if len(large):
        out[large] = [terms.encode_exact(INTEGER, value, 0) for value in digits[large].tolist()]
    return out


def _decimals(numbers: Numbers, terms: Terms) -> Ids:
    digits, scale = np.broadcast_arrays(numbers.digits, numbers.scale)
    digits, scale = digits.copy(), scale.copy()
    while True:
        # The canonical form has no trailing zero but the one after the point.
        long = np.flatnonzero((scale > 1) & (digits % 10 == 0))
        if not len(long):
            break
        digits[long] //= 10
        scale[long] -= 1
    whole = scale == 0
    fits = (np.abs(digits) < np.where(whole, 10**14, 10**15)) & (scale <= 15)
    digits = np.where(whole & fits, digits * 10, digits)
    out = make(Inline.DECIMAL, (digits << 4) | np.where(whole, 1, scale))
    rows = np.flatnonzero(~fits)
    if len(rows):
        pairs = zip(digits[rows].tolist(), scale[rows].tolist(), strict=True)
        out[rows] = [terms.encode_exact(DECIMAL, value, places) for value, places in pairs]
    return out


def _doubles(numbers: Numbers, terms: Terms) -> Ids:
    real = numbers.real
    out = np.zeros(len(real), np.int64)
    pending = np.flatnonzero((np.abs(real) < 1e15) & (np.abs(real) >= 1e-7))
    for places in range(12):
        if not len(pending):
            break
        value = real[pending]
        digits = np.rint(value * _REAL_POWERS[places])
        hit = (digits / _REAL_POWERS[places] == value) & (np.abs(digits) < 1e15)
        rows = pending[hit]
        out[rows] = _double_ids(digits[hit].astype(np.int64), places)
        pending = pending[~hit]
    rows = np.flatnonzero(out == 0)
    if len(rows):
        out[rows] = terms.encode_reals(DOUBLE, real[rows])
    return out


def _double_ids(digits: Ids, places: int) -> Ids:
    """``digits / 10^places`` in the form d.dEn, which at most 15 digits make the shortest one."""
    power = length_of(digits) - 1 - places
    while True:
        # A lone digit is written d.0, so a last zero is kept with it.
        zeros = np.flatnonzero((digits % 10 == 0) & (np.abs(digits) >= 100))
        if not len(zeros):
            break
        digits[zeros] //= 10
    digits = np.where(np.abs(digits) < 10, digits * 10, digits)
    fits = np.abs(power - length_of(digits) + 1) <= 22
    return np.where(fits, make(Inline.DOUBLE_E, (digits << 7) | (power + 64)), 0)


_ENCODERS: dict[int, Callable[[Numbers, Terms], Ids]] = {
    INTEGER: _integers,
    DECIMAL: _decimals,
    DOUBLE: _doubles,
    FLOAT: lambda numbers, terms: terms.encode_reals(FLOAT, numbers.real),
}


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
    a, b, fits = promoted(left, right, kind)
    with np.errstate(all="ignore"):
        value = _REAL[operator](a, b)
    floats = kind == FLOAT
    return np.where(floats, single(value), value) if floats.any() else value, ~fits


def promoted(left: Numbers, right: Numbers, kind: Kinds) -> tuple[Reals, Reals, Mask]:
    """Two columns as reals, floats where ``kind`` says so; and where both fit."""
    (a, a_fits), (b, b_fits) = reals(left), reals(right)
    floats = kind == FLOAT
    if floats.any():
        a, b = np.where(floats, single(a), a), np.where(floats, single(b), b)
    return a, b, a_fits & b_fits


def _add(left: Numbers, right: Numbers) -> tuple[Ids, Ids, Mask]:
    a, b, scale, undone = aligned(left, right)
    return a + b, scale, undone | (np.abs(a.astype(np.float64) + b) >= SAFE)


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
    Arithmetic.SUBTRACT: lambda left, right: _add(left, negate(right)),
    Arithmetic.MULTIPLY: _multiply,
    Arithmetic.DIVIDE: _divide,
}
_REAL: dict[Arithmetic, Callable[[Reals, Reals], Reals]] = {
    Arithmetic.ADD: np.add,
    Arithmetic.SUBTRACT: np.subtract,
    Arithmetic.MULTIPLY: np.multiply,
    Arithmetic.DIVIDE: np.divide,
}


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
