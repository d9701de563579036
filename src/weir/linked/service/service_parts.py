"""What a SERVICE asks for: the pattern as one part, or as a stable part and a changing one.

Planning Ahead's μ^R = μ^SN ∪ μ^SR (section 4): in ``?tweet :mentions ?user . ?user :followers ?n`` with a
change interval declared for :followers, ``link`` (the mentions) says which users a tweet needs and stays;
``value`` (the followers) is refreshed by user, and one refresh serves every tweet that mentions it.
Without such a declaration the pattern is one part, refreshed by what it is joined on, until it was seen in
which variables its rows change: then it comes apart the same way (``parts_by_volatility``).

An aggregate sub-query (case 2; section 4, footnote 4) is taken apart the same way below its GROUP BY and
grouped locally: the endpoint gives the values, Weir adds them up. Law: the sub-query inside of SERVICE and
the same sub-query over ``SERVICE e { P }`` have the same solutions, and those of some keys need only the rows
of these keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weir.kernel.contract import FOREVER
from weir.kernel.functions import Context
from weir.kernel.reference.algebra import Evaluation
from weir.kernel.reference.datasets import SDS, Dataset
from weir.kernel.relations.keys import codes
from weir.language.algebra import patterns as a
from weir.language.algebra.scope import visible
from weir.linked.service.config import ServiceConfig
from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Variable


@dataclass(frozen=True, slots=True)
class ServicePart:
    """``pattern`` asked for by bindings of the variables ``key``; its answers bind ``variables``.

    ``along`` is a pattern fetched with it where it matches. ``interval`` is the declared change interval.
    """

    pattern: a.Pattern
    key: tuple[str, ...]
    variables: tuple[str, ...]
    interval: int | None
    along: a.Pattern | None = None


@dataclass(frozen=True, slots=True)
class ServiceParts:
    """``outer`` is the aggregate sub-query to be evaluated locally over the rows, which stand for what it
    groups; None where the rows are the answer."""

    value: ServicePart
    link: ServicePart | None = None
    outer: a.Pattern | None = None


@dataclass(frozen=True, slots=True)
class PartRows:
    """Rows of ids: columns of a part's variables (0: unbound), each of ``length``."""

    columns: dict[str, Ids]
    length: int

    def take(self, rows: Ids | Mask) -> PartRows:
        columns = {name: column[rows] for name, column in self.columns.items()}
        length = int(rows.sum()) if rows.dtype == np.bool_ else len(rows)
        return PartRows(columns, length)

    def distinct(self, names: Sequence[str]) -> PartRows:
        """The distinct rows of some columns."""
        columns = {name: self.columns[name] for name in names}
        kept = np.sort(codes(list(columns.values()), self.length)[1])
        return PartRows({name: column[kept] for name, column in columns.items()}, len(kept))


def parts_of(pattern: a.Pattern, joined: Sequence[str], config: ServiceConfig) -> ServiceParts:
    """How to ask for ``pattern`` where what it is joined with always binds the variables ``joined``."""
    if config.budget is not None and (grouped := _grouping(pattern)) is not None:
        group, whole = grouped
        keys = {variable.name for variable in group.keys}
        usable = [] if whole else [name for name in joined if name in keys]
        return replace(_split(group.pattern, usable, config), outer=pattern)
    return _split(pattern, joined, config)


def parts_by_volatility(
    parts: ServiceParts, volatile: frozenset[str], config: ServiceConfig
) -> ServiceParts | None:
    """The same pattern as a stable and a changing part, where the variables were seen in which it changes;
    None where it does not come apart so, or is declared how it does."""
    one = parts.value
    if parts.link is not None or not volatile or config.change_intervals or config.budget is None:
        return None
    found = _split(one.pattern, one.key, config, volatile)
    return None if found.link is None else replace(found, outer=parts.outer)


