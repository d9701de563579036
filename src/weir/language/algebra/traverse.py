"""Rebuilding patterns and expressions with their parts replaced.

``mapped`` applies a function to the direct parts of a pattern; a rewrite that reaches everywhere calls
itself from that function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.scope import operands
from weir.rdf.terms import IRI, Literal, Variable

OnPattern = Callable[[a.Pattern], a.Pattern]


def mapped(pattern: a.Pattern, change: OnPattern) -> a.Pattern:
    """The pattern with ``change`` applied to its direct sub-patterns, those of EXISTS included."""

    def inside(expression: e.Expression) -> e.Expression:
        return mapped_expression(expression, change)

    match pattern:
        case a.BGP() | a.PathPattern() | a.Values():
            return pattern
        case a.Join(left, right) | a.Union(left, right) | a.Minus(left, right):
            return type(pattern)(change(left), change(right))
        case a.LeftJoin(left, right, condition):
            given = None if condition is None else inside(condition)
            return a.LeftJoin(change(left), change(right), given)
        case a.Filter(condition, inner):
            return a.Filter(inside(condition), change(inner))
        case a.Graph(name, inner):
            return a.Graph(name, change(inner))
        case a.Window(name, inner):
            return a.Window(name, change(inner))
        case a.Service(name, inner, silent):
            return a.Service(name, change(inner), silent)
        case a.Extend(inner, variable, expression):
            return a.Extend(change(inner), variable, inside(expression))
        case a.Group(inner, keys, aggregates):
            found = tuple((variable, _aggregate(aggregate, inside)) for variable, aggregate in aggregates)
            return a.Group(change(inner), keys, found)
        case a.OrderBy(inner, order):
            changed = tuple(a.OrderKey(inside(key.expression), key.descending) for key in order)
            return a.OrderBy(change(inner), changed)
        case a.Project(inner, variables):
            return a.Project(change(inner), variables)
        case a.Distinct(inner):
            return a.Distinct(change(inner))
        case a.Reduced(inner):
            return a.Reduced(change(inner))
        case a.Slice(inner, offset, limit):
            return a.Slice(change(inner), offset, limit)


def _aggregate(aggregate: e.Aggregate, inside: Callable[[e.Expression], e.Expression]) -> e.Aggregate:
    if aggregate.operand is None:
        return aggregate
    operand = inside(aggregate.operand)
    return e.Aggregate(aggregate.function, operand, aggregate.distinct, aggregate.separator)


def mapped_expression(expression: e.Expression, change: OnPattern) -> e.Expression:
    """The expression with ``change`` applied to the patterns of its EXISTS."""

    def inside(part: e.Expression) -> e.Expression:
        return mapped_expression(part, change)

    match expression:
        case IRI() | Literal() | Variable() | e.Bound():
            return expression
        case e.Exists(pattern, negated):
            return e.Exists(change(pattern), negated)
        case e.Or(left, right) | e.And(left, right):
            return type(expression)(inside(left), inside(right))
        case e.Compare(comparison, left, right):
            return e.Compare(comparison, inside(left), inside(right))
        case e.Calculate(operator, left, right):
            return e.Calculate(operator, inside(left), inside(right))
        case e.Not(operand) | e.Negate(operand) | e.Plus(operand):
            return type(expression)(inside(operand))
        case e.In(operand, choices, negated):
            return e.In(inside(operand), tuple(map(inside, choices)), negated)
        case e.If(condition, then, otherwise):
            return e.If(inside(condition), inside(then), inside(otherwise))
        case e.Coalesce(choices):
            return e.Coalesce(tuple(map(inside, choices)))
        case e.Call(function, arguments):
            return e.Call(function, tuple(map(inside, arguments)))
        case e.FunctionCall(name, arguments, distinct):
            return e.FunctionCall(name, tuple(map(inside, arguments)), distinct)


def patterns(pattern: a.Pattern) -> Iterator[a.Pattern]:
    """The pattern and all patterns within it, those of EXISTS included, in the order of the text."""
    yield pattern
    match pattern:
        case a.BGP() | a.PathPattern() | a.Values():
            return
        case a.Join(left, right) | a.Union(left, right) | a.Minus(left, right):
            yield from patterns(left)
            yield from patterns(right)
        case a.LeftJoin(left, right, condition):
            yield from patterns(left)
            yield from patterns(right)
            if condition is not None:
                yield from _within(condition)
        case a.Filter(condition, inner):
            yield from patterns(inner)
            yield from _within(condition)
        case a.Extend(inner, _, expression):
            yield from patterns(inner)
            yield from _within(expression)
        case a.Group(inner, _, aggregates):
            yield from patterns(inner)
            for _, aggregate in aggregates:
                if aggregate.operand is not None:
                    yield from _within(aggregate.operand)
        case a.OrderBy(inner, keys):
            yield from patterns(inner)
            for key in keys:
                yield from _within(key.expression)
        case _:
            yield from patterns(pattern.pattern)


def _within(expression: e.Expression) -> Iterator[a.Pattern]:
    if isinstance(expression, e.Exists):
        yield from patterns(expression.pattern)
    for part in operands(expression):
        yield from _within(part)
