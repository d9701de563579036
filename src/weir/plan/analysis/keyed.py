"""Which patterns a variable keeps apart: every solution has it bound, and is made of triples of one share."""

from __future__ import annotations

from typing import Any

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import walk
from weir.rdf.terms import Variable


def keyed_by(pattern: Any, variable: Variable, inside: bool = False) -> bool:
    """Whether every solution has ``variable`` bound, and is made of triples of one share. All patterns
    ``inside`` a window have the variable."""

    def keyed(part: Any) -> bool:
        return keyed_by(part, variable, inside)

    def same(part: Any) -> bool:
        return keyed(part) or (not inside and _static(part))

    match pattern:
        case a.BGP(triples):
            return inside and bool(triples)
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


def tests(expression: Any) -> bool:
    """Whether an expression looks at its solution and at static graphs alone."""
    return _static(expression) and not any(isinstance(node, e.Exists) for node in walk(expression))
