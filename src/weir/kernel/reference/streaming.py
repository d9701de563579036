"""The continuous query over messages of terms: Γ(τ) at every evaluation time, then R2S.

Plain and complete: each evaluation builds the graphs anew and evaluates the algebra over them.
Numbers in brackets are points of decision semantics-time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from weir.errors import UsageError
from weir.kernel.functions import Context
from weir.kernel.functions.draws import seed
from weir.kernel.reference.federation import Federation
from weir.kernel.reference.forms import Row, gamma, rows
from weir.kernel.reference.graphs import Dataset, Graph, WindowContent, World, as_set, window_dataset
from weir.kernel.reference.messages import Instant, Message
from weir.kernel.reference.multisets import Bindings, difference
from weir.kernel.reference.patterns import Evaluation, ServiceHook
from weir.kernel.reference.reports import horizon
from weir.kernel.reference.schedule import Schedule
from weir.kernel.reference.windows import Held, WindowView
from weir.language.algebra.query import R2S, Previous, Query
from weir.rdf.terms import IRI, Term, Triple, Variable


@dataclass(frozen=True, slots=True)
class Timed:
    """A static triple valid in ``[start, end)``; None is without bound."""

    triple: Triple
    start: int | None = None
    end: int | None = None

    def valid(self, time: int) -> bool:
        return (self.start is None or self.start <= time) and (self.end is None or time < self.end)


@dataclass(frozen=True, slots=True)
class Static:
    """The registered default graph and named graphs: RSP-QL's time-varying graphs.

    ``made`` has the time from which a graph exists that was not there from the beginning.
    """

    default: Sequence[Timed] = ()
    named: Mapping[str, Sequence[Timed]] = field(default_factory=dict)
    made: Mapping[str, int] = field(default_factory=dict)

    def changes(self) -> list[int]:
        """The times at which some triple comes or goes, or a graph comes into being, in order."""
        timed = [*self.default, *(each for graph in self.named.values() for each in graph)]
        times = {time for each in timed for time in (each.start, each.end) if time is not None}
        return sorted(times.union(self.made.values()))

    @staticmethod
    def of(default: Sequence[Triple] = (), named: Mapping[str, Sequence[Triple]] | None = None) -> Static:
        """Graphs that never change."""
        graphs = {name: [Timed(t) for t in triples] for name, triples in (named or {}).items()}
        return Static([Timed(t) for t in default], graphs)


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One evaluation: its time, and what is sent out."""

    at: int
    rows: list[Row]


