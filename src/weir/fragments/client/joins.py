"""Basic graph patterns over fragments: joins ordered by counts, bindings passed sideways.

The pattern with the smallest count is fetched first; each next one shares a variable with those before
where it can, and is fetched whole or restricted to the bindings found, whichever needs fewer requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from weir.errors import RemoteError
from weir.fragments.client.matcher import Matcher
from weir.fragments.client.quad_source import Keys, Pattern4
from weir.fragments.protocol.annotation import Quad
from weir.rdf.terms import Variable

Place: TypeAlias = str | Variable
Places: TypeAlias = tuple[Place, Place, Place, Place]


@dataclass(frozen=True, slots=True)
class Rows:
    """Bindings of some variables, each row once."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def project(self, names: Iterable[str]) -> Rows:
        """Only those of its variables."""
        kept = tuple(name for name in self.names if name in set(names))
        if kept == self.names:
            return self
        columns = [self.names.index(name) for name in kept]
        return Rows(kept, tuple(dict.fromkeys(tuple(row[i] for i in columns) for row in self.rows)))


UNIT = Rows((), ((),))


def join(left: Rows, right: Rows, most: int) -> Rows:
    """The natural join."""
    shared = [name for name in left.names if name in right.names]
    added = [i for i, name in enumerate(right.names) if name not in left.names]
    mine = [left.names.index(name) for name in shared]
    theirs = [right.names.index(name) for name in shared]
    index: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for row in right.rows:
        index.setdefault(tuple(row[i] for i in theirs), []).append(tuple(row[i] for i in added))
    out: dict[tuple[str, ...], None] = {}
    for row in left.rows:
        for rest in index.get(tuple(row[i] for i in mine), ()):
            out[row + rest] = None
        if len(out) > most:
            raise RemoteError(
                f"a join of the query has more than {most} rows",
                hint="make the query more selective, or raise the limit on rows",
            )
    return Rows(left.names + tuple(right.names[i] for i in added), tuple(out))


def union(parts: Sequence[Rows]) -> Rows:
    """All rows of several, on the variables that all of them have."""
    names = [name for name in parts[0].names if all(name in part.names for part in parts)]
    rows: dict[tuple[str, ...], None] = {}
    for part in parts:
        columns = [part.names.index(name) for name in names]
        rows.update(dict.fromkeys(tuple(row[i] for i in columns) for row in part.rows))
    return Rows(tuple(names), tuple(rows))


@dataclass(slots=True)
class _Planned:
    places: Places
    pattern: Pattern4
    count: int

    @property
    def names(self) -> set[str]:
        return {place.name for place in self.places if isinstance(place, Variable)}


async def solve(patterns: Sequence[Places], matcher: Matcher, given: Rows) -> tuple[Rows, list[Quad]]:
    """The solutions of a basic graph pattern that fit ``given``, and the quads they were made of.

    Solutions bind the pattern's variables and those of ``given`` that occur in it.
    """
    given = given.project({p.name for places in patterns for p in places if isinstance(p, Variable)})
    bound = [_bound(places) for places in patterns]
    every = tuple(sorted({p.name for places in patterns for p in places if isinstance(p, Variable)}))
    if any((s or "<")[0] == '"' or (p or "<")[0] != "<" for s, p, _, _ in bound):
        return Rows(every, ()), []
    counts = await asyncio.gather(*(matcher.count(pattern) for pattern in bound))
    left = [_Planned(*plan) for plan in zip(patterns, bound, counts, strict=True)]
    rows = given
    used: dict[Quad, None] = {}
    while left:
        plan = _next(left, set(rows.names) if rows.names else set())
        left.remove(plan)
        found = await matcher.matching(plan.pattern, _keys(plan, rows))
        matched = [(row, quad) for quad, _, _ in found if (row := _row(plan.places, quad)) is not None]
        used.update(dict.fromkeys(quad for _, quad in matched))
        names = tuple(dict.fromkeys(p.name for p in plan.places if isinstance(p, Variable)))
        rows = join(
            rows,
            Rows(names, tuple(dict.fromkeys(row for row, _ in matched))),
            matcher.source.pages.limits.rows,
        )
        if not rows.rows:
            return Rows(every, ()), list(used)
    return rows, list(used)


def _bound(places: Places) -> Pattern4:
    s, p, o, g = (None if isinstance(place, Variable) else place for place in places)
    return s, p, o, g


def _next(left: Sequence[_Planned], known: set[str]) -> _Planned:
    """The smallest pattern among those connected to what is known."""
    connected = [plan for plan in left if plan.names & known]
    return min(connected or left, key=lambda plan: plan.count)


def _keys(plan: _Planned, rows: Rows) -> Keys | None:
    """The bindings of the pattern's places; None where nothing restricts it."""
    places: list[int] = []
    columns: list[int] = []
    for place, term in enumerate(plan.places):
        if isinstance(term, Variable) and term.name in rows.names:
            places.append(place)
            columns.append(rows.names.index(term.name))
    if not places:
        return None
    return Keys(tuple(places), tuple(dict.fromkeys(tuple(row[i] for i in columns) for row in rows.rows)))


def _row(places: Places, quad: Quad) -> tuple[str, ...] | None:
    """A quad as bindings of the pattern's variables; None where a repeated one would differ."""
    values: dict[str, str] = {}
    for place, text in zip(places, quad, strict=True):
        if isinstance(place, Variable) and values.setdefault(place.name, text) != text:
            return None
    return tuple(values.values())
