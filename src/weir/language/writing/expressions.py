"""Expressions as text, with no more brackets than their tree needs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import BALANCE
from weir.language.writing.terms import Terms
from weir.rdf.terms import IRI, Literal, TripleTerm, Variable

_OR, _AND, _COMPARE, _ADD, _MULTIPLY, _UNARY, _PRIMARY = range(7)
_SIGNS: dict[type, str] = {e.Not: "!", e.Negate: "-", e.Plus: "+"}


class ExpressionWriter:
    """``aggregates`` maps the variables of groups to what they stand for; ``lines`` are those written."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.aggregates: dict[Variable, e.Aggregate] = {}
        self.lines: list[str] = []

    @abstractmethod
    def inline(self, pattern: a.Pattern) -> str:
        """A pattern in braces on one line, for EXISTS."""

    def expression(self, expression: e.Expression, level: int = _OR) -> str:
        """Text that binds at least as tightly as ``level``."""
        own, text = self._leveled(expression)
        return f"({text})" if own < level else text

    def _list(self, expressions: Iterable[e.Expression]) -> str:
        return ", ".join([self.expression(expression) for expression in expressions])

    def _leveled(self, expression: e.Expression) -> tuple[int, str]:
        match expression:
            case Variable():
                return _PRIMARY, self._variable(expression)
            case IRI() | Literal() | TripleTerm():
                return _PRIMARY, self.terms.node(expression)
            case e.Or(left, right):
                return _OR, f"{self._chain(left, e.Or, _OR)} || {self.expression(right, _AND)}"
            case e.And(left, right):
                return _AND, f"{self._chain(left, e.And, _AND)} && {self.expression(right, _COMPARE)}"
            case e.Compare(comparison, left, right):
                one, other = self.expression(left, _ADD), self.expression(right, _ADD)
                return _COMPARE, f"{one} {comparison.value} {other}"
            case e.In(operand, choices, negated):
                word = "NOT IN" if negated else "IN"
                return _COMPARE, f"{self.expression(operand, _ADD)} {word} ({self._list(choices)})"
            case e.Calculate(operator, left, right):
                own = _ADD if operator in (e.Arithmetic.ADD, e.Arithmetic.SUBTRACT) else _MULTIPLY
                return own, f"{self.expression(left, own)} {operator.value} {self.expression(right, own + 1)}"
            case e.Not(operand) | e.Negate(operand) | e.Plus(operand):
                return _UNARY, f"{_SIGNS[type(expression)]}{self._operand(operand)}"
            case e.Exists(pattern, negated):
                return _PRIMARY, f"{'NOT ' if negated else ''}EXISTS {self.inline(pattern)}"
            case e.Bound(variable):
                return _PRIMARY, f"BOUND({self._bound(variable)})"
            case e.If(condition, then, otherwise):
                return _PRIMARY, f"IF({self._list((condition, then, otherwise))})"
            case e.Coalesce(choices):
                return _PRIMARY, f"COALESCE({self._list(choices)})"
            case e.Call(function, arguments):
                return _PRIMARY, f"{function.value}({self._list(arguments)})"
            case e.FunctionCall(IRI(value), arguments, distinct):
                word = "DISTINCT " if distinct else ""
                return _PRIMARY, f"{self.terms.iri(value)}({word}{self._list(arguments)})"

    def _chain(self, left: e.Expression, kind: type[e.Or] | type[e.And], level: int) -> str:
        """The left operand; one too long to be read back as it is gets brackets."""
        length, spine = 1, left
        while isinstance(spine, kind):
            length, spine = length + 1, spine.left
        return self.expression(left, _PRIMARY if length >= BALANCE else level)

    def _operand(self, operand: e.Expression) -> str:
        """What a sign or ``!`` applies to; a literal is kept apart from a sign by brackets."""
        if isinstance(operand, Literal):
            return f"({self.terms.literal(operand)})"
        return self.expression(operand, _PRIMARY)

    def _variable(self, variable: Variable) -> str:
        aggregate = self.aggregates.get(variable)
        return f"?{variable.name}" if aggregate is None else self.aggregate(aggregate)

    def _bound(self, variable: Variable) -> str:
        """BOUND takes a variable only; one that stands for SAMPLE(?x) was written ?x."""
        aggregate = self.aggregates.get(variable)
        if aggregate is not None and isinstance(aggregate.operand, Variable):
            return f"?{aggregate.operand.name}"
        return f"?{variable.name}"

    def aggregate(self, aggregate: e.Aggregate) -> str:
        inner = "*" if aggregate.operand is None else self.expression(aggregate.operand)
        word = "DISTINCT " if aggregate.distinct else ""
        separator = ""
        if aggregate.function is e.Aggregation.GROUP_CONCAT and aggregate.separator != " ":
            separator = f" ; SEPARATOR = {self.terms.literal(Literal(aggregate.separator))}"
        return f"{aggregate.function.value}({word}{inner}{separator})"
