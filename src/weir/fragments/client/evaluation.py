"""A query at one instant: the part of the data that its answer depends on is gathered, then evaluated.

Law: for every basic graph pattern of the query, the part holds all triples that its solutions need, so
evaluating the query over the part gives what evaluating it over all data would. Bindings are passed
sideways only where rows that they leave out could not have survived: into the right side of a join,
OPTIONAL, MINUS and EXISTS; never into a subquery, an aggregate or a slice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from weir.errors import EvaluationError, UsageError
from weir.fragments.client.joins import UNIT, Place, Places, Rows, join, solve, union
from weir.fragments.client.matcher import Matcher
from weir.fragments.client.quad_source import Keys, Pattern4
from weir.fragments.protocol.annotation import Quad
from weir.kernel.functions import Context
from weir.kernel.functions.draws import seed
from weir.kernel.reference.algebra import Evaluation
from weir.kernel.reference.datasets import SDS, Dataset, Graph
from weir.kernel.reference.query_forms import Row, gamma, rows
from weir.language.algebra import patterns as algebra
from weir.language.algebra.expressions import Exists, Expression
from weir.language.algebra.fold import walk
from weir.language.algebra.query import Describe, Query
from weir.rdf.terms import IRI, Triple, Variable, parse_term

_term = lru_cache(maxsize=65_536)(parse_term)
_walk = partial(walk, closed=(Exists,))


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
            case algebra.LeftJoin(left, right, condition):
                rows = await self.pattern(left, given, graph)
                inner = await self.pattern(right, rows, graph)
                await self._exists(condition, join(rows, inner, self._most) if inner.rows else rows, graph)
                return rows
            case algebra.Filter(condition, inside):
                rows = await self.pattern(inside, given, graph)
                await self._exists(condition, rows, graph)
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
            case algebra.Extend(inside, _, expression):
                rows = await self.pattern(inside, given, graph)
                await self._exists(expression, rows, graph)
                return rows
            case algebra.Values():
                return _values(pattern)
            case algebra.Distinct(inside) | algebra.Reduced(inside):
                return await self.pattern(inside, given, graph)
            case algebra.Slice(inside, _, _):
                return await self.pattern(inside, UNIT, graph)
            case algebra.OrderBy(inside, keys):
                rows = await self.pattern(inside, given, graph)
                for key in keys:
                    await self._exists(key.expression, rows, graph)
                return rows
            case algebra.Project(inside, variables):
                rows = await self.pattern(inside, UNIT, graph)
                return rows.project({variable.name for variable in variables})
            case algebra.Group(inside, keys, aggregates):
                rows = await self.pattern(inside, UNIT, graph)
                for _, aggregate in aggregates:
                    await self._exists(aggregate.operand, rows, graph)
                return rows.project({key.name for key in keys})
            case algebra.Service():
                raise UsageError("SERVICE is not followed over fragments")
            case algebra.Window():
                raise UsageError(
                    "fragments are queried in plain SPARQL", hint="leave out windows: facts carry their times"
                )

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
        everything: Pattern4 = (None, None, None, name)
        predicates, negated = _path_needs(pattern.path)
        ends = [end for end in (pattern.subject, pattern.object) if isinstance(end, Variable)]
        known = next((end.name for end in ends if end.name in given.names), None)
        zero = len(ends) == 2 and _zero(pattern.path)
        if negated or (zero and known is None):
            await self._whole(everything)
            return UNIT
        if zero and known is not None:
            rows = given.project({known}).rows
            await self._whole(everything, Keys((0,), rows))
            await self._whole(everything, Keys((2,), rows))
        for predicate in predicates:
            await self._whole((None, predicate, None, name))
        return UNIT

    async def _graph(self, name: IRI | Variable, inside: algebra.Pattern, given: Rows) -> Rows:
        if not any(isinstance(node, algebra.TriplePattern | algebra.PathPattern) for node in _walk(inside)):
            await self._whole((None, None, None, None if isinstance(name, Variable) else str(name)))
        return await self.pattern(inside, given, name if isinstance(name, Variable) else str(name))

    async def _exists(self, expression: Expression | None, rows: Rows, graph: Place) -> None:
        for node in _walk(expression):
            if isinstance(node, Exists):
                await self.pattern(node.pattern, rows, graph)

    async def _whole(self, pattern: Pattern4, keys: Keys | None = None) -> None:
        found = await self.matcher.matching(pattern, keys)
        self.quads.update(dict.fromkeys(quad for quad, _, _ in found))


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


def _path_needs(path: algebra.Path) -> tuple[list[str], bool]:
    links = [str(node.iri) for node in _walk(path) if isinstance(node, algebra.Link)]
    return links, any(isinstance(node, algebra.NegatedSet) for node in _walk(path))


def _zero(path: algebra.Path) -> bool:
    """Whether a path may have length zero somewhere."""
    return any(isinstance(node, algebra.ZeroOrMore | algebra.ZeroOrOne) for node in _walk(path))


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


def _filled(pattern: algebra.Pattern, solved: Mapping[algebra.BGP, Rows]) -> algebra.Pattern:
    """A pattern whose solved parts are inline data. EXISTS and GRAPH mean other solutions: left alone."""
    match pattern:
        case algebra.BGP() if pattern in solved:
            found = solved[pattern]
            data = tuple(tuple(_term(text) for text in row) for row in found.rows)
            return algebra.Values(tuple(Variable(name) for name in found.names), data)
        case algebra.Join(left, right) | algebra.Union(left, right) | algebra.Minus(left, right):
            return replace(pattern, left=_filled(left, solved), right=_filled(right, solved))
        case algebra.LeftJoin(left, right, _):
            return replace(pattern, left=_filled(left, solved), right=_filled(right, solved))
        case (
            algebra.Filter()
            | algebra.Extend()
            | algebra.Group()
            | algebra.OrderBy()
            | algebra.Project()
            | algebra.Distinct()
            | algebra.Reduced()
            | algebra.Slice()
        ):
            return replace(pattern, pattern=_filled(pattern.pattern, solved))
        case _:
            return pattern


def changes(before: Sequence[Row], now: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """What was added and what was removed, as multisets, in the order of their lists."""
    return _beyond(now, before), _beyond(before, now)


def _beyond(some: Sequence[Row], others: Sequence[Row]) -> list[Row]:
    spare = Counter(_frozen(row) for row in others)
    kept: list[Row] = []
    for row in some:
        key = _frozen(row)
        if spare[key]:
            spare[key] -= 1
        else:
            kept.append(row)
    return kept


def _frozen(row: Row) -> Hashable:
    return frozenset(row.items()) if isinstance(row, dict) else row
