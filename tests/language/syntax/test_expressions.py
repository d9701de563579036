"""Expressions by precedence."""

from __future__ import annotations

import pytest

from weir.errors import SyntaxError
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import folded
from weir.language.syntax.expressions import ExpressionParser
from weir.language.syntax.lexer import Source, Tokens
from weir.language.syntax.patterns import PatternParser
from weir.rdf.terms import IRI, XSD, Literal, Variable

X, Y = Variable("x"), Variable("y")
ONE = Literal("1", XSD + "integer")


def read(text: str, base: str | None = None) -> e.Expression:
    return PatternParser(Tokens(Source(text)), None, base).expression()


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("1 + 2 * 3", ("+", "1", ("*", "2", "3"))),
        ("1 - 2 - 3", ("-", ("-", "1", "2"), "3")),
        ("1 -2", ("-", "1", "2")),
        ("1 + -2", ("+", "1", "-2")),
        ("(1 + 2) * 3", ("*", ("+", "1", "2"), "3")),
        ("8 / 2 * 3", ("*", ("/", "8", "2"), "3")),
    ],
)
def test_arithmetic_binds_as_it_should(text: str, expression: object) -> None:
    def shape(found: e.Expression) -> object:
        if isinstance(found, e.Calculate):
            return found.operator.value, shape(found.left), shape(found.right)
        assert isinstance(found, Literal)
        return found.lexical

    assert shape(read(text)) == expression


def test_signs() -> None:
    assert read("-5") == Literal("-5", XSD + "integer")
    assert read("- 5") == e.Negate(Literal("5", XSD + "integer"))
    assert read("+?y") == e.Plus(Variable("y"))


def test_and_binds_tighter_than_or() -> None:
    x = Variable("x")
    assert read("?x || ?x && ?x") == e.Or(x, e.And(x, x))


@pytest.mark.parametrize(
    "expression", ["?x = ?y = ?z", "--?x", "?x <", "IF(1, 2)", "RAND(1)", "BOUND(1)", "SUBSTR(?x)"]
)
def test_bad_expressions(expression: str) -> None:
    with pytest.raises(SyntaxError):
        ExpressionParser(Tokens(Source(f"({expression})")), None, None).bracketed()


def test_a_relative_reference_keeps_its_base() -> None:
    base = "http://b/"
    assert read("IRI(?x)", base) == e.Call(e.Builtin.IRI, (Variable("x"), IRI(base)))


def test_exists_takes_a_group() -> None:
    assert read("NOT EXISTS {}") == e.Exists(a.BGP(()), True)


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
    assert read(text) == expression


def test_long_conjunctions_are_balanced() -> None:
    found = folded(e.And, tuple(Variable(f"v{n}") for n in range(100)))
    assert isinstance(found, e.And) and isinstance(found.right, e.And)


def test_where_an_aggregate_may_stand() -> None:
    parser = PatternParser(Tokens(Source("1 + SUM(?x)")), None, None)
    parser.aggregating = True
    share = e.Calculate(e.Arithmetic.ADD, ONE, e.Aggregate(e.Aggregation.SUM, X))  # type: ignore[arg-type]
    assert parser.expression() == share and parser.aggregating


@pytest.mark.parametrize("text", ["COUNT(*) > 1", "COUNT(SUM(?x))"])
def test_where_an_aggregate_may_not_stand(text: str) -> None:
    parser = PatternParser(Tokens(Source(text)), None, None)
    parser.aggregating = "SUM" in text
    with pytest.raises(SyntaxError, match="may not stand here") as caught:
        parser.expression()
    assert caught.value.column == (7 if "SUM" in text else 1)
