"""Scans too large to hold: reduced where the triples lie, by the ids that others leave of a variable.

A ``LargeScan`` is one predicate of a stored graph. What is held of it are the distinct ids of one column at a
time, never its rows; once others leave few of them they are read, and it goes on as any table does. Of an
extract that stays large the rows come in the order of subject and object, as the store has them, and are
joined to a table with an index: none of it is sorted again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from weir.kernel.contract import GraphIndex, GraphTable
from weir.linked.graphs.parquet_store import GraphStore
from weir.linked.graphs.triple_tables import (
    IndexedTable,
    Kept,
    LargeScan,
    PatternRows,
    Scan,
    distinct,
    stacked,
    take,
)
from weir.rdf.columns import Ids, Mask, one_of, sorted_set

LARGE = 2_000_000
"""Triples of a predicate from which on they are not read into memory to be reduced."""


class Scanner(Protocol):
    """Makes large scans of a store: in this process, or on a cluster."""

    def __call__(self, store: GraphStore, graph: int, predicate: int) -> LargeScan: ...


class StreamedScan:
    """Read from the store's files, a batch at a time, by this process."""

    def __init__(self, store: GraphStore, graph: int, predicate: int) -> None:
        self._store, self._graph, self._predicate = store, graph, predicate

    def __len__(self) -> int:
        return self._store.manifest.predicates.get(str(self._predicate), 0)

    def _batches(self, kept: Sequence[Kept]) -> Iterator[tuple[Ids, Ids]]:
        for batch in self._store.batches(self._graph, self._predicate):
            columns = {"subject": batch[0], "object": batch[1]}
            there = [among(columns, each) for each in kept]
            if any(mask is None for mask in there):
                yield batch
            else:
                rows = np.flatnonzero(np.logical_or.reduce([mask for mask in there if mask is not None]))
                if len(rows):
                    yield batch[0][rows], batch[1][rows]

    def count(self, kept: Kept) -> int:
        return sum(len(subject) for subject, _ in self._batches([kept]))

    def values(self, place: str, kept: Kept) -> Ids:
        column = 0 if place == "subject" else 1
        return distinct_of(sorted_set(batch[column]) for batch in self._batches([kept]))

    def rows(self, alternatives: Sequence[Kept]) -> GraphTable:
        return table_of(self._predicate, list(self._batches(alternatives)))


def among(columns: Mapping[str, Ids], kept: Kept) -> Mask | None:
    """Which rows are left; None where all are."""
    mask: Mask | None = None
    for place, values in kept.items():
        own = one_of(columns[place], values)
        mask = own if mask is None else mask & own
    return mask


def distinct_of(parts: Iterable[Ids]) -> Ids:
    """The distinct values of all parts, put together as often as they have doubled."""
    waiting: list[Ids] = []
    for part in parts:
        waiting.append(part)
        while len(waiting) > 1 and len(waiting[-2]) <= 2 * len(waiting[-1]):
            waiting[-2:] = [sorted_set(np.concatenate(waiting[-2:]))]
    return sorted_set(np.concatenate([np.empty(0, np.int64), *waiting]))


def table_of(predicate: int, parts: Sequence[tuple[Ids, Ids]]) -> GraphTable:
    """The rows of batches of one predicate as a table."""
    none = np.empty(0, np.int64)
    subject, object = (np.concatenate([none, *(part[place] for part in parts)]) for place in (0, 1))
    return GraphTable(subject, np.full(len(subject), predicate, np.int64), object)


@dataclass(slots=True)
class LargeRows:
    """One pattern over a large scan while it is reduced, as ``PatternRows``; ``few`` once its rows are read.

    ``needed`` are the places whose texts may have to be written or read.
    """

    scan: Scan
    source: LargeScan
    places: dict[str, str]
    needed: frozenset[str] = frozenset()
    kept: dict[str, Ids] = field(default_factory=dict)
    few: PatternRows | None = None
    added: bool = field(default=False, init=False)
    _known: dict[str, Ids] = field(default_factory=dict)
    _count: int | None = None

    def __post_init__(self) -> None:
        _, subject, _, object = self.scan
        for place, constant in (("subject", subject), ("object", object)):
            if constant is not None:
                self._restrict(place, np.array([constant], np.int64))

    def __len__(self) -> int:
        if self.few is not None:
            return len(self.few)
        if self._count is None:
            self._count = self.source.count(self.kept) if self.kept else len(self.source)
        return self._count

    def values(self, variable: str) -> Ids:
        """The values that are left of a variable."""
        if self.few is not None:
            return self.few.values(variable)
        if variable not in self._known:
            self._known[variable] = self.source.values(self.places[variable], self.kept)
        return self._known[variable]

    def keep(self, variable: str, values: Ids) -> None:
        """Keep the rows that have one of these values."""
        if self.few is not None:
            self.few.keep(variable, values)
            return
        known = self._known.get(variable)
        if known is None or not _within(known, values):
            self._restrict(self.places[variable], values)

    def _restrict(self, place: str, values: Ids) -> None:
        before = self.kept.get(place)
        self.kept[place] = (
            sorted_set(values) if before is None else np.intersect1d(before, values, assume_unique=True)
        )
        self._known.clear()
        self._count = None
        if len(self) <= LARGE:
            table = IndexedTable(self.source.rows([self.kept]))
            self.few = PatternRows(self.scan, table, self.places)


def _within(known: Ids, values: Ids) -> bool:
    mask = among({"": known}, {"": values})
    return mask is None or bool(mask.all())


@dataclass(frozen=True, slots=True)
class Run:
    """The triples of one predicate, in order."""

    predicate: int
    subject: Ids
    object: Ids


def assembled(tables: Sequence[GraphTable]) -> GraphTable:
    """Tables of one graph as one with an index, equal rows once. A predicate that is in one table alone has
    to be in order there."""
    runs = sorted(_runs(tables), key=lambda run: run.predicate)
    ends = np.cumsum([0, *(len(run.subject) for run in runs)])
    total = int(ends[-1])
    subject, predicate, object, by_object, objects = (np.empty(total, np.int64) for _ in range(5))
    ranges: dict[int, tuple[int, int]] = {}
    for run, first, end in zip(runs, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        subject[first:end], predicate[first:end], object[first:end] = run.subject, run.predicate, run.object
        order = np.argsort(run.object, kind="stable")
        by_object[first:end] = order + first
        objects[first:end] = run.object[order]
        ranges[run.predicate] = first, end
    return GraphTable(subject, predicate, object, index=GraphIndex(ranges, by_object, objects))


def _runs(tables: Sequence[GraphTable]) -> Iterator[Run]:
    by_predicate: dict[int, list[GraphTable]] = {}
    for table in tables:
        whole = table.predicate[:1].tolist() if _alike(table.predicate) else None
        for predicate in np.unique(table.predicate).tolist() if whole is None else whole:
            part = table if whole else take(table, np.flatnonzero(table.predicate == predicate))
            by_predicate.setdefault(predicate, []).append(part)
    for predicate, parts in by_predicate.items():
        if len(parts) > 1 or not _ordered(parts[0]):
            parts = [distinct(stacked(parts))]
        yield Run(predicate, parts[0].subject, parts[0].object)


def _alike(column: Ids) -> bool:
    return len(column) > 0 and bool((column == column[0]).all())


def _ordered(table: GraphTable) -> bool:
    """Whether rows ascend by subject and object, none twice."""
    s, o = table.subject, table.object
    return bool(((s[1:] > s[:-1]) | ((s[1:] == s[:-1]) & (o[1:] > o[:-1]))).all())
