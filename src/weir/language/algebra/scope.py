"""What a pattern binds and what an expression reads, told from the algebra alone.

``visible`` are the in-scope variables (SPARQL 1.1 section 18.2.1), ``certain`` those that every solution
binds, ``required`` the windows that a pattern cannot do without. An expression is looked at outside EXISTS,
whose pattern has a scope of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import walk
from weir.rdf.terms import IRI, Literal, TripleTerm, Variable

TERM = ".term"
"""What the names of variables begin with that stand for triple terms, and nothing else."""

_NOTHING: Mapping[str, Variable] = {}
_PLACES = (e.Builtin.SUBJECT, e.Builtin.PREDICATE, e.Builtin.OBJECT)


def visible(pattern: a.Pattern, streams: Mapping[str, Variable] = _NOTHING) -> tuple[Variable, ...]:
    """The in-scope variables in the order of the pattern, internal ones among them.

    ``streams`` gives the variable that ranges over the streams of a window, by the window's name.
    """
    return tuple(dict.fromkeys(_visible(pattern, streams)))


def _visible(pattern: a.Pattern, streams: Mapping[str, Variable]) -> Iterator[Variable]:
    match pattern:
        case a.BGP(triples):
            for triple in triples:
                for node in triple.nodes:
                    yield from a.variables_of(node)
        case a.PathPattern(subject, _, target):
            for node in (subject, target):
                yield from a.variables_of(node)
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
        case a.Extend(inner, bindings):
            yield from _visible(inner, streams)
            yield from (variable for variable, _ in bindings)
        case a.Values(variables, _) | a.Project(_, variables):
            yield from variables
        case a.Group(_, keys, aggregates):
            yield from keys
            yield from (variable for variable, _ in aggregates)
        case _:
            yield from _visible(pattern.pattern, streams)


def certain(pattern: a.Pattern) -> frozenset[str]:
    """The names of the variables that every solution of a pattern binds.

    A SERVICE may fail where it is SILENT, and only the rows of plain triple patterns are known to be full.
    """
    match pattern:
        case a.BGP() | a.PathPattern():
            return frozenset(variable.name for variable in visible(pattern))
        case a.Join(left, right):
            return certain(left) | certain(right)
        case a.Union(left, right):
            return certain(left) & certain(right)
        case a.LeftJoin(left, _, _) | a.Minus(left, _):
            return certain(left)
        case a.Graph(name, inner) | a.Window(name, inner):
            return certain(inner) | ({name.name} if isinstance(name, Variable) else frozenset())
        case a.Service(_, inner, silent):
            return certain(inner) if isinstance(inner, a.BGP) and not silent else frozenset()
        case a.Values(variables, rows):
            return frozenset(
                v.name for i, v in enumerate(variables) if all(row[i] is not None for row in rows)
            )
        case a.Extend(inner, bindings):
            return assigned(certain(inner), ((variable.name, value) for variable, value in bindings))
        case a.Group(inner, keys, aggregates):
            counts = {v.name for v, each in aggregates if each.function is e.Aggregation.COUNT}
            return (certain(inner) & {key.name for key in keys}) | counts
        case a.Project(inner, variables):
            return certain(inner) & {variable.name for variable in variables}
        case _:
            return certain(pattern.pattern)


ITSELF = ".graph"
"""Stands for a graph among the names of windows: none has such a name."""


def required(pattern: a.Pattern, active: str | None = None) -> frozenset[str]:
    """The names of windows without whose triples a pattern has no solution; ``active`` names the graph that
    its own triple patterns are matched against."""
    match pattern:
        case a.BGP(triples):
            return frozenset({active} if triples and active is not None else ())
        case a.PathPattern(_, path, _):
            return frozenset(() if may_be_empty(path) or active is None else {active})
        case a.Window(IRI(name), inner):
            return required(inner, name)
        case a.Join(left, right):
            return required(left, active) | required(right, active)
        case a.Union(left, right):
            return required(left, active) & required(right, active)
        case a.LeftJoin(left, _) | a.Minus(left, _):
            return required(left, active)
        case a.Group(inner, keys, _):
            return required(inner, active) if keys else frozenset()
        case a.Values() | a.Graph() | a.Window() | a.Service():
            return frozenset()
    return required(pattern.pattern, active)


def may_be_empty(path: a.Path) -> bool:
    """Whether a path can have length zero."""
    match path:
        case a.ZeroOrMore() | a.ZeroOrOne():
            return True
        case a.Inverse(inner) | a.OneOrMore(inner):
            return may_be_empty(inner)
        case a.Sequence(left, right):
            return may_be_empty(left) and may_be_empty(right)
        case a.Alternative(left, right):
            return may_be_empty(left) or may_be_empty(right)
        case _:
            return False


def always(expression: e.Expression, bound: Collection[str]) -> bool:
    """Whether an expression surely has a value where the variables ``bound`` are bound."""
    if isinstance(expression, Variable):
        return expression.name in bound
    if isinstance(expression, e.Call) and expression.function in _PLACES:
        return any(each.name.startswith(TERM) and each.name in bound for each in mentioned(expression))
    return isinstance(expression, IRI | Literal | TripleTerm)


def assigned(bound: frozenset[str], values: Iterable[tuple[str, e.Expression]]) -> frozenset[str]:
    """What is surely bound after assignments in order, where ``bound`` was before."""
    for name, value in values:
        if always(value, bound):
            bound |= {name}
    return bound


def within(expression: e.Expression) -> Iterator[Any]:
    """The expression and everything below it, but not into EXISTS."""
    return walk(expression, closed=(e.Exists,))


def mentioned(expression: e.Expression) -> Iterator[Variable]:
    """The variables that an expression reads."""
    return (part for part in within(expression) if isinstance(part, Variable))


def volatile(expression: e.Expression) -> bool:
    """Whether RAND, UUID, STRUUID or BNODE occurs: its value is drawn anew for each solution."""
    return any(isinstance(part, e.Call) and part.function in e.VOLATILE for part in within(expression))


def timely(expression: e.Expression) -> bool:
    """Whether NOW or ``f:timestamp`` occurs."""
    return any(
        (isinstance(part, e.Call) and part.function is e.Builtin.NOW)
        or (isinstance(part, e.FunctionCall) and part.function.value == e.TIMESTAMP)
        for part in within(expression)
    )


def has_exists(expression: e.Expression) -> bool:
    """Whether EXISTS occurs."""
    return any(isinstance(part, e.Exists) for part in within(expression))
