"""Expressions of the tree → expressions of the algebra."""

from __future__ import annotations

import pytest

from weir.errors import SyntaxError
from weir.language.algebra import expressions as e
from weir.language.algebra.fold import folded
from weir.language.lowering.expressions import ExpressionLowering, has_aggregate
from weir.language.syntax.expressions import ExpressionParser
from weir.language.syntax.lexer import Source, Tokens
from weir.rdf.terms import IRI, XSD, Literal, Variable

X, Y = Variable("x"), Variable("y")
ONE = Literal("1", XSD + "integer")


def read(text: str) -> e.Expression:
    return ExpressionParser(Tokens(Source(text)), None, None).expression()


def lowered(text: str, aggregates: dict[e.Aggregate, Variable] | None = None) -> e.Expression:
    lowering = ExpressionLowering(Source(text))
    lowering.aggregates = aggregates
    return lowering.expression(read(text))


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("?x > 1", e.Compare(e.Comparison.GT, X, ONE)),
        ("?x + ?y", e.Calculate(e.Arithmetic.ADD, X, Y)),
        ("?x || ?y && 1", e.Or(X, e.And(Y, ONE))),
        ("!?x", e.Not(X)),
        ("-?x", e.Negate(X)),
        ("+?x", e.Plus(X)),
        ("?x NOT IN (1, ?y)", e.In(X, (ONE, Y), True)),
        ("BOUND(?x)", e.Bound(X)),
        ("IF(?x, ?y, 1)", e.If(X, Y, ONE)),
        ("COALESCE(?x, 1)", e.Coalesce((X, ONE))),
        ("STRLEN(?x)", e.Call(e.Builtin.STRLEN, (X,))),
        ("<f>(DISTINCT ?x)", e.FunctionCall(IRI("f"), (X,), True)),
    ],
)
def test_every_kind_of_expression(text: str, expression: e.Expression) -> None:
    assert lowered(text) == expression


def test_long_conjunctions_are_balanced() -> None:
    found = folded(e.And, tuple(Variable(f"v{n}") for n in range(100)))
    assert isinstance(found, e.And) and isinstance(found.right, e.And)


def test_equal_aggregates_share_a_variable() -> None:
    collected: dict[e.Aggregate, Variable] = {}
    found = lowered("SUM(?x) / COUNT(*) + SUM(?x)", collected)
    total, count = collected[e.Aggregate(e.Aggregation.SUM, X)], collected[e.Aggregate(e.Aggregation.COUNT)]
    share = e.Calculate(e.Arithmetic.DIVIDE, total, count)
    assert found == e.Calculate(e.Arithmetic.ADD, share, total)


@pytest.mark.parametrize("text", ["COUNT(*) > 1", "COUNT(SUM(?x))"])
def test_where_an_aggregate_may_not_stand(text: str) -> None:
    with pytest.raises(SyntaxError, match="may not stand here"):
        lowered(text, {} if "SUM" in text else None)


@pytest.mark.parametrize(
    ("text", "found"), [("1 + MAX(?x)", True), ("IF(?x, COUNT(*), 1)", True), ("STR(?x) IN (1)", False)]
)
def test_which_expressions_hold_an_aggregate(text: str, found: bool) -> None:
    assert has_aggregate(read(text)) is found
