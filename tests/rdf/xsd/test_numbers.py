"""Numbers: parsing, canonical forms, arithmetic, sums that do not depend on order."""

from __future__ import annotations

import math
import os
import random
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.rdf.terms import XSD
from weir.rdf.xsd.numbers import (
    Number,
    NumericError,
    NumericKind,
    add,
    ceiling,
    compare,
    decimal_text,
    divide,
    double_text,
    floor,
    lexical_of,
    literal_of,
    multiply,
    negate,
    parse_number,
    round_half_up,
    subtract,
    to_float,
    total,
)

EXAMPLES = max(1, int(100 * float(os.environ.get("WEIR_EXAMPLES", "1"))))
INTEGER, DECIMAL, FLOAT, DOUBLE = NumericKind


def number(lexical: str, name: str) -> Number:
    parsed = parse_number(lexical, XSD + name)
    assert parsed is not None
    return parsed


@pytest.mark.parametrize(
    ("lexical", "name", "canonical"),
    [
        ("+007", "integer", "7"),
        ("-0", "integer", "0"),
        ("01.50", "decimal", "1.5"),
        ("2", "decimal", "2.0"),
        ("-.5", "decimal", "-0.5"),
        ("-0.0", "decimal", "0.0"),
        ("1", "double", "1.0E0"),
        ("-1e-7", "double", "-1.0E-7"),
        ("123456.789", "double", "1.23456789E5"),
        ("0", "double", "0.0E0"),
        ("-0", "double", "-0.0E0"),
        ("+INF", "double", "INF"),
        ("NaN", "float", "NaN"),
        ("0.1", "float", "1.0E-1"),
        ("1e39", "float", "INF"),
    ],
)
def test_canonical_forms(lexical: str, name: str, canonical: str) -> None:
    assert lexical_of(number(lexical, name)) == canonical


@given(st.floats(allow_nan=False))
@settings(max_examples=EXAMPLES)
def test_doubles_read_back(value: float) -> None:
    parsed = parse_number(double_text(value), XSD + "double")
    assert parsed is not None
    assert parsed.value == value
    assert math.copysign(1, float(parsed.value)) == math.copysign(1, value)


@given(st.floats(width=32, allow_nan=False))
@settings(max_examples=EXAMPLES)
def test_floats_read_back(value: float) -> None:
    parsed = parse_number(double_text(value, single=True), XSD + "float")
    assert parsed == Number(FLOAT, value)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=12))
@settings(max_examples=EXAMPLES)
def test_decimals_read_back(value: Decimal) -> None:
    parsed = parse_number(decimal_text(value), XSD + "decimal")
    assert parsed is not None
    assert parsed.value == value


def test_promotion() -> None:
    one, half = number("1", "integer"), number("0.5", "decimal")
    single, double = number("1.5", "float"), number("2.5", "double")
    assert add(one, one).kind is INTEGER
    assert add(one, half) == Number(DECIMAL, Decimal("1.5"))
    assert add(half, single) == Number(FLOAT, 2.0)
    assert multiply(single, double) == Number(DOUBLE, 3.75)
    assert subtract(one, double) == Number(DOUBLE, -1.5)


def test_integers_divide_to_decimals() -> None:
    assert divide(number("6", "integer"), number("2", "integer")) == Number(DECIMAL, Decimal(3))
    third = divide(number("1", "integer"), number("3", "integer"))
    assert lexical_of(third) == "0.333333333333333333"
    assert lexical_of(divide(number("-2", "integer"), number("3", "integer"))) == "-0.666666666666666667"


def test_division_is_rounded_half_even_at_the_18th_digit() -> None:
    assert lexical_of(divide(number("1", "integer"), number(str(2 * 10**18), "integer"))) == "0.0"
    assert lexical_of(divide(number("3", "integer"), number(str(2 * 10**18), "integer"))) == f"0.{'0' * 17}2"


def test_division_by_zero() -> None:
    with pytest.raises(NumericError):
        divide(number("1", "integer"), number("0.0", "decimal"))
    assert divide(number("-1", "double"), number("0", "integer")).value == -math.inf
    assert math.isnan(float(divide(number("0", "double"), number("0", "integer")).value))


