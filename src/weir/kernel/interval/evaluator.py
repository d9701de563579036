"""The interval evaluator: a slab of any number of evaluation times in one vectorised pass.

State is what the streams keep: live triples in tracks, the log of messages that windows still look at,
messages not yet complete, and the clock. Everything else is computed anew in each slab.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from weir.errors import UsageError
from weir.kernel.contract import Answers, Background, Slab, Stretch
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.fast.single_message import walk_of
from weir.kernel.functions.draws import seed
from weir.kernel.interval.compiler import Compiler
from weir.kernel.interval.query_forms import Descriptions, QueryForms, Sent
from weir.kernel.operators.context import Around
from weir.kernel.operators.inputs.input import Present
from weir.kernel.operators.inputs.pattern_inputs import EVERYTHING, PatternInputs
from weir.kernel.operators.inputs.static_views import StaticGraphs
from weir.kernel.operators.join import Join, Policy, Router, Routes
from weir.kernel.operators.operator import Operator
from weir.kernel.operators.remote_service import Federation
from weir.kernel.relations.relation import Relation
from weir.kernel.service_calls import Services, places_of, span_of
from weir.kernel.windows.arrivals import Arrivals
from weir.kernel.windows.evaluation_times import Clock, pieces
from weir.kernel.windows.instants import HIGHEST, Instants
from weir.kernel.windows.stream_state import Streams, dump, dump_core, load, load_core, table_rows, tables
from weir.kernel.windows.window import Window, spec_of
from weir.language.algebra.fold import walk
from weir.language.algebra.query import R2S, Ask, Construct, Previous, Query
from weir.plan import nodes as p
from weir.plan.analysis.variables import subjects
from weir.plan.planner import QueryPlan, plan_query
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, BlankNode, Literal, Term, Variable


class IntervalEvaluator:
    """``streams`` are the registered ones, for windows over a variable stream; ``services`` answer SERVICE,
    for which the query is known by its ``name``.

    Raises ``NotCovered`` where the query needs what this evaluator lacks.
    """

    def __init__(
        self,
        query: Query,
        background: Background,
        dictionary: Dictionary,
        *,
        streams: Sequence[str] = (),
        policy: Policy = Policy.COST,
        plan: QueryPlan | None = None,
        services: Services | None = None,
        name: str | None = None,
    ) -> None:
        self.query = query
        self.services = services
        self.name = name or query.output or "query"
        self.dictionary = dictionary
        self.plan = plan_query(query, streams) if plan is None else plan
        self.routes = Routes()
        self.streams = Streams()
        self._through: int | None = None
        self._ended = False
        self._evaluations = 0
        self._quiet = 0
        self._skipped = 0
        self._vain = 0
        self._arrived = 0
        self._declare()
        self._expectant = list(self.streams.windows.values())
        self._clock = Clock(
            tuple(self.streams.windows.values()),
            tuple((name, self.streams.arrivals[name]) for name in self.plan.streams),
            query.semantics,
        )
        self._present = Present(Instants(np.zeros(1, np.int64), np.ones(1, np.bool_)))
        self._key = seed(query.output, query.form, query.pattern).hex()
        self._policy = policy
        self.renew(background)

    def _declare(self) -> None:
        for name in self.plan.streams:
            self.streams.arrivals[name] = Arrivals()
        for window in self.plan.windows:
            spec = replace(spec_of(window.declaration, window.stream), name=window.name)
            position = self.plan.streams.index(window.stream)
            arrivals = self.streams.arrivals[window.stream]
            self.streams.windows[window.name] = Window(spec, arrivals, position)
            if window.declaration.in_default:
                self.streams.default.append(window.name)

    def renew(self, background: Background) -> None:
        """Use these static graphs from the next slab on: views are computed anew, the plan and what windows
        hold stay."""
        self._graphs = StaticGraphs(self.query, background, self.dictionary)
        self.streams.forget_followers()
        leaves = self._leaves = PatternInputs(self._present, self._graphs, self.streams, self.dictionary)
        terms = Terms(self.dictionary)
        router = Router(self._policy, self.routes)
        around = Around(self._present, self._key)
        federation = Federation(
            self.services, self.name, self.dictionary, *span_of(self.query), places_of(self.query)
        )
        self._compiler = Compiler(leaves, router, around, terms, federation)
        self._root: Operator = self._compiler.compile(self.plan.root)
        self._forms = QueryForms(
            self.query, self._key, terms, subjects(self.plan.root), lambda: self._described(leaves, terms)
        )
        self._nothing = dict.fromkeys(self._forms.columns, _NONE)
        self._silent = Answers(_NONE, self._nothing, _NONE)
        r2s = self.query.semantics.r2s
        self._asks = isinstance(self.query.form, Ask)
        self._differs = r2s is not R2S.RSTREAM and self._root.linear and not self._asks
        self._changes = self._graphs.changes()
        semantics = self.query.semantics
        self._walk = None
        self._fused: Join | None = None
        instant = semantics.r2s is R2S.ISTREAM and semantics.previous is Previous.INSTANT
        wanted = self._forms.wanted
        if instant and self._differs and not self._clock.tuples and wanted is not None:
            self._walk = walk_of(self._root, wanted, self._policy, self.routes)
            constructs = isinstance(self.query.form, Construct) and not semantics.report_empty
            if constructs and isinstance(self._root, Join):
                self._fused = self._root
        # What is new at an instant then came with it: nothing else can be.
        self._by_rows = (
            instant
            and self._differs
            and self._clock.simple
            and not semantics.report_empty
            and all(not window.spec.lag for window in self.streams.windows.values())
            and all("time" in track.rows.names for track in self.streams.triples.values())
        )
        self._required = [] if self._asks or self._clock.tuples else self._root.required()
        self._simple = self._clock.simple
        self.streams.seal()
        self._constants = self.dictionary.encode_terms(sorted(_terms(self.query), key=str))
        self._restored()

    def _described(self, leaves: PatternInputs, terms: Terms) -> Descriptions:
        sources = [p.Source(), p.Source(graph=Variable("graph"))]
        sources += [p.Source(window=name) for name in self.streams.windows]
        names = ("subject", "predicate", "object")
        plans: list[p.Plan] = [p.Project(p.Match(source, EVERYTHING), names) for source in sources]
        return Descriptions([self._compiler.compile(plan) for plan in plans], terms)

    # Slabs

    def advance(self, slab: Slab) -> Answers:
        """Evaluate every evaluation time that the slab completes."""
        if self._ended:
            raise UsageError(
                "the input of this query has ended", hint="start it again with a new checkpoint to add input"
            )
        before = self._through
        through = slab.through if before is None else max(slab.through, before)
        self._through, self._ended = through, slab.end
        if not self.streams.windows:
            return self._once(through) if before is None else self._collected([], [], 0)
        self._receive(slab, HIGHEST if slab.end else self._clock.ready_below(through), before)
        if self._simple:
            times = self._clock.news(through, end=slab.end)
            if slab.turn != _ALONE:
                return self._in_turn([times] if len(times) else [], slab)
            if len(times) <= 1:
                answers = self._briefly(times)
                if answers is not None:
                    return answers
            return self._answered([(each, partial(self._clock.laid_out, each)) for each in pieces(times)])
        chunks = self._clock.chunks(through, end=slab.end)
        if slab.turn != _ALONE:
            return self._in_turn((times for times, _ in chunks), slab)
        return self._answered(chunks)

    def _in_turn(self, lists: Iterable[Ids], slab: Slab) -> Answers:
        """The answers at this turn's stretch of each list of times; the others are evaluated elsewhere."""
        arrived, latest = self._arrived, _NONE

        def mine() -> Iterator[tuple[Ids, Callable[[], Instants]]]:
            nonlocal latest
            for latest in lists:
                first, last = slab.stretch(len(latest))
                if first:
                    self._clock.passed(latest[:first])
                for each in pieces(latest[first:last]):
                    yield each, partial(self._clock.laid_out, each)
                self._clock.passed(latest)

        answers = self._answered(mine())
        if arrived >= _GROWTH and len(latest):
            self._expire(latest[-1:])
        return answers

    def _answered(self, chunks: Iterable[tuple[Ids, Callable[[], Instants]]]) -> Answers:
        """The answers of all chunks of evaluation times."""
        parts: list[tuple[Ids, Mapping[str, Ids]]] = []
        empty: list[Ids] = []
        evaluations = 0
        for times, laid_out in chunks:
            evaluations += len(times)
            found: Sent | None = None
            if self._barren(times):
                self._skipped += len(times)
                if self.query.semantics.report_empty:
                    empty.append(times)
            else:
                telling = self._telling(times)
                at = laid_out() if telling is None else self._clock.laid_out(telling)
                found = self._evaluate(at)
                if found is not None:
                    when = at.time[found.index] if found.at is None else found.at
                    if len(when):
                        parts.append((when, found.columns))
                if self.query.semantics.report_empty:
                    empty.append(_without_answers(at, found))
            if self._simple:
                self._clock.passed(times)
        if self._arrived >= _GROWTH:
            if evaluations and not self._clock.tuples:
                self._expire(times[-1:])
            self._arrived = 0
        return self._collected(parts, empty, evaluations)

    def _telling(self, times: Ids) -> Ids | None:
        """Those of many times at which a row of any pattern comes, where nothing is new at others; None for
        all of them."""
        if not self._by_rows or len(times) < _LONG:
            return None
        first, last = int(times[0]), int(times[-1])
        if len(self._changes) and ((self._changes >= first) & (self._changes <= last)).any():
            return None
        found = []
        for track in self.streams.triples.values():
            when = track.coordinate("time")
            found.append(when[int(when.searchsorted(first)) : int(when.searchsorted(last + 1))])
        if 2 * sum(map(len, found)) > len(times):
            return None
        telling = np.unique(np.concatenate([_NONE, *found]))
        self._skipped += len(times) - len(telling)
        return telling if len(telling) else times[-1:]

    def _expire(self, time: Ids) -> None:
        """Drop what no instant after ``time`` can show."""
        at = Instants(time, np.ones(1, np.bool_))
        bounds = {name: window.hull(at) for name, window in self.streams.windows.items()}
        self.streams.release(bounds, int(time[0]))

    def _briefly(self, times: Ids) -> Answers | None:
        """The answers of at most one evaluation, where that takes no arrays; None where it does."""
        if not len(times):
            return self._collected([], [], 0)
        if self._arrived >= _GROWTH or self.query.semantics.report_empty:
            return None
        if self._vain < _IN_VAIN or not self._evaluations & 15:
            # Asking is cheap, but in vain for queries that find something nearly every time.
            if self._barren(times):
                self._vain = 0
                self._skipped += 1
                self._clock.passed(times)
                return self._collected([], [], 1)
            self._vain += 1
        if self._walk is None:
            return None
        time = times.item(0)
        found = self._walk.solutions(time)
        if found is None:
            return None
        self._clock.passed(times)
        columns, count = found
        if not count:
            return self._collected([], [], 1)
        self._evaluations += 1
        made = self._forms.of_columns(columns, count)
        at = np.empty(len(next(iter(made.values()))), np.int64)
        at.fill(time)
        return Answers(at, made, _NONE, 1)

    def _barren(self, times: Ids) -> bool:
        """Whether an input without which there is no solution shows nothing at any of these times,
        nor at what is compared with the first of them."""
        first = times.item(0) - 1
        if self._clock.last is not None:
            first = min(first, self._clock.last.time)
        for needed in self._required:
            if not len(needed.track.rows):
                return True
            least = needed.window.least(first)
            if least is not None and needed.newest() < least:
                return True
        return False

    def _receive(self, slab: Slab, limit: int, oldest: int | None) -> None:
        for name, arrivals in self.streams.arrivals.items():
            found = arrivals.advance(slab.batches.get(name), limit, oldest)
            if not found:
                continue
            for ready in found:
                if isinstance(ready, tuple):
                    self._arrived += 2
                    for track in self.streams.triples_of[name]:
                        track.append_single(ready)
                    continue
                self._arrived += len(ready) + ready.messages
                for track in self.streams.triples_of[name]:
                    track.append(ready)
            if self._expectant:
                for window in self._expectant:
                    window.notice()
                self._expectant = [window for window in self._expectant if window.first is None]

    def _evaluate(self, at: Instants) -> Sent | None:
        """The answers at the evaluations among ``at``; what no later instant shows is dropped."""
        bounds = {name: window.hull(at) for name, window in self.streams.windows.items()}
        if len(at) > _LONG and self._nothing_new(at, bounds):
            self._quiet += len(at)
            self._release(bounds, at)
            return None
        self._present.at = at
        for name, inputs in self._leaves.inputs.items():
            low, high = bounds[name]
            for each in inputs:
                each.prepare(low, high)
        found = self._sent(at)
        self._release(bounds, at)
        return found

    def _release(self, bounds: Mapping[str, tuple[Ids, Ids]], at: Instants) -> None:
        """Drop what has expired, where enough has come to make that worth while."""
        if self._arrived >= _GROWTH:
            self.streams.release(bounds, int(at.time[-1]))

    def _sent(self, at: Instants) -> Sent | None:
        """What goes out of the slab at hand."""
        rows: Relation | Sent | None = None
        if self._fused is not None:
            rows = self._forms.quickly(self._fused, at)
        if rows is None:
            rows = self._root.changes() if self._differs and not at.void else self._root.run()
        if isinstance(rows, Sent):
            return rows
        return self._forms.answers(rows, at) if len(rows) or self._asks else None

    def _nothing_new(self, at: Instants, bounds: Mapping[str, tuple[Ids, Ids]]) -> bool:
        """Whether every instant shows the same, and differences alone are sent out."""
        if not self._differs or at.void:
            return False
        times = at.time[[0, -1]]
        if len(np.unique(np.searchsorted(self._changes, times, side="right"))) > 1:
            return False
        for name, (low, high) in bounds.items():
            window = self.streams.windows[name]
            if window.spec.back_and_forth:
                return False
            where = _places(window, np.array([low[0], low[-1], high[0], high[-1]]))
            if where[0] != where[1] or where[2] != where[3]:
                return False
        return True

    def _once(self, time: int) -> Answers:
        """A query without windows: one evaluation, before which there was nothing."""
        compares = self.query.semantics.r2s is not R2S.RSTREAM
        times = np.array([time - 1, time] if compares else [time])
        emitted = np.array([False, True] if compares else [True])
        at = Instants(times, emitted, void=compares)
        self._present.at = at
        found = self._forms.answers(self._root.run(), at)
        empty = [_without_answers(at, found)] if self.query.semantics.report_empty else []
        return self._collected([(at.time[found.index], found.columns)], empty, 1)

    def _collected(
        self, parts: Sequence[tuple[Ids, Mapping[str, Ids]]], empty: Sequence[Ids], evaluations: int
    ) -> Answers:
        self._evaluations += evaluations
        if not parts and not empty:
            if evaluations != self._silent.evaluations:
                self._silent = Answers(_NONE, self._nothing, _NONE, evaluations)
            return self._silent
        at, columns = (_NONE, self._nothing) if not parts else parts[0]
        if len(parts) > 1:
            at = np.concatenate([when for when, _ in parts])
            columns = {name: np.concatenate([found[name] for _, found in parts]) for name in self._nothing}
        return Answers(at, columns, np.concatenate(empty) if empty else _NONE, evaluations)

    # State

    def snapshot(self) -> bytes:
        """The whole state, readable by ``restore`` in another process."""
        return dump(self.streams, self._clock, self._through, self._ended)

    def restore(self, state: bytes) -> None:
        """Replace the state by one that ``snapshot`` gave for the same query."""
        self._through, self._ended = load(state, self.streams, self._clock)
        self._restored()

    def _restored(self) -> None:
        # What could have gone counts as arrived: a run that is restarted again and again drops it, too.
        self._arrived = sum(end - first for first, end in self.tables().values())
        self._expectant = [window for window in self.streams.windows.values() if window.first is None]
        for inputs in self._leaves.inputs.values():
            for each in inputs:
                each.use(each.track)

    # The state in parts (contract.Segmented)

    def core(self) -> bytes:
        """Everything but the tables."""
        return dump_core(self.streams, self._clock, self._through, self._ended)

    def tables(self) -> Mapping[str, tuple[int, int]]:
        """The first live row of each log and track, and the number of the next."""
        return tables(self.streams)

    def rows(self, table: str, first: int, end: int) -> list[Ids]:
        """The columns of the rows with these numbers."""
        return table_rows(self.streams, table, first, end)

    def rebuild(self, core: bytes, tables: Mapping[str, Stretch]) -> None:
        """Replace the state by a stored one of the same query, or bring it up to one."""
        self._through, self._ended = load_core(core, tables, self.streams, self._clock)
        self._restored()

    def live_ids(self) -> Ids:
        """Every id whose text may still be needed: of live rows, waiting messages, views and constants."""
        remote = [] if self.services is None else [self.services.ids()]
        return np.unique(np.concatenate([self._constants, self._graphs.ids(), *self.streams.ids(), *remote]))

    def statistics(self) -> Mapping[str, Any]:
        """Counters for ``explain --analyze`` and metrics."""
        tracks = self.streams.triples.values()
        return {
            "evaluator": "interval",
            "evaluations": self._evaluations,
            "skipped": self._skipped + self._quiet,
            "live_rows": sum(len(track.rows) for track in tracks),
            "live_messages": sum(len(each.log) for each in self.streams.arrivals.values()),
            "waiting_messages": sum(len(each.pending.time) for each in self.streams.arrivals.values()),
            "late": sum(each.late for each in self.streams.arrivals.values()),
            "bytes": sum(track.rows.bytes for track in tracks)
            + sum(each.log.bytes for each in self.streams.arrivals.values()),
            "leaves": {
                each.name: len(each.track.rows) for inputs in self._leaves.inputs.values() for each in inputs
            },
            "views": dict(self._compiler.views),
            "services": [] if self.services is None else self.services.freshness(self.name),
            "policy": self._policy.value,
            "routes": dict(self.routes.taken),
            "indexes": asdict(self._leaves.counts),
        }


_NONE = np.empty(0, np.int64)
_ALONE = (0, 1)
_LONG = 1024
_IN_VAIN = 8
_GROWTH = 256
"""Rows and messages that may arrive before what has expired is looked for again."""


def _places(window: Window, ends: Ids) -> list[int]:
    if window.spec.rows_by == "time":
        return list(np.searchsorted(window.arrivals.times, ends).tolist())
    return list(ends.tolist())


def _without_answers(at: Instants, found: Sent | None) -> Ids:
    """The evaluation times at which nothing is sent out."""
    silent = at.emitted.copy()
    if found is not None:
        silent[found.index] = False
    return at.time[silent]


def _terms(node: object) -> set[Term]:
    """Every constant that occurs in a query."""
    return {part for part in walk(node) if isinstance(part, IRI | Literal | BlankNode)}
