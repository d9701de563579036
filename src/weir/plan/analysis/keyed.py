"""Which patterns a variable keeps apart: every solution has it bound, and is made of triples of one share,
and of such as are in every slot."""

from __future__ import annotations

from typing import Any

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import walk
from weir.rdf.terms import Variable

TRIPLE = Variable(".triple")
"""Stands for the triple that a pattern matches: each has it bound."""


def keyed_by(pattern: Any, variable: Variable, inside: bool = False) -> bool:
    """Whether every solution has ``variable`` bound, and is made of triples of one share, and of such as are
    in every slot: those of patterns ``inside`` a window that do not have the variable."""

    def keyed(part: Any) -> bool:
        return keyed_by(part, variable, inside)

    def same(part: Any) -> bool:
        return keyed(part) or (not inside and _static(part)) or _everywhere(part, variable, inside)

    match pattern:
        case a.BGP(triples):
            return inside and any(variable == TRIPLE or has(each, variable) for each in triples)
        case a.Window(_, inner):
            return keyed_by(inner, variable, True)
        case a.Graph(_, inner):
            return inside and keyed(inner)
        case a.Join(left, right):
            return (keyed(left) and same(right)) or (same(left) and keyed(right))
        case a.LeftJoin(left, right, condition):
            return keyed(left) and same(right) and tests(condition)
        case a.Minus(left, right):
            return keyed(left) and same(right)
        case a.Union(left, right):
            return keyed(left) and keyed(right)
        case a.Filter(condition, inner):
            return keyed(inner) and tests(condition)
        case a.Extend(inner, bindings):
            return keyed(inner) and tests(bindings)
        case a.Group(inner, keys, aggregates):
            return variable in keys and keyed(inner) and tests(aggregates)
        case a.Project(inner, variables):
            return variable in variables and keyed(inner)
        case a.Distinct(inner) | a.Reduced(inner):
            return keyed(inner)
    return False


def _static(pattern: Any) -> bool:
    """Whether a pattern reads no window: it is the same in every slot."""
    return not any(isinstance(node, a.Window) for node in walk(pattern))


def has(triple: a.TriplePattern, variable: Variable) -> bool:
    """Whether a variable stands at one of the places of a pattern."""
    return variable in (triple.subject, triple.predicate, triple.object)


def _everywhere(pattern: Any, variable: Variable, inside: bool) -> bool:
    """Whether a pattern reads windows, but nothing of them that has the variable. Names of graphs travel as
    triples, of which a slot has its own."""
    windows = pattern if inside else tuple(node for node in walk(pattern) if isinstance(node, a.Window))
    triples = [node for node in walk(windows) if isinstance(node, a.TriplePattern)]
    alone = variable != TRIPLE and bool(triples) and not any(has(each, variable) for each in triples)
    return alone and not any(isinstance(node, a.Graph) for node in walk(windows))


def tests(expression: Any) -> bool:
    """Whether an expression looks at its solution and at static graphs alone."""
    return _static(expression) and not any(isinstance(node, e.Exists) for node in walk(expression))
