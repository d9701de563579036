"""The two orders: the canonical one of terms, and that of ORDER BY, MIN and MAX (section 15.1).

Laws: both are total preorders; the canonical one is total on terms; ORDER BY's ties are broken by it. What
is open in the specification is settled in decision semantics-values, 1 to 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term, TripleTerm
from weir.rdf.xsd.durations import Duration
from weir.rdf.xsd.moments import XSD_DATE, XSD_DATETIME, XSD_TIME, Moment
from weir.rdf.xsd.numbers import Number
from weir.rdf.xsd.values import Boolean, TaggedText, Text, value_of

Solution: TypeAlias = Mapping[str, Term]
"""Bound variables by name."""

CanonicalKey: TypeAlias = tuple[int, str]

_UNBOUND, _BLANK, _IRI, _LITERAL, _TRIPLE = range(5)
_RANKS = {BlankNode: _BLANK, IRI: _IRI, Literal: _LITERAL, TripleTerm: _TRIPLE}
_NUMBER, _TEXT, _TAGGED, _BOOLEAN, _MOMENT, _DURATION, _OTHER = range(7)
_MOMENT_RANK = {
    datatype: rank
    for rank, datatype in enumerate(
        (
            XSD_DATETIME,
            XSD_DATE,
            XSD_TIME,
            XSD + "gYear",
            XSD + "gYearMonth",
            XSD + "gMonth",
            XSD + "gMonthDay",
            XSD + "gDay",
        )
    )
}


def canonical_key(term: Term | None) -> CanonicalKey:
    """Unbound, blank nodes, IRIs, literals, triple terms; then the text in code point order."""
    return (_UNBOUND, "") if term is None else (_RANKS[type(term)], str(term))


def solution_key(solution: Solution, variables: Sequence[str]) -> tuple[CanonicalKey, ...]:
    """The canonical key of a solution over ``variables``, which must come sorted by name."""
    return tuple(canonical_key(solution.get(name)) for name in variables)


def order_key(term: Term | None) -> tuple[Any, ...]:
    """A key whose order is that of ORDER BY ASC; equal keys are ties."""
    if term is None:
        return (_UNBOUND,)
    if isinstance(term, BlankNode):
        return (_BLANK,)
    if isinstance(term, IRI):
        return _IRI, term.value
    if isinstance(term, TripleTerm):
        parts = (term.subject, term.predicate, term.object)
        return _TRIPLE, *(order_key(part) for part in parts)
    return (_LITERAL, *_literal_key(term))


def _literal_key(literal: Literal) -> tuple[Any, ...]:
    value = value_of(literal)
    if isinstance(value, Number):
        return (_NUMBER, 0, 0) if value.value != value.value else (_NUMBER, 1, value.value)
    if isinstance(value, Text):
        return _TEXT, value.value
    if isinstance(value, TaggedText):
        return _TAGGED, value.value, value.language, value.direction
    if isinstance(value, Boolean):
        return _BOOLEAN, value.value
    if isinstance(value, Moment):
        return _MOMENT, _MOMENT_RANK[value.datatype], value.utc_seconds()
    if isinstance(value, Duration):
        return (_DURATION, *value.order_key())
    return _OTHER, str(literal)


def extreme(terms: Iterable[Term], *, greatest: bool) -> Term | None:
    """The least or greatest term by ORDER BY, of ties the canonically least; None of nothing."""
    best: Term | None = None
    best_key: tuple[Any, ...] = ()
    for term in terms:
        key = order_key(term)
        if best is None:
            best, best_key = term, key
        elif key == best_key:
            if canonical_key(term) < canonical_key(best):
                best = term
        elif (key > best_key) == greatest:
            best, best_key = term, key
    return best


def sort_solutions(
    solutions: Iterable[Solution],
    keys: Sequence[tuple[Callable[[Solution], Term | None], bool]],
    visible: Sequence[str],
) -> list[Solution]:
    """ORDER BY: ``keys`` are (evaluate, descending); ties by the canonical order over ``visible``."""
    names = sorted(visible)
    result = sorted(solutions, key=lambda solution: solution_key(solution, names))
    for evaluate, descending in reversed(keys):
        result.sort(key=lambda solution: order_key(evaluate(solution)), reverse=descending)
    return result
