"""Numbers: the four primitive numeric types, the types derived from integer, arithmetic (XPath F&O 4).

Integers and decimals are exact, floats and doubles IEEE. ``+ − ×`` on decimals are exact, ``÷`` is rounded
half-even to 18 fraction digits. An exact number has at most ``MAX_DIGITS`` digits, because queries come from
strangers and squaring doubles the length each time: a longer form is ill-typed, a longer result an error. So
every result reads back, and every finite double has an exact decimal.
"""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, DecimalException, Inexact
from enum import IntEnum
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from weir.rdf.terms import XSD, Literal

MAX_DIGITS = 4_000
FRACTION_DIGITS = 18

XSD_INTEGER = XSD + "integer"
XSD_DECIMAL = XSD + "decimal"
XSD_FLOAT = XSD + "float"
XSD_DOUBLE = XSD + "double"


class NumericKind(IntEnum):
    """The primitive types in the order of promotion (section 17.3)."""

    INTEGER = 0
    DECIMAL = 1
    FLOAT = 2
    DOUBLE = 3


@dataclass(frozen=True, slots=True)
class Number:
    """A numeric value: ``int``, ``Decimal`` or ``float`` by kind. Derived integer types are INTEGER."""

    kind: NumericKind
    value: int | Decimal | float


class NumericError(ArithmeticError):
    """An operation without a numeric result: division by zero, or too many digits."""


INTEGER_RANGES: dict[str, tuple[int | None, int | None]] = {
    XSD + "integer": (None, None),
    XSD + "nonPositiveInteger": (None, 0),
    XSD + "negativeInteger": (None, -1),
    XSD + "long": (-(2**63), 2**63 - 1),
    XSD + "int": (-(2**31), 2**31 - 1),
    XSD + "short": (-(2**15), 2**15 - 1),
    XSD + "byte": (-(2**7), 2**7 - 1),
    XSD + "nonNegativeInteger": (0, None),
    XSD + "unsignedLong": (0, 2**64 - 1),
    XSD + "unsignedInt": (0, 2**32 - 1),
    XSD + "unsignedShort": (0, 2**16 - 1),
    XSD + "unsignedByte": (0, 2**8 - 1),
    XSD + "positiveInteger": (1, None),
}
"""The types derived from integer, with their least and greatest values."""

NUMERIC_TYPES: dict[str, NumericKind] = {
    **dict.fromkeys(INTEGER_RANGES, NumericKind.INTEGER),
    XSD_DECIMAL: NumericKind.DECIMAL,
    XSD_FLOAT: NumericKind.FLOAT,
    XSD_DOUBLE: NumericKind.DOUBLE,
}

_DATATYPES = (XSD_INTEGER, XSD_DECIMAL, XSD_FLOAT, XSD_DOUBLE)
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN")
_LONGEST = MAX_DIGITS + len("-0.")
_TOO_LARGE: int = 10**MAX_DIGITS
EXACT = Context(prec=MAX_DIGITS + 100, Emin=-(10**9), Emax=10**9, traps=[Inexact])
"""Decimal arithmetic without rounding; Python's own context has 28 digits."""

_ROUND = Context(prec=2 * MAX_DIGITS, rounding=ROUND_HALF_EVEN, Emin=-(10**9), Emax=10**9, traps=[])


def parse_number(lexical: str, datatype: str) -> Number | None:
    """The value of a form of a numeric type, None where it is ill-typed (or absurdly long)."""
    kind = NUMERIC_TYPES[datatype]
    if len(lexical) > _LONGEST:
        return None
    if kind is NumericKind.INTEGER:
        if not _INTEGER.fullmatch(lexical):
            return None
        integer = int(lexical)
        low, high = INTEGER_RANGES[datatype]
        if (low is not None and integer < low) or (high is not None and integer > high):
            return None
        return None if _too_long(integer) else Number(kind, integer)
    if kind is NumericKind.DECIMAL:
        decimal = Decimal(lexical) if _DECIMAL.fullmatch(lexical) else None
        if decimal is None or _too_long(decimal):
            return None
        return Number(kind, decimal or decimal.copy_abs())  # a decimal has no negative zero
    if not _DOUBLE.fullmatch(lexical):
        return None
    double = float(lexical)
    return Number(kind, double if kind is NumericKind.DOUBLE else to_float(double))


