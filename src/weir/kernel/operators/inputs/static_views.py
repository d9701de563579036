"""The static side of a query's dataset as tables of ids (decision semantics-time, 31, 33, 34).

A table that changes has validity columns; the distinct instants at which anything changes are the
indices of the slab in which static views are computed, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weir.kernel.contract import Background, GraphTable
from weir.kernel.operators.inputs.input import Present, join_generally, unsteady
from weir.kernel.operators.scan import Triples, select
from weir.kernel.relations.coverage import unite
from weir.kernel.relations.keys import codes, combine
from weir.kernel.relations.relation import Relation, Slot
from weir.kernel.relations.sorted_keys import SortedKeys, spread
from weir.kernel.windows.instants import HIGHEST, LOWEST
from weir.language.algebra.query import Query
from weir.plan.analysis.ticks import graphs_read
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI


@dataclass(frozen=True, slots=True)
class StaticTable:
    """Triples, or quads where ``graph`` is given; ``since`` and ``until`` where any of them changes."""

    subject: Ids
    predicate: Ids
    object: Ids
    graph: Ids | None = None
    since: Ids | None = None
    until: Ids | None = None

    def __len__(self) -> int:
        return len(self.subject)

    def match(self, slots: Sequence[Slot | None]) -> tuple[Relation, Ids | None, Ids | None]:
        """The solutions of one pattern, and their validity."""
        timeless = np.broadcast_to(np.int64(0), len(self))
        triples = Triples(self.subject, self.predicate, self.object, timeless, timeless, self.graph)
        subject, predicate, object, graph = slots
        assert subject is not None and predicate is not None and object is not None
        rows = select(triples, subject, predicate, object, graph)
        columns: dict[str, Ids] = {}
        for slot, column in zip(slots, (self.subject, self.predicate, self.object, self.graph), strict=True):
            if isinstance(slot, str) and column is not None and slot not in columns:
                columns[slot] = column if rows is None else column[rows]
        count = len(self) if rows is None else len(rows)
        view = Relation(columns, np.zeros(count, np.int64), np.ones(count, np.int64))
        if self.since is None or self.until is None:
            return view, None, None
        return view, _taken(self.since, rows), _taken(self.until, rows)


def _taken(column: Ids, rows: Ids | None) -> Ids:
    return column if rows is None else column[rows]


class StaticGraphs:
    """The default graph and the named graphs that a query sees, windows apart."""

    def __init__(self, query: Query, background: Background, dictionary: Dictionary) -> None:
        dataset = query.dataset
        streamed = bool(dataset.windows)
        default = [] if not streamed and (dataset.default or dataset.named) else [background.default]
        default += [background.named[name] for name in dataset.default if name in background.named]
        made: Mapping[str, tuple[int, ...]] = {}
        if dataset.named or (not streamed and dataset.default):
            named = {name: background.named.get(name, GraphTable.empty()) for name in dataset.named}
        else:
            named, made = dict(background.named), background.made
        self.default = merged(default)
        self.named = {dictionary.encode(IRI(name)): _table(table) for name, table in named.items()}
        self.made = {dictionary.encode(IRI(name)): max(min(times), LOWEST) for name, times in made.items()}
        self._all: StaticTable | None = None

    def graph(self, identifier: int) -> StaticTable:
        """A named graph; empty where there is none of that name."""
        return self.named.get(identifier) or merged([])

    def quads(self) -> StaticTable:
        """All named graphs with their names."""
        if self._all is None:
            parts = [_named(table, name) for name, table in self.named.items()]
            self._all = _concatenated(parts) if parts else _named(merged([]), 0)
        return self._all

    def names(self, slot: Slot) -> tuple[Relation, Ids | None, Ids | None]:
        """The names of all graphs under a variable, or one empty solution where a graph of this name exists;
        and their validity."""
        known = [slot] if isinstance(slot, int) and slot in self.named else []
        if isinstance(slot, str):
            known = list(self.named)
        count = len(known)
        columns = {slot: np.array(known, np.int64)} if isinstance(slot, str) else {}
        view = Relation(columns, np.zeros(count, np.int64), np.ones(count, np.int64))
        if not any(name in self.made for name in known):
            return view, None, None
        since = np.array([self.made.get(name, LOWEST) for name in known], np.int64)
        return view, since, np.full(count, HIGHEST, np.int64)

    def changes(self) -> Ids:
        """The times at which any graph changes, ascending."""
        tables = [self.default, *self.named.values()]
        times = [column for table in tables for column in (table.since, table.until) if column is not None]
        times.append(np.fromiter(self.made.values(), np.int64, len(self.made)))
        found = np.unique(np.concatenate(times)) if times else np.empty(0, np.int64)
        return found[(found > LOWEST) & (found < HIGHEST)]

    def ids(self) -> Ids:
        """Every term of every graph."""
        tables = [self.default, *self.named.values()]
        names = np.fromiter(self.named, np.int64, len(self.named))
        parts = [names, *(c for t in tables for c in (t.subject, t.predicate, t.object))]
        return np.unique(np.concatenate(parts))


def changes_read(query: Query, background: Background) -> Ids:
    """The times at which a graph that the query reads changes, ascending (31)."""
    read, dataset = graphs_read(query), query.dataset
    named = [
        name
        for name in background.named
        if (read.named is None or name in read.named) and (not dataset.named or name in dataset.named)
    ]
    tables = [background.named[name] for name in named]
    if read.default:
        tables += [
            background.default,
            *(background.named.get(n, GraphTable.empty()) for n in dataset.default),
        ]
    made = [] if dataset.named else [min(background.made[name]) for name in named if name in background.made]
    times = [column for table in tables for column in (table.start, table.end) if column is not None]
    found = np.unique(np.concatenate([*times, np.array(made, np.int64)]))
    return found[(found > LOWEST) & (found < HIGHEST)]


def merged(tables: Iterable[GraphTable]) -> StaticTable:
    """The union of graphs as one graph: equal triples once at a time."""
    parts = [_table(table) for table in tables]
    if not parts:
        none = np.empty(0, np.int64)
        return StaticTable(none, none, none)
    if len(parts) == 1:
        return parts[0]
    both = _concatenated(parts)
    numbers, firsts = codes([both.subject, both.predicate, both.object], len(both))
    if both.since is None or both.until is None:
        return StaticTable(both.subject[firsts], both.predicate[firsts], both.object[firsts])
    pieces = unite(numbers, both.since, both.until)
    rows = firsts[pieces.owner]
    return StaticTable(
        both.subject[rows],
        both.predicate[rows],
        both.object[rows],
        None,
        pieces.start,
        pieces.end,
    )


def _table(table: GraphTable) -> StaticTable:
    """A registered graph; open ends of validity lie beyond every instant."""
    if table.start is None and table.end is None:
        return StaticTable(table.subject, table.predicate, table.object)
    rows = len(table.subject)
    since = np.full(rows, LOWEST, np.int64) if table.start is None else np.maximum(table.start, LOWEST)
    until = np.full(rows, HIGHEST, np.int64) if table.end is None else np.minimum(table.end, HIGHEST)
    return StaticTable(table.subject, table.predicate, table.object, None, since, until)


def _named(table: StaticTable, name: int) -> StaticTable:
    graph = np.full(len(table), name, np.int64)
    return StaticTable(table.subject, table.predicate, table.object, graph, table.since, table.until)


def _concatenated(parts: Sequence[StaticTable]) -> StaticTable:
    varies = any(part.since is not None for part in parts)

    def column(name: str, default: int) -> Ids:
        arrays = [getattr(part, name) for part in parts]
        filled = [
            np.full(len(part), default, np.int64) if array is None else array
            for part, array in zip(parts, arrays, strict=True)
        ]
        return np.concatenate(filled)

    return StaticTable(
        column("subject", 0),
        column("predicate", 0),
        column("object", 0),
        column("graph", 0) if parts[0].graph is not None else None,
        column("since", LOWEST) if varies else None,
        column("until", HIGHEST) if varies else None,
    )


_NONE = np.empty(0, np.int64)


_TINY = 1 << 10


class StaticInput:
    """A view on static graphs: rows valid for ever, or in ``[since, until)`` microseconds."""

    def __init__(
        self,
        name: str,
        present: Present,
        view: Relation,
        since: Ids | None = None,
        until: Ids | None = None,
    ) -> None:
        self.name = name
        self.present = present
        self.view = view
        self.variables = view.variables
        self._since, self._until = since, until
        self._indexes: dict[tuple[str, ...], SortedKeys] = {}
        self._probed: tuple[Relation, Ids, Ids] | None = None

    @property
    def _time(self) -> Ids:
        return self.present.at.time

    @property
    def varies(self) -> bool:
        """Whether rows come and go."""
        return self._since is not None

    @property
    def steady(self) -> bool:
        return self._since is None

    def __len__(self) -> int:
        return len(self.view)

    def standing(self) -> int:
        return len(self.view)

    def has_stable(self) -> bool:
        return len(self.view) > 0

    def _intervals(self, rows: Ids | slice) -> tuple[Ids, Ids]:
        assert self._since is not None and self._until is not None
        return (
            self._time.searchsorted(self._since[rows]),
            self._time.searchsorted(self._until[rows]),
        )

    def relation(self) -> Relation:
        rows, instants = len(self.view), len(self._time)
        if self._since is None:
            start = np.zeros(rows, np.int64)
            return self.view.during(start, np.full(rows, instants, np.int64))
        start, end = self._intervals(slice(None))
        seen = start < end
        found = self.view.during(start, end)
        return found if seen.all() else found.take(np.flatnonzero(seen))

    def changed(self) -> Relation:
        if self._since is None:
            return self.view.take(_NONE)
        return unsteady(self.relation(), len(self._time))

    def index(self, on: tuple[str, ...]) -> SortedKeys:
        """The view by some of its variables, built once."""
        found = self._indexes.get(on)
        if found is None:
            found = self._indexes[on] = SortedKeys(combine([self.view.columns[name] for name in on]))
        return found

    def join(self, flow: Relation, *, stable: bool = False) -> Relation:
        shared = [name for name in self.variables if name in flow.columns]
        if self.view.optional.intersection(shared) or flow.optional.intersection(shared):
            return join_generally(flow, self.relation(), len(self._time), stable)
        if shared:
            on = tuple(shared)
            left, right = self._probe(flow, on)
            if len(on) > 1:
                for name in on:
                    same = flow.columns[name][left] == self.view.columns[name][right]
                    if not same.all():
                        left, right = left[same], right[same]
        else:
            left = np.repeat(np.arange(len(flow)), len(self.view))
            right = np.tile(np.arange(len(self.view)), len(flow))
        start, end = flow.start[left], flow.end[left]
        if self._since is not None:
            since, until = self._intervals(right)
            if stable:
                seen = (since == 0) & (until == len(self._time))
            else:
                start, end = np.maximum(start, since), np.minimum(end, until)
                seen = start < end
            if not seen.all():
                left, right, start, end = left[seen], right[seen], start[seen], end[seen]
        columns = {name: column[left] for name, column in flow.columns.items()}
        for name, column in self.view.columns.items():
            if name not in columns:
                columns[name] = column[right]
        optional = flow.optional
        if self.view.optional:
            optional |= self.view.optional.difference(flow.columns)
        return Relation(columns, start, end, optional)

    def _probe(self, flow: Relation, on: tuple[str, ...]) -> tuple[Ids, Ids]:
        """Pairs (row of the flow, row of the view); what was estimated is not looked up again."""
        if self._probed is None or self._probed[0] is not flow:
            self._probed = (flow, *self._lookup(flow, on))
        return self._probed[1], self._probed[2]

    def _lookup(self, flow: Relation, on: tuple[str, ...]) -> tuple[Ids, Ids]:
        if len(self.view) * len(flow) <= _TINY:
            hits = flow.columns[on[0]][:, None] == self.view.columns[on[0]]
            for name in on[1:]:
                hits &= flow.columns[name][:, None] == self.view.columns[name]
            left, right = np.nonzero(hits)
            return left, right
        index = self.index(on)
        probe, place = spread(*index.ranges(combine([flow.columns[name] for name in on])))
        return probe, index.order[place]

    def estimate(self, flow: Relation) -> float:
        on = tuple(name for name in self.variables if name in flow.columns)
        if not on or flow.optional.intersection(on) or self.view.optional.intersection(on):
            return float(len(flow)) * len(self.view)
        if len(self.view) * len(flow) <= _TINY:
            return float(len(self._probe(flow, on)[0]))
        return float(self.index(on).ranges(combine([flow.columns[name] for name in on]))[1].sum())
