"""The static side of a query's dataset (decision semantics-time, 31, 33, 34): graphs as relations.

A graph is a relation of the columns subject, predicate and object, and graph where there are several; a row's
interval is not of indices but of microseconds, in which the triple is valid. The distinct instants at which
anything changes are the indices of the slab in which static views are computed, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from weir.kernel.contract import Background, GraphTable
from weir.kernel.operators.inputs.input import Present, join_generally, unsteady
from weir.kernel.relations.keys import SortedKeys, combine, spread
from weir.kernel.relations.matches import Matches, merge, verified
from weir.kernel.relations.relation import Relation, Slot, distinct, union
from weir.kernel.windows.instants import HIGHEST, LOWEST
from weir.language.algebra.query import Query
from weir.plan.analysis.ticks import graphs_read
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI

QUAD = ("subject", "predicate", "object", "graph")


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
        made: Mapping[str, tuple[int, ...]] = {}
        if dataset.named or (not streamed and dataset.default):
            named = {name: background.named.get(name, GraphTable.empty()) for name in dataset.named}
        else:
            named, made = dict(background.named), background.made
        self.default = merged(default)
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
        found = np.unique(np.concatenate(times))
        return found[found > LOWEST]

    def ids(self) -> Ids:
        """Every term of every graph."""
        names = np.fromiter(self.named, np.int64, len(self.named))
        tables = (self.default, *self.named.values())
        return np.unique(np.concatenate([names, *(c for table in tables for c in table.columns.values())]))


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
        known = [name for name in dataset.default if name in background.named]
        tables += [background.default, *(background.named[name] for name in known)]
    made = [] if dataset.named else [min(background.made[name]) for name in named if name in background.made]
    times = [column for table in tables for column in (table.start, table.end) if column is not None]
    found = np.unique(np.concatenate([*times, np.array(made, np.int64)]))
    return found[(found > LOWEST) & (found < HIGHEST)]


def merged(tables: Iterable[GraphTable]) -> Relation:
    """The union of graphs as one graph: equal triples once at a time."""
    parts = [_valid(table) for table in tables]
    return parts[0] if len(parts) == 1 else distinct(union(Relation.empty(QUAD[:3]), *parts))


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


_NONE = np.empty(0, np.int64)
_TINY = 1 << 10


class StaticInput:
    """A view on static graphs, whose intervals are of microseconds; ``steady`` if no row comes or goes."""

    def __init__(self, name: str, present: Present, view: Relation) -> None:
        self.name = name
        self.present = present
        self.view = view
        self.variables = view.variables
        self.steady = bool((view.start == LOWEST).all() and (view.end == HIGHEST).all())
        self._indexes: dict[tuple[str, ...], SortedKeys] = {}
        self._probed: tuple[Relation, Ids, Ids] | None = None

    def __len__(self) -> int:
        return len(self.view)

    def standing(self) -> int:
        return len(self.view)

    def has_stable(self) -> bool:
        return len(self.view) > 0

    def _intervals(self, rows: Ids | slice) -> tuple[Ids, Ids]:
        time = self.present.at.time
        return time.searchsorted(self.view.start[rows]), time.searchsorted(self.view.end[rows])

    def relation(self) -> Relation:
        rows = len(self.view)
        if self.steady:
            start = np.zeros(rows, np.int64)
            return self.view.during(start, np.full(rows, len(self.present), np.int64))
        start, end = self._intervals(slice(None))
        seen = start < end
        found = self.view.during(start, end)
        return found if seen.all() else found.take(np.flatnonzero(seen))

    def changed(self) -> Relation:
        return self.view.take(_NONE) if self.steady else unsteady(self.relation(), len(self.present))

    def _index(self, on: tuple[str, ...]) -> SortedKeys:
        """The view by some of its variables, built once."""
        found = self._indexes.get(on)
        if found is None:
            found = self._indexes[on] = SortedKeys(combine([self.view.columns[name] for name in on]))
        return found

    def join(self, flow: Relation, *, stable: bool = False) -> Relation:
        on = tuple(name for name in self.variables if name in flow.columns)
        if self.view.optional.intersection(on) or flow.optional.intersection(on):
            return join_generally(flow, self.relation(), len(self.present), stable)
        left, right = self.partners(flow, on)
        start, end = flow.start[left], flow.end[left]
        if not self.steady:
            since, until = self._intervals(right)
            if stable:
                seen = (since == 0) & (until == len(self.present))
            else:
                start, end = np.maximum(start, since), np.minimum(end, until)
                seen = start < end
            if not seen.all():
                left, right, start, end = left[seen], right[seen], start[seen], end[seen]
        return merge(flow, self.view, Matches(left, right, start, end))

    def partners(self, flow: Relation, on: tuple[str, ...]) -> tuple[Ids, Ids]:
        """Pairs (row of the flow, row of the view) that are equal on these variables, valid or not."""
        if not on:
            return spread(np.zeros(len(flow), np.int64), np.full(len(flow), len(self.view)))
        left, right = self._probe(flow, on)
        return verified(flow.columns, self.view.columns, left, right, on) if len(on) > 1 else (left, right)

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
        index = self._index(on)
        probe, place = spread(*index.ranges(combine([flow.columns[name] for name in on])))
        return probe, index.order[place]

    def estimate(self, flow: Relation) -> float:
        on = tuple(name for name in self.variables if name in flow.columns)
        if not on or flow.optional.intersection(on) or self.view.optional.intersection(on):
            return float(len(flow)) * len(self.view)
        if len(self.view) * len(flow) <= _TINY:
            return float(len(self._probe(flow, on)[0]))
        return float(self._index(on).ranges(combine([flow.columns[name] for name in on]))[1].sum())
