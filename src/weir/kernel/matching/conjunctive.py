"""Conjunctive queries on equal windows, evaluated together: the automaton, then the tree of steps.

A slab's triples go through the automaton once (TPM), their matches are kept while the window shows them, and
the constraints of all queries are resolved in one pass (CCR). Each query gets exactly what it would get
alone: the window, its reports and R2S are those of ``kernel.interval``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.errors import UsageError
from weir.kernel.contract import NotCovered, Slab
from weir.kernel.interval.query_forms import sent
from weir.kernel.matching.answers import Listed, Matched, Near, Results, SetAnswers, gather
from weir.kernel.matching.channels import Channels
from weir.kernel.matching.resolve import Combinations, Duplicates, Visible, Wanted, combinations, passed
from weir.kernel.relations.coverage import expand
from weir.kernel.relations.keys import occurrences
from weir.kernel.relations.relation import Relation, distinct
from weir.kernel.windows.arrivals import Arrivals, Ready, Single
from weir.kernel.windows.evaluation_times import Clock, Evaluations
from weir.kernel.windows.instants import HIGHEST, LOWEST, Instants
from weir.kernel.windows.live_triples import Keeping, LiveTriples
from weir.kernel.windows.one_failure import Pass
from weir.kernel.windows.stream_state import Streams, dump, load
from weir.kernel.windows.window import Window, spec_of
from weir.language.algebra.query import R2S, Semantics
from weir.language.algebra.windows import WindowDeclaration
from weir.plan.analysis.conjunctions import Conjunction
from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.dictionary import Dictionary

_TERMS = ("subject", "predicate", "object")
_READY = (*_TERMS, "graph", "time", "sequence", "number")
_FEW_NODES = 1 << 15


class ConjunctiveSet:
    """Queries that all read ``window`` under ``semantics``. Those added before the first slab see every
    message; one added later would see less and belongs in a set of its own (``shared``)."""

    @staticmethod
    def covers(window: WindowDeclaration) -> bool:
        """Whether there can be a set on this window: its content never goes back in time."""
        return not spec_of(window, str(window.stream)).back_and_forth

    def __init__(self, window: WindowDeclaration, semantics: Semantics) -> None:
        if not self.covers(window):
            raise NotCovered("closes and content changes under a time-driven tick")
        spec = spec_of(window, str(window.stream))
        self.stream = spec.stream
        self.semantics = semantics
        self.channels = Channels(as_set=not spec.bag)
        self.arrivals = Arrivals()
        self.window = Window(spec, self.arrivals)
        self.clock = Clock((self.window,), ((spec.stream, self.arrivals),), semantics)
        self.triples = LiveTriples((*_TERMS, None), ("number", spec.rows_by), Keeping.BAG)
        self.rows = self.triples.rows
        self.streams = Streams()
        self.streams.arrivals[spec.stream] = self.arrivals
        self.streams.windows[spec.name] = self.window
        self.streams.triples[spec.stream,] = self.triples
        self.streams.readers[id(self.triples)] = {spec.name: self.window}
        self.through: int | None = None
        self.ended = False
        self._matches: tuple[Ids, Ids] | None = None
        self._evaluations = 0

    def __len__(self) -> int:
        return len(self.channels)

    def add(self, queries: Sequence[tuple[str, Conjunction]], dictionary: Dictionary) -> None:
        """Register queries, all at once: their patterns join the automaton, their steps the tree."""
        self.channels.add(queries, dictionary)
        self._matches = None

    def drop(self, names: Sequence[str]) -> None:
        """Forget queries."""
        self.channels.drop(names)
        self._matches = None

    # Slabs

    def advance(self, slab: Slab) -> SetAnswers:
        """Evaluate every evaluation time that the slab completes."""
        if self.ended:
            raise UsageError(
                "the input of these queries has ended", hint="start again with a new checkpoint to add input"
            )
        before = self.through
        through = slab.through if before is None else max(slab.through, before)
        self.through, self.ended = through, slab.end
        limit = HIGHEST if slab.end else self.clock.ready_below(through)
        for ready in self.arrivals.advance(slab.batches.get(self.stream), limit, before):
            self._take_in(ready)
        self.window.notice()
        made = Pass(self.clock, self._evaluated, slab, lambda made: sum(map(len, made[1])))
        for chunk in self.clock.chunks(through, end=slab.end):
            if made.full:
                break
            made.take(chunk)
        found = made.found
        evaluations = sum(count for count, _ in found)
        parts = [part for _, results in found for part in results]
        self._evaluations += evaluations
        return SetAnswers(self.channels.headers, self.channels.members, parts, evaluations, through)

    def _evaluated(self, chunk: Evaluations) -> tuple[int, list[Results]]:
        return len(chunk.times), list(self._evaluate(chunk.at))

    def _take_in(self, ready: Ready | Single) -> None:
        """Keep the triples that some query can use, and their matches."""
        columns = _columns(ready)
        rows, machines = self.channels.matcher.match(*(columns[name] for name in _TERMS))
        if self.window.floor > LOWEST:
            seen = columns["time"][rows] >= self.window.floor
            rows, machines = rows[seen], machines[seen]
        new = np.ones(len(rows), np.bool_)
        new[1:] = rows[1:] != rows[:-1]
        kept = rows[new]
        first = self.rows.end
        self.triples.add([columns[name][kept] for name in self.rows.names])
        if self._matches is not None:
            place = first + np.cumsum(new) - 1
            self._matches = (
                np.concatenate([self._matches[0], place]),
                np.concatenate([self._matches[1], machines]),
            )

    def _matched(self, first: int, end: int) -> tuple[Ids, Ids]:
        """The matches of live rows ``first`` to ``end``, rows counted from ``first``."""
        if self._matches is None:
            rows, machines = self.channels.matcher.match(*self._terms(slice(None)))
            self._matches = rows + self.rows.first, machines
        rows, machines = self._matches
        base = self.rows.first + first
        low, high = np.searchsorted(rows, [base, self.rows.first + end]).tolist()
        return rows[low:high] - base, machines[low:high]

    def _evaluate(self, at: Instants) -> Iterator[Results]:
        """The results at the evaluations among ``at``; rows that no later instant shows are dropped."""
        low, high = self.window.bounds(at)
        where = self.triples.coordinate(self.window.spec.rows_by)
        first, end = np.searchsorted(where, [low[0], high[-1]]).tolist()
        if first < end and len(self.channels):
            start, limit = passed(high, where[first:end]), passed(low, where[first:end])
            terms = np.stack(self._terms(slice(first, end)))
            yield from self._resolve(at, terms, start, limit, *self._matched(first, end))
        self.streams.release({self.window.spec.name: (low, high)}, int(at.time[-1]))
        if self._matches is not None:
            place = int(np.searchsorted(self._matches[0], self.rows.first))
            self._matches = self._matches[0][place:], self._matches[1][place:]

    def _terms(self, rows: slice) -> list[Ids]:
        """Subject, predicate and object of some live rows."""
        return [self.rows.column(place)[rows] for place in range(len(_TERMS))]

    def _resolve(
        self,
        at: Instants,
        terms: NDArray[np.int64],
        start: NDArray[np.int32],
        limit: NDArray[np.int32],
        rows: Ids,
        machines: Ids,
    ) -> Iterator[Results]:
        nodes, operator = self.channels.by_node, self.semantics.r2s
        compares, bag = operator is not R2S.RSTREAM, self.window.spec.bag
        duplicates = Duplicates(terms, start, limit, as_set=not bag) if not bag or compares else None
        visible = Visible(terms, start, limit if duplicates is None else duplicates.end, limit, len(at))
        wanted = Wanted(operator is R2S.ISTREAM, at.emitted, nodes.whole, duplicates if compares else None)
        disputed: list[Combinations] = []
        special: list[Combinations] = []
        layout = self.channels.trie.layout
        for found in combinations(visible, rows, machines, layout, wanted, nodes.steps):
            yield from self._plain(found.take(slice(found.plain)), at, terms)
            if found.plain < len(found):
                others = found.take(slice(found.plain, None))
                disputed.append(others.take(np.flatnonzero(nodes.plain[others.node] >= 0)))
                special.append(others.take(np.flatnonzero(nodes.whole[others.node])))
        if any(map(len, disputed)):
            yield from self._disputed(_concatenated(disputed), at, terms, duplicates if compares else None)
        if any(map(len, special)):
            yield from self._special(_concatenated(special), at, terms)

    def _plain(self, found: Combinations, at: Instants, terms: NDArray[np.int64]) -> Iterator[Results]:
        """R2S of combinations none of which equals another that starts where it ends."""
        operator = self.semantics.r2s
        if operator is R2S.RSTREAM:
            rows, indices = expand(found.start.astype(np.int64), found.end.astype(np.int64))
            shown = np.flatnonzero(at.emitted[indices])
            index, found = indices[shown].astype(np.int32), found.take(rows[shown])
        else:
            index = found.start if operator is R2S.ISTREAM else found.end
            good = _sent_at(index, at)
            if not good.all():
                places = np.flatnonzero(good)
                index, found = index[places], found.take(places)
        if len(found):
            nodes = self.channels.by_node
            node = found.node.astype(np.int16) if len(nodes.plain) <= _FEW_NODES else found.node
            yield Matched(node, Near.of(index, found.rows), terms, at.time, nodes.plain, nodes.origins)

    def _disputed(
        self, found: Combinations, at: Instants, terms: NDArray[np.int64], duplicates: Duplicates | None
    ) -> Iterator[Results]:
        """Combinations that may have equal ones: of each solution as many as its number changes by."""
        if duplicates is not None:
            rising = self.semantics.r2s is R2S.ISTREAM
            index = found.start if rising else found.end
            places = np.flatnonzero(_sent_at(index, at))
            found, index = found.take(places), index[places]
            allowed = duplicates.changes(found.rows, index, rising=rising)
            steps = [np.where(column >= 0, duplicates.chain[column], -1) for column in found.rows.T]
            nodes, indices = found.node.astype(np.int64), index.astype(np.int64)
            number = occurrences([nodes, indices, *steps], len(found))
            found = found.take(np.flatnonzero(number <= allowed))
        yield from self._plain(found, at, terms)

    def _special(self, found: Combinations, at: Instants, terms: NDArray[np.int64]) -> Iterator[Results]:
        """The channels that leave variables out, or duplicates."""
        nodes = self.channels.by_node
        values = gather(terms, found.rows, nodes.origins, found.node)
        owner, which = expand(nodes.offsets[found.node], nodes.offsets[found.node + 1])
        for distinctly in (False, True):
            mine = np.flatnonzero(nodes.distinct[which] == distinctly)
            if len(mine):
                rows, channel = owner[mine], which[mine]
                kept = np.where(nodes.kept[channel].T, values[:, rows], 0)
                yield from self._compared(nodes.special[channel], kept, found.take(rows), at, distinctly)

    def _compared(
        self,
        channel: Ids,
        values: NDArray[np.int64],
        found: Combinations,
        at: Instants,
        distinctly: bool = False,
    ) -> Iterator[Results]:
        columns = {str(number): column for number, column in enumerate(values)}
        start, end = found.start.astype(np.int64), found.end.astype(np.int64)
        relation = Relation({"channel": channel + 1, **columns}, start, end)
        if distinctly:
            relation = distinct(relation)
        index, rows = sent(relation, at, self.semantics.r2s)
        if len(index):
            places = np.arange(len(relation)) if rows is None else rows
            listed = np.empty((len(columns), len(index)), np.int64)
            for number, name in enumerate(columns):
                listed[number] = relation.columns[name][places]
            yield Listed(relation.columns["channel"][places] - 1, at.time[index], listed)

    # State

    def snapshot(self) -> bytes:
        """Everything but the queries."""
        return dump(self.streams, self.clock, self.through, self.ended)

    def restore(self, state: bytes) -> None:
        """Replace the state by one that ``snapshot`` gave; matches are found anew."""
        self.through, self.ended = load(state, self.streams, self.clock)
        self._matches = None

    def statistics(self) -> dict[str, Any]:
        """Counters for metrics."""
        return {
            "queries": len(self.channels),
            "channels": int(np.count_nonzero(self.channels.members)),
            "machines": len(self.channels.matcher),
            "states": self.channels.matcher.states,
            "nodes": len(self.channels.trie),
            "evaluations": self._evaluations,
            "live_rows": len(self.rows),
            "late": self.arrivals.late,
        }


def _sent_at(index: NDArray[np.int32], at: Instants) -> Mask:
    """Where an index is an evaluation that has something before it."""
    good: Mask = (index > 0) & (index < len(at))
    if not at.emitted[1:].all():
        good[good] = at.emitted[index[good]]
    return good


def _columns(ready: Ready | Single) -> dict[str, Ids]:
    """The terms of ready triples and the coordinates by which windows find them."""
    if isinstance(ready, Ready):
        return {name: ready.column(name) for name in _READY}
    return {name: np.array([value]) for name, value in zip(_READY, ready, strict=True)}


def _concatenated(parts: Sequence[Combinations]) -> Combinations:
    if len(parts) == 1:
        return parts[0]
    return Combinations(
        np.concatenate([part.node for part in parts]),
        np.concatenate([part.start for part in parts]),
        np.concatenate([part.end for part in parts]),
        np.concatenate([part.rows for part in parts]),
        0,
    )