def test_exact_results_are_bounded() -> None:
    big = number("9" * 3000, "integer")
    with pytest.raises(NumericError):
        multiply(big, big)
    with pytest.raises(NumericError):
        multiply(number("0." + "1" * 3000, "decimal"), number("0." + "1" * 3000, "decimal"))


@pytest.mark.parametrize(
    ("lexical", "name", "rounded", "low", "high"),
    [
        ("2.5", "decimal", "3.0", "2.0", "3.0"),
        ("-2.5", "decimal", "-2.0", "-3.0", "-2.0"),
        ("2.4999", "double", "2.0E0", "2.0E0", "3.0E0"),
        ("-0.3", "double", "-0.0E0", "-1.0E0", "-0.0E0"),
        ("0.49999999999999994", "double", "0.0E0", "0.0E0", "1.0E0"),
        ("7", "integer", "7", "7", "7"),
        ("INF", "double", "INF", "INF", "INF"),
    ],
)
def test_rounding(lexical: str, name: str, rounded: str, low: str, high: str) -> None:
    operand = number(lexical, name)
    assert lexical_of(round_half_up(operand)) == rounded
    assert lexical_of(floor(operand)) == low
    assert lexical_of(ceiling(operand)) == high


def test_comparison_promotes() -> None:
    assert compare(number("1", "integer"), number("1.0", "decimal")) == 0
    assert compare(number("9007199254740993", "integer"), number("9007199254740992", "double")) == 0
    assert compare(number("NaN", "double"), number("1", "integer")) is None
    assert compare(number("0.1", "float"), number("0.1", "double")) == 1


def test_negative_zero_is_kept_by_doubles_alone() -> None:
    assert lexical_of(negate(number("0", "double"))) == "-0.0E0"
    assert lexical_of(negate(number("0", "decimal"))) == "0.0"
    assert lexical_of(add(number("-0.0", "decimal"), number("-0.0", "double"))) == "0.0E0"


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), max_size=30), st.randoms())
@settings(max_examples=EXAMPLES)
def test_sums_do_not_depend_on_order(values: list[float], chance: random.Random) -> None:
    numbers = [Number(DOUBLE, value) for value in values]
    expected = total(numbers)
    chance.shuffle(numbers)
    assert total(numbers) == expected
    if numbers:
        assert expected.value == float(sum(map(Fraction, values)))


def test_sums_by_kind() -> None:
    assert total([]) == Number(INTEGER, 0)
    assert total([number("1", "integer"), number("0.5", "decimal")]) == Number(DECIMAL, Decimal("1.5"))
    assert total([number("1", "integer"), number("0.5", "float")]).kind is FLOAT
    assert literal_of(total([number("INF", "double"), number("-INF", "double")])).lexical == "NaN"
    assert total([number("1e308", "double"), number("1e308", "double")]).value == math.inf
    cancelling = [number("1e308", "double"), number("1e308", "double"), number("-1e308", "double")]
    assert total(cancelling).value == 1e308


def test_floats_are_single() -> None:
    assert to_float(0.1) != 0.1
    assert to_float(1e300) == math.inf


@pytest.mark.parametrize(
    ("lexical", "name"),
    [("9" * 4_000, "integer"), ("-" + "9" * 4_000, "decimal"), ("-0." + "9" * 4_000, "decimal")],
)
def test_the_longest_numbers_read_back(lexical: str, name: str) -> None:
    longest = number(lexical, name)
    assert number(lexical_of(longest), name) == longest
    with pytest.raises(NumericError):
        multiply(longest, longest)


@pytest.mark.parametrize(("lexical", "name"), [("9" * 4_001, "integer"), ("0." + "9" * 4_001, "decimal")])
def test_longer_numbers_are_ill_typed(lexical: str, name: str) -> None:
    assert parse_number(lexical, XSD + name) is None


def test_only_digits_of_the_canonical_form_count() -> None:
    padded = number("1." + "0" * 3_000, "decimal")
    assert lexical_of(multiply(padded, padded)) == "1.0"
