"""The set functions: errors, DISTINCT, order that does not matter."""

from __future__ import annotations

import itertools

import pytest

from weir.kernel.functions import ExpressionError, aggregate
from weir.language.algebra.expressions import Aggregate, Aggregation
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term

X = Literal("operand")


def typed(lexical: str, name: str = "integer") -> Literal:
    return Literal(lexical, XSD + name)


def over(
    function: Aggregation, *values: Term | None, distinct: bool = False, separator: str = " "
) -> Term | None:
    try:
        return aggregate(Aggregate(function, X, distinct, separator), list(values))
    except ExpressionError:
        return None


ONE, TWO = typed("1"), typed("2")


@pytest.mark.parametrize(
    ("function", "values", "expected"),
    [
        (Aggregation.COUNT, (ONE, None, ONE), typed("2")),
        (Aggregation.COUNT, (), typed("0")),
        (Aggregation.SUM, (ONE, TWO), typed("3")),
        (Aggregation.SUM, (), typed("0")),
        (Aggregation.SUM, (ONE, None), None),
        (Aggregation.SUM, (ONE, Literal("x")), None),
        (Aggregation.AVG, (ONE, TWO), typed("1.5", "decimal")),
        (Aggregation.AVG, (), typed("0")),
        (Aggregation.AVG, (typed("1", "float"), typed("2", "double")), typed("1.5E0", "double")),
        (Aggregation.MIN, (TWO, Literal("a"), IRI("z")), IRI("z")),
        (Aggregation.MAX, (TWO, Literal("a"), IRI("z")), Literal("a")),
        (Aggregation.MIN, (), None),
        (Aggregation.MAX, (ONE, None), None),
        (Aggregation.SAMPLE, (TWO, None, ONE), ONE),
        (Aggregation.SAMPLE, (None,), None),
        (Aggregation.GROUP_CONCAT, (TWO, ONE, IRI("u:x")), Literal("u:x 1 2")),
        (Aggregation.GROUP_CONCAT, (), Literal("")),
        (Aggregation.GROUP_CONCAT, (ONE, None), None),
        (Aggregation.GROUP_CONCAT, (BlankNode("b"),), None),
    ],
)
def test_aggregates(function: Aggregation, values: tuple[Term | None, ...], expected: Term | None) -> None:
    for order in itertools.permutations(values):
        assert over(function, *order) == expected


def test_group_concat_does_not_make_what_is_too_long() -> None:
    assert over(Aggregation.GROUP_CONCAT, *[Literal("a" * 500_000)] * 3) is None


def test_distinct_is_by_term() -> None:
    ones = (typed("1"), typed("01"), typed("1"))
    assert over(Aggregation.COUNT, *ones, distinct=True) == typed("2")
    assert over(Aggregation.SUM, *ones, distinct=True) == typed("2")
    assert over(Aggregation.GROUP_CONCAT, *ones, distinct=True, separator=",") == Literal("01,1")
    assert over(Aggregation.AVG, ONE, ONE, typed("4"), distinct=True) == typed("2.5", "decimal")
