"""Expressions of the tree → expressions of the algebra; aggregates become variables of their group."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from weir.errors import SyntaxError
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import walk
from weir.language.limits import folded
from weir.language.syntax import tree
from weir.language.syntax.source import Source
from weir.rdf.terms import IRI, Literal, Variable


def conjunction(operands: tuple[e.Expression, ...]) -> e.Expression:
    """``a && b && …``, also the conditions of one group."""
    return folded(e.And, operands)


def has_aggregate(expression: tree.Expression) -> bool:
    """Whether an aggregate of this query level stands in the expression."""
    return any(isinstance(part, tree.Aggregate) for part in walk(expression, closed=(tree.Exists,)))


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

    def _same(self, node: Any) -> e.Expression:
        """An expression that the algebra has as the tree has it, its operands lowered."""
        kind = _SAME[type(node)]
        found: e.Expression = kind(*[self._part(getattr(node, name)) for name in kind.__slots__])
        return found

    def _part(self, part: Any) -> Any:
        if isinstance(part, tuple):
            return self._all(part)
        return part if isinstance(part, Enum | bool) else self.expression(part)

    def _exists(self, node: tree.Exists) -> e.Expression:
        outer, self.aggregates = self.aggregates, None
        pattern = self.group(node.group)
        self.aggregates = outer
        return e.Exists(pattern, node.negated)

    def _bound(self, node: tree.Bound) -> e.Expression:
        return e.Bound(self._read(node.variable))

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


_SAME: dict[type, Any] = {
    tree.Compare: e.Compare,
    tree.Calculate: e.Calculate,
    tree.Not: e.Not,
    tree.Negate: e.Negate,
    tree.Plus: e.Plus,
    tree.In: e.In,
    tree.If: e.If,
    tree.Coalesce: e.Coalesce,
    tree.Call: e.Call,
    tree.FunctionCall: e.FunctionCall,
}

_LOWERINGS: dict[type, Callable[[ExpressionLowering, Any], e.Expression]] = {
    **dict.fromkeys(_SAME, ExpressionLowering._same),
    tree.Or: ExpressionLowering._or,
    tree.And: ExpressionLowering._and,
    tree.Exists: ExpressionLowering._exists,
    tree.Bound: ExpressionLowering._bound,
    tree.Aggregate: ExpressionLowering._aggregate,
}
