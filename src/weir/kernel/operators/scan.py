"""Triple-pattern match. A row of the result has the interval of the triple it matches.

A slot of a pattern is a constant's id (int) or a variable's name (str). A variable that stands in two
slots matches only triples with equal ids there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weir.kernel.relations.relation import Relation, Slot
from weir.rdf.columns import Ids, Mask


@dataclass(frozen=True, slots=True)
class Triples:
    """Columns to scan, with intervals; ``graph`` (0 outside any graph) only where names are seen."""

    subject: Ids
    predicate: Ids
    object: Ids
    start: Ids
    end: Ids
    graph: Ids | None = None

    def __len__(self) -> int:
        return len(self.start)

    def take(self, rows: Ids | Mask) -> Triples:
        """The given triples, by position or mask."""
        return Triples(
            self.subject[rows],
            self.predicate[rows],
            self.object[rows],
            self.start[rows],
            self.end[rows],
            None if self.graph is None else self.graph[rows],
        )


def select(
    triples: Triples, subject: Slot, predicate: Slot, object: Slot, graph: Slot | None = None
) -> Ids | None:
    """The positions of matching triples; None where all match.

    ``graph`` None looks at every graph, a variable at every *named* graph (SPARQL 1.1 13.3).
    """
    rows: Ids | None = None
    seen: dict[str, Ids] = {}
    slots = (
        (predicate, triples.predicate),
        (subject, triples.subject),
        (object, triples.object),
        (graph, triples.graph),
    )
    for slot, column in slots:
        if slot is None or column is None:
            continue
        if isinstance(slot, str):
            if slot in seen:
                rows = _narrow(rows, column, seen[slot])
            seen[slot] = column
            if slot == graph and column is triples.graph and not column.all():
                rows = np.flatnonzero(column) if rows is None else rows[column[rows] != 0]
        else:
            rows = np.flatnonzero(column == slot) if rows is None else rows[column[rows] == slot]
        if rows is not None and not len(rows):
            break
    return rows


def _narrow(rows: Ids | None, left: Ids, right: Ids) -> Ids:
    if rows is None:
        return np.flatnonzero(left == right)
    narrowed: Ids = rows[left[rows] == right[rows]]
    return narrowed


def scan(
    triples: Triples, subject: Slot, predicate: Slot, object: Slot, graph: Slot | None = None
) -> Relation:
    """The solutions of one triple pattern over ``triples``."""
    rows = select(triples, subject, predicate, object, graph)
    columns: dict[str, Ids] = {}
    slots = (
        (subject, triples.subject),
        (predicate, triples.predicate),
        (object, triples.object),
        (graph, triples.graph),
    )
    for slot, column in slots:
        if isinstance(slot, str) and column is not None and slot not in columns:
            columns[slot] = column if rows is None else column[rows]
    if rows is None:
        return Relation(columns, triples.start, triples.end)
    return Relation(columns, triples.start[rows], triples.end[rows])
