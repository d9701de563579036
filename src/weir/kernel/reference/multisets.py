"""Multisets of solutions as lists: compatibility, join, minus, difference (section 18.3, 18.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from weir.rdf.terms import Term

Bindings: TypeAlias = dict[str, Term]
"""A solution: bound variables by name."""


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
    names = set(solutions[0]) if solutions else set()
    for solution in solutions:
        names &= solution.keys()
    return names


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


def freeze(solution: Bindings) -> frozenset[tuple[str, Term]]:
    """A solution as something that can be counted."""
    return frozenset(solution.items())


def distinct(solutions: Iterable[Bindings]) -> list[Bindings]:
    """Each solution once, where it first stood."""
    seen: dict[object, Bindings] = {}
    for solution in solutions:
        seen.setdefault(freeze(solution), solution)
    return list(seen.values())


def difference(left: Sequence[Bindings], right: Sequence[Bindings]) -> list[Bindings]:
    """Multiset difference; of equal solutions of ``left`` the earlier go."""
    gone = Counter(freeze(solution) for solution in right)
    kept = []
    for solution in left:
        key = freeze(solution)
        if gone[key]:
            gone[key] -= 1
        else:
            kept.append(solution)
    return kept
