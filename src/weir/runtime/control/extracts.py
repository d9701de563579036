"""Extracts of static graphs as files beside the checkpoint: written once by the driver, mapped by workers.

An extract has the triples of some graphs and the texts of their terms. Its file is named by what is in it,
so queries with equal extracts share one. What an update adds to a query's extract is an extract, too.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa

from weir.kernel.contract import Background, GraphIndex, GraphTable
from weir.kernel.evaluators import unknown_functions
from weir.language.algebra.query import Query
from weir.language.update import Update
from weir.linked.graphs import Dealt, StaticGraphs, read_graphs
from weir.linked.graphs.history import layered
from weir.linked.graphs.triple_tables import DEFAULT, merged
from weir.plan.analysis.shares import share
from weir.rdf.columns import Ids, sorted_set
from weir.rdf.ids.dictionary import Dictionary, TextTable
from weir.rdf.terms import Term, Variable, relabelled
from weir.runtime.control.catalog import SHARED, Entry, Registration, UpdateEntry
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.sharing import by_shape
from weir.storage import Container, numbers, pack, unpack
from weir.storage.files import make_folder, mapped, remove, writing

_KIND, _SUFFIX = "weir.extract/2", ".graphs"
_PLACES, _VALIDITY = ("s", "p", "o"), ("start", "end")
_LETTERS = {"subject": "s", "object": "o"}
_WHOLE = -1
"""In the place of a slot: all of them."""

INDEXED = 1 << 16
"""From so many triples on a graph is stored with its index."""

FEW_TEXTS = 1 << 12
"""So many texts of an extract are put into the dictionary; where there are more they stay in the file."""


def write_extract(
    background: Background,
    dictionary: Dictionary,
    folder: Path,
    *,
    durable: bool = True,
    dealt: Dealt | None = None,
    slots: int = 1,
) -> str:
    """Write graphs and the texts of their terms into ``folder``; the name of the result. Where a graph has an
    index only those texts are written that the dictionary has. What is ``dealt`` of large ones lies by slot.
    """
    graphs: Mapping[str, GraphTable] = {DEFAULT: background.default, **background.named}
    names = sorted(graphs)
    tables: dict[str, Mapping[str, Ids | pa.Array]] = {}
    ids = [np.empty(0, np.int64)]
    for number, name in enumerate(names):
        columns, by_slot = _columns(graphs[name]), (dealt or {}).get(name, {})
        tables |= {f"graph {number}": columns, **_index(number, columns, graphs[name].index, by_slot, slots)}
        ids += [sorted_set(columns[place]) for place in _PLACES]
    hashed = sorted_set(np.concatenate(ids))
    texts = dictionary.having(hashed)
    if len(texts.ids) < np.count_nonzero(hashed > 0) and all(each.index is None for each in graphs.values()):
        raise KeyError("the text of a term is not known")
    tables["texts"] = {"id": texts.ids, "text": texts.texts}
    made = {name: list(times) for name, times in background.made.items()}
    header = {"names": names, "made": made}
    digest = _Digest()
    pack(_KIND, header, tables, into=cast("IO[bytes]", digest))
    name = f"{digest.found.hexdigest()[:20]}{_SUFFIX}"
    make_folder(folder, durable=durable)
    if not (folder / name).exists():
        with writing(folder / name, durable=durable) as file:
            pack(_KIND, header, tables, into=file)
    return name


def load_extract(path: Path, dictionary: Dictionary, slot: int | None = None) -> Background:
    """The graphs of an extract, mapped; their texts are known to ``dictionary`` then. Of what is dealt the
    index finds the share of ``slot`` alone."""
    found = unpack(mapped(path), _KIND)
    texts = found.table("texts")
    ids = numbers(texts["id"])
    if len(ids) <= FEW_TEXTS:
        dictionary.add(ids, texts["text"].to_pylist())
    else:
        dictionary.attach(path.name, TextTable(ids, texts["text"]))
    graphs: dict[str, GraphTable] = {}
    for number, name in enumerate(found.header["names"]):
        table = {column: numbers(values) for column, values in found.table(f"graph {number}").items()}
        triple, bounds = (table[place] for place in _PLACES), (table.get(v) for v in _VALIDITY)
        graphs[name] = GraphTable(*triple, *bounds, index=_stored_index(number, found, slot))
    made = {name: tuple(times) for name, times in found.header["made"].items()}
    return Background(graphs.pop(DEFAULT, GraphTable.empty()), graphs, made)


class _Digest(io.RawIOBase):
    """A file that keeps nothing of what is written to it but its digest."""

    def __init__(self) -> None:
        self.found = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.found.update(data)
        return memoryview(data).nbytes


def _index(
    number: int,
    columns: dict[str, Ids],
    known: GraphIndex | None,
    dealt: Mapping[int, str],
    slots: int,
) -> dict[str, Mapping[str, Ids]]:
    """The tables that find the rows of a large graph that never changes. What is dealt is put in the order of
    slots, within each predicate."""
    predicates = columns["p"]
    if "start" in columns or len(predicates) < INDEXED:
        return {}
    ends = np.append(np.flatnonzero(np.diff(predicates)) + 1, len(predicates)).tolist()
    runs: list[tuple[int, int, int]] = []
    if dealt:
        columns |= {place: column.copy() for place, column in columns.items()}
        known = None
    for first, end in itertools.pairwise([0, *ends]):
        predicate = int(predicates[first])
        place = dealt.get(predicate)
        if place is None:
            runs.append((predicate, _WHOLE, end))
            continue
        slot = share([columns[_LETTERS[place]][first:end]], 0, slots)
        order = np.argsort(slot, kind="stable") + first
        for letter in ("s", "o"):
            columns[letter][first:end] = columns[letter][order]
        until = np.cumsum(np.bincount(slot, minlength=slots)) + first
        runs += [(predicate, each, last) for each, last in enumerate(until.tolist())]
    by_object, objects = _by_object(columns["o"], runs) if known is None else (known.by_object, known.objects)
    table = dict(zip(("predicate", "slot", "end"), np.array(runs, np.int64).T, strict=True))
    return {f"runs {number}": table, f"objects {number}": {"row": by_object, "object": objects}}


def _by_object(objects: Ids, runs: Sequence[tuple[int, int, int]]) -> tuple[Ids, Ids]:
    """The rows of each run in the order of their objects, and these."""
    rows = np.empty(len(objects), np.int64)
    for first, end in itertools.pairwise([0, *(end for _, _, end in runs)]):
        rows[first:end] = np.argsort(objects[first:end], kind="stable") + first
    return rows, objects[rows]


def _stored_index(number: int, found: Container, slot: int | None) -> GraphIndex | None:
    runs, objects = found.table(f"runs {number}"), found.table(f"objects {number}")
    if not runs:
        return None
    slots = numbers(runs["slot"])
    if slot is None and (slots != _WHOLE).any():
        return None
    ranges = itertools.pairwise([0, *numbers(runs["end"]).tolist()])
    every = zip(numbers(runs["predicate"]).tolist(), slots.tolist(), ranges, strict=True)
    own = {predicate: place for predicate, of, place in every if of in (_WHOLE, slot)}
    return GraphIndex(own, numbers(objects["row"]), numbers(objects["object"]))


class Extractor:
    """The driver's graphs: extracts of new queries, and what updates add to those of running ones.

    ``lock`` is held while they are read or changed, and never while anybody waits for a batch.
    """

    def __init__(self, graphs: StaticGraphs, checkpoint: Checkpoint) -> None:
        self.graphs = graphs
        self.lock = threading.RLock()
        self.folder = checkpoint.graphs
        self._durable = checkpoint.durable
        for update in checkpoint.control().catalog().updates:
            if update.merged:
                graphs.take_in(self.load(update.inserted), update.number)
            else:
                graphs.apply(self.load(update.inserted), self.load(update.deleted))

    def warnings(self, query: Query) -> tuple[str, ...]:
        """What is hardly meant in a query: the parser's warnings, and graphs that are not there."""
        with self.lock:
            absent = self.graphs.absent(query)
        told = [f"the graph <{name}> is not given: the query finds it empty" for name in absent]
        told += [f"no function is called <{name}>: its calls are errors" for name in unknown_functions(query)]
        return (*query.warnings, *told)

    def extract(
        self,
        query: Query,
        streams: Sequence[str],
        *,
        every_text: bool = False,
        split: tuple[Variable, int] | None = None,
    ) -> tuple[str, int]:
        """The name of a query's extract, and how many updates are in it; with ``every_text`` of large graphs
        where it is evaluated on terms, dealt to so many slots where it is ``split`` by a variable."""
        with self.lock:
            found = self.graphs.extract(query, streams, every_text=every_text)
            variable, slots = split or (None, 1)
            dealt = {} if variable is None else self.graphs.dealt(query, streams, variable)
            return self._write(found, dealt, slots), self.graphs.delta.number

    def extract_all(
        self, queries: Iterable[Registration], streams: Sequence[str]
    ) -> dict[str, tuple[str, int]]:
        """The same for several queries, by name: those of a shape are looked at as one. Their extracts are
        one, unless some have large graphs, which are stored with an index."""
        with self.lock:
            found = [
                (self.graphs.extract(query, members[0].over(streams)), members)
                for query, members in by_shape(queries, self.graphs.dictionary)
            ]
            several = [each for each, _ in found if not _has_index(each)]
            name = self._write(united(several)) if several else ""
            out: dict[str, tuple[str, int]] = {}
            for each, members in found:
                own = self._write(each) if _has_index(each) else name
                out |= dict.fromkeys([member.name for member in members], (own, self.graphs.delta.number))
            return out

    def apply(self, inserted: Background, deleted: Background) -> int:
        """Take in an update; its number. It counts once its entry is in the control log."""
        with self.lock:
            return self.graphs.apply(inserted, deleted)

    def undo(self, number: int) -> None:
        """Take back the latest update, which could not be logged."""
        with self.lock:
            self.graphs.undo(number)

    def update(
        self,
        number: int,
        inserted: Background,
        deleted: Background,
        at: int | None,
        queries: Iterable[Registration],
        streams: Sequence[str],
    ) -> UpdateEntry:
        """The entry that tells the groups of an update that was applied. Queries of a shape are looked at
        as one, and those that are evaluated together without any graph not at all."""
        with self.lock:
            parts: dict[str, str] = {}
            reading = (each for each in queries if each.evaluator != SHARED or each.graphs is not None)
            for query, members in by_shape(reading, self.graphs.dictionary):
                change = self.graphs.change(query, number, streams)
                if change is not None:
                    parts |= dict.fromkeys([member.name for member in members], self._write(change))
            return UpdateEntry(number, at, self._write(inserted), self._write(deleted), parts)

    def merge(self, updates: Sequence[UpdateEntry], queries: Mapping[str, int]) -> UpdateEntry:
        """Updates that follow each other as one entry, which means the same to ``queries``, given with how
        many updates are in their extracts, and to those to come."""
        with self.lock:
            each = [
                (number, at, [name for name in names if number > queries.get(name, number)])
                for update in updates
                for number, at, names in update.each
            ]
            parts = {}
            for name, known in queries.items():
                layers = [u.parts[name] for u in updates if u.number > known and name in u.parts]
                if layers:
                    parts[name] = self._write(layered([self.load(layer) for layer in layers]))
            last = updates[-1].number
            events = self._write(self.graphs.delta.since(each[0][0], last))
            return UpdateEntry(last, None, events, "", parts, each)

    def sweep(self, entries: Iterable[Entry]) -> None:
        """Remove the extracts that no entry names any more; for the start of a job, before there are
        workers."""
        named: set[str | None] = set()
        for entry in entries:
            match entry.item:
                case Registration(graphs=name):
                    named.add(name)
                case UpdateEntry() as update:
                    named |= {update.inserted, update.deleted, *update.parts.values()}
        for path in self.folder.glob(f"*{_SUFFIX}"):
            if path.name not in named:
                remove(path)

    def data(self, operations: Sequence[Update]) -> tuple[Background, Background]:
        """What the operations of a request insert and delete, in the end."""
        with self.lock:
            return net_of(operations, self.graphs.dictionary, f"u{self.graphs.delta.number + 1}")

    def file(self, graph: str | None, path: Path) -> Background:
        """The triples of a file or folder, for graph ``graph`` where they name none."""
        with self.lock:
            return read_graphs({graph or DEFAULT: [path]}, self.graphs.dictionary)

    def _write(self, background: Background, dealt: Dealt | None = None, slots: int = 1) -> str:
        durable, dictionary = self._durable, self.graphs.dictionary
        return write_extract(background, dictionary, self.folder, durable=durable, dealt=dealt, slots=slots)

    def load(self, name: str) -> Background:
        """An extract by its name."""
        return load_extract(self.folder / name, self.graphs.dictionary)


