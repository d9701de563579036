"""Literals to values and the effective boolean value."""

from __future__ import annotations

import pytest

from weir.rdf.terms import XSD, Literal
from weir.rdf.xsd.numbers import Number, NumericKind
from weir.rdf.xsd.values import Boolean, TaggedText, Text, effective_boolean, value_of


def typed(lexical: str, name: str) -> Literal:
    return Literal(lexical, XSD + name)


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        (Literal("a"), Text("a")),
        (Literal.tagged("a", "EN"), TaggedText("a", "en")),
        (typed("1", "boolean"), Boolean(True)),
        (typed("false", "boolean"), Boolean(False)),
        (typed("+007", "integer"), Number(NumericKind.INTEGER, 7)),
        (typed("127", "byte"), Number(NumericKind.INTEGER, 127)),
    ],
)
def test_values(literal: Literal, value: object) -> None:
    assert value_of(literal) == value


@pytest.mark.parametrize(
    "literal",
    [
        typed("TRUE", "boolean"),
        typed("1.0", "integer"),
        typed("", "integer"),
        typed("128", "byte"),
        typed("-1", "nonNegativeInteger"),
        typed("0", "positiveInteger"),
        typed("0", "negativeInteger"),
        typed("1", "nonPositiveInteger"),
        typed("256", "unsignedByte"),
        typed("18446744073709551616", "unsignedLong"),
        typed("1e0", "decimal"),
        typed(".", "decimal"),
        typed(" 1", "integer"),
        typed("١", "integer"),
        typed("inf", "double"),
        typed("2024-13-01T00:00:00Z", "dateTime"),
    ],
)
def test_ill_typed_forms_have_no_value(literal: Literal) -> None:
    assert value_of(literal) is None


def test_an_unknown_datatype_has_no_value() -> None:
    assert value_of(Literal("x", "urn:unknown")) is None


@pytest.mark.parametrize(
    ("literal", "truth"),
    [
        (Literal(""), False),
        (Literal("false"), True),
        (Literal.tagged("x", "en"), None),
        (typed("0", "boolean"), False),
        (typed("true", "boolean"), True),
        (typed("rubbish", "boolean"), None),
        (typed("0.0", "decimal"), False),
        (typed("NaN", "double"), False),
        (typed("-1", "int"), True),
        (typed("rubbish", "integer"), None),
        (typed("2024-01-01", "date"), None),
        (Literal("x", "urn:unknown"), None),
    ],
)
def test_effective_boolean_value(literal: Literal, truth: bool | None) -> None:
    assert effective_boolean(literal) is truth
