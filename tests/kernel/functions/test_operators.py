"""``=`` and ``<`` on terms: by value where both have one in the same space, with SPARQL's errors."""

from __future__ import annotations

import pytest

from weir.kernel.functions import ExpressionError
from weir.kernel.functions.operators import compare, ebv, equal, order
from weir.language.algebra.expressions import Comparison
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term


def typed(lexical: str, name: str) -> Literal:
    return Literal(lexical, XSD + name)


TAGGED = Literal.tagged("x", "en")
UNKNOWN = Literal("x", "urn:t")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (IRI("a"), IRI("a"), True),
        (IRI("a"), Literal("a"), False),
        (BlankNode("a"), BlankNode("b"), False),
        (typed("01", "integer"), typed("1.0", "decimal"), True),
        (typed("1", "byte"), typed("1.0E0", "double"), True),
        (typed("NaN", "double"), typed("NaN", "double"), False),
        (typed("1", "boolean"), typed("true", "boolean"), True),
        (Literal("a"), Literal("b"), False),
        (TAGGED, Literal.tagged("x", "EN"), True),
        (TAGGED, Literal("x"), False),
        (TAGGED, UNKNOWN, False),
        (UNKNOWN, Literal("x", "urn:t"), True),
        (typed("1", "integer"), Literal("1"), False),
        (typed("2024-01-01T00:00:00Z", "dateTime"), typed("2024-01-01", "date"), False),
        (typed("P1Y", "duration"), typed("P12M", "yearMonthDuration"), True),
        (typed("2024-01-01T00:00:00Z", "dateTime"), typed("2024-01-01T01:00:00+01:00", "dateTime"), True),
    ],
)
def test_equality(left: Term, right: Term, expected: bool) -> None:
    assert equal(left, right) is expected
    assert equal(right, left) is expected


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (UNKNOWN, Literal("y", "urn:t")),
        (UNKNOWN, Literal("x")),
        (typed("rubbish", "integer"), typed("1", "integer")),
        (typed("2024-01-01", "date"), typed("2024-01-01Z", "date")),
    ],
)
def test_unknowable_equality_is_an_error(left: Term, right: Term) -> None:
    with pytest.raises(ExpressionError):
        equal(left, right)
    with pytest.raises(ExpressionError):
        compare(Comparison.NE, left, right)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (typed("2", "integer"), typed("10", "decimal"), -1),
        (Literal("a"), Literal("B"), 1),
        (typed("false", "boolean"), typed("1", "boolean"), -1),
        (typed("10:00:00Z", "time"), typed("10:00:00-01:00", "time"), -1),
        (typed("PT1H", "dayTimeDuration"), typed("PT60M", "duration"), 0),
        (typed("NaN", "double"), typed("1", "double"), None),
    ],
)
def test_order(left: Term, right: Term, expected: int | None) -> None:
    assert order(left, right) == expected


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (IRI("a"), IRI("b")),
        (typed("1", "integer"), Literal("1")),
        (TAGGED, Literal.tagged("y", "en")),
        (typed("2024-01-01", "date"), typed("2024-01-01T00:00:00", "dateTime")),
        (typed("P1M", "duration"), typed("P30D", "duration")),
    ],
)
def test_incomparable_terms_are_an_error(left: Term, right: Term) -> None:
    with pytest.raises(ExpressionError):
        order(left, right)


def test_nan_is_ordered_with_nothing() -> None:
    nan, one = typed("NaN", "double"), typed("1", "integer")
    for operator in (Comparison.LT, Comparison.GT, Comparison.LE, Comparison.GE, Comparison.EQ):
        assert not compare(operator, nan, one)
    assert compare(Comparison.NE, nan, nan)


def test_effective_boolean_value_of_others_is_an_error() -> None:
    for term in (IRI("a"), BlankNode("b"), typed("2024-01-01", "date"), UNKNOWN):
        with pytest.raises(ExpressionError):
            ebv(term)
