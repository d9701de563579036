"""The extract of a query: the static triples that can take part in an answer, and no others.

A query's static patterns are restricted by their constants, and patterns that are joined with each other
by what they share (semi-joins, until nothing more goes): the co-authors of one author are a few hundred
triples out of ten million. Every operator gives the same on the extract as on the whole graphs, because
no triple that any solution of a joined pattern uses is left out. Paths, negation and the like keep all
triples of their predicates.

The extract is what CQELS's cache of static sub-queries comes to (section 4.3): it is made once, at
registration, and its size does not grow with the graphs. An update needs no new one: what it adds is found
by putting the changed triples in the place of each pattern in turn, with the others as they are, so the work
follows the size of the change. Queries of one shape are looked at as one: patterns are restricted by the
constants of all of them, which are rows of a table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from weir.kernel.contract import Background, GraphTable
from weir.language.algebra.fold import path_predicates, walk
from weir.language.algebra.patterns import Project, TriplePattern, constant
from weir.language.algebra.query import Describe, Query
from weir.language.algebra.scope import may_be_empty
from weir.linked.graphs.delta import Delta
from weir.linked.graphs.history import background_of, contains
from weir.linked.graphs.large_scans import LargeRows, assembled
from weir.linked.graphs.triple_tables import (
    DEFAULT,
    ConstantRows,
    IndexedTable,
    LargeScan,
    PatternRows,
    Scan,
    TableSource,
    TripleSource,
    distinct,
    merged,
    semi_join,
    take,
)
from weir.plan import nodes as p
from weir.plan.analysis.demand import written_variables
from weir.plan.analysis.ticks import graphs_read
from weir.plan.planner import plan_query
from weir.rdf.columns import Ids, sorted_set
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Variable

Dealt: TypeAlias = Mapping[str, Mapping[int, str]]
"""Of graphs by name, the predicates whose triples are dealt to slots, and by which place."""


class StaticGraphs:
    """Graphs that are open under one dictionary: the extracts of queries, and updates.

    Scans and their indexes are shared between queries. The texts of an extract's terms are in the dictionary.

    Where there were updates, extracts are event tables (``history``): every triple that some update named
    counts as there, and comes with its whole history.
    """

    def __init__(self, source: TripleSource, dictionary: Dictionary) -> None:
        self.source = source
        self.dictionary = dictionary
        self.delta = Delta()
        self._tables: dict[Scan, IndexedTable] = {}
        self._added: dict[Scan, IndexedTable] = {}
        self.triples = self.delta.triples()
        """Every triple that some update named."""

    def names(self) -> Sequence[str]:
        """The named graphs, those that updates made among them."""
        return tuple(dict.fromkeys((*self.source.names(), *self.delta.names())))

    def size(self, graph: str) -> int | None:
        """How many triples a graph has, None where an update has touched it: it is to be counted then."""
        return None if graph in self.delta.events else self.source.size(graph)

    def predicates(self, graph: str) -> list[str]:
        """What may be the predicates of a graph, those of updates among them."""
        named = self.triples.scan((graph, None, None, None)).predicate
        found = sorted_set(np.concatenate([self.source.predicates(graph), named]))
        self.source.add_texts(found)
        return [self.dictionary.text(each)[1:-1] for each in found.tolist()]

    def absent(self, query: Query) -> list[str]:
        """The graphs that a query names and that are not there: they are empty."""
        dataset, read = query.dataset, graphs_read(query).named or ()
        return sorted({*dataset.default, *dataset.named, *read}.difference(self.names()))

    def extract(self, query: Query, streams: Sequence[str] = (), *, every_text: bool = False) -> Background:
        """The graphs that ``query`` reads, reduced; every named graph is there, if only by its name. Of large
        ones the dictionary gets the texts that may be written or read, or ``every_text``."""
        walk = _Walk(self, query, self.names(), every_text=every_text)
        needed: list[Ids] = []
        found = self._collected(walk.all(streams), needed)
        return self._background({**dict.fromkeys(self.names(), GraphTable.empty()), **found}, needed)

    def dealt(self, query: Query, streams: Sequence[str], variable: Variable) -> Dealt:
        """The predicates of each graph of which a slot needs its share alone, where a query is split by this
        variable: those of which every pattern has it at one place, the same in all."""
        return _Walk(self, query, self.names()).dealt(streams, variable)

    def apply(self, inserted: Background, deleted: Background) -> int:
        """Take in an update; its number. Its terms are in the dictionary, and no triple is in both."""
        number = self.delta.apply(inserted, deleted)
        self._added.clear()
        self.triples = self.delta.triples()
        return number

    def take_in(self, events: Background, number: int) -> None:
        """Take in the events of all updates up to one, as ``Delta.since`` gave them."""
        self.delta.take_in(events, number)
        self._added.clear()
        self.triples = self.delta.triples()

    def undo(self, number: int) -> None:
        """Take back the latest update."""
        self.delta.undo(number)
        self._added.clear()
        self.triples = self.delta.triples()

    def change(self, query: Query, number: int, streams: Sequence[str] = ()) -> Background | None:
        """What an update adds to the query's extract: to be laid over it (``history.layered``).

        None where no changed triple matches any static pattern of the query, and none makes a graph whose
        name it looks at.
        """
        new = set(self.delta.names()).difference(self.source.names())
        made = {name for name in new if self.delta.inserting[name][-1] == number}
        walk = _Walk(self, query, self.names(), self.delta.of(number), made)
        found = {**dict.fromkeys(made, GraphTable.empty()), **self._collected(walk.all(streams), [])}
        return self._background(found, [], number) if walk.touched else None

    def _background(
        self, tables: Mapping[str, GraphTable], needed: Sequence[Ids], number: int | None = None
    ) -> Background:
        """Those of the graphs that exist: a name in a query or in a deletion makes none. The dictionary gets
        the texts of their terms, of large ones those that are ``needed``."""
        base, names = set(self.source.names()), {DEFAULT, *self.names()}
        found = background_of({name: table for name, table in tables.items() if name in names})
        small = [each for each in (found.default, *found.named.values()) if each.index is None]
        columns = [column for each in small for column in (each.subject, each.predicate, each.object)]
        self.source.add_texts(np.concatenate([np.empty(0, np.int64), *columns, *needed]))
        made = {name: self._makers(name, number) for name in found.named if name not in base}
        return replace(found, made=made)

    def _makers(self, name: str, number: int | None) -> tuple[int, ...]:
        """The updates that inserted into a graph; that of ``number`` alone where it is one: those before it
        are in the extracts before."""
        found = self.delta.inserting[name]
        return (number,) if number is not None and found[-1] == number else tuple(found)

    def _collected(
        self, parts: Iterable[PatternRows | LargeRows], needed: list[Ids]
    ) -> dict[str, GraphTable]:
        kept: dict[Scan, list[Ids | None]] = {}
        large: dict[Scan, list[LargeRows]] = {}
        added: dict[str, list[GraphTable]] = {}
        there: dict[str, list[GraphTable]] = {}
        for part in parts:
            if isinstance(part, LargeRows):
                if part.few is None:
                    large.setdefault(part.scan, []).append(part)
                else:
                    there.setdefault(part.scan[0], []).append(part.few.selected())
            elif part.added:
                triples = distinct(part.selected())
                known = contains(self._near(part.scan, triples), triples)
                there.setdefault(part.scan[0], []).append(take(triples, np.flatnonzero(known)))
                added.setdefault(part.scan[0], []).append(take(triples, np.flatnonzero(~known)))
            else:
                kept.setdefault(part.scan, []).append(part.rows)
        for scan, selections in kept.items():
            there.setdefault(scan[0], []).append(self._selected(scan, selections))
        for scan, alternatives in large.items():
            found = alternatives[0].source.rows([each.kept for each in alternatives])
            there.setdefault(scan[0], []).append(found)
            needed += [sorted_set(getattr(found, place)) for each in alternatives for place in each.needed]
        graphs = {graph: merged(tables) for graph, tables in there.items() if not _any_large(graph, large)}
        graphs |= {graph: assembled(tables) for graph, tables in there.items() if graph not in graphs}
        if not self.delta.number:
            return graphs
        return {
            graph: self.delta.history(
                graph, graphs.get(graph, GraphTable.empty()), merged(added.get(graph, []))
            )
            for graph in dict.fromkeys((*there, *added))
        }

    def large(self, scan: Scan) -> LargeScan | None:
        """A scan that is too large to be held."""
        return self.source.large(scan)

    def _near(self, scan: Scan, triples: GraphTable) -> GraphTable:
        """A scan of the graphs as they were read, or of a large one what may be among these triples."""
        large = self.large(scan)
        if large is None:
            return self.base(scan).table
        return large.rows([{"subject": sorted_set(triples.subject)}])

    def base(self, scan: Scan) -> IndexedTable:
        """A scan of the graphs as they were read."""
        if scan not in self._tables:
            self._tables[scan] = IndexedTable(self.source.scan(scan))
        return self._tables[scan]

    def added(self, scan: Scan) -> IndexedTable:
        """A scan of the triples that updates named."""
        if scan not in self._added:
            self._added[scan] = IndexedTable(self.triples.scan(scan))
        return self._added[scan]

    def _selected(self, scan: Scan, selections: Sequence[Ids | None]) -> GraphTable:
        table = self._tables[scan].table
        chosen = [rows for rows in selections if rows is not None]
        if len(chosen) < len(selections):
            return table
        return take(table, sorted_set(np.concatenate(chosen)))


@dataclass(slots=True)
class _Walk:
    """One query's plan: every pattern on every graph that it reads, with the rows that matter.

    With ``changed`` only what joins with these triples; ``touched`` then says whether a pattern matched one,
    or the query looks at the name of a graph that the change ``made``.
    """

    graphs: StaticGraphs
    query: Query
    names: Sequence[str]
    changed: TableSource | None = None
    made: Collection[str] = ()
    every_text: bool = False
    touched: bool = field(default=False, init=False)
    mixed: bool = field(default=False, init=False)
    """Windows are part of the default graph, whose patterns may then match streamed triples: such patterns
    are restricted by their constants alone."""

    def all(self, streams: Sequence[str]) -> Iterator[PatternRows | LargeRows]:
        """The parts of the whole query."""
        if isinstance(self.query.form, Describe):
            for name in (DEFAULT, *self.names):
                yield from self._scan((name, None, None, None))
            return
        self.mixed = bool(self.query.dataset.default_windows)
        plan = plan_query(self.query, streams)
        yield from self.parts(plan.root)
        if plan.looking.tick.unit is not None:
            yield from self._updated()

    def dealt(self, streams: Sequence[str], variable: Variable) -> Dealt:
        """See ``StaticGraphs.dealt``. In a subquery the name may mean another variable: then nothing is."""
        if sum(isinstance(node, Project) for node in walk(self.query.pattern)) > 1:
            return {}
        found: dict[tuple[str, int], set[str | None]] = {}
        for match in _matches(plan_query(self.query, streams).root):
            for graph in self._graphs(match.source):
                _, _, predicate, _ = self._scan_of(graph, match.pattern)
                if predicate is not None:
                    place = _places(match.pattern).get(variable.name)
                    found.setdefault((graph, predicate), set()).add(place)
        out: dict[str, dict[int, str]] = {}
        for (graph, predicate), places in found.items():
            place = places.pop()
            if place is not None and not places:
                out.setdefault(graph, {})[predicate] = place
        return out

    def _updated(self) -> Iterator[PatternRows | LargeRows]:
        """Every triple that updates named of the graphs that the query reads: where it is looked at by the
        clock, any change of such a graph is an evaluation time, whether a pattern matches it or not."""
        read, named = graphs_read(self.query), self.graphs.triples if self.changed is None else self.changed
        graphs = {name for name in self.names if read.named is None or name in read.named}
        if read.default:
            graphs |= {DEFAULT, *self.query.dataset.default}
        for graph in sorted(graphs):
            for predicate in np.unique(named.scan((graph, None, None, None)).predicate).tolist():
                scan = graph, None, predicate, None
                self.touched = True
                yield PatternRows(scan, IndexedTable(named.scan(scan)), {}, added=True)

    def parts(self, plan: p.Plan) -> Iterator[PatternRows | LargeRows]:
        """The parts of one operator and those below it."""
        for formula in p.formulas(plan):
            for test in formula.tests:
                yield from self.parts(test.plan)
        if isinstance(plan, p.GraphNames | p.Graph) and plan.source.window is None:
            graph = plan.source.graph
            self.touched |= graph.value in self.made if isinstance(graph, IRI) else bool(self.made)
        if isinstance(plan, p.Join):
            yield from self._reduced(
                [part for part in plan.parts if isinstance(part, p.Match)],
                [part for part in plan.parts if isinstance(part, p.Parameters)],
            )
            for part in plan.parts:
                if not isinstance(part, p.Match):
                    yield from self.parts(part)
        elif isinstance(plan, p.Match):
            yield from self._reduced([plan])
        elif isinstance(plan, p.PathPattern):
            yield from self._path(plan)
        else:
            for child in p.children(plan):
                yield from self.parts(child)

    def _graphs(self, source: p.Source) -> tuple[str, ...]:
        if source.window is not None:
            return ()
        if source.graph is None:
            return (DEFAULT, *self.query.dataset.default)
        return (source.graph.value,) if isinstance(source.graph, IRI) else tuple(self.names)

    def _reduced(
        self, matches: Sequence[p.Match], constants: Sequence[p.Parameters] = ()
    ) -> Iterator[PatternRows | LargeRows]:
        joined: list[p.Match] = []
        for match in matches:
            if self.mixed and match.source.graph is None:
                for graph in self._graphs(match.source):
                    yield from self._scan(self._scan_of(graph, match.pattern))
            elif self._graphs(match.source):
                joined.append(match)
        if self.changed is None:
            yield from _joined([self._matching(match) for match in joined], constants)
            return
        for place, match in enumerate(joined):
            scans = [self._scan_of(graph, match.pattern) for graph in self._graphs(match.source)]
            named = [(scan, IndexedTable(self.changed.scan(scan))) for scan in scans]
            places = _places(match.pattern)
            seeds = [PatternRows(scan, table, places, added=True) for scan, table in named if len(table)]
            if seeds:
                self.touched = True
                others = [seeds if at == place else self._matching(other) for at, other in enumerate(joined)]
                yield from _joined(others, constants)

    def _matching(self, match: p.Match) -> list[PatternRows | LargeRows]:
        """A pattern on all its graphs, as they were read and as updates changed them."""
        places = _places(match.pattern)
        found: list[PatternRows | LargeRows] = []
        for graph in self._graphs(match.source):
            scan = self._scan_of(graph, match.pattern)
            found.append(self._base(scan, places))
            added = self.graphs.added(scan)
            if len(added):
                found.append(PatternRows(scan, added, places, added=True))
        return found

    def _base(self, scan: Scan, places: dict[str, str]) -> PatternRows | LargeRows:
        """A scan of the graphs as they were read; of a large one the texts are needed that its variables
        need, or all where it is no pattern."""
        large = self.graphs.large(scan)
        if large is None:
            return PatternRows(scan, self.graphs.base(scan), places)
        written = written_variables(self.query) if places and not self.every_text else None
        needed = [place for name, place in places.items() if written is None or Variable(name) in written]
        return LargeRows(scan, large, places, frozenset(needed if places else _ENDS))

    def _scan(self, scan: Scan) -> Iterator[PatternRows | LargeRows]:
        """All triples of a scan, or those of them that changed."""
        if self.changed is None:
            yield self._base(scan, {})
            yield PatternRows(scan, self.graphs.added(scan), {}, added=True)
            return
        seeds = PatternRows(scan, IndexedTable(self.changed.scan(scan)), {}, added=True)
        self.touched |= len(seeds) > 0
        yield seeds

    def _scan_of(self, graph: str, pattern: TriplePattern) -> Scan:
        terms = map(constant, pattern.nodes)
        s, p, o = (None if term is None else self.graphs.dictionary.encode(term) for term in terms)
        return graph, s, p, o

    def _path(self, plan: p.PathPattern) -> Iterator[PatternRows | LargeRows]:
        predicates = path_predicates(plan.path)
        open_ended = isinstance(plan.subject, Variable) and isinstance(plan.object, Variable)
        for graph in self._graphs(plan.source):
            if predicates is None or (open_ended and may_be_empty(plan.path)):
                yield from self._scan((graph, None, None, None))
            else:
                for predicate in predicates:
                    yield from self._scan((graph, None, self.graphs.dictionary.encode(predicate), None))


def _joined(
    groups: Sequence[Sequence[PatternRows | LargeRows]], constants: Sequence[p.Parameters]
) -> Iterator[PatternRows | LargeRows]:
    tables = [[ConstantRows(dict(zip(c.variables, c.places, strict=True)), c.table.rows)] for c in constants]
    semi_join([*groups, *tables])
    for group in groups:
        yield from group


def _any_large(graph: str, large: Iterable[Scan]) -> bool:
    return any(scan[0] == graph for scan in large)


_ENDS = ("subject", "object")


def _matches(plan: p.Plan) -> Iterator[p.Match]:
    """Every pattern, those inside EXISTS among them."""
    if isinstance(plan, p.Match):
        yield plan
    for formula in p.formulas(plan):
        for test in formula.tests:
            yield from _matches(test.plan)
    for child in p.children(plan):
        yield from _matches(child)


def _places(pattern: TriplePattern) -> dict[str, str]:
    places = {"object": pattern.object, "predicate": pattern.predicate, "subject": pattern.subject}
    return {node.name: place for place, node in places.items() if isinstance(node, Variable)}
