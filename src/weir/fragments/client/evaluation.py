"""A query at one instant: the part of the data that its answer depends on is gathered, then evaluated.

Law: for every basic graph pattern of the query, the part holds all triples that its solutions need, so
evaluating the query over the part gives what evaluating it over all data would. Bindings are passed
sideways only where rows that they leave out could not have survived: into the right side of a join,
OPTIONAL, MINUS and EXISTS; never into a subquery, an aggregate or a slice.

In a basic graph pattern the triple pattern with the smallest count is fetched first; each next one shares a
variable with those before where it can, and is fetched whole or restricted to the bindings found, whichever
needs fewer requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, TypeAlias

from weir.errors import EvaluationError, UsageError
from weir.fragments.client.matcher import Matcher
from weir.fragments.client.page import BeyondLimit
from weir.fragments.client.quad_source import Keys
from weir.fragments.protocol.annotation import Quad, QuadPattern
from weir.kernel.functions import Context
from weir.kernel.functions.scalar import seed
from weir.kernel.reference.algebra import Evaluation
from weir.kernel.reference.datasets import SDS, Dataset, Graph
from weir.kernel.reference.multisets import difference
from weir.kernel.reference.query_forms import Row, gamma, rows
from weir.language.algebra import patterns as algebra
from weir.language.algebra.expressions import Exists
from weir.language.algebra.fold import parts, path_predicates, rebuilt, walk
from weir.language.algebra.query import Describe, Query
from weir.language.algebra.scope import may_be_empty, visible
from weir.rdf.terms import IRI, Triple, Variable, parse_term

_term = lru_cache(maxsize=65_536)(parse_term)
_walk = partial(walk, closed=(Exists,))

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
            raise BeyondLimit(f"a join of the query has more than {most} rows", "rows")
    return Rows(left.names + tuple(right.names[i] for i in added), tuple(out))


def union(parts: Sequence[Rows]) -> Rows:
    """All rows of several, on the variables that all of them have."""
    names = [name for name in parts[0].names if all(name in part.names for part in parts)]
    rows: dict[tuple[str, ...], None] = {}
    for part in parts:
        columns = [part.names.index(name) for name in names]
        rows.update(dict.fromkeys(tuple(row[i] for i in columns) for row in part.rows))
    return Rows(tuple(names), tuple(rows))


async def solve(patterns: Sequence[Places], matcher: Matcher, given: Rows) -> tuple[Rows, list[Quad]]:
    """The solutions of a basic graph pattern that fit ``given``, and the quads they were made of.

    Solutions bind the pattern's variables and those of ``given`` that occur in it.
    """
    every = tuple(sorted({name for places in patterns for name in _names(places)}))
    given = given.project(every)
    bound = [_bound(places) for places in patterns]
    if any((s or "<")[0] == '"' or (p or "<")[0] != "<" for s, p, _, _ in bound):
        return Rows(every, ()), []
    counts = await asyncio.gather(*(matcher.count(pattern) for pattern in bound))
    left = dict(zip(patterns, zip(bound, counts, strict=True), strict=True))
    rows = given
    used: dict[Quad, None] = {}
    while left:
        known = set(rows.names)
        places = min(left, key=lambda one: (known.isdisjoint(_names(one)), left[one][1]))
        pattern, _ = left.pop(places)
        found = await matcher.matching(pattern, _keys(places, rows))
        matched = [(row, quad) for quad in found if (row := _row(places, quad)) is not None]
        used.update(dict.fromkeys(quad for _, quad in matched))
        fetched = Rows(_names(places), tuple(dict.fromkeys(row for row, _ in matched)))
        rows = join(rows, fetched, matcher.source.pages.limits.rows)
        if not rows.rows:
            return Rows(every, ()), list(used)
    return rows, list(used)


def _bound(places: Places) -> QuadPattern:
    s, p, o, g = (None if isinstance(place, Variable) else place for place in places)
    return s, p, o, g


def _names(places: Places) -> tuple[str, ...]:
    return tuple(dict.fromkeys(place.name for place in places if isinstance(place, Variable)))


def _keys(pattern: Places, rows: Rows) -> Keys | None:
    """The bindings of the pattern's places; None where nothing restricts it."""
    names = {i: p.name for i, p in enumerate(pattern) if isinstance(p, Variable) and p.name in rows.names}
    if not names:
        return None
    columns = [rows.names.index(name) for name in names.values()]
    return Keys(tuple(names), tuple(dict.fromkeys(tuple(row[i] for i in columns) for row in rows.rows)))


