"""Multisets of solutions as lists, and the operators of the algebra on them (sections 18.3 and 18.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from weir.kernel.functions import ExpressionError, aggregate
from weir.kernel.functions.operators import solution_key
from weir.language.algebra.expressions import Aggregate
from weir.language.algebra.patterns import Group, Slice, is_ordered
from weir.rdf.terms import Literal, Term

Bindings: TypeAlias = dict[str, Term]
"""A solution: bound variables by name."""

Row = TypeVar("Row")


def compatible(left: Bindings, right: Bindings) -> bool:
    """Whether both agree on every variable that both bind."""
    if len(right) < len(left):
        left, right = right, left
    return all(right.get(name, term) == term for name, term in left.items())


def merge(left: Bindings, right: Bindings) -> Bindings:
    """The union of compatible solutions."""
    return {**left, **right}


def always_bound(solutions: Sequence[Bindings]) -> set[str]:
    """Variables that every solution binds."""
    return set.intersection(*map(set, solutions)) if solutions else set()


Partners: TypeAlias = Callable[[Bindings], list[Bindings]]


def partners(left: Sequence[Bindings], right: Sequence[Bindings]) -> Partners:
    """For a solution of ``left``, the compatible ones of ``right``, in order.

    Those are found by the variables that both sides always bind, and then tested one by one.
    """
    shared = sorted(always_bound(left) & always_bound(right))
    index: dict[tuple[Term, ...], list[Bindings]] = {}
    for solution in right:
        index.setdefault(tuple(solution[name] for name in shared), []).append(solution)

    def find(solution: Bindings) -> list[Bindings]:
        candidates = index.get(tuple(solution[name] for name in shared), [])
        return [candidate for candidate in candidates if compatible(solution, candidate)]

    return find


def join(left: Sequence[Bindings], right: Sequence[Bindings]) -> list[Bindings]:
    """Join(Ω1, Ω2) = { merge(μ1, μ2) | compatible }, cardinalities multiplied."""
    find = partners(left, right)
    return [merge(solution, other) for solution in left for other in find(solution)]


def minus(left: Sequence[Bindings], right: Sequence[Bindings]) -> list[Bindings]:
    """Minus(Ω1, Ω2): no μ2 is both compatible and shares a variable."""
    return [
        solution
        for solution in left
        if not any(not solution.keys().isdisjoint(other) and compatible(solution, other) for other in right)
    ]


def freeze(row: Bindings | Hashable) -> Hashable:
    """A solution, or another row of a result, as something that can be counted."""
    return frozenset(row.items()) if isinstance(row, dict) else row


def distinct(solutions: Iterable[Bindings]) -> list[Bindings]:
    """Each solution once, where it first stood."""
    seen: dict[object, Bindings] = {}
    for solution in solutions:
        seen.setdefault(freeze(solution), solution)
    return list(seen.values())


def difference(left: Sequence[Row], right: Sequence[Row]) -> list[Row]:
    """Multiset difference; of equal rows of ``left`` the earlier go."""
    gone = Counter(freeze(row) for row in right)
    kept = []
    for row in left:
        key = freeze(row)
        if gone[key]:
            gone[key] -= 1
        else:
            kept.append(row)
    return kept


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


def slice_(pattern: Slice, solutions: list[Bindings]) -> list[Bindings]:
    """LIMIT and OFFSET, of the canonical order where there is no other."""
    if not is_ordered(pattern.pattern):
        names = named_variables(solutions)
        solutions = sorted(solutions, key=lambda solution: solution_key(solution, names))
    end = None if pattern.limit is None else pattern.offset + pattern.limit
    return solutions[pattern.offset : end]