def _has_index(background: Background) -> bool:
    return any(each.index is not None for each in (background.default, *background.named.values()))


def united(extracts: Sequence[Background]) -> Background:
    """The extracts of several queries as one, in which each finds what is in its own."""
    if len(extracts) == 1:
        return extracts[0]
    names = dict.fromkeys(name for each in extracts for name in each.named)
    named = {name: merged([each.named[name] for each in extracts if name in each.named]) for name in names}
    made = {name: times for each in extracts for name, times in each.made.items()}
    return Background(merged([each.default for each in extracts]), named, made)


def _columns(table: GraphTable) -> dict[str, Ids]:
    """A graph's triples sorted; a graph that never changes has no columns of validity."""
    if table.index is not None:
        return {"s": table.subject, "p": table.predicate, "o": table.object}
    order = np.lexsort((table.object, table.subject, table.predicate))
    columns = (table.subject, table.predicate, table.object, table.start, table.end)
    named = zip((*_PLACES, *_VALIDITY), columns, strict=True)
    return {name: column[order] for name, column in named if column is not None}


def net_of(operations: Sequence[Update], dictionary: Dictionary, scope: str) -> tuple[Background, Background]:
    """The insertions and the deletions of a request: of several operations on a triple the last counts.

    Blank nodes are new ones: ``scope`` tells them from those of any other request.
    """
    last: dict[tuple[Term, Term, Term, str], bool] = {}
    for operation in operations:
        for s, p, o, graph in operation.quads:
            quad = (_scoped(s, scope), p, _scoped(o, scope), graph or DEFAULT)
            last.pop(quad, None)
            last[quad] = not operation.deleting
    kept: dict[bool, dict[str, list[tuple[Term, Term, Term]]]] = {True: {}, False: {}}
    for (subject, predicate, object, graph), inserted in last.items():
        kept[inserted].setdefault(graph, []).append((subject, predicate, object))
    return _tables(kept[True], dictionary), _tables(kept[False], dictionary)


def _scoped(term: Term, scope: str) -> Term:
    return relabelled(term, lambda label: f"{scope}x{label}")


def _tables(rows: Mapping[str, Sequence[tuple[Term, Term, Term]]], dictionary: Dictionary) -> Background:
    found = {
        graph: GraphTable(
            *(dictionary.encode_terms([triple[place] for triple in triples]) for place in range(3))
        )
        for graph, triples in rows.items()
    }
    return Background(found.pop(DEFAULT, GraphTable.empty()), found)
