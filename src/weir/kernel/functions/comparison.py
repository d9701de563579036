"""``=``, ``<`` and the effective boolean value on terms (sections 17.2.2, 17.3, 17.4.1.7).

Values compare where both literals have one in the same space. Literals with values in different spaces are
unequal; a language-tagged string is unequal to every other term; where an ill-typed or unknown
literal is involved, only the same term is known to be equal and all else is an error.
"""

from __future__ import annotations

from weir.kernel.functions.errors import ExpressionError
from weir.language.algebra.expressions import Comparison
from weir.rdf.terms import Literal, Term
from weir.rdf.xsd.durations import Duration, compare_durations
from weir.rdf.xsd.moments import Moment, compare_moments
from weir.rdf.xsd.numbers import Number
from weir.rdf.xsd.numbers import compare as compare_numbers
from weir.rdf.xsd.values import Boolean, TaggedText, Text, Value, effective_boolean, value_of


def ebv(term: Term) -> bool:
    """The effective boolean value, an error for IRIs, blank nodes and literals without one."""
    value = effective_boolean(term) if isinstance(term, Literal) else None
    if value is None:
        raise ExpressionError(f"{term} has no effective boolean value")
    return value


def equal(left: Term, right: Term) -> bool:
    """``left = right``."""
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


def compare(operator: Comparison, left: Term, right: Term) -> bool:
    """One comparison operator on two terms."""
    if operator is Comparison.EQ:
        return equal(left, right)
    if operator is Comparison.NE:
        return not equal(left, right)
    outcome = order(left, right)
    if outcome is None:
        return False
    if operator is Comparison.LT:
        return outcome < 0
    if operator is Comparison.GT:
        return outcome > 0
    return outcome <= 0 if operator is Comparison.LE else outcome >= 0


def is_tagged(term: Term) -> bool:
    """Whether a term is a language-tagged string."""
    return isinstance(term, Literal) and isinstance(value_of(term), TaggedText)
