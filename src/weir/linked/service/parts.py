"""What a SERVICE asks for: the pattern as one part, or as a stable part and a changing one.

Planning Ahead's μ^R = μ^SN ∪ μ^SR (section 4): in ``?tweet :mentions ?user . ?user :followers ?n`` with a
change interval declared for :followers, ``link`` (the mentions) says which users a tweet needs and stays;
``value`` (the followers) is refreshed by user, and one refresh serves every tweet that mentions it.
Without such a declaration the pattern is one part, refreshed by what it is joined on.

An aggregate sub-query (case 2) is taken apart the same way below its GROUP BY and grouped locally.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weir.kernel.contract import FOREVER
from weir.language.algebra import patterns as a
from weir.language.algebra.scope import visible
from weir.linked.service.config import ServiceConfig
from weir.rdf.terms import IRI, Variable


@dataclass(frozen=True, slots=True)
class Part:
    """``pattern`` asked for by bindings of the variables ``key``; its answers bind ``variables``.

    ``along`` is a pattern fetched with it where it matches. ``interval`` is the declared change interval.
    """

    pattern: a.Pattern
    key: tuple[str, ...]
    variables: tuple[str, ...]
    interval: int | None
    along: a.Pattern | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """``outer`` is the aggregate sub-query to be evaluated locally over the rows, which stand for the
    pattern ``inner`` in it; None where the rows are the answer."""

    value: Part
    link: Part | None = None
    outer: a.Pattern | None = None
    inner: a.Pattern | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the rows."""
        names = self.link.variables if self.link is not None else ()
        return tuple(dict.fromkeys((*names, *self.value.variables)))


def parts_of(pattern: a.Pattern, joined: Sequence[str], config: ServiceConfig) -> Parts:
    """How to ask for ``pattern`` where what it is joined with always binds the variables ``joined``."""
    if config.budget is not None and (grouped := _grouping(pattern)) is not None:
        group, whole = grouped
        keys = {variable.name for variable in group.keys}
        usable = [] if whole else [name for name in joined if name in keys]
        return replace(_split(group.pattern, usable, config), outer=pattern, inner=group.pattern)
    return _split(pattern, joined, config)


def _split(pattern: a.Pattern, joined: Sequence[str], config: ServiceConfig) -> Parts:
    own = _names(pattern)
    key = tuple(name for name in joined if name in own)
    one = Part(pattern, key, own, _interval(pattern, config))
    if config.budget is None or not config.change_intervals or not isinstance(pattern, a.BGP):
        return Parts(one)
    declared = config.declared
    changing = tuple(t for t in pattern.triples if _predicate(t) in declared)
    stable = tuple(t for t in pattern.triples if _predicate(t) not in declared)
    if not changing or not stable:
        return Parts(one)
    link, value = a.BGP(stable), a.BGP(changing)
    linked, valued = _names(link), _names(value)
    between = tuple(name for name in valued if name in linked)
    if not between or len(between) == len(valued) or any(n in key and n not in linked for n in valued):
        return Parts(one)
    return Parts(
        value=Part(value, between, valued, _interval(value, config)),
        link=Part(
            link,
            tuple(name for name in key if name in linked),
            linked,
            FOREVER if config.change_interval is None else config.change_interval,
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
