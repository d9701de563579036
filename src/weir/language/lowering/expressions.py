"""Expressions of the tree → expressions of the algebra; aggregates become variables of their group."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from weir.errors import SyntaxError
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.limits import folded
from weir.language.syntax import tree
from weir.language.syntax.source import Source
from weir.rdf.terms import IRI, Literal, Variable


def conjunction(operands: tuple[e.Expression, ...]) -> e.Expression:
    """``a && b && …``, also the conditions of one group."""
    return folded(e.And, operands)


def tree_operands(expression: tree.Expression) -> Iterable[tree.Expression]:
    """An expression's direct parts; the pattern of EXISTS is none of them."""
    match expression:
        case tree.Or(_, operands) | tree.And(_, operands) | tree.Coalesce(_, operands):
            return operands
        case tree.Compare(_, _, left, right) | tree.Calculate(_, _, left, right):
            return (left, right)
        case tree.Not(_, operand) | tree.Negate(_, operand) | tree.Plus(_, operand):
            return (operand,)
        case tree.In(_, operand, choices):
            return (operand, *choices)
        case tree.If(_, condition, then, otherwise):
            return (condition, then, otherwise)
        case tree.Call(_, _, arguments) | tree.FunctionCall(_, _, arguments):
            return arguments
    return ()


def has_aggregate(expression: tree.Expression) -> bool:
    """Whether an aggregate of this query level stands in the expression."""
    if isinstance(expression, tree.Aggregate):
        return True
    if isinstance(expression, Variable | IRI | Literal):
        return False
    return any(has_aggregate(part) for part in tree_operands(expression))


class ExpressionLowering:
    """``aggregates`` collects those of the query level at hand; None where none may stand."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.aggregates: dict[e.Aggregate, Variable] | None = None
        self.aggregate_count = 0
        self.sampled: set[Variable] = set()

    @abstractmethod
    def group(self, node: tree.Group) -> a.Pattern:
        """A pattern in braces, for EXISTS."""

    def error(self, at: int, primary: str, hint: str | None = None) -> SyntaxError:
        return self.source.error(at, primary, hint)

    def expression(self, node: tree.Expression) -> e.Expression:
        """The same expression over algebra patterns.

        In HAVING and ORDER BY a variable that is neither key nor aggregated stands for one of its
        values, SAMPLE (18.2.4.1); ``sampled`` holds those variables.
        """
        if isinstance(node, Variable):
            return self._read(node)
        if isinstance(node, IRI | Literal):
            return node
        return _LOWERINGS[type(node)](self, node)

    def _all(self, nodes: Iterable[tree.Expression]) -> tuple[e.Expression, ...]:
        return tuple([self.expression(node) for node in nodes])

    def _read(self, variable: Variable) -> Variable:
        if self.aggregates is None or variable not in self.sampled:
            return variable
        return self.collected(e.Aggregate(e.Aggregation.SAMPLE, variable))

    def _or(self, node: tree.Or) -> e.Expression:
        return folded(e.Or, self._all(node.operands))

    def _and(self, node: tree.And) -> e.Expression:
        return conjunction(self._all(node.operands))

    def _compare(self, node: tree.Compare) -> e.Expression:
        return e.Compare(node.operator, self.expression(node.left), self.expression(node.right))

    def _calculate(self, node: tree.Calculate) -> e.Expression:
        return e.Calculate(node.operator, self.expression(node.left), self.expression(node.right))

    def _not(self, node: tree.Not) -> e.Expression:
        return e.Not(self.expression(node.operand))

    def _negate(self, node: tree.Negate) -> e.Expression:
        return e.Negate(self.expression(node.operand))

    def _plus(self, node: tree.Plus) -> e.Expression:
        return e.Plus(self.expression(node.operand))

    def _in(self, node: tree.In) -> e.Expression:
        return e.In(self.expression(node.operand), self._all(node.choices), node.negated)

    def _exists(self, node: tree.Exists) -> e.Expression:
        outer, self.aggregates = self.aggregates, None
        pattern = self.group(node.group)
        self.aggregates = outer
        return e.Exists(pattern, node.negated)

    def _bound(self, node: tree.Bound) -> e.Expression:
        return e.Bound(self._read(node.variable))

    def _if(self, node: tree.If) -> e.Expression:
        return e.If(*self._all((node.condition, node.then, node.otherwise)))

    def _coalesce(self, node: tree.Coalesce) -> e.Expression:
        return e.Coalesce(self._all(node.choices))

    def _call(self, node: tree.Call) -> e.Expression:
        return e.Call(node.function, self._all(node.arguments))

    def _function(self, node: tree.FunctionCall) -> e.Expression:
        return e.FunctionCall(node.function, self._all(node.arguments), node.distinct)

    def _aggregate(self, node: tree.Aggregate) -> e.Expression:
        collected = self.aggregates
        if collected is None:
            raise self.error(
                node.at,
                f"the aggregate {node.function.value} may not stand here",
                "aggregates stand in SELECT, HAVING and ORDER BY, and not in one another",
            )
        self.aggregates = None
        operand = None if node.operand is None else self.expression(node.operand)
        self.aggregates = collected
        separator = " " if node.separator is None else node.separator
        return self.collected(e.Aggregate(node.function, operand, node.distinct, separator))

    def collected(self, aggregate: e.Aggregate) -> Variable:
        """The variable that stands for an aggregate; equal ones share it."""
        assert self.aggregates is not None
        variable = self.aggregates.get(aggregate)
        if variable is None:
            variable = self.aggregates[aggregate] = Variable(f".a{self.aggregate_count}")
            self.aggregate_count += 1
        return variable


_LOWERINGS: dict[type, Callable[[ExpressionLowering, Any], e.Expression]] = {
    tree.Or: ExpressionLowering._or,
    tree.And: ExpressionLowering._and,
    tree.Compare: ExpressionLowering._compare,
    tree.Calculate: ExpressionLowering._calculate,
    tree.Not: ExpressionLowering._not,
    tree.Negate: ExpressionLowering._negate,
    tree.Plus: ExpressionLowering._plus,
    tree.In: ExpressionLowering._in,
    tree.Exists: ExpressionLowering._exists,
    tree.Bound: ExpressionLowering._bound,
    tree.If: ExpressionLowering._if,
    tree.Coalesce: ExpressionLowering._coalesce,
    tree.Call: ExpressionLowering._call,
    tree.FunctionCall: ExpressionLowering._function,
    tree.Aggregate: ExpressionLowering._aggregate,
}
