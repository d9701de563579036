"""Expressions of the tree → expressions of the algebra; aggregates become variables of their group."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from weir.errors import SyntaxError
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import rebuilt, walk
from weir.language.syntax import tree
from weir.language.syntax.lexer import Source
from weir.rdf.terms import IRI, Literal, TripleTerm, Variable


def has_aggregate(expression: e.Expression) -> bool:
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

    def expression(self, node: Any) -> Any:
        """The same expression over algebra patterns, or the value of a field of one.

        In HAVING and ORDER BY a variable that is neither key nor aggregated stands for one of its
        values, SAMPLE (18.2.4.1); ``sampled`` holds those variables.
        """
        match node:
            case Variable():
                if self.aggregates is None or node not in self.sampled:
                    return node
                return self.collected(e.Aggregate(e.Aggregation.SAMPLE, node))
            case IRI() | Literal() | TripleTerm():
                return node
            case tree.Exists(_, group, negated):
                outer, self.aggregates = self.aggregates, None
                pattern = self.group(group)
                self.aggregates = outer
                return e.Exists(pattern, negated)
            case tree.Aggregate():
                return self._aggregate(node)
        return rebuilt(node, self.expression)

    def _all(self, nodes: Iterable[e.Expression]) -> tuple[e.Expression, ...]:
        return tuple([self.expression(node) for node in nodes])

    def _aggregate(self, node: tree.Aggregate) -> Variable:
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
