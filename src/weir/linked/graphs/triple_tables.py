"""Tables of triples: where they come from, indexed by their columns, and reduced by semi-joins.

A semi-join keeps the rows of a pattern whose value of a shared variable occurs in every other pattern that
has the variable. It never drops a row that some solution uses, whatever the intervals of the rows are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from weir.kernel.contract import Background, GraphTable
from weir.kernel.relations.coverage import enumerated
from weir.kernel.relations.keys import SortedKeys
from weir.rdf.columns import Ids, one_of, sorted_set

DEFAULT = ""
"""The name of the default graph."""

OPEN = int(np.iinfo(np.int64).min)
CLOSE = int(np.iinfo(np.int64).max)
"""Without a start, without an end."""


Scan: TypeAlias = tuple[str, int | None, int | None, int | None]
"""A graph and the constants of a pattern: subject, predicate, object; None is any."""


class TripleSource(Protocol):
    """Static graphs by name, scanned by constants; ids are those of one key."""

    def names(self) -> Sequence[str]:
        """The named graphs."""
        ...

    def scan(self, scan: Scan) -> GraphTable:
        """The triples that it stands for; none if there is no such graph."""
        ...

    def add_texts(self, ids: Ids) -> None:
        """Put the texts of these of its terms into the dictionary, where they are not yet."""
        ...

    def large(self, scan: Scan) -> LargeScan | None:
        """The scan where it is too large to be held; else None."""
        ...

    def size(self, graph: str) -> int:
        """How many triples a graph has, without reading it."""
        ...

    def predicates(self, graph: str) -> Ids:
        """What may be the predicates of a graph, each once."""
        ...


Kept: TypeAlias = Mapping[str, Ids]
"""What is left of the subjects and objects, ascending; a place that is not there may have any."""


class LargeScan(Protocol):
    """The triples of one predicate of one graph, where they lie."""

    def __len__(self) -> int:
        """How many there are, or a close upper bound."""
        ...

    def count(self, kept: Kept) -> int:
        """How many are left."""
        ...

    def values(self, place: str, kept: Kept) -> Ids:
        """The distinct subjects or objects of those that are left, ascending."""
        ...

    def rows(self, alternatives: Sequence[Kept]) -> GraphTable:
        """What one of several leaves, in the order of subject and object."""
        ...


class CombinedSource:
    """Several sources as one; each comes with the names under which its graphs are known here."""

    def __init__(self, parts: Sequence[tuple[TripleSource, Mapping[str, str]]]) -> None:
        self.parts = parts

    def names(self) -> Sequence[str]:
        return tuple(dict.fromkeys(name for _, names in self.parts for name in names if name != DEFAULT))

    def scan(self, scan: Scan) -> GraphTable:
        graph, s, p, o = scan
        found = [source.scan((names[graph], s, p, o)) for source, names in self.parts if graph in names]
        return merged([table for table in found if len(table.subject)])

    def add_texts(self, ids: Ids) -> None:
        for source, _ in self.parts:
            source.add_texts(ids)

    def large(self, scan: Scan) -> LargeScan | None:
        graph, *rest = scan
        s, p, o = rest
        found = [source.large((names[graph], s, p, o)) for source, names in self.parts if graph in names]
        return found[0] if len(found) == 1 else None

    def size(self, graph: str) -> int:
        return sum(source.size(names[graph]) for source, names in self.parts if graph in names)

    def predicates(self, graph: str) -> Ids:
        found = [source.predicates(names[graph]) for source, names in self.parts if graph in names]
        return sorted_set(np.concatenate([np.empty(0, np.int64), *found]))


class TableSource:
    """Graphs that are in memory already."""

    def __init__(self, background: Background) -> None:
        self.tables: Mapping[str, GraphTable] = {DEFAULT: background.default, **background.named}

    def names(self) -> Sequence[str]:
        return tuple(name for name in self.tables if name != DEFAULT)

    def scan(self, scan: Scan) -> GraphTable:
        graph, *constants = scan
        table = self.tables.get(graph)
        if table is None:
            return GraphTable.empty()
        keep = np.ones(len(table.subject), np.bool_)
        for column, constant in zip((table.subject, table.predicate, table.object), constants, strict=True):
            if constant is not None:
                keep &= column == constant
        return take(table, np.flatnonzero(keep))

    def add_texts(self, ids: Ids) -> None:
        """They are there since the graphs were read."""

    def large(self, scan: Scan) -> None:
        """What is in memory is not too large to be held."""

    def size(self, graph: str) -> int:
        return len(self.tables[graph].subject) if graph in self.tables else 0

    def predicates(self, graph: str) -> Ids:
        return sorted_set(self.tables.get(graph, GraphTable.empty()).predicate)


def take(table: GraphTable, rows: Ids) -> GraphTable:
    """Some rows of a table."""
    return GraphTable(
        table.subject[rows],
        table.predicate[rows],
        table.object[rows],
        None if table.start is None else table.start[rows],
        None if table.end is None else table.end[rows],
    )


def merged(tables: Sequence[GraphTable]) -> GraphTable:
    """Tables of one graph as one table, equal rows once."""
    if not tables:
        return GraphTable.empty()
    return tables[0] if len(tables) == 1 else distinct(stacked(tables))


def distinct(table: GraphTable) -> GraphTable:
    """Equal rows once, in the order of their ids."""
    columns = [table.subject, table.predicate, table.object]
    if table.start is not None and table.end is not None:
        columns += [table.start, table.end]
    return GraphTable(*np.unique(np.stack(columns), axis=1))


def stacked(tables: Sequence[GraphTable]) -> GraphTable:
    """Tables one below the other; with bounds where one of them has any."""
    if len(tables) == 1:
        return tables[0]
    columns = [
        np.concatenate([getattr(table, name) for table in tables])
        for name in ("subject", "predicate", "object")
    ]
    if any(table.start is not None or table.end is not None for table in tables):
        columns += [np.concatenate(each) for each in zip(*map(bounds, tables), strict=True)]
    return GraphTable(*columns)


def bounds(table: GraphTable) -> tuple[Ids, Ids]:
    """Start and end of each row, ``OPEN`` and ``CLOSE`` where it has none."""
    rows = len(table.subject)
    return (
        np.full(rows, OPEN, np.int64) if table.start is None else table.start,
        np.full(rows, CLOSE, np.int64) if table.end is None else table.end,
    )


class IndexedTable:
    """A table whose rows are found by subject or object without a scan, once somebody asked for it."""

    def __init__(self, table: GraphTable) -> None:
        self.table = table
        self._orders: dict[str, SortedKeys] = {}

    def __len__(self) -> int:
        return len(self.table.subject)

    def column(self, place: str) -> Ids:
        """The subject, predicate or object of each row."""
        found: Ids = getattr(self.table, place)
        return found

    def rows_with(self, column: str, values: Ids) -> Ids:
        """The rows whose column is one of ``values``, ascending."""
        if column not in self._orders:
            self._orders[column] = SortedKeys(self.column(column))
        known = self._orders[column]
        return np.sort(known.order[enumerated(*known.ranges(values))[1]])


class Reducible(Protocol):
    """One pattern on one graph while it is reduced; ``places`` has the place of each variable."""

    @property
    def places(self) -> Mapping[str, object]: ...

    def __len__(self) -> int:
        """How many rows are left."""
        ...

    def values(self, variable: str) -> Ids:
        """The values that are left of a variable."""
        ...

    def keep(self, variable: str, values: Ids) -> None:
        """Keep the rows that have one of these values, ascending."""
        ...


_ROUNDS = 8
_RARE = 8


@dataclass(slots=True)
class PatternRows:
    """One pattern on one graph while it is reduced: ``rows`` None stands for all of them.

    ``added`` says that the table is not of the graph as it was read but of what updates named.
    """

    scan: Scan
    table: IndexedTable
    places: dict[str, str]
    rows: Ids | None = None
    added: bool = False

    def __len__(self) -> int:
        return len(self.table) if self.rows is None else len(self.rows)

    def selected(self) -> GraphTable:
        """The triples that are left."""
        return self.table.table if self.rows is None else take(self.table.table, self.rows)

    def values(self, variable: str) -> Ids:
        column = self.table.column(self.places[variable])
        return sorted_set(column if self.rows is None else column[self.rows])

    def keep(self, variable: str, values: Ids) -> None:
        place = self.places[variable]
        if self.rows is None and len(values) * _RARE < len(self.table):
            self.rows = self.table.rows_with(place, values)
            return
        column = self.table.column(place)
        rows = np.arange(len(self.table)) if self.rows is None else self.rows
        self.rows = rows[one_of(column[rows], values)]


@dataclass(slots=True)
class ConstantRows:
    """The constants of queries that are planned as one, while patterns are reduced by them."""

    places: dict[str, int]
    rows: Ids

    def __len__(self) -> int:
        return len(self.rows)

    def values(self, variable: str) -> Ids:
        return np.unique(self.rows[:, self.places[variable]])

    def keep(self, variable: str, values: Ids) -> None:
        self.rows = self.rows[np.isin(self.rows[:, self.places[variable]], values)]


def semi_join(groups: Sequence[Sequence[Reducible]]) -> None:
    """Reduce patterns that are all joined: a value of a shared variable must occur in each of them."""
    shared: dict[str, list[Sequence[Reducible]]] = {}
    for parts in groups:
        for name in {name for part in parts for name in part.places}:
            shared.setdefault(name, []).append(parts)
    order = [(name, holders) for name, holders in sorted(shared.items()) if len(holders) > 1]
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


def _size(parts: Sequence[Reducible]) -> int:
    return sum(len(part) for part in parts)


def _values(parts: Sequence[Reducible], variable: str) -> Ids:
    found = [part.values(variable) for part in parts]
    return found[0] if len(found) == 1 else sorted_set(np.concatenate(found))
