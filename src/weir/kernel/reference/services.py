"""Which variables name endpoints that a pattern calls: they must be bound before it is evaluated."""

from __future__ import annotations

from weir.language.algebra.patterns import (
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    Pattern,
    Project,
    Reduced,
    Service,
    Slice,
    Union,
    Window,
)
from weir.rdf.terms import Variable


def service_variables(pattern: Pattern) -> set[str]:
    """Names of the variables of ``SERVICE ?v`` in a pattern that are not bound beside it, left of it.

    In a subquery only a variable that it projects can be bound from outside.
    """
    match pattern:
        case Service(name, inner, _):
            own = {name.name} if isinstance(name, Variable) else set()
            return own
        case Join(left, right) | LeftJoin(left, right, _):
            return service_variables(left) | (service_variables(right) - binds(left))
        case Union(left, right) | Minus(left, right):
            return service_variables(left) | service_variables(right)
        case Project(inner, variables):
            return service_variables(inner) & {variable.name for variable in variables}
        case (
            Filter(_, inner)
            | Graph(_, inner)
            | Window(_, inner)
            | Extend(inner, _, _)
            | Group(inner, _, _)
            | OrderBy(inner, _)
            | Distinct(inner)
            | Reduced(inner)
            | Slice(inner, _, _)
        ):
            return service_variables(inner)
        case _:
            return set()


def binds(pattern: Pattern) -> set[str]:
    """Variables that may be bound by a pattern: what could name an endpoint to its right."""
    names: set[str] = set()
    stack: list[object] = [pattern]
    while stack:
        item = stack.pop()
        if isinstance(item, Variable):
            names.add(item.name)
        elif isinstance(item, tuple):
            stack += item
        elif hasattr(item, "__slots__"):
            stack += [getattr(item, name) for name in item.__slots__]
    return names
