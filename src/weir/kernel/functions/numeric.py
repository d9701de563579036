"""Arithmetic and the functions on numerics (sections 17.3, 17.4.4), from terms to canonical literals."""

from __future__ import annotations

from collections.abc import Callable

from weir.kernel.functions.errors import ExpressionError
from weir.language.algebra.expressions import Arithmetic
from weir.rdf.terms import Literal, Term
from weir.rdf.xsd import numbers
from weir.rdf.xsd.numbers import Number, NumericError, literal_of
from weir.rdf.xsd.values import value_of

_OPERATIONS: dict[Arithmetic, Callable[[Number, Number], Number]] = {
    Arithmetic.ADD: numbers.add,
    Arithmetic.SUBTRACT: numbers.subtract,
    Arithmetic.MULTIPLY: numbers.multiply,
    Arithmetic.DIVIDE: numbers.divide,
}


def number_of(term: Term) -> Number:
    """The numeric value of a term, or an error."""
    value = value_of(term) if isinstance(term, Literal) else None
    if not isinstance(value, Number):
        raise ExpressionError(f"{term} is not a number")
    return value


def calculate(operator: Arithmetic, left: Term, right: Term) -> Literal:
    """``left operator right``."""
    try:
        return literal_of(_OPERATIONS[operator](number_of(left), number_of(right)))
    except NumericError as error:
        raise ExpressionError(str(error)) from None


def negate(operand: Term) -> Literal:
    """Unary minus."""
    return literal_of(numbers.negate(number_of(operand)))


def plus(operand: Term) -> Literal:
    """Unary plus: the number itself, in canonical form."""
    return literal_of(number_of(operand))


def absolute(operand: Term) -> Literal:
    """ABS."""
    return literal_of(numbers.absolute(number_of(operand)))


def ceiling(operand: Term) -> Literal:
    """CEIL."""
    return literal_of(numbers.ceiling(number_of(operand)))


def floor(operand: Term) -> Literal:
    """FLOOR."""
    return literal_of(numbers.floor(number_of(operand)))


def round_half_up(operand: Term) -> Literal:
    """ROUND: halves go towards positive infinity."""
    return literal_of(numbers.round_half_up(number_of(operand)))
