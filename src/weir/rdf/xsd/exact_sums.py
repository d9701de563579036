"""Sums that are not rounded yet: what the slots of a split query give for SUM and AVG.

SUM is exact or rounded once, and promotes its operands one by one to the highest type among them, which one
slot does not know. So a part of a sum has, beside its own type, the sum of its operands in each type that it
may still be promoted to. Floats and doubles are integers times a power of two; so are their sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from fractions import Fraction
from typing import TypeAlias

from weir.rdf.terms import Literal
from weir.rdf.xsd.numbers import (
    EXACT,
    Number,
    NumericError,
    NumericKind,
    bounded,
    to_double,
    to_float,
)

PART = "urn:weir:part-of-a-sum"
"""The datatype of parts, which no result has."""

Real: TypeAlias = Fraction | float
"""A sum of floats or doubles: exact, or NaN or infinite."""
_NONE = Fraction(0)


@dataclass(frozen=True, slots=True)
class ExactSum:
    """``kind`` is the highest type of the operands; ``exact`` is their sum as decimals, ``single`` and
    ``double`` those of their values as floats and as doubles. What lies below ``kind`` means nothing."""

    kind: NumericKind = NumericKind.INTEGER
    exact: Decimal = Decimal(0)
    single: Real = _NONE
    double: Real = _NONE

    @staticmethod
    def of(number: Number) -> ExactSum:
        """The sum of one number."""
        double = to_double(number.value)
        if number.kind > NumericKind.FLOAT:
            return ExactSum(number.kind, double=_real(double))
        single = _real(to_float(double))
        if number.kind is NumericKind.FLOAT:
            return ExactSum(number.kind, single=single, double=_real(double))
        return ExactSum(number.kind, Decimal(number.value), single, _real(double))

    def __add__(self, other: ExactSum) -> ExactSum:
        kind = max(self.kind, other.kind)
        try:
            exact = EXACT.add(self.exact, other.exact) if kind < NumericKind.FLOAT else Decimal(0)
        except DecimalException:
            raise NumericError("a decimal of too many digits") from None
        single = _added(self.single, other.single) if kind < NumericKind.DOUBLE else _NONE
        return ExactSum(kind, exact, single, _added(self.double, other.double))

    @property
    def number(self) -> Number:
        """The sum as SUM gives it."""
        match self.kind:
            case NumericKind.INTEGER:
                return bounded(Number(self.kind, int(self.exact)))
            case NumericKind.DECIMAL:
                return bounded(Number(self.kind, self.exact))
            case NumericKind.FLOAT:
                return Number(self.kind, to_float(to_double(self.single)))
        return Number(self.kind, to_double(self.double))

    @property
    def literal(self) -> Literal:
        """The literal that carries it."""
        words = (str(int(self.kind)), str(self.exact), _text(self.single), _text(self.double))
        return Literal(" ".join(words), PART)

    @staticmethod
    def read(literal: Literal) -> ExactSum:
        """The inverse of ``literal``."""
        kind, exact, single, double = literal.lexical.split(" ")
        return ExactSum(NumericKind(int(kind)), Decimal(exact), _read(single), _read(double))


def total_of(parts: Iterable[ExactSum]) -> ExactSum:
    """The sum of sums."""
    whole = ExactSum()
    for part in parts:
        whole += part
    return whole


def _real(value: float) -> Real:
    return Fraction(value) if math.isfinite(value) else value


def _added(one: Real, other: Real) -> Real:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one + other
    return float(one if isinstance(one, float) else 0.0) + (other if isinstance(other, float) else 0.0)


def _text(value: Real) -> str:
    """The sum as an integer and the power of two that divides it."""
    if isinstance(value, float):
        return repr(value)
    return f"{value.numerator}/{value.denominator.bit_length() - 1}"


def _read(text: str) -> Real:
    top, found, power = text.partition("/")
    return Fraction(int(top), 1 << int(power)) if found else float(top)
