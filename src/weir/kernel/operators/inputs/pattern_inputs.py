"""Leaves of a plan as inputs: patterns over windows, over static graphs, or over both merged.

Patterns over windows that differ only in the names of variables share their live triples. A static graph
(decision semantics-time, 31, 33, 34) is a relation of the columns subject, predicate and object, and graph
where there are several; a row's interval is not of indices but of microseconds, in which the triple is valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from weir.kernel.contract import NO_GRAPH, Background, GraphIndex, GraphTable
from weir.kernel.operators.inputs.input import Input, Present, RelationInput, StaticInput, UnionInput
from weir.kernel.operators.inputs.window_input import AlternatingInput, WindowInput
from weir.kernel.relations.keys import StoredKeys
from weir.kernel.relations.relation import Relation, Slot, distinct, union
from weir.kernel.windows.instants import HIGHEST, LOWEST, Instants
from weir.kernel.windows.live_triples import LiveTriples
from weir.kernel.windows.stream_state import Streams
from weir.kernel.windows.window import Window
from weir.kernel.windows.window_index import IndexCounts
from weir.language.algebra.patterns import Node, TriplePattern, constant
from weir.language.algebra.query import Query
from weir.plan import nodes as p
from weir.plan.analysis.ticks import graphs_read
from weir.rdf.columns import Ids, sorted_set
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Variable

Slots = tuple[Slot, Slot, Slot, Slot | None]
Given = Callable[[], Input]
"""Gives the input of a leaf in the slab at hand."""

QUAD = ("subject", "predicate", "object", "graph")
EVERYTHING = TriplePattern(Variable("subject"), Variable("predicate"), Variable("object"))


def scan(
    triples: Relation, subject: Slot, predicate: Slot, object: Slot, graph: Slot | None = None
) -> Relation:
    """The solutions of one triple pattern: a row has the interval of the triple it matches.

    A slot is a constant's id or a variable's name; a variable in two slots matches only triples with equal
    ids there. ``graph`` None looks at every graph, a variable at every *named* graph (SPARQL 1.1 13.3).
    """
    rows: Ids | None = None
    columns: dict[str, Ids] = {}
    slots = dict(zip(QUAD, (subject, predicate, object, graph), strict=True))
    for name in ("predicate", "subject", "object", "graph"):
        slot = slots[name]
        if isinstance(slot, int):
            rows = _where(rows, triples.columns[name], slot)
    for name, slot in slots.items():
        if isinstance(slot, str):
            column = triples.columns[name]
            if slot in columns:
                rows = _where(rows, column, columns[slot])
            columns.setdefault(slot, column)
            if name == "graph":
                rows = np.flatnonzero(column) if rows is None else rows[column[rows] != 0]
    found = Relation(columns, triples.start, triples.end)
    return found if rows is None else found.take(rows)


def _where(rows: Ids | None, column: Ids, value: Ids | int) -> Ids:
    """Those of the rows, or of all, at which a column has a value or is equal to another."""
    if rows is None:
        return np.flatnonzero(column == value)
    narrowed: Ids = rows[column[rows] == (value if isinstance(value, int) else value[rows])]
    return narrowed


class StaticGraphs:
    """The default graph and the named graphs that a query sees, windows apart."""

    def __init__(self, query: Query, background: Background, dictionary: Dictionary) -> None:
        dataset = query.dataset
        streamed = bool(dataset.windows)
        default = [] if not streamed and (dataset.default or dataset.named) else [background.default]
        default += [background.named[name] for name in dataset.default if name in background.named]
        limited = dataset.named or (not streamed and dataset.default)
        seen = [name for name in background.named if not limited or name in dataset.named]
        named = {name: background.named[name] for name in seen}
        made = {name: background.made[name] for name in seen if name in background.made}
        self.default = merged(default)
        tables = {dictionary.encode(IRI(name)): table for name, table in named.items()}
        if len(default) == 1:
            tables[NO_GRAPH] = default[0]
        self._stored = {name: table for name, table in tables.items() if table.index is not None}
        self.named = {dictionary.encode(IRI(name)): _valid(table) for name, table in named.items()}
        self.made = {dictionary.encode(IRI(name)): max(min(times), LOWEST) for name, times in made.items()}
        self._all: Relation | None = None

    def match(self, subject: Slot, predicate: Slot, object: Slot, graph: Slot | None) -> Relation:
        """The solutions of a pattern in the default graph, one named graph or all of them."""
        if graph is None:
            return scan(self.default, subject, predicate, object)
        if isinstance(graph, int):
            return scan(self.named.get(graph, merged([])), subject, predicate, object)
        if self._all is None:
            parts = [
                table.having("graph", np.full(len(table), name, np.int64))
                for name, table in self.named.items()
            ]
            self._all = union(Relation.empty(QUAD), *parts)
        return scan(self._all, subject, predicate, object, graph)

    def view(
        self, subject: Slot, predicate: Slot, object: Slot, graph: Slot | None
    ) -> tuple[Relation, Mapping[str, StoredKeys]]:
        """As ``match``, with what is stored in order of its columns: one predicate of a large graph is left
        where it lies."""
        table = None if isinstance(graph, str) else self._stored.get(NO_GRAPH if graph is None else graph)
        apart = len({subject, object}) == 2
        if table is None or table.index is None or not isinstance(predicate, int) or not apart:
            return self.match(subject, predicate, object, graph), {}
        return _stored(table, table.index, subject, predicate, object)

    def names(self, slot: Slot) -> Relation:
        """The names of all graphs under a variable, or one empty solution where a graph of this name exists,
        while they are there."""
        known = [slot] if isinstance(slot, int) and slot in self.named else []
        if isinstance(slot, str):
            known = list(self.named)
        columns = {slot: np.array(known, np.int64)} if isinstance(slot, str) else {}
        since = np.array([self.made.get(name, LOWEST) for name in known], np.int64)
        return Relation(columns, since, np.full(len(known), HIGHEST, np.int64))

    def changes(self) -> Ids:
        """The times at which any graph changes, ascending."""
        times = [np.fromiter(self.made.values(), np.int64, len(self.made))]
        for table in (self.default, *self.named.values()):
            times += [table.start[table.start > LOWEST], table.end[table.end < HIGHEST]]
        found = sorted_set(np.concatenate(times))
        return found[found > LOWEST]


def changes_read(query: Query, background: Background) -> Ids:
    """The times at which a graph that the query reads changes, ascending (31)."""
    read, dataset = graphs_read(query), query.dataset
    named = read.of(background.named, dataset.named)
    tables = [background.named[name] for name in named]
    if read.default:
        known = [name for name in dataset.default if name in background.named]
        tables += [background.default, *(background.named[name] for name in known)]
    made = [] if dataset.named else [min(background.made[name]) for name in named if name in background.made]
    times = [column for table in tables for column in (table.start, table.end) if column is not None]
    found = sorted_set(np.concatenate([*times, np.array(made, np.int64)]))
    return found[(found > LOWEST) & (found < HIGHEST)]


def merged(tables: Iterable[GraphTable]) -> Relation:
    """The union of graphs as one graph: equal triples once at a time."""
    parts = [_valid(table) for table in tables]
    return parts[0] if len(parts) == 1 else distinct(union(Relation.empty(QUAD[:3]), *parts))


def _stored(
    table: GraphTable, index: GraphIndex, subject: Slot, predicate: int, object: Slot
) -> tuple[Relation, Mapping[str, StoredKeys]]:
    """One predicate of a graph with an index: a range of its columns, or what constants leave of it."""
    first, end = index.runs.get(predicate, (0, 0))
    subjects, objects = (
        StoredKeys(table.subject[first:end]),
        StoredKeys(index.objects[first:end], index.by_object[first:end], first),
    )
    rows: Ids | slice = slice(first, end)
    if isinstance(subject, int):
        rows = first + _places(subjects, subject)
        if isinstance(object, int):
            rows = rows[table.object[rows] == object]
    elif isinstance(object, int):
        rows = first + np.sort(_places(objects, object))
    columns = {"subject": table.subject[rows], "object": table.object[rows]}
    slots = {"subject": subject, "object": object}
    named = {slot: columns[place] for place, slot in slots.items() if isinstance(slot, str)}
    count = len(columns["subject"])
    since, until = (np.broadcast_to(np.int64(time), count) for time in (LOWEST, HIGHEST))
    view = Relation(named, since, until)
    if isinstance(subject, str) and isinstance(object, str):
        return view, {subject: subjects, object: objects}
    return view, {}


def _places(keys: StoredKeys, value: int) -> Ids:
    """Where a value is."""
    (first,), (count,) = keys.ranges(np.array([value], np.int64))
    return keys.rows(np.arange(first, first + count))


def _valid(table: GraphTable) -> Relation:
    """A registered graph; open ends of validity lie beyond every instant."""
    columns = dict(zip(QUAD, (table.subject, table.predicate, table.object), strict=False))
    # One number for all rows where nothing changes: a graph may be large.
    since, until = (np.broadcast_to(np.int64(time), len(table.subject)) for time in (LOWEST, HIGHEST))
    return Relation(
        columns,
        since if table.start is None else np.maximum(table.start, LOWEST),
        until if table.end is None else np.minimum(table.end, HIGHEST),
    )


class PatternInputs:
    """``present`` is the slab in which the inputs are asked."""

    def __init__(
        self, present: Present, graphs: StaticGraphs, streams: Streams, dictionary: Dictionary
    ) -> None:
        self.present = present
        self.graphs = graphs
        self.streams = streams
        self.dictionary = dictionary
        self.inputs: dict[str, list[WindowInput | AlternatingInput]] = {}
        self.counts = IndexCounts()

    def prepare(self, at: Instants) -> None:
        """Begin a slab of these instants, once."""
        if self.present.at is at:
            return
        self.present.at = at
        for name, inputs in self.inputs.items():
            low, high = self.streams.windows[name].hull(at)
            for each in inputs:
                each.prepare(low, high)

    def match(self, source: p.Source, pattern: TriplePattern) -> Given:
        """The input of one triple pattern."""
        triple = (self.slot(pattern.subject), self.slot(pattern.predicate), self.slot(pattern.object))
        slots = (*triple, None if source.graph is None else self.slot(source.graph))
        name = shown(source, pattern)
        if source.window is not None:
            return _always(self._windowed(name, self.streams.windows[source.window], slots))
        if source.graph is None and self.streams.default:
            return self._merged(name, slots)
        return _always(StaticInput(name, self.present, *self.graphs.view(*slots)))

    def slot(self, node: Node) -> Slot:
        """A variable's name or a constant's id."""
        if isinstance(node, Variable):
            return node.name
        term = constant(node)
        assert term is not None  # triple terms with variables were taken apart
        return self.dictionary.encode(term)

    def _windowed(
        self, name: str, window: Window, slots: tuple[Slot | None, ...], *, once: bool = False
    ) -> WindowInput | AlternatingInput:
        names: dict[str, str] = {}
        general: list[Slot | None] = []
        for place, slot in zip(("s", "p", "o", "g"), slots, strict=True):
            general.append(names.setdefault(slot, place) if isinstance(slot, str) else slot)
        triples = self.streams.triples_for(window, general, (), once=once)
        return self._input(name, triples, window, names)

    def _input(
        self, name: str, triples: LiveTriples, window: Window, names: dict[str, str]
    ) -> WindowInput | AlternatingInput:
        """The triples of a pattern in a window, prepared in every slab."""
        first = WindowInput(name, triples, window, names, self.counts)
        found: WindowInput | AlternatingInput = first
        if window.spec.back_and_forth:
            opened = WindowInput(name, triples, window, names, self.counts)
            found = AlternatingInput(name, self.present, first, opened)
        self.inputs.setdefault(window.spec.name, []).append(found)
        return found

    def timed(self) -> list[Input]:
        """Every triple of every window with its time, for ``f:timestamp``."""
        names = {"subject": "s", "predicate": "p", "object": "o", "time": "time"}
        found: list[Input] = []
        for window in self.streams.windows.values():
            triples = self.streams.triples_for(window, ("s", "p", "o", None), ("time",), once=False)
            found.append(self._input("timestamps", triples, window, names))
        return found

    def names(self, source: p.Source) -> Given:
        """The input of a graph's name: one row, or one for each name, while the graph is there."""
        assert source.graph is not None
        slot = self.slot(source.graph)
        shown = f"names of graphs in {source.window or 'the dataset'}"
        if source.window is not None:
            window = self.streams.windows[source.window]
            return _always(self._windowed(shown, window, (None, None, None, slot), once=True))
        return _always(StaticInput(shown, self.present, self.graphs.names(slot)))

    def _merged(self, name: str, slots: Slots) -> Given:
        """The default graph where windows are part of it: one graph of the static triples and of all
        windows of content GRAPH, and every occurrence in windows of content BAG (33)."""
        static = StaticInput(name, self.present, self.graphs.match(*slots))
        windows = [self.streams.windows[each] for each in self.streams.default]
        bags: list[Input] = [
            self._windowed(f"{name} in {w.spec.name}", w, slots) for w in windows if w.spec.bag
        ]
        sets = [self._windowed(f"{name} in {w.spec.name}", w, slots) for w in windows if not w.spec.bag]
        parts: list[Input] = [*sets, *bags]
        if not sets:
            parts.append(static)
        if not sets or (len(sets) == 1 and not len(static)):
            return _always(parts[0] if len(parts) == 1 else UnionInput(name, parts))
        variables = static.variables

        def streamed() -> Relation:
            return _absent(distinct(union(*(each.relation() for each in sets))), static)

        def varying() -> Relation:
            return distinct(union(static.relation(), *(each.relation() for each in sets)))

        def merged() -> Input:
            count = len(self.present)
            graph: list[Input] = [RelationInput(name, variables, varying, count)]
            if static.steady:
                graph = [static, RelationInput(name, variables, streamed, count)]
            return UnionInput(name, [*graph, *bags])

        return merged


def _absent(rows: Relation, static: StaticInput) -> Relation:
    """The rows that are not in a static view of the same variables anyway."""
    absent = np.ones(len(rows), np.bool_)
    absent[static.partners(rows, static.variables)[0]] = False
    return rows.take(np.flatnonzero(absent))


def _always(found: Input) -> Given:
    return lambda: found


def shown(source: p.Source, pattern: TriplePattern) -> str:
    """A leaf's name in routes and statistics."""
    where = source.window if source.window is not None else "graph"
    parts = (pattern.subject, pattern.predicate, pattern.object)
    return f"{where}{{{' '.join(_short(part) for part in parts)}}}"


def _short(node: Node) -> str:
    text = str(node)
    if text.startswith("<") and len(text) > 24:
        cut = max(text.rfind("/"), text.rfind("#"))
        return f"…{text[cut + 1 : -1]}" if cut > 0 else text
    return text
