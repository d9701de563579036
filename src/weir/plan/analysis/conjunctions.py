"""Conjunctive queries: triple patterns on one window and nothing else (CTP-automata, section 2.1).

Thousands of them on equal windows are evaluated together, whatever their shapes: see ``kernel.matching``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from weir.language.algebra import patterns as a
from weir.language.algebra.fold import walk
from weir.language.algebra.query import Query, Select
from weir.language.algebra.windows import WindowDeclaration
from weir.plan.analysis.ticks import at_arrivals
from weir.rdf.terms import IRI, Variable

MAX_PATTERNS = 16
MAX_VARIABLES = 62


@dataclass(frozen=True, slots=True)
class Conjunction:
    """``variables`` is what the query selects, in its order; the window has lost its name, which means
    nothing, so that equal windows are equal."""

    window: WindowDeclaration
    patterns: tuple[a.TriplePattern, ...]
    variables: tuple[Variable, ...]
    distinct: bool = False


def conjunction(query: Query, *, bare_default: bool = True) -> Conjunction | str:
    """The query as a conjunction, or why it is none.

    ``bare_default`` says that the default graph given at registration is empty: only then is a window
    in the default graph all that a pattern outside ``WINDOW`` sees.
    """
    if not isinstance(query.form, Select):
        return "not a SELECT"
    if query.semantics.report_empty:
        return "reports empty evaluations"
    if len(query.dataset.windows) != 1:
        return "not exactly one window"
    (window,) = at_arrivals(query).dataset.windows
    if isinstance(window.stream, Variable):
        return "its window ranges over streams"
    pattern, distinct = query.pattern, False
    while isinstance(pattern, a.Distinct | a.Reduced):
        distinct |= isinstance(pattern, a.Distinct)
        pattern = pattern.pattern
    if not isinstance(pattern, a.Project):
        return "a solution modifier"
    triples = _triples(pattern.pattern, window, inside=window.in_default)
    if triples is None:
        return "more than triple patterns on its window"
    if window.in_default and (query.dataset.default or not bare_default):
        return "its patterns may match static triples"
    if any(isinstance(node, a.TripleTermPattern) for node in walk(triples)):
        return "variables inside a triple term"
    if not 0 < len(triples) <= MAX_PATTERNS:
        return f"not between 1 and {MAX_PATTERNS} triple patterns"
    named = {node for triple in triples for node in triple.nodes if isinstance(node, Variable)}
    if len(named) > MAX_VARIABLES:
        return f"more than {MAX_VARIABLES} variables"
    return Conjunction(replace(window, name=""), triples, query.form.variables, distinct)


def signature(query: Query) -> tuple[Hashable, ...] | None:
    """The same for conjunctions that are equal but for names; None for other queries."""
    found = conjunction(query)
    if isinstance(found, str):
        return None
    known: dict[Variable, int] = {}
    nodes = [node for triple in found.patterns for node in triple.nodes]
    marks = [known.setdefault(n, len(known)) if isinstance(n, Variable) else str(n) for n in nodes]
    return found.window, *marks


def _triples(
    pattern: a.Pattern, window: WindowDeclaration, *, inside: bool
) -> tuple[a.TriplePattern, ...] | None:
    """The triple patterns of a pattern that consists of nothing else, all on the window."""
    match pattern:
        case a.BGP(triples):
            return triples if inside else None
        case a.Join(left, right):
            one, two = _triples(left, window, inside=inside), _triples(right, window, inside=inside)
            return None if one is None or two is None else one + two
        case a.Window(IRI(name), inner) if name == window.name and not window.in_default:
            return _triples(inner, window, inside=True)
    return None
