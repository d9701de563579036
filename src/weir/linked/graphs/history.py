"""Graphs that are updated: who changed which triple, and the intervals that come of it.

An **event table** is a ``GraphTable`` whose ``start`` and ``end`` are numbers of updates: an insertion opens
at its number and has no end, a deletion ends at its number and has no start, a triple that was there from the
beginning has neither. *When* an update counts is not known where it is made (it is the later of the time
asked for and each query's own present), so event tables are what is shipped; ``resolved`` turns them into
validity ``[start, end)`` once the times are known. Of updates at one time the one of the highest number wins.
``Background.made`` holds numbers of updates in the same way, those that inserted into the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from weir.kernel.contract import Background, GraphTable
from weir.linked.graphs.triple_tables import (
    CLOSE,
    DEFAULT,
    OPEN,
    TableSource,
    bounds,
    distinct,
    stacked,
    take,
)
from weir.rdf.columns import Ids, Mask


def events(table: GraphTable, number: int, *, inserted: bool) -> GraphTable:
    """The insertion or deletion of triples by one update."""
    rows = len(table.subject)
    start = np.full(rows, number if inserted else OPEN, np.int64)
    end = np.full(rows, CLOSE if inserted else number, np.int64)
    return GraphTable(table.subject, table.predicate, table.object, start, end)


def contains(table: GraphTable, wanted: GraphTable) -> Mask:
    """Which rows of ``wanted`` are triples of ``table``; cheap where one of the two is small."""
    found = np.isin(wanted.subject, table.subject)
    near = take(table, np.flatnonzero(np.isin(table.subject, wanted.subject)))
    found[found] = np.isin(_keys(take(wanted, np.flatnonzero(found))), _keys(near))
    return found


def layered(layers: Sequence[Background]) -> Background:
    """Extracts made one after the other as one: the last that names a triple has its whole history."""
    names = dict.fromkeys(name for layer in layers for name in layer.named)
    default = _layered([layer.default for layer in layers])
    named = {name: _layered([layer.named.get(name, _NONE) for layer in layers]) for name in names}
    made: dict[str, tuple[int, ...]] = {}
    for layer in layers:
        for name, updates in layer.made.items():
            made[name] = tuple(dict.fromkeys((*made.get(name, ()), *updates)))
    return Background(default, named, made)


def _layered(tables: Sequence[GraphTable]) -> GraphTable:
    found = tables[0]
    for table in tables[1:]:
        if len(table.subject):
            found = stacked([take(found, np.flatnonzero(~contains(table, found))), table])
    return found


def resolved(background: Background, times: Mapping[int, int]) -> Background:
    """Events as validity, given the time from which each update counts."""
    known = np.array(sorted(times), np.int64)
    at = np.array([times[number] for number in known.tolist()], np.int64)
    made = {name: tuple(times[number] for number in numbers) for name, numbers in background.made.items()}
    return replace(mapped(background, lambda table: _resolved(table, known, at)), made=made)


def mapped(background: Background, change: Callable[[GraphTable], GraphTable]) -> Background:
    """The same graphs, each table changed."""
    named = {name: change(table) for name, table in background.named.items()}
    return Background(change(background.default), named, background.made)


def graphs_of(background: Background) -> Mapping[str, GraphTable]:
    """All graphs by name."""
    return {DEFAULT: background.default, **background.named}


def background_of(tables: Mapping[str, GraphTable], names: Iterable[str] = ()) -> Background:
    """Graphs by name as a background, in which ``names`` are there even if they are empty."""
    named = {name: tables.get(name, _NONE) for name in dict.fromkeys((*names, *tables)) if name != DEFAULT}
    return Background(tables.get(DEFAULT, _NONE), named)


def _resolved(table: GraphTable, known: Ids, at: Ids) -> GraphTable:
    start, end = bounds(table)
    event = (start != OPEN) | (end != CLOSE)
    if not event.any():
        return GraphTable(table.subject, table.predicate, table.object)
    touched = contains(take(table, np.flatnonzero(event)), table)
    inserted = end == CLOSE
    number = np.where(start != OPEN, start, np.where(end != CLOSE, end, OPEN))
    time = np.full(len(number), OPEN, np.int64)
    time[event] = at[np.searchsorted(known, number[event])]
    rows = np.flatnonzero(touched)
    _, triple = np.unique(_keys(take(table, rows)), return_inverse=True)
    order = np.lexsort((number[rows], time[rows], triple))
    rows, triple = rows[order], triple[order]
    # Of the events of a triple at one time the last counts; one that changes nothing does not.
    last = np.ones(len(rows), np.bool_)
    last[:-1] = (triple[1:] != triple[:-1]) | (time[rows[1:]] != time[rows[:-1]])
    rows, triple = rows[last], triple[last]
    there = inserted[rows]
    before = np.zeros(len(rows), np.bool_)
    before[1:] = there[:-1] & (triple[1:] == triple[:-1])
    changes = there != before
    rows, triple, there = rows[changes], triple[changes], there[changes]
    until = np.full(len(rows), CLOSE, np.int64)
    until[:-1] = np.where(triple[1:] == triple[:-1], time[rows[1:]], CLOSE)
    same = np.flatnonzero(~touched)
    kept = np.concatenate([same, rows[there]])
    return GraphTable(
        table.subject[kept],
        table.predicate[kept],
        table.object[kept],
        np.concatenate([np.full(len(same), OPEN, np.int64), time[rows[there]]]),
        np.concatenate([np.full(len(same), CLOSE, np.int64), until[there]]),
    )


def _keys(table: GraphTable) -> np.ndarray:
    """A triple as one value that compares by its terms."""
    rows = np.stack([table.subject, table.predicate, table.object], axis=1)
    return np.ascontiguousarray(rows).view(_KEY).ravel()


_KEY = np.dtype([(name, np.int64) for name in ("s", "p", "o")])
_NONE = GraphTable.empty()


class Delta:
    """What updates have changed so far, on top of graphs that are never written to: events by graph.

    The base keeps its indexes; the delta is small, and is looked at beside the base in every scan. A triple's
    history is its presence in the base and its events here. ``number`` is that of the latest update,
    ``inserting`` those that inserted into each graph: they make it where it was not there before.
    """

    def __init__(self) -> None:
        self.number = 0
        self.events: dict[str, GraphTable] = {}
        self.inserting: dict[str, list[int]] = {}

    def names(self) -> Sequence[str]:
        """The named graphs that updates have inserted into."""
        return tuple(name for name in self.inserting if name != DEFAULT)

    def apply(self, inserted: Background, deleted: Background) -> int:
        """Take in an update; its number. No triple may be in both."""
        self.number += 1
        for background, added in ((deleted, False), (inserted, True)):
            for name, table in graphs_of(background).items():
                if len(table.subject):
                    found = events(table, self.number, inserted=added)
                    known = self.events.get(name)
                    self.events[name] = found if known is None else stacked([known, found])
                    if added:
                        self.inserting.setdefault(name, []).append(self.number)
        return self.number

    def of(self, number: int) -> Delta:
        """What one update changed."""
        part = Delta()
        part.number = number
        for name, table in self.events.items():
            rows = np.flatnonzero((table.start == number) | (table.end == number))
            if len(rows):
                part.events[name] = take(table, rows)
        return part

    def triples(self) -> TableSource:
        """Every triple that some update named, as plain graphs."""
        tables = {
            name: distinct(GraphTable(table.subject, table.predicate, table.object))
            for name, table in self.events.items()
        }
        return TableSource(Background(tables.pop(DEFAULT, GraphTable.empty()), tables))

    def history(self, graph: str, there: GraphTable, others: GraphTable) -> GraphTable:
        """The events of triples that are in the base, and of others."""
        known = self.events.get(graph)
        parts = [GraphTable(there.subject, there.predicate, there.object)]
        if known is not None:
            for wanted in (there, others):
                rows = np.flatnonzero(contains(wanted, known))
                if len(rows):
                    parts.append(take(known, rows))
        return stacked(parts)
