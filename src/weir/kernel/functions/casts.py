"""Casts: constructor functions of XSD types (section 17.5, XPath F&O 17).

Every finite float or double has an exact decimal within the limits of ``numbers``, so the closest decimal
(F&O 17.1.3.3) is its binary value itself: that of "0.5"^^xsd:float is 0.5, and that of "0.1"^^xsd:float is
0.100000001490116119384765625. A cast to an integer type truncates the same exact value (17.1.3.4); one to a
string gives the shortest digits that read back (17.1.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

from weir.kernel.functions.builtins import str_
from weir.kernel.functions.operators import ExpressionError
from weir.rdf.terms import XSD, XSD_STRING, Literal, Term
from weir.rdf.xsd.durations import DURATION_TYPES, Duration, parse_duration
from weir.rdf.xsd.moments import (
    MOMENT_TYPES,
    XSD_DATE,
    XSD_DATETIME,
    XSD_TIME,
    Moment,
    date_text,
    datetime_text,
    parse_moment,
    zone_text,
)
from weir.rdf.xsd.numbers import (
    INTEGER_RANGES,
    XSD_DECIMAL,
    XSD_DOUBLE,
    XSD_FLOAT,
    Number,
    NumericKind,
    decimal_text,
    lexical_of,
    literal_of,
    parse_number,
    to_double,
    to_float,
)
from weir.rdf.xsd.values import XSD_BOOLEAN, Boolean, Text, Value, boolean, parse_boolean, value_of

_SPACE = " \t\n\r"
"""What XSD calls white space; a cast from a string leaves it out at both ends."""


def _value(term: Term) -> Value:
    value = value_of(term) if isinstance(term, Literal) else None
    if value is None:
        raise ExpressionError(f"{term} has no value to cast")
    return value


def to_string(term: Term) -> Literal:
    """xsd:string: XPath's rules for numbers and booleans, else as STR."""
    value = value_of(term) if isinstance(term, Literal) else None
    if isinstance(value, Boolean):
        return Literal("true" if value.value else "false")
    if isinstance(value, Number):
        return Literal(_number_text(value))
    return str_(term)


def _number_text(number: Number) -> str:
    value, text = number.value, lexical_of(number)
    if isinstance(value, float) and value == 0:
        return text.removesuffix(".0E0")
    if isinstance(value, float) and not 1e-6 <= abs(value) < 1e6:
        return text
    return decimal_text(Decimal(text)).removesuffix(".0")


def to_boolean(term: Term) -> Literal:
    """xsd:boolean: zero and NaN are false."""
    value = _value(term)
    if isinstance(value, Boolean):
        return boolean(value.value)
    if isinstance(value, Number):
        return boolean(bool(value.value) and value.value == value.value)
    known = parse_boolean(value.value.strip(_SPACE)) if isinstance(value, Text) else None
    if known is None:
        raise ExpressionError(f"{term} cannot be cast to a boolean")
    return boolean(known)


def _to_number(term: Term, target: str) -> Number:
    value = _value(term)
    if isinstance(value, Number):
        return value
    if isinstance(value, Boolean):
        return Number(NumericKind.INTEGER, int(value.value))
    parsed = parse_number(value.value.strip(_SPACE), target) if isinstance(value, Text) else None
    if parsed is None:
        raise ExpressionError(f"{term} cannot be cast to {target}")
    return parsed


def to_double_literal(term: Term) -> Literal:
    """xsd:double."""
    return literal_of(Number(NumericKind.DOUBLE, to_double(_to_number(term, XSD_DOUBLE).value)))


def to_float_literal(term: Term) -> Literal:
    """xsd:float."""
    return literal_of(Number(NumericKind.FLOAT, to_float(to_double(_to_number(term, XSD_FLOAT).value))))


def to_decimal(term: Term) -> Literal:
    """xsd:decimal: a float or double gives its exact value; INF and NaN are errors."""
    number = _to_number(term, XSD_DECIMAL)
    return literal_of(Number(NumericKind.DECIMAL, _exact(number)))


def _exact(number: Number) -> Decimal:
    value = number.value
    if isinstance(value, float) and not math.isfinite(value):
        raise ExpressionError("INF and NaN are no decimals")
    return Decimal(value)


def to_integer(target: str) -> Callable[[Term], Literal]:
    """xsd:integer and the types derived from it: numbers are truncated, then must be in range."""

    def cast(term: Term) -> Literal:
        whole = int(_exact(_to_number(term, target)))
        if parse_number(str(whole), target) is None:
            raise ExpressionError(f"{whole} is out of the range of {target}")
        return Literal(str(whole), target)

    return cast


def to_moment(target: str) -> Callable[[Term], Literal]:
    """xsd:dateTime, xsd:date, xsd:time and the Gregorian fragments."""

    def cast(term: Term) -> Literal:
        value = _value(term)
        if isinstance(value, Moment):
            if value.datatype == target:
                return Literal(str_(term).lexical, target)
            if value.datatype == XSD_DATE and target == XSD_DATETIME:
                return Literal(datetime_text(value), target)
            if value.datatype == XSD_DATETIME and target == XSD_DATE:
                return Literal(date_text(value) + zone_text(value.zone), target)
            if value.datatype == XSD_DATETIME and target == XSD_TIME:
                return Literal(datetime_text(value).split("T")[1], target)
        elif isinstance(value, Text) and parse_moment(value.value.strip(_SPACE), target):
            return Literal(value.value.strip(_SPACE), target)
        raise ExpressionError(f"{term} cannot be cast to {target}")

    return cast


def to_duration(target: str) -> Callable[[Term], Literal]:
    """The three duration types, from each other where nothing is lost, or from text."""

    def cast(term: Term) -> Literal:
        if isinstance(term, Literal) and isinstance(_value(term), Duration | Text):
            form = term.lexical.strip(_SPACE)
            if parse_duration(form, target) is not None:
                return Literal(form, target)
        raise ExpressionError(f"{term} cannot be cast to {target}")

    return cast


CASTS: dict[str, Callable[[Term], Literal]] = {
    XSD_STRING: to_string,
    XSD_BOOLEAN: to_boolean,
    XSD_DOUBLE: to_double_literal,
    XSD_FLOAT: to_float_literal,
    XSD_DECIMAL: to_decimal,
    **{target: to_integer(target) for target in INTEGER_RANGES},
    **{target: to_moment(target) for target in MOMENT_TYPES if target != XSD + "dateTimeStamp"},
    **{target: to_duration(target) for target in DURATION_TYPES},
}
"""Constructor functions by datatype IRI; each takes one argument."""
