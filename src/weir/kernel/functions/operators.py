"""The operators on terms (section 17.3): ``=``, ``<``, arithmetic, and the effective boolean value (17.2.2);
and the two orders of terms: the canonical one, and that of ORDER BY, MIN and MAX (section 15.1).

Values compare where both literals have one in the same space. Literals with values in different spaces are
unequal; a language-tagged string is unequal to every other term; where an ill-typed or unknown
literal is involved, only the same term is known to be equal and all else is an error.

Laws: both orders are total preorders; the canonical one is total on terms; ORDER BY's ties are broken by it.
What is open in the specification is settled in decision semantics-values, 1 to 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import eq, ge, gt, le, lt, ne
from typing import Any, TypeAlias

from weir.language.algebra.expressions import Arithmetic, Comparison
from weir.language.algebra.fold import parts
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term, TripleTerm
from weir.rdf.xsd import numbers
from weir.rdf.xsd.durations import Duration, compare_durations
from weir.rdf.xsd.moments import Moment, compare_moments
from weir.rdf.xsd.numbers import Number, NumericError, literal_of
from weir.rdf.xsd.numbers import compare as compare_numbers
from weir.rdf.xsd.values import Boolean, TaggedText, Text, Value, effective_boolean, value_of


class ExpressionError(Exception):
    """An expression has no value for this solution. Never leaves the evaluation of a query."""


def ebv(term: Term) -> bool:
    """The effective boolean value, an error for IRIs, blank nodes and literals without one."""
    value = effective_boolean(term) if isinstance(term, Literal) else None
    if value is None:
        raise ExpressionError(f"{term} has no effective boolean value")
    return value


def equal(left: Term, right: Term) -> bool:
    """``left = right``; triple terms part by part."""
    if isinstance(left, TripleTerm) and isinstance(right, TripleTerm):
        return all(map(equal, parts(left), parts(right)))
    if not isinstance(left, Literal) or not isinstance(right, Literal):
        return left == right
    a, b = value_of(left), value_of(right)
    if isinstance(a, Number) and isinstance(b, Number):
        return compare_numbers(a, b) == 0
    if left == right:
        return True
    if left.language is not None or right.language is not None:
        return False
    if a is None or b is None:
        raise ExpressionError(f"cannot tell whether {left} equals {right}")
    if isinstance(a, Moment) and isinstance(b, Moment):
        if a.datatype != b.datatype:
            return False
        order = compare_moments(a, b)
        if order is None:
            raise ExpressionError(f"cannot tell whether {left} equals {right} without a timezone")
        return order == 0
    return a == b


def order(left: Term, right: Term) -> int | None:
    """−1, 0 or 1 for two literals of one ordered space; None where NaN takes part; else an error."""
    if not isinstance(left, Literal) or not isinstance(right, Literal):
        raise ExpressionError("only literals are ordered")
    a, b = value_of(left), value_of(right)
    if isinstance(a, Number) and isinstance(b, Number):
        return compare_numbers(a, b)
    result = _order_of_values(a, b)
    if result is None:
        raise ExpressionError(f"{left} and {right} have no order")
    return result


def _order_of_values(a: Value | None, b: Value | None) -> int | None:
    if isinstance(a, Text) and isinstance(b, Text):
        return (a.value > b.value) - (a.value < b.value)
    if isinstance(a, Boolean) and isinstance(b, Boolean):
        return a.value - b.value
    if isinstance(a, Moment) and isinstance(b, Moment) and a.datatype == b.datatype:
        return compare_moments(a, b)
    if isinstance(a, Duration) and isinstance(b, Duration):
        return compare_durations(a, b)
    return None


COMPARE: dict[Comparison, Callable[[Any, Any], Any]] = {
    Comparison.EQ: eq,
    Comparison.NE: ne,
    Comparison.LT: lt,
    Comparison.GT: gt,
    Comparison.LE: le,
    Comparison.GE: ge,
}
"""What the operators do to plain values and to columns of them."""


def compare(operator: Comparison, left: Term, right: Term) -> bool:
    """One comparison operator on two terms."""
    if operator in (Comparison.EQ, Comparison.NE):
        return equal(left, right) is (operator is Comparison.EQ)
    outcome = order(left, right)
    return outcome is not None and bool(COMPARE[operator](outcome, 0))


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


# The two orders

Solution: TypeAlias = Mapping[str, Term]
"""Bound variables by name."""

CanonicalKey: TypeAlias = tuple[int, str]

_UNBOUND, _BLANK, _IRI, _LITERAL, _TRIPLE = range(5)
_RANKS = {BlankNode: _BLANK, IRI: _IRI, Literal: _LITERAL, TripleTerm: _TRIPLE}
_NUMBER, _TEXT, _TAGGED, _BOOLEAN, _MOMENT, _DURATION, _OTHER = range(7)
_MOMENTS = ("dateTime", "date", "time", "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay")
_MOMENT_RANK = {XSD + name: rank for rank, name in enumerate(_MOMENTS)}


def canonical_key(term: Term | None) -> CanonicalKey:
    """Unbound, blank nodes, IRIs, literals, triple terms; then the text in code point order."""
    return (_UNBOUND, "") if term is None else (_RANKS[type(term)], str(term))


def solution_key(solution: Solution, variables: Sequence[str]) -> tuple[CanonicalKey, ...]:
    """The canonical key of a solution over ``variables``, which must come sorted by name."""
    return tuple(canonical_key(solution.get(name)) for name in variables)


def order_key(term: Term | None) -> tuple[Any, ...]:
    """A key whose order is that of ORDER BY ASC; equal keys are ties."""
    if term is None:
        return (_UNBOUND,)
    if isinstance(term, BlankNode):
        return (_BLANK,)
    if isinstance(term, IRI):
        return _IRI, term.value
    if isinstance(term, TripleTerm):
        return _TRIPLE, *map(order_key, parts(term))
    return (_LITERAL, *_literal_key(term))


def _literal_key(literal: Literal) -> tuple[Any, ...]:
    value = value_of(literal)
    if isinstance(value, Number):
        return (_NUMBER, 0, 0) if value.value != value.value else (_NUMBER, 1, value.value)
    if isinstance(value, Text):
        return _TEXT, value.value
    if isinstance(value, TaggedText):
        return _TAGGED, value.value, value.language, value.direction
    if isinstance(value, Boolean):
        return _BOOLEAN, value.value
    if isinstance(value, Moment):
        return _MOMENT, _MOMENT_RANK[value.datatype], value.utc_seconds()
    if isinstance(value, Duration):
        return (_DURATION, *value.order_key())
    return _OTHER, str(literal)


def extreme(terms: Iterable[Term], *, greatest: bool) -> Term | None:
    """The least or greatest term by ORDER BY, of ties the canonically least; None of nothing."""
    keyed = [(order_key(term), term) for term in terms]
    if not keyed:
        return None
    best = (max if greatest else min)(key for key, _ in keyed)
    return min((term for key, term in keyed if key == best), key=canonical_key)


def sort_solutions(
    solutions: Iterable[Solution],
    keys: Sequence[tuple[Callable[[Solution], Term | None], bool]],
    visible: Sequence[str],
) -> list[Solution]:
    """ORDER BY: ``keys`` are (evaluate, descending); ties by the canonical order over ``visible``."""
    names = sorted(visible)
    result = sorted(solutions, key=lambda solution: solution_key(solution, names))
    for evaluate, descending in reversed(keys):
        result.sort(key=lambda solution: order_key(evaluate(solution)), reverse=descending)
    return result
