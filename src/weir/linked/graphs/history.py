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
    bounds,
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
    made: dict[str, dict[int, None]] = {}
    for layer in layers:
        for name, updates in layer.made.items():
            made.setdefault(name, {}).update(dict.fromkeys(updates))
    return Background(default, named, {name: tuple(updates) for name, updates in made.items()})


def _layered(tables: Sequence[GraphTable]) -> GraphTable:
    first, later = tables[0], [table for table in tables[1:] if len(table.subject)]
    if not later:
        return first
    rows = stacked(later)
    layer = np.repeat(np.arange(len(later)), [len(table.subject) for table in later])
    _, triple = np.unique(_keys(rows), return_inverse=True)
    last = np.zeros(len(rows.subject), np.int64)
    np.maximum.at(last, triple, layer)
    rows = take(rows, np.flatnonzero(layer == last[triple]))
    return stacked([take(first, np.flatnonzero(~contains(rows, first))), rows])


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
