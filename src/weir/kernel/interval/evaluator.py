"""The interval evaluator: a slab of any number of evaluation times in one vectorised pass.

State is what the streams keep: live triples, the log of messages that windows still look at,
messages not yet complete, and the clock. Everything else is computed anew in each slab.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from weir.errors import UsageError
from weir.kernel.contract import Answers, Background, Slab, Steps, Stretch
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.fast.distinct_join import DistinctJoin
from weir.kernel.fast.short_cuts import NothingThere, ShortCut, plain_form
from weir.kernel.fast.single_message import single_message
from weir.kernel.functions.scalar import seed
from weir.kernel.interval.compiler import Compiler
from weir.kernel.interval.query_forms import Descriptions, QueryForms, Sent
from weir.kernel.operators.context import Surroundings
from weir.kernel.operators.group_by import FEW_INSTANTS
from weir.kernel.operators.inputs.input import Present
from weir.kernel.operators.inputs.pattern_inputs import EVERYTHING, PatternInputs, StaticGraphs, changes_read
from weir.kernel.operators.join import Join, Policy, Router
from weir.kernel.operators.operator import Operator
from weir.kernel.relations.relation import Relation
from weir.kernel.service_calls import Calls, Services
from weir.kernel.windows.arrivals import Arrivals
from weir.kernel.windows.evaluation_times import Clock, Evaluations
from weir.kernel.windows.instants import HIGHEST, Instants
from weir.kernel.windows.likeness import alike
from weir.kernel.windows.one_failure import Pass
from weir.kernel.windows.stream_state import Streams, dump, load, table_rows, tables
from weir.kernel.windows.window import Window, spec_of
from weir.language.algebra.fold import walk
from weir.language.algebra.query import R2S, Ask, Construct, Previous, Query
from weir.plan import nodes as p
from weir.plan.analysis.variables import subjects
from weir.plan.planner import QueryPlan, plan_query
from weir.rdf.columns import Ids, sorted_set
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, BlankNode, Literal, Term, TripleTerm, Variable


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
        self.routes: Counter[str] = Counter()
        self.streams = Streams()
        self._through: int | None = None
        self._ended = False
        self._evaluations = 0
        self._times: deque[Ids] = deque(maxlen=LATEST)
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
            declared = spec_of(window.declaration, window.stream)
            spec = replace(declared, name=window.name, unit=self.plan.looking.tick.unit)
            position = self.plan.streams.index(window.stream)
            arrivals = self.streams.arrivals[window.stream]
            self.streams.windows[window.name] = Window(spec, arrivals, position)
            if window.declaration.in_default:
                self.streams.default.append(window.name)

    def renew(self, background: Background) -> None:
        """Use these static graphs from the next slab on: views are computed anew, the plan and what windows
        hold stay."""
        self._graphs = StaticGraphs(self.query, background, self.dictionary)
        if self.plan.looking.graphs:
            self._clock.watch(changes_read(self.query, background))
        self.streams.forget_followers()
        leaves = self._leaves = PatternInputs(self._present, self._graphs, self.streams, self.dictionary)
        terms = Terms(self.dictionary)
        router = Router(self._policy, self.routes)
        around = Surroundings(self._present, self._key)
        calls = None if self.services is None else Calls(self.services, self.query, self.name)
        self._compiler = Compiler(leaves, router, around, terms, calls)
        self._root: Operator = self._compiler.compile(self.plan.root)
        self._compiler.counts.begin(self.plan.root)
        safe = subjects(self.plan.root)
        self._forms = QueryForms(self.query, self._key, terms, safe, lambda: self._described(terms))
        self._nothing = dict.fromkeys(self._forms.columns, _NONE)
        self._silent = Answers(_NONE, self._nothing, _NONE)
        self._asks = isinstance(self.query.form, Ask)
        self._differs = self.query.semantics.r2s is not R2S.RSTREAM and self._root.linear and not self._asks
        self._short_cuts = self._find_short_cuts(terms, router, safe)
        self.streams.seal()
        self._constants = self.dictionary.encode_terms(sorted(_terms(self.query), key=str))
        self._restored()

    def _described(self, terms: Terms) -> Descriptions:
        sources = [p.Source(), p.Source(graph=Variable("graph"))]
        sources += [p.Source(window=name) for name in self.streams.windows]
        names = ("subject", "predicate", "object")
        plans: list[p.Plan] = [p.Project(p.Match(source, EVERYTHING), names) for source in sources]
        return Descriptions([self._compiler.compile(plan) for plan in plans], terms)

    def _find_short_cuts(self, terms: Terms, router: Router, safe: frozenset[str]) -> list[ShortCut]:
        """Those that the query can take, in the order in which they are tried."""
        semantics, root = self.query.semantics, self._root
        found: list[ShortCut] = []
        if self._clock.tuples or self._asks or not self.streams.windows:
            return found
        required = root.required()
        if required:
            silent = semantics.report_empty
            found.append(NothingThere(required, self._clock, self._forms.columns, report_empty=silent))
        form = plain_form(self.query, terms, safe)
        instant = semantics.r2s is R2S.ISTREAM and semantics.previous is Previous.INSTANT
        if form is None or not instant or not root.linear or semantics.report_empty:
            return found
        single = single_message(root, form, router)
        if single is not None:
            found.append(single)
        if isinstance(self.query.form, Construct) and isinstance(root, Join):
            found.append(DistinctJoin(root, form, self._leaves))
        return found

    # Slabs

    def advance(self, slab: Slab) -> Answers:
        """Evaluate every evaluation time that the slab completes."""
        made = Pass(self._clock, self._answers, slab, lambda made: made.count)
        for chunk in self._chunks(slab):
            if made.full:
                break
            made.take(chunk)
        return self._collected(made.found)

    def steps(self, slab: Slab) -> Steps:
        """``advance`` one evaluation at a time."""
        made = Pass(self._clock, self._answers, slab, lambda made: made.count)
        for chunk in self._chunks(slab, 1):
            if made.full:
                break
            yield chunk.times.item(0)
            made.take(chunk)
        return self._collected(made.found)

    def _chunks(self, slab: Slab, at_once: int | None = None) -> Iterable[Evaluations]:
        """Take in what came; gives the evaluation times that the slab completes."""
        if self._ended:
            raise UsageError(
                "the input of this query has ended", hint="start it again with a new checkpoint to add input"
            )
        before = self._through
        through = slab.through if before is None else max(slab.through, before)
        self._through, self._ended = through, slab.end
        if not self.streams.windows:
            return [] if before is not None else [Evaluations(np.array([through]), self._first_and_last)]
        self._receive(slab, HIGHEST if slab.end else self._clock.ready_below(through), before)
        share = None if slab.turn == _ALONE else slab.stretch
        return self._clock.chunks(through, end=slab.end, share=share, at_once=at_once)

    def _answers(self, chunk: Evaluations) -> Answers:
        """The answers at some evaluation times: by the first short cut that does not decline, or else by the
        operators."""
        rows: Relation | None = None
        self._times.append(chunk.times if len(chunk.times) <= LATEST else chunk.times[-LATEST:].copy())
        for cut in self._short_cuts:
            found = cut.answer(chunk)
            if isinstance(found, Answers):
                if len(found.at):
                    self._compiler.counts.answered(len(found.at))
                return found
            if found is not None:
                rows = found
                self._compiler.counts.answered(len(found))
                break
        at = chunk.at if rows is not None or not self._differs else self._followed(chunk.at)
        self._leaves.prepare(at)
        if rows is None:
            rows = self._root.changes() if self._differs and not at.void else self._root.run()
        return self._sent(rows, at, len(chunk.times))

    def _followed(self, at: Instants) -> Instants:
        """The instants, where totals are kept after the one that was evaluated last."""
        last = self._clock.last
        follows = self._compiler.keeps_totals and len(at) < FEW_INSTANTS and at.sub is None and not at.void
        self._present.follows = follows and last is not None and last.time <= at.time.item(0)
        if last is None or not self._present.follows or last.time == at.time.item(0):
            return at
        return Instants(np.append(last.time, at.time), np.append(np.False_, at.emitted))

    def _sent(self, rows: Relation, at: Instants, evaluations: int) -> Answers:
        """What the query's form and R2S make of the rows at these instants."""
        sent = self._forms.answers(rows, at) if len(rows) or self._asks else None
        silent = _without_answers(at, sent) if self.query.semantics.report_empty else _NONE
        index, columns = _NONE, self._nothing
        if sent is not None and len(sent.index):
            index, columns = sent.index, dict(sent.columns)
        numbers = None if at.sub is None else (index, silent)
        return Answers(at.time[index], columns, at.time[silent], evaluations, numbers)

    def _release(self) -> None:
        """Drop what no instant after the latest can show, where enough has come to make that worth while."""
        self._arrived = 0
        at = self._clock.latest()
        if at is not None:
            bounds = {name: window.hull(at) for name, window in self.streams.windows.items()}
            self.streams.release(bounds, int(at.time[0]))

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
                self._arrived += len(ready) + len(ready.messages)
                for track in self.streams.triples_of[name]:
                    track.append(ready)
            if self._expectant:
                for window in self._expectant:
                    window.notice()
                self._expectant = [window for window in self._expectant if window.first is None]

    def _first_and_last(self, times: Ids) -> Instants:
        """Of a query without windows: one evaluation, before which there was nothing."""
        if self.query.semantics.r2s is R2S.RSTREAM:
            return Instants(times, np.array([True]))
        return Instants(np.append(times - 1, times), np.array([False, True]), void=True)

    def _collected(self, parts: Sequence[Answers]) -> Answers:
        """The answers of several chunks of evaluation times as one, once all of them are made."""
        if self._arrived >= _GROWTH:
            self._release()
        if not parts:
            return self._silent
        if len(parts) > 1:
            told = [part for part in parts if len(part.at)]
            empty = np.concatenate([part.empty for part in parts])
            at, columns = (told[0].at, told[0].columns) if told else (_NONE, self._nothing)
            if len(told) > 1:
                at = np.concatenate([part.at for part in told])
                columns = {name: np.concatenate([part.columns[name] for part in told]) for name in columns}
            numbers = _renumbered(parts)
            parts = [Answers(at, columns, empty, sum(part.evaluations for part in parts), numbers)]
        self._evaluations += parts[0].evaluations
        return parts[0]

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
        self._compiler.forget_totals()
        self._expectant = [window for window in self.streams.windows.values() if window.first is None]
        for inputs in self._leaves.inputs.values():
            for each in inputs:
                each.use(each.triples)

    # The state in parts (contract.Segmented)

    def core(self) -> bytes:
        """Everything but the tables."""
        return dump(self.streams, self._clock, self._through, self._ended, core=True)

    def tables(self) -> Mapping[str, tuple[int, int]]:
        """The first live row of each log and track, and the number of the next."""
        return tables(self.streams)

    def rows(self, table: str, first: int, end: int) -> list[Ids]:
        """The columns of the rows with these numbers."""
        return table_rows(self.streams, table, first, end)

    def rebuild(self, core: bytes, tables: Mapping[str, Stretch]) -> None:
        """Replace the state by a stored one of the same query, or bring it up to one."""
        self._through, self._ended = load(core, self.streams, self._clock, tables)
        self._restored()

    def alike(self, other: IntervalEvaluator) -> bool:
        """Whether another evaluator of this query, which may have seen less, answers every later slab as this
        one does."""
        if self._through != other._through or self._ended or other._ended:
            return False
        self._release()
        other._release()
        return alike((self.streams, self._clock), (other.streams, other._clock))

    def live_ids(self) -> Ids:
        """Every id whose text may still be needed and may be known of streams alone: of live rows, waiting
        messages, views and constants. The texts of static graphs are known of these."""
        remote = [] if self.services is None else [self.services.ids()]
        return sorted_set(np.concatenate([self._constants, *self.streams.ids(), *remote]))

    def statistics(self) -> Mapping[str, Any]:
        """Counters for ``explain --analyze`` and metrics."""
        tracks = self.streams.triples.values()
        return {
            "evaluator": "interval",
            "evaluations": self._evaluations,
            "skipped": sum(each.skipped for each in self._short_cuts if isinstance(each, NothingThere)),
            "live_rows": sum(len(track.rows) for track in tracks),
            "live_messages": sum(len(each.log) for each in self.streams.arrivals.values()),
            "waiting_messages": sum(len(each.pending.time) for each in self.streams.arrivals.values()),
            "late": sum(each.late for each in self.streams.arrivals.values()),
            "bytes": sum(track.rows.bytes for track in tracks)
            + sum(each.log.bytes for each in self.streams.arrivals.values()),
            "leaves": {
                each.name: len(each.triples.rows)
                for inputs in self._leaves.inputs.values()
                for each in inputs
            },
            "views": dict(self._compiler.views),
            "operators": self._compiler.counts.of(self.plan.root),
            "times": np.concatenate([_NONE, *self._times])[-LATEST:].tolist(),
            "origins": {
                name: window.origin
                for name, window in self.streams.windows.items()
                if window.first is not None
            },
            "services": [] if self.services is None else self.services.freshness(self.name),
            "policy": self._policy.value,
            "routes": dict(self.routes),
            "indexes": asdict(self._leaves.counts),
        }


LATEST = 24
"""Evaluation times that are told of."""
_NONE = np.empty(0, np.int64)
_ALONE = (0, 1)
_GROWTH = 256
"""Rows and messages that may arrive before what has expired is looked for again."""


def _without_answers(at: Instants, found: Sent | None) -> Ids:
    """The instants of evaluations at which nothing is sent out."""
    silent = at.emitted.copy()
    if found is not None:
        silent[found.index] = False
    return np.flatnonzero(silent)


def _renumbered(parts: Sequence[Answers]) -> tuple[Ids, Ids] | None:
    """The numbers of evaluations of several parts, one after the other; a part has two instants for an
    evaluation at most, and one before them all."""
    rows, silent, before = [], [], 0
    for part in parts:
        if part.numbers is None:
            return None
        rows.append(part.numbers[0] + before)
        silent.append(part.numbers[1] + before)
        before += 2 * part.evaluations + 1
    return np.concatenate(rows), np.concatenate(silent)


def _terms(node: object) -> set[Term]:
    """Every constant that occurs in a query."""
    return {part for part in walk(node) if isinstance(part, IRI | Literal | BlankNode | TripleTerm)}