def to_float(value: float) -> float:
    """The nearest value of single precision, as a Python float; too large ones are infinite."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def to_double(value: int | Decimal | Fraction | float) -> float:
    """Promotion to double; what is too large becomes infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, 1 if value > 0 else -1)


def literal_of(number: Number) -> Literal:
    """The canonical literal of a computed number."""
    return Literal(lexical_of(number), _DATATYPES[number.kind])


def lexical_of(number: Number) -> str:
    """The canonical form: "5", "2.0", "1.5E0", "INF"."""
    value = number.value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return decimal_text(value)
    return double_text(value, single=number.kind is NumericKind.FLOAT)


def decimal_text(value: Decimal) -> str:
    """No superfluous zeros, at least one digit on each side of the point."""
    text = format(value, "f")
    if "." not in text:
        text += ".0"
    sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole, fraction = text.split(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0") or "0"
    return f"{whole}.{fraction}" if whole == fraction == "0" else f"{sign}{whole}.{fraction}"


def double_text(value: float, *, single: bool = False) -> str:
    """The shortest digits that read back as the same value, in the form ``d.dEn``."""
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    if value == 0:
        return "-0.0E0" if math.copysign(1, value) < 0 else "0.0E0"
    shown = np.format_float_scientific(np.float32(value) if single else value, unique=True, trim="0")
    mantissa, exponent = shown.split("e")
    return f"{mantissa}E{int(exponent)}"


def bounded(number: Number) -> Number:
    """The number, unless it has grown beyond ``MAX_DIGITS``."""
    if not isinstance(number.value, float) and _too_long(number.value):
        raise NumericError("a number of too many digits")
    return number


def _too_long(value: int | Decimal) -> bool:
    """Whether the canonical form has more than ``MAX_DIGITS`` digits; a lone zero at the point is none."""
    if isinstance(value, int):
        return abs(value) >= _TOO_LARGE
    if not value:
        return False
    if value.adjusted() >= MAX_DIGITS:
        return True
    _, digits, exponent = value.as_tuple()
    if len(digits) - min(int(exponent), 0) <= MAX_DIGITS:
        return False
    zeros = len(digits) - len(bytes(digits).rstrip(b"\0"))
    places = max(-int(exponent) - zeros, 0)
    return max(value.adjusted() + 1, 0) + places > MAX_DIGITS


def _promote(left: Number, right: Number) -> tuple[NumericKind, float, float] | None:
    """Both operands as floats where one of them is float or double."""
    kind = max(left.kind, right.kind)
    if kind < NumericKind.FLOAT:
        return None
    a, b = to_double(left.value), to_double(right.value)
    return (kind, a, b) if kind is NumericKind.DOUBLE else (kind, to_float(a), to_float(b))


def _result(kind: NumericKind, value: float) -> Number:
    return Number(kind, value if kind is NumericKind.DOUBLE else to_float(value))


def _computed(
    left: Number,
    right: Number,
    plain: Callable[[Any, Any], Any],
    decimals: Callable[[Decimal, Decimal], Decimal],
) -> Number:
    """An operation on floats or integers by Python's own, on decimals exactly."""
    floats = _promote(left, right)
    if floats:
        return _result(floats[0], plain(floats[1], floats[2]))
    a, b = left.value, right.value
    if isinstance(a, int) and isinstance(b, int):
        return bounded(Number(NumericKind.INTEGER, plain(a, b)))
    try:
        return bounded(Number(NumericKind.DECIMAL, decimals(Decimal(a), Decimal(b))))
    except DecimalException:
        raise NumericError("a decimal of too many digits") from None


def add(left: Number, right: Number) -> Number:
    """op:numeric-add."""
    return _computed(left, right, operator.add, EXACT.add)


def subtract(left: Number, right: Number) -> Number:
    """op:numeric-subtract."""
    return _computed(left, right, operator.sub, EXACT.subtract)


def multiply(left: Number, right: Number) -> Number:
    """op:numeric-multiply."""
    return _computed(left, right, operator.mul, EXACT.multiply)


def divide(left: Number, right: Number) -> Number:
    """op:numeric-divide: integers give a decimal; an exact zero divisor is an error, a double one IEEE."""
    floats = _promote(left, right)
    if floats:
        kind, a, b = floats
        if b == 0:
            if a == 0 or a != a:
                return Number(kind, math.nan)
            return Number(kind, math.copysign(math.inf, a) * math.copysign(1, b))
        return _result(kind, a / b)
    a_exact, b_exact = Decimal(left.value), Decimal(right.value)
    if not b_exact:
        raise NumericError("division by zero")
    return bounded(Number(NumericKind.DECIMAL, _quotient(a_exact, b_exact)))


def _quotient(a: Decimal, b: Decimal) -> Decimal:
    """``a / b`` rounded once, half-even, to ``FRACTION_DIGITS`` digits after the point."""
    (a_top, a_bottom), (b_top, b_bottom) = a.as_integer_ratio(), b.as_integer_ratio()
    numerator, denominator = a_top * b_bottom, a_bottom * b_top
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    scaled, rest = divmod(numerator * 10**FRACTION_DIGITS, denominator)
    if 2 * rest > denominator or (2 * rest == denominator and scaled % 2):
        scaled += 1
    return Decimal(scaled).scaleb(-FRACTION_DIGITS, context=_ROUND)


def negate(operand: Number) -> Number:
    """op:numeric-unary-minus."""
    value = operand.value
    if isinstance(value, Decimal):
        return Number(operand.kind, value.copy_negate() if value else value)
    return Number(operand.kind, -value)


def compare(left: Number, right: Number) -> int | None:
    """−1, 0 or 1 after promotion; None where NaN takes part (unequal to all, ordered with none)."""
    floats = _promote(left, right)
    if floats:
        _, x, y = floats
        return None if x != x or y != y else (x > y) - (x < y)
    a, b = left.value, right.value
    return (a > b) - (a < b)


def absolute(operand: Number) -> Number:
    """fn:abs."""
    value = operand.value
    return Number(operand.kind, value.copy_abs() if isinstance(value, Decimal) else abs(value))


def round_half_up(operand: Number) -> Number:
    """fn:round: to the nearest integer, halves towards positive infinity."""
    return _rounded(operand, Decimal("0.5"))


def floor(operand: Number) -> Number:
    """fn:floor."""
    return _rounded(operand, Decimal(0))


def ceiling(operand: Number) -> Number:
    """fn:ceiling."""
    return negate(floor(negate(operand)))


def _rounded(operand: Number, shift: Decimal) -> Number:
    value = operand.value
    if isinstance(value, int):
        return operand
    if isinstance(value, Decimal):
        moved = EXACT.add(value, shift)
        return Number(operand.kind, moved.to_integral_value(rounding=ROUND_FLOOR))
    if math.isinf(value) or value != value or value == 0 or value.is_integer():
        return operand
    whole = math.floor(EXACT.add(Decimal(value), shift))
    return Number(operand.kind, math.copysign(float(whole), value) if whole == 0 else float(whole))


def total(numbers: Iterable[Number]) -> Number:
    """The sum, independent of order: exact, or rounded once where floats or doubles take part."""
    operands = list(numbers)
    kind = max((n.kind for n in operands), default=NumericKind.INTEGER)
    if kind is NumericKind.INTEGER:
        return bounded(Number(kind, sum(int(n.value) for n in operands)))
    if kind is NumericKind.DECIMAL:
        try:
            result = reduce(EXACT.add, (Decimal(number.value) for number in operands), Decimal(0))
        except DecimalException:
            raise NumericError("a decimal of too many digits") from None
        return bounded(Number(kind, result))
    floats = [to_double(n.value) for n in operands]
    if kind is NumericKind.FLOAT:
        floats = [to_float(value) for value in floats]
    return _result(kind, _fsum(floats))


def _fsum(values: list[float]) -> float:
    special = {value for value in values if math.isinf(value)}
    if any(value != value for value in values) or len(special) == 2:
        return math.nan
    if special:
        return special.pop()
    try:
        return math.fsum(values)
    except OverflowError:
        exact = sum(map(Fraction, values), Fraction(0))
        return to_double(exact)
