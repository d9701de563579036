"""The extract of a query: the static triples that can take part in an answer, and no others.

A query's static patterns are restricted by their constants, and patterns that are joined with each other
by what they share (semi-joins, until nothing more goes): the co-authors of one author are a few hundred
triples out of ten million. Every operator gives the same on the extract as on the whole graphs, because
no triple that any solution of a joined pattern uses is left out. Paths, negation and the like keep all
triples of their predicates.

The extract is what CQELS's cache of static sub-queries comes to (section 4.3): it is made once, at
registration, and its size does not grow with the graphs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from weir.background.graphs.tables import DEFAULT, IndexedTable, TripleSource, merged, take
from weir.kernel.background import Background, GraphTable
from weir.language.algebra import (
    Link,
    NegatedSet,
    Node,
    Path,
    TriplePattern,
    ZeroOrMore,
    ZeroOrOne,
)
from weir.language.query import Describe, Query
from weir.plan.nodes import Connect, Joined, Match, Plan, Source, children, formulas
from weir.plan.planner import plan_query
from weir.rdf.columns import Ids
from weir.rdf.dictionary import Dictionary
from weir.rdf.terms import IRI, Variable

_ROUNDS = 8
_RARE = 8

Scan = tuple[str, int | None, int | None, int | None]
"""A graph and the constants of a pattern; None is any."""


@dataclass(slots=True)
class _Part:
    """One pattern on one graph while it is reduced: ``rows`` None stands for all of them."""

    scan: Scan
    table: IndexedTable
    places: dict[str, str]
    rows: Ids | None = None

    def __len__(self) -> int:
        return len(self.table) if self.rows is None else len(self.rows)

    def values(self, variable: str) -> Ids:
        column = self.table.columns[self.places[variable]]
        return np.unique(column if self.rows is None else column[self.rows])

    def keep(self, variable: str, values: Ids) -> None:
        place = self.places[variable]
        if self.rows is None and len(values) * _RARE < len(self.table):
            self.rows = self.table.rows_with(place, values)
            return
        column = self.table.columns[place]
        rows = np.arange(len(self.table)) if self.rows is None else self.rows
        self.rows = rows[np.isin(column[rows], values)]


class Extractor:
    """Extracts of many queries from the same graphs; scans and their indexes are shared between them."""

    def __init__(self, source: TripleSource, dictionary: Dictionary) -> None:
        self.source = source
        self.dictionary = dictionary
        self._tables: dict[Scan, IndexedTable] = {}

    def extract(self, query: Query, streams: Sequence[str] = ()) -> Background:
        """The graphs that ``query`` reads, reduced; every named graph is there, if only by its name."""
        used: dict[Scan, list[Ids | None]] = {}
        names = tuple(self.source.names())
        if isinstance(query.form, Describe):
            scans: Iterator[_Part] = (self._part((name, None, None, None), {}) for name in (DEFAULT, *names))
        else:
            plan = plan_query(query, streams)
            walk = _Walk(self, query, names, mixed=bool(query.dataset.default_windows))
            scans = walk.parts(plan.root)
        for part in scans:
            used.setdefault(part.scan, []).append(part.rows)
        tables: dict[str, list[GraphTable]] = {}
        for scan, selections in used.items():
            tables.setdefault(scan[0], []).append(self._selected(scan, selections))
        default = merged(tables.get(DEFAULT, []))
        return Background(default, {name: merged(tables.get(name, [])) for name in names})

    def _part(self, scan: Scan, places: dict[str, str]) -> _Part:
        if scan not in self._tables:
            graph, subject, predicate, object = scan
            predicates = None if predicate is None else [predicate]
            self._tables[scan] = IndexedTable(self.source.scan(graph, predicates, subject, object))
        return _Part(scan, self._tables[scan], places)

    def _selected(self, scan: Scan, selections: Sequence[Ids | None]) -> GraphTable:
        table = self._tables[scan].table
        chosen = [rows for rows in selections if rows is not None]
        if len(chosen) < len(selections):
            return table
        return take(table, np.unique(np.concatenate(chosen)))


class _Walk:
    """One query's plan. ``mixed`` says that windows are part of the default graph, whose patterns may
    then match streamed triples: such patterns are restricted by their constants alone."""

    def __init__(self, maker: Extractor, query: Query, names: Sequence[str], *, mixed: bool) -> None:
        self.maker = maker
        self.query = query
        self.names = names
        self.mixed = mixed

    def parts(self, plan: Plan) -> Iterator[_Part]:
        """Every pattern of the plan on every graph that it reads, with the rows that matter."""
        for formula in formulas(plan):
            for test in formula.tests:
                yield from self.parts(test.plan)
        if isinstance(plan, Joined):
            yield from self._reduced(part for part in plan.parts if isinstance(part, Match))
            for part in plan.parts:
                if not isinstance(part, Match):
                    yield from self.parts(part)
        elif isinstance(plan, Match):
            yield from self._reduced([plan])
        elif isinstance(plan, Connect):
            yield from self._path(plan)
        else:
            for child in children(plan):
                yield from self.parts(child)

    def _graphs(self, source: Source) -> tuple[str, ...]:
        if source.window is not None:
            return ()
        if source.graph is None:
            return (DEFAULT, *self.query.dataset.default)
        return (source.graph.value,) if isinstance(source.graph, IRI) else tuple(self.names)

    def _reduced(self, matches: Iterable[Match]) -> Iterator[_Part]:
        groups: list[list[_Part]] = []
        for match in matches:
            graphs = self._graphs(match.source)
            parts = [self._matching(graph, match.pattern) for graph in graphs]
            if self.mixed and match.source.graph is None:
                yield from parts
            elif parts:
                groups.append(parts)
        _semi_join(groups)
        for group in groups:
            yield from group

    def _matching(self, graph: str, pattern: TriplePattern) -> _Part:
        constants = [self._constant(node) for node in (pattern.subject, pattern.predicate, pattern.object)]
        places: dict[str, str] = {}
        for place, node in (
            ("subject", pattern.subject),
            ("predicate", pattern.predicate),
            ("object", pattern.object),
        ):
            if isinstance(node, Variable):
                places.setdefault(node.name, place)
        return self.maker._part((graph, constants[0], constants[1], constants[2]), places)

    def _constant(self, node: Node) -> int | None:
        return None if isinstance(node, Variable) else self.maker.dictionary.encode(node)

    def _path(self, plan: Connect) -> Iterator[_Part]:
        predicates = _predicates(plan.path)
        open_ended = isinstance(plan.subject, Variable) and isinstance(plan.object, Variable)
        for graph in self._graphs(plan.source):
            if None in predicates or (open_ended and _may_be_empty(plan.path)):
                yield self.maker._part((graph, None, None, None), {})
            else:
                for predicate in predicates:
                    assert predicate is not None
                    yield self.maker._part((graph, None, self.maker.dictionary.encode(predicate), None), {})


def _semi_join(groups: Sequence[list[_Part]]) -> None:
    """Reduce patterns that are all joined: a value of a shared variable must occur in each of them."""
    variables = {name for parts in groups for part in parts for name in part.places}
    shared = [
        [parts for parts in groups if any(variable in part.places for part in parts)]
        for variable in sorted(variables)
    ]
    order = [pair for pair in zip(sorted(variables), shared, strict=True) if len(pair[1]) > 1]
    for _ in range(_ROUNDS):
        before = sum(len(part) for parts in groups for part in parts)
        for variable, holders in sorted(order, key=lambda pair: min(_size(parts) for parts in pair[1])):
            smallest = min(holders, key=_size)
            allowed = _values(smallest, variable)
            for parts in holders:
                if parts is not smallest:
                    for part in parts:
                        part.keep(variable, allowed)
                    allowed = np.intersect1d(allowed, _values(parts, variable), assume_unique=True)
            for parts in holders:
                for part in parts:
                    part.keep(variable, allowed)
        if sum(len(part) for parts in groups for part in parts) == before:
            return


def _size(parts: Sequence[_Part]) -> int:
    return sum(len(part) for part in parts)


def _values(parts: Sequence[_Part], variable: str) -> Ids:
    found = [part.values(variable) for part in parts]
    return found[0] if len(found) == 1 else np.unique(np.concatenate(found))


def _predicates(path: Path) -> set[IRI | None]:
    """The predicates that a path can follow; None for any."""
    if isinstance(path, Link):
        return {path.iri}
    if isinstance(path, NegatedSet):
        return {None}
    inner = [getattr(path, name) for name in ("path", "left", "right") if hasattr(path, name)]
    return set().union(*(_predicates(each) for each in inner))


def _may_be_empty(path: Path) -> bool:
    """Whether some part of a path holds between a node and itself."""
    if isinstance(path, ZeroOrMore | ZeroOrOne):
        return True
    inner = [getattr(path, name) for name in ("path", "left", "right") if hasattr(path, name)]
    return any(_may_be_empty(each) for each in inner)
