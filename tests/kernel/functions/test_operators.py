"""``=`` and ``<`` on terms: by value where both have one in the same space, with SPARQL's errors."""

from __future__ import annotations

import itertools
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.kernel.functions import ExpressionError
from weir.kernel.functions.operators import (
    canonical_key,
    compare,
    ebv,
    equal,
    extreme,
    order,
    order_key,
    solution_key,
    sort_solutions,
)
from weir.language.algebra.expressions import Comparison
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term

EXAMPLES = int(100 * float(os.environ.get("WEIR_EXAMPLES", "1")))


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


# The canonical order of terms and ORDER BY's

IN_ORDER: list[Term | None] = [
    None,
    BlankNode("x"),
    IRI("http://a"),
    IRI("http://b"),
    typed("NaN", "double"),
    typed("-INF", "double"),
    typed("-1", "integer"),
    typed("0.2", "decimal"),
    typed("0.2", "double"),
    typed("3", "byte"),
    typed("9007199254740992", "double"),
    typed("9007199254740993", "integer"),
    Literal("A"),
    Literal("a"),
    Literal.tagged("a", "de"),
    Literal.tagged("a", "en"),
    typed("false", "boolean"),
    typed("true", "boolean"),
    typed("2024-01-01T00:00:00", "dateTime"),
    typed("2024-01-01T00:00:00-01:00", "dateTime"),
    typed("2024-01-01", "date"),
    typed("00:00:00", "time"),
    typed("2024", "gYear"),
    typed("---01", "gDay"),
    typed("PT1H", "duration"),
    typed("P1M", "duration"),
    typed("rubbish", "integer"),
    Literal("x", "urn:t"),
]


def test_order_by() -> None:
    keys = [order_key(term) for term in IN_ORDER]
    for left, right in itertools.pairwise(keys):
        assert left < right


def test_values_that_compare_equal_tie() -> None:
    ones = [typed("1", "integer"), typed("1.0", "decimal"), typed("01", "int"), typed("1E0", "double")]
    assert len({order_key(one) for one in ones}) == 1
    assert order_key(BlankNode("a")) == order_key(BlankNode("b"))


TERMS = st.sampled_from([term for term in IN_ORDER if term is not None])


@given(st.lists(TERMS, max_size=8), st.randoms())
@settings(max_examples=EXAMPLES)
def test_the_canonical_order_is_total(terms: list[Term], chance: object) -> None:
    for left, right in itertools.product(terms, repeat=2):
        assert (canonical_key(left) == canonical_key(right)) == (left == right)


def test_the_canonical_order() -> None:
    terms: list[Term | None] = [
        None,
        BlankNode("z"),
        IRI("http://b"),
        typed("10", "integer"),
        typed("9", "integer"),
    ]
    assert sorted([*terms[3:], *terms[:3]], key=canonical_key) == terms


def test_extremes_resolve_ties_canonically() -> None:
    ones = [typed("1.0", "decimal"), typed("01", "integer"), typed("1", "integer")]
    assert extreme(ones, greatest=False) == extreme(ones, greatest=True) == typed("01", "integer")
    assert extreme([typed("2", "integer"), *ones], greatest=True) == typed("2", "integer")
    assert extreme([], greatest=True) is None


def test_sorting_by_several_keys() -> None:
    rows = [
        {"a": typed("1", "integer"), "b": Literal("x")},
        {"a": typed("2", "integer"), "b": Literal("x")},
        {"b": Literal("y")},
        {"a": typed("01", "integer"), "b": Literal("x")},
    ]
    by_b = (lambda row: row.get("b"), True)
    by_a = (lambda row: row.get("a"), False)
    found = sort_solutions(rows, [by_b, by_a], ("a", "b"))
    assert found == [rows[2], rows[3], rows[0], rows[1]]


def test_solutions_are_ordered_by_the_names_of_their_variables() -> None:
    first, second = {"a": Literal("1"), "b": Literal("2")}, {"a": Literal("2")}
    assert solution_key(first, ("a", "b")) < solution_key(second, ("a", "b"))
    assert solution_key(second, ("b",)) < solution_key(first, ("b",))
