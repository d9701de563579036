"""Expressions by precedence."""

from __future__ import annotations

import pytest

from weir.errors import SyntaxError
from weir.language.algebra import expressions as e
from weir.language.syntax import tree
from weir.language.syntax.expressions import ExpressionParser
from weir.language.syntax.lexer import Source, Tokens
from weir.language.syntax.patterns import PatternParser
from weir.rdf.terms import IRI, XSD, Literal, Variable


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
    found = read("NOT EXISTS {}")
    assert found == tree.Exists(0, tree.Group(11, ()), True)