def _row(places: Places, quad: Quad) -> tuple[str, ...] | None:
    """A quad as bindings of the pattern's variables; None where a repeated one would differ."""
    values: dict[str, str] = {}
    for place, text in zip(places, quad, strict=True):
        if isinstance(place, Variable) and values.setdefault(place.name, text) != text:
            return None
    return tuple(values.values())


class Gatherer:
    """Collects the quads that one query needs at one instant."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.quads: dict[Quad, None] = {}
        self.solved: dict[algebra.BGP, Rows] = {}
        """All solutions of those basic graph patterns of the default graph that nothing restricted."""
        self._most = matcher.source.pages.limits.rows

    async def query(self, query: Query) -> None:
        """Gather for a whole query."""
        rows = await self.pattern(query.pattern, UNIT, "")
        if isinstance(query.form, Describe):
            subjects: dict[str, None] = {}
            for target in query.form.targets:
                if isinstance(target, IRI):
                    subjects[str(target)] = None
                elif target.name in rows.names:
                    column = rows.names.index(target.name)
                    subjects.update(dict.fromkeys(row[column] for row in rows.rows))
                else:
                    await self._whole((None, None, None, ""))
            await self._whole((None, None, None, ""), Keys((0,), tuple((s,) for s in subjects)))

    async def pattern(self, pattern: algebra.Pattern, given: Rows, graph: Place) -> Rows:
        """Gather for a pattern; bindings that include those of all its solutions fitting ``given``."""
        match pattern:
            case algebra.BGP(triples):
                return await self._bgp([pattern], given, graph) if triples else UNIT
            case algebra.Join():
                return await self._join(pattern, given, graph)
            case algebra.PathPattern():
                return await self._path(pattern, given, graph)
            case algebra.LeftJoin(left, right):
                rows = await self.pattern(left, given, graph)
                inner = await self.pattern(right, rows, graph)
                await self._exists(pattern, join(rows, inner, self._most) if inner.rows else rows, graph)
                return rows
            case algebra.Union(left, right):
                return union(
                    [await self.pattern(left, given, graph), await self.pattern(right, given, graph)]
                )
            case algebra.Minus(left, right):
                rows = await self.pattern(left, given, graph)
                await self.pattern(right, rows, graph)
                return rows
            case algebra.Graph(name, inside):
                return await self._graph(name, inside, given)
            case algebra.Values():
                return _values(pattern)
            case algebra.Project() | algebra.Group() | algebra.Slice():
                rows = await self.pattern(pattern.pattern, UNIT, graph)
                await self._exists(pattern, rows, graph)
                return rows.project({variable.name for variable in visible(pattern)})
            case algebra.Service():
                raise UsageError("SERVICE is not followed over fragments")
            case algebra.Window():
                raise UsageError(
                    "fragments are queried in plain SPARQL", hint="leave out windows: facts carry their times"
                )
            case _:
                rows = await self.pattern(pattern.pattern, given, graph)
                await self._exists(pattern, rows, graph)
                return rows

    async def _join(self, pattern: algebra.Join, given: Rows, graph: Place) -> Rows:
        """Neighbouring basic graph patterns are ordered as one; the others follow with their bindings."""
        basic: list[algebra.BGP] = []
        others: list[algebra.Pattern] = []
        rows = given.project({node.name for node in _walk(pattern) if isinstance(node, Variable)})
        for one in _operands(pattern):
            if isinstance(one, algebra.Values):
                rows = join(rows, _values(one), self._most)
            elif isinstance(one, algebra.BGP) and one.triples:
                basic.append(one)
            else:
                others.append(one)
        if basic:
            rows = join(rows, await self._bgp(basic, rows, graph), self._most)
        for other in others:
            rows = join(rows, await self.pattern(other, rows, graph), self._most)
        return rows

    async def _bgp(self, patterns: list[algebra.BGP], given: Rows, graph: Place) -> Rows:
        triples = dict.fromkeys(triple for pattern in patterns for triple in pattern.triples)
        places: list[Places] = [
            (_place(one.subject), _place(one.predicate), _place(one.object), graph) for one in triples
        ]
        rows, quads = await solve(places, self.matcher, given)
        self.quads.update(dict.fromkeys(quads))
        nested = any(isinstance(node, algebra.TripleTermPattern) for node in _walk(patterns[0]))
        if len(patterns) == 1 and not given.names and graph == "" and not nested:
            self.solved[patterns[0]] = rows
        return rows

    async def _path(self, pattern: algebra.PathPattern, given: Rows, graph: Place) -> Rows:
        """All triples of the path's predicates, and for paths of length zero the nodes they may be at:
        those of the bindings where an end is bound, else all. A negated set needs all triples."""
        name = None if isinstance(graph, Variable) else graph
        everything: QuadPattern = (None, None, None, name)
        predicates = path_predicates(pattern.path)
        ends = [end for end in (pattern.subject, pattern.object) if isinstance(end, Variable)]
        known = next((end.name for end in ends if end.name in given.names), None)
        zero = len(ends) == 2 and may_be_empty(pattern.path)
        if predicates is None or (zero and known is None):
            await self._whole(everything)
            return UNIT
        if zero and known is not None:
            rows = given.project({known}).rows
            await self._whole(everything, Keys((0,), rows))
            await self._whole(everything, Keys((2,), rows))
        for predicate in predicates:
            await self._whole((None, str(predicate), None, name))
        return UNIT

    async def _graph(self, name: IRI | Variable, inside: algebra.Pattern, given: Rows) -> Rows:
        if not any(isinstance(node, algebra.TriplePattern | algebra.PathPattern) for node in _walk(inside)):
            await self._whole((None, None, None, None if isinstance(name, Variable) else str(name)))
        return await self.pattern(inside, given, name if isinstance(name, Variable) else str(name))

    async def _exists(self, pattern: algebra.Pattern, rows: Rows, graph: Place) -> None:
        """Gather for EXISTS in the expressions of a pattern."""
        for node in _walk(tuple(part for part in parts(pattern) if not isinstance(part, algebra.Pattern))):
            if isinstance(node, Exists):
                await self.pattern(node.pattern, rows, graph)

    async def _whole(self, pattern: QuadPattern, keys: Keys | None = None) -> None:
        self.quads.update(dict.fromkeys(await self.matcher.matching(pattern, keys)))


def _operands(pattern: algebra.Pattern) -> Iterator[algebra.Pattern]:
    if isinstance(pattern, algebra.Join):
        yield from _operands(pattern.left)
        yield from _operands(pattern.right)
    else:
        yield pattern


def _values(pattern: algebra.Values) -> Rows:
    """Inline data on the variables that no row leaves undefined."""
    columns = [i for i in range(len(pattern.variables)) if all(row[i] is not None for row in pattern.rows)]
    rows = dict.fromkeys(tuple(str(row[i]) for i in columns) for row in pattern.rows)
    return Rows(tuple(pattern.variables[i].name for i in columns), tuple(rows))


def _place(node: algebra.Node) -> Place:
    """What a fragment is asked for; a triple term with variables inside may be anything."""
    if isinstance(node, algebra.TripleTermPattern):
        return Variable(f".{node}")
    return node if isinstance(node, Variable) else str(node)


def answer(
    query: Query, quads: Iterable[Quad], now: int, solved: Mapping[algebra.BGP, Rows] | None = None
) -> list[Row]:
    """What the query answers over these quads at an instant; ``solved`` patterns are not matched again.

    Blank nodes that a CONSTRUCT makes depend on the solution alone, so that a result that stays keeps
    its name from one evaluation to the next.
    """
    graphs: dict[str, list[Triple]] = {"": []}
    for s, p, o, g in quads:
        graphs.setdefault(g, []).append((_term(s), _term(p), _term(o)))
    default = Graph(graphs.pop(""))
    named = {_term(name): Graph(triples) for name, triples in graphs.items()}
    key = seed(query.form, query.pattern).hex()
    evaluation = Evaluation(SDS(Dataset(default, named)), Context(now=now), key=key)
    known = replace(query, pattern=_filled(query.pattern, solved)) if solved else query
    try:
        return rows(query.form, gamma(known, evaluation), evaluation)
    except RecursionError:
        raise EvaluationError("the query nests too deeply") from None


def _filled(node: Any, solved: Mapping[algebra.BGP, Rows]) -> Any:
    """A pattern whose solved parts are inline data. EXISTS and GRAPH mean other solutions: left alone."""
    if isinstance(node, Exists | algebra.Graph):
        return node
    found = solved.get(node) if isinstance(node, algebra.BGP) else None
    if found is None:
        return rebuilt(node, lambda part: _filled(part, solved))
    data = tuple(tuple(_term(text) for text in row) for row in found.rows)
    return algebra.Values(tuple(Variable(name) for name in found.names), data)


def changes(before: Sequence[Row], now: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """What was added and what was removed, as multisets, in the order of their lists."""
    return difference(now, before), difference(before, now)
