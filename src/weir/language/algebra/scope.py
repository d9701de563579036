"""Which variables a pattern can bind (SPARQL 1.1 section 18.2.1), and which an expression reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.rdf.terms import IRI, Literal, Variable

_NOTHING: Mapping[str, Variable] = {}


def visible(pattern: a.Pattern, streams: Mapping[str, Variable] = _NOTHING) -> tuple[Variable, ...]:
    """The in-scope variables in the order of the pattern, internal ones among them.

    ``streams`` gives the variable that ranges over the streams of a window, by the window's name.
    """
    return tuple(dict.fromkeys(_visible(pattern, streams)))


def _visible(pattern: a.Pattern, streams: Mapping[str, Variable]) -> Iterator[Variable]:
    match pattern:
        case a.BGP(triples):
            for triple in triples:
                for node in (triple.subject, triple.predicate, triple.object):
                    if isinstance(node, Variable):
                        yield node
        case a.PathPattern(subject, _, target):
            for node in (subject, target):
                if isinstance(node, Variable):
                    yield node
        case a.Join(left, right) | a.LeftJoin(left, right) | a.Union(left, right):
            yield from _visible(left, streams)
            yield from _visible(right, streams)
        case a.Minus(left, _):
            yield from _visible(left, streams)
        case a.Graph(name, inner) | a.Service(name, inner) | a.Window(name, inner):
            if isinstance(name, Variable):
                yield name
            elif isinstance(pattern, a.Window) and name.value in streams:
                yield streams[name.value]
            yield from _visible(inner, streams)
        case a.Extend(inner, variable, _):
            yield from _visible(inner, streams)
            yield variable
        case a.Values(variables, _):
            yield from variables
        case a.Group(_, keys, aggregates):
            yield from keys
            yield from (variable for variable, _ in aggregates)
        case a.Project(_, variables):
            yield from variables
        case a.Filter(_, inner):
            yield from _visible(inner, streams)
        case a.OrderBy() | a.Distinct() | a.Reduced() | a.Slice():
            yield from _visible(pattern.pattern, streams)


def operands(expression: e.Expression) -> Iterable[e.Expression]:
    """An expression's direct parts; the pattern of EXISTS is none of them."""
    match expression:
        case e.Or(left, right) | e.And(left, right):
            return (left, right)
        case e.Compare(_, left, right) | e.Calculate(_, left, right):
            return (left, right)
        case e.Not(operand) | e.Negate(operand) | e.Plus(operand):
            return (operand,)
        case e.In(operand, choices):
            return (operand, *choices)
        case e.Bound(variable):
            return (variable,)
        case e.If(condition, then, otherwise):
            return (condition, then, otherwise)
        case e.Coalesce(choices):
            return choices
        case e.Call(_, arguments) | e.FunctionCall(_, arguments):
            return arguments
    return ()


def mentioned(expression: e.Expression) -> Iterator[Variable]:
    """The variables that an expression reads, outside EXISTS."""
    if isinstance(expression, Variable):
        yield expression
    elif not isinstance(expression, IRI | Literal):
        for part in operands(expression):
            yield from mentioned(part)
