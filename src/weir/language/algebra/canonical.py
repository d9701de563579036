"""Equality of queries up to the names of their windows.

A window's name means nothing to a query unless ``WINDOW ?w`` binds it, and dialects differ in which
windows they name. ``canonical`` names windows ``.1``, ``.2``, … in the order in which the pattern uses
them, then those in the default graph, so that a query equals its translation.
"""

from __future__ import annotations

from dataclasses import replace

from weir.language.algebra import patterns as a
from weir.language.algebra.fold import mapped, patterns
from weir.language.algebra.query import Query
from weir.rdf.terms import IRI, Variable


def names_are_bound(query: Query) -> bool:
    """Whether the query can tell how its windows are called."""
    return any(
        isinstance(pattern, a.Window) and isinstance(pattern.name, Variable)
        for pattern in patterns(query.pattern)
    )


def canonical(query: Query) -> Query:
    """The same query with its windows in canonical order and named canonically where names do not matter."""
    if not query.dataset.windows:
        return query
    declared = {window.name: window for window in query.dataset.windows}
    used = [
        pattern.name.value
        for pattern in patterns(query.pattern)
        if isinstance(pattern, a.Window) and isinstance(pattern.name, IRI)
    ]
    order = list(dict.fromkeys([*used, *(w.name for w in query.dataset.named_windows), *declared]))
    if names_are_bound(query):
        names = {name: name for name in order}
    else:
        names = {name: f".{place}" for place, name in enumerate(order, 1)}
    windows = tuple(replace(declared[name], name=names[name]) for name in order)

    def rename(pattern: a.Pattern) -> a.Pattern:
        if isinstance(pattern, a.Window) and isinstance(pattern.name, IRI):
            return a.Window(IRI(names[pattern.name.value]), rename(pattern.pattern))
        return mapped(pattern, rename)

    dataset = replace(query.dataset, windows=windows)
    return replace(query, pattern=rename(query.pattern), dataset=dataset)


def equivalent(one: Query, other: Query) -> bool:
    """Whether two queries are the same but for the names of their windows."""
    return canonical(one) == canonical(other)
