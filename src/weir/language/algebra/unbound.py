"""Variables that a query uses where nothing can have bound them: allowed by SPARQL, and hardly ever meant.

A FILTER inside braces sees only what is bound inside them (18.2.2.2), a misspelt variable is never bound.
Expressions inside EXISTS see what is bound outside, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import parts, walk
from weir.language.algebra.query import Construct, Describe, Form
from weir.language.algebra.scope import mentioned, visible
from weir.language.algebra.windows import WindowDeclaration
from weir.rdf.terms import Variable


def unbound(form: Form, pattern: a.Pattern, windows: Iterable[WindowDeclaration]) -> tuple[str, ...]:
    """A warning for each variable and each kind of place where it is used and can never be bound."""
    streams = {each.name: each.stream for each in windows if isinstance(each.stream, Variable)}
    found = [*_within(pattern, streams, frozenset())]
    bound = frozenset(visible(pattern, streams))
    if isinstance(form, Construct):
        used = [found for triple in form.template for node in triple.nodes for found in a.variables_of(node)]
        found += _missing("CONSTRUCT's template", used, bound)
    if isinstance(form, Describe):
        found += _missing("DESCRIBE", (each for each in form.targets if isinstance(each, Variable)), bound)
    return tuple(dict.fromkeys(found))


def _missing(place: str, used: Iterable[Variable], bound: frozenset[Variable]) -> Iterator[str]:
    for variable in used:
        if variable not in bound and not variable.internal:
            yield f"?{variable.name} can never be bound where {place} uses it"


def _within(pattern: a.Pattern, streams: Mapping[str, Variable], outer: frozenset[Variable]) -> Iterator[str]:
    """``outer`` is bound where the pattern is that of EXISTS."""

    def seen(inner: a.Pattern) -> frozenset[Variable]:
        return outer.union(visible(inner, streams))

    def checked(place: str, value: Any, bound: frozenset[Variable]) -> Iterator[str]:
        yield from _missing(place, mentioned(value), bound)
        for node in walk(value, closed=(e.Exists,)):
            if isinstance(node, e.Exists):
                yield from _within(node.pattern, streams, bound)

    match pattern:
        case a.Filter(condition, inner):
            yield from checked(
                "FILTER" if not isinstance(inner, a.Group) else "HAVING", condition, seen(inner)
            )
        case a.LeftJoin(left, right, condition) if condition is not None:
            yield from checked("FILTER in OPTIONAL", condition, seen(left) | seen(right))
        case a.Extend(inner, bindings):
            bound = seen(inner)
            for variable, value in bindings:
                yield from checked(f"the value of ?{variable.name}", value, bound)
                bound |= {variable}
        case a.Group(inner, keys, aggregates):
            yield from _missing("GROUP BY", keys, seen(inner))
            for _, aggregate in aggregates:
                yield from checked(aggregate.function.value, aggregate.operand or (), seen(inner))
        case a.OrderBy(inner, order):
            for key in order:
                yield from checked("ORDER BY", key.expression, seen(inner))
        case a.Project(inner, variables):
            yield from _missing("SELECT", variables, seen(inner))
    for part in parts(pattern):
        if isinstance(part, a.Pattern):
            yield from _within(part, streams, outer)