def _split(
    pattern: a.Pattern, joined: Sequence[str], config: ServiceConfig, volatile: frozenset[str] = frozenset()
) -> ServiceParts:
    own = _names(pattern)
    key = tuple(name for name in joined if name in own)
    one = ServicePart(pattern, key, own, _interval(pattern, config))
    if config.budget is None or not isinstance(pattern, a.BGP):
        return ServiceParts(one)
    declared = config.declared

    def changes(triple: a.TriplePattern) -> bool:
        terms = (triple.subject, triple.predicate, triple.object)
        names = {term.name for term in terms if isinstance(term, Variable)}
        return _predicate(triple) in declared or bool(names & volatile)

    changing = tuple(t for t in pattern.triples if changes(t))
    stable = tuple(t for t in pattern.triples if not changes(t))
    if not changing or not stable:
        return ServiceParts(one)
    link, value = a.BGP(stable), a.BGP(changing)
    linked, valued = _names(link), _names(value)
    between = tuple(name for name in valued if name in linked)
    if not between or len(between) == len(valued) or any(n in key and n not in linked for n in valued):
        return ServiceParts(one)
    return ServiceParts(
        value=ServicePart(value, between, valued, _interval(value, config)),
        link=ServicePart(
            link,
            tuple(name for name in key if name in linked),
            linked,
            FOREVER if config.change_interval is None and not volatile else config.change_interval,
            along=value,
        ),
    )


def _grouping(pattern: a.Pattern) -> tuple[a.Group, bool] | None:
    """The GROUP BY that a sub-query is made of, and whether it must see all groups (LIMIT, OFFSET)."""
    whole = False
    while not isinstance(pattern, a.Group):
        match pattern:
            case a.Slice(inner):
                whole, pattern = True, inner
            case a.Project(inner) | a.Distinct(inner) | a.Reduced(inner) | a.OrderBy(inner):
                pattern = inner
            case a.Extend(inner) | a.Filter(_, inner):
                pattern = inner
            case _:
                return None
    return pattern, whole


def _interval(pattern: a.Pattern, config: ServiceConfig) -> int | None:
    """The shortest change interval declared for any of a pattern's predicates."""
    if not isinstance(pattern, a.BGP):
        return config.change_interval
    declared = config.declared
    found = [declared.get(_predicate(triple), config.change_interval) for triple in pattern.triples]
    return min((every for every in found if every is not None), default=config.change_interval)


def _predicate(triple: a.TriplePattern) -> str:
    return triple.predicate.value if isinstance(triple.predicate, IRI) else ""


def _names(pattern: a.Pattern) -> tuple[str, ...]:
    return tuple(variable.name for variable in visible(pattern) if isinstance(variable, Variable))


def evaluate_locally(outer: a.Pattern, rows: PartRows, at: int, dictionary: Dictionary) -> PartRows:
    """The solutions of the sub-query ``outer`` at ``at`` with ``rows`` in place of what it groups."""
    names = tuple(rows.columns)
    known = {i: dictionary.decode(i) for column in rows.columns.values() for i in set(column.tolist()) - {0}}
    terms = [[known.get(i) for i in rows.columns[name].tolist()] for name in names]
    solutions = tuple(zip(*terms, strict=True)) if names else ((),) * rows.length
    table = a.Values(tuple(Variable(name) for name in names), solutions)
    evaluation = Evaluation(SDS(Dataset()), Context(now=at), key=f"service {at}")
    found = evaluation.solutions(_replaced(outer, table))
    columns = {
        variable.name: dictionary.encode_terms([solution.get(variable.name) for solution in found])
        for variable in visible(outer)
    }
    return PartRows(columns, len(found))


def _replaced(node: Any, table: a.Values) -> Any:
    """``node`` with ``table`` for the pattern right below the one GROUP BY of the spine."""
    below = table if isinstance(node, a.Group) else _replaced(node.pattern, table)
    return replace(node, pattern=below)