class ContinuousQuery:
    """A query over streams of terms. ``advance`` takes new messages and the T they reach."""

    def __init__(
        self,
        query: Query,
        static: Static | None = None,
        *,
        streams: Sequence[str] = (),
        service: ServiceHook | None = None,
        federation: Federation | None = None,
    ) -> None:
        self.query = query
        self.static = static or Static()
        self.service = service
        self.federation = federation
        self.streams = expand(query, streams)
        self.views = [
            WindowView(window, stream)
            for window in query.dataset.windows
            for stream in (self.streams if isinstance(window.stream, Variable) else [window.stream])
        ]
        self.schedule = Schedule(self.views, self.streams)
        self.through: int | None = None
        self.ended = False
        self.late = 0
        self.evaluations = 0
        self.before: list[Bindings] = []
        self.before_time: int | None = None
        self._static: tuple[int, Dataset] | None = None
        self._changes = self.static.changes()
        self._name = seed(query.output, query.form, query.pattern).hex()

    def advance(
        self, messages: Mapping[str, Sequence[Message]], through: int, *, end: bool = False
    ) -> Iterator[Evaluated]:
        """Every evaluation that became complete, in order."""
        if self.ended:
            raise UsageError(
                "the input of this query has ended", hint="start it again with a new checkpoint to add input"
            )
        for stream, batch in messages.items():
            self._receive(stream, batch)
        through = through if self.through is None else max(through, self.through)
        first, self.through, self.ended = self.through is None, through, end
        if not self.views:
            if first:
                yield self._evaluate(Instant(through))
            return
        for instant in self.schedule.due(through, end=end):
            yield self._evaluate(instant)
        for view in self.views:
            view.messages.drop_before(*horizon(view, self.schedule.time))

    def _receive(self, stream: str, batch: Sequence[Message]) -> None:
        oldest = self.through
        kept = [message for message in batch if oldest is None or message.time >= oldest]
        self.late += len(batch) - len(kept)
        for view in self.views:
            if view.stream == stream:
                view.receive(kept)

    # One evaluation

    def _evaluate(self, instant: Instant) -> Evaluated:
        self.evaluations += 1
        before = self._before(instant) if self.query.semantics.r2s is not R2S.RSTREAM else []
        evaluation = self.evaluation(instant)
        now = gamma(self.query, evaluation)
        match self.query.semantics.r2s:
            case R2S.RSTREAM:
                kept = now
            case R2S.ISTREAM:
                kept = difference(now, before)
            case R2S.DSTREAM:
                kept = difference(before, now)
        self.before, self.before_time = now, instant.time
        return Evaluated(instant.time, rows(self.query.form, kept, evaluation))

    def _before(self, instant: Instant) -> list[Bindings]:
        """Γ(before) [27, 28]."""
        again = instant.time == self.before_time
        if self.query.semantics.previous is Previous.EVALUATION or again:
            return self.before
        return gamma(self.query, self.evaluation(Instant(instant.time - 1), refresh=False))

    def evaluation(self, instant: Instant, *, refresh: bool = True) -> Evaluation:
        """The query's algebra over what there is to see at an instant; remote data are fetched only where
        it is one to ``refresh`` them at."""
        held = {view: view.content(instant) for view in self.views}
        context = Context(now=instant.time, timestamp=_timestamps(held))
        world = self._world(held, instant.time)
        return Evaluation(
            world,
            context,
            service=self.service,
            federation=self.federation,
            refresh=refresh,
            key=f"{self._name} {instant.time}",
        )

    def _world(self, held: Mapping[WindowView, Held], time: int) -> World:
        """The dataset [31–35]."""
        static = self._background(time)
        merged: list[Triple] = []
        occurrences: list[Triple] = []
        contents: dict[str, list[WindowContent]] = {w.name: [] for w in self.query.dataset.windows}
        for view, content in held.items():
            quads = [quad for _, quad in content.quads]
            if view.declaration.in_default:
                (occurrences if view.bag else merged).extend((s, p, o) for s, p, o, _ in quads)
            declared = view.declaration.stream
            bind = (declared.name, IRI(view.stream)) if isinstance(declared, Variable) else None
            contents[view.declaration.name].append(WindowContent(window_dataset(quads, bag=view.bag), bind))
        new = [triple for triple in as_set(merged) if triple not in static.default.distinct]
        return World(
            Dataset(Graph(new + occurrences, base=static.default), static.named),
            {name: tuple(parts) for name, parts in contents.items()},
            tuple(w.name for w in self.query.dataset.named_windows if not w.name.startswith(".")),
        )

    def _background(self, time: int) -> Dataset:
        """The static graphs at a time, built anew only when one of them has changed."""
        period = bisect_right(self._changes, time)
        if self._static is None or self._static[0] != period:
            self._static = (period, static_dataset(self.query, self.static, time))
        return self._static[1]


def static_dataset(query: Query, static: Static, time: int) -> Dataset:
    """The dataset of the static graphs [31, 34]: the registered one as the query's clauses change it."""
    asked, windows = query.dataset, query.dataset.windows
    default = valid_at(time, static.default)
    known = {
        name: valid_at(time, graph)
        for name, graph in static.named.items()
        if name not in static.made or static.made[name] <= time
    }
    if not windows and (asked.default or asked.named):
        default = []
    for name in asked.default:
        default += known.get(name, [])
    if asked.named or (not windows and asked.default):
        known = {name: known.get(name, []) for name in asked.named}
    return Dataset.of(default, known)


def valid_at(time: int, graph: Sequence[Timed]) -> list[Triple]:
    """The triples that a graph has at a time."""
    return [timed.triple for timed in graph if timed.valid(time)]


def expand(query: Query, registered: Sequence[str]) -> list[str]:
    """The streams that a query reads, those of a variable in its place, in the order of the text."""
    streams: list[str] = []
    for stream in query.streams:
        streams += sorted(registered) if isinstance(stream, Variable) else [stream]
    return list(dict.fromkeys(streams))


class _timestamps:
    """f:timestamp [36]: the latest time of a triple in any window; looked up only where it is asked for."""

    def __init__(self, held: Mapping[WindowView, Held]) -> None:
        self.held = held

    def __call__(self, subject: Term, predicate: Term, object: Term) -> int | None:
        sought = (subject, predicate, object)
        times = [t for content in self.held.values() for t, quad in content.quads if quad[:3] == sought]
        return max(times, default=None)
