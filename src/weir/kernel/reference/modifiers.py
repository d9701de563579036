"""Grouping and slicing (sections 18.5.1, 18.5.2): what makes one solution of many, or fewer of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from weir.kernel.functions import ExpressionError, aggregate
from weir.kernel.functions.ordering import solution_key
from weir.kernel.reference.multisets import Bindings, freeze
from weir.language.algebra.expressions import Aggregate
from weir.language.algebra.patterns import Distinct, Group, OrderBy, Pattern, Project, Reduced, Slice
from weir.rdf.terms import Literal, Term


def named_variables(solutions: Iterable[Bindings]) -> tuple[str, ...]:
    """The variables that some solution binds and that a query can write, sorted."""
    return tuple(sorted({name for solution in solutions for name in solution if not name.startswith(".")}))


def group(
    pattern: Group,
    solutions: Sequence[tuple[Bindings, str]],
    valuers: Mapping[str, Callable[..., Term | None]],
) -> list[Bindings]:
    """One solution per key. ``solutions`` come with their identities, operands' values from ``valuers``."""
    keys = [variable.name for variable in pattern.keys]
    groups: dict[tuple[Term | None, ...], list[tuple[Bindings, str]]] = {} if keys else {(): []}
    for solution, identity in solutions:
        key = tuple(solution.get(name) for name in keys)
        groups.setdefault(key, []).append((solution, identity))
    results = []
    for key, members in groups.items():
        result = {name: term for name, term in zip(keys, key, strict=True) if term is not None}
        for variable, each in pattern.aggregates:
            term = _aggregate(each, members, valuers.get(variable.name))
            if term is not None:
                result[variable.name] = term
        results.append(result)
    return results


def _aggregate(
    each: Aggregate, members: Sequence[tuple[Bindings, str]], value: Callable[..., Term | None] | None
) -> Term | None:
    values: list[Term | None]
    if value is None:  # COUNT(*): the solutions themselves count, told apart by their named variables
        named = [{n: t for n, t in solution.items() if not n.startswith(".")} for solution, _ in members]
        numbers: dict[object, Literal] = {}
        values = [numbers.setdefault(freeze(each), Literal(str(len(numbers)))) for each in named]
    else:
        values = [value(solution, identity) for solution, identity in members]
    try:
        return aggregate(each, values)
    except ExpressionError:
        return None


def is_ordered(pattern: Pattern) -> bool:
    """Whether the outcome is a sequence that ORDER BY made: through its own Project, not a subquery's."""
    while isinstance(pattern, Slice | Distinct | Reduced):
        pattern = pattern.pattern
    if isinstance(pattern, Project):
        pattern = pattern.pattern
    return isinstance(pattern, OrderBy)


def sliced(pattern: Slice, solutions: list[Bindings]) -> list[Bindings]:
    """LIMIT and OFFSET, of the canonical order where there is no other."""
    if not is_ordered(pattern.pattern):
        names = named_variables(solutions)
        solutions = sorted(solutions, key=lambda solution: solution_key(solution, names))
    end = None if pattern.limit is None else pattern.offset + pattern.limit
    return solutions[pattern.offset : end]
