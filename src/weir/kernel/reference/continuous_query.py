"""The continuous query over messages of terms: Γ(τ) at every evaluation time, then R2S.

Plain and complete: each evaluation builds the graphs anew and evaluates the algebra over them.
Numbers in brackets are points of decision semantics-time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from weir.errors import UsageError
from weir.kernel.functions import Context
from weir.kernel.functions.scalar import seed
from weir.kernel.reference.algebra import Evaluation
from weir.kernel.reference.datasets import (
    SDS,
    Dataset,
    Graph,
    Static,
    WindowContent,
    as_set,
    changes_read,
    static_dataset,
    window_dataset,
)
from weir.kernel.reference.federation import Federation
from weir.kernel.reference.multisets import Bindings, difference
from weir.kernel.reference.query_forms import Row, gamma, rows
from weir.kernel.reference.reports import Schedule, horizon
from weir.kernel.reference.windows import Held, Instant, Message, StreamWindow
from weir.language.algebra.query import R2S, Previous, Query
from weir.rdf.terms import IRI, Term, Triple, Variable


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One evaluation: its time, and what is sent out."""

    at: int
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class Due:
    """An evaluation that is complete and still to be made: its time, and what makes it."""

    at: int
    evaluate: Callable[[], Evaluated]


class ContinuousQuery:
    """A query over streams of terms. ``advance`` takes new messages and the T they reach."""

    def __init__(
        self,
        query: Query,
        static: Static | None = None,
        *,
        streams: Sequence[str] = (),
        federation: Federation | None = None,
    ) -> None:
        self.query = query
        self.federation = federation
        self.streams = expand(query, streams)
        self.windows = [
            StreamWindow(declared, stream)
            for declared in query.dataset.windows
            for stream in (self.streams if isinstance(declared.stream, Variable) else [declared.stream])
        ]
        self.schedule = Schedule(self.windows, self.streams)
        self.through: int | None = None
        self.ended = False
        self.late = 0
        self.evaluations = 0
        self.before: list[Bindings] = []
        self.before_time: int | None = None
        self.renew(static or Static())
        self._name = seed(query.output, query.form, query.pattern).hex()

    def advance(
        self, messages: Mapping[str, Sequence[Message]], through: int, *, end: bool = False
    ) -> Iterator[Evaluated]:
        """Every evaluation that became complete, in order."""
        return (due.evaluate() for due in self.due(messages, through, end=end))

    def due(
        self, messages: Mapping[str, Sequence[Message]], through: int, *, end: bool = False
    ) -> Iterator[Due]:
        """Every evaluation that became complete, in order, each to be made before the next is asked for."""
        if self.ended:
            raise UsageError(
                "the input of this query has ended", hint="start it again with a new checkpoint to add input"
            )
        for stream, batch in messages.items():
            self._receive(stream, batch)
        through = through if self.through is None else max(through, self.through)
        first, self.through, self.ended = self.through is None, through, end
        if not self.windows:
            if first:
                yield Due(through, partial(self._evaluate, Instant(through)))
            return
        for instant in self.schedule.due(through, end=end, graphs=self._graph_changes):
            yield Due(instant.time, partial(self._evaluate, instant))
        for window in self.windows:
            window.messages.drop_before(*horizon(window, self.schedule.time))

    def _receive(self, stream: str, batch: Sequence[Message]) -> None:
        oldest = self.through
        kept = [message for message in batch if oldest is None or message.time >= oldest]
        self.late += len(batch) - len(kept)
        for window in self.windows:
            if window.stream == stream:
                window.receive(kept)

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
        grain = max((window.unit or 1 for window in self.windows), default=1)
        return gamma(self.query, self.evaluation(Instant(instant.time - grain), refresh=False))

    def evaluation(self, instant: Instant, *, refresh: bool = True) -> Evaluation:
        """The query's algebra over what there is to see at an instant; remote data are fetched only where
        it is one to ``refresh`` them at."""
        held = {window: window.content(instant) for window in self.windows}
        context = Context(now=instant.time, timestamp=_timestamps(held))
        sds = self._sds(held, instant.time)
        return Evaluation(
            sds,
            context,
            federation=self.federation,
            refresh=refresh,
            key=f"{self._name} {instant.time}",
        )

    def _sds(self, held: Mapping[StreamWindow, Held], time: int) -> SDS:
        """The dataset [31–35]."""
        static = self._background(time)
        merged: list[Triple] = []
        occurrences: list[Triple] = []
        contents: dict[str, list[WindowContent]] = {w.name: [] for w in self.query.dataset.windows}
        for window, content in held.items():
            quads = [quad for _, quad in content.quads]
            if window.declaration.in_default:
                (occurrences if window.bag else merged).extend((s, p, o) for s, p, o, _ in quads)
            declared = window.declaration.stream
            bind = (declared.name, IRI(window.stream)) if isinstance(declared, Variable) else None
            contents[window.declaration.name].append(
                WindowContent(window_dataset(quads, bag=window.bag), bind)
            )
        new = [triple for triple in as_set(merged) if triple not in static.default.distinct]
        return SDS(
            Dataset(Graph(new + occurrences, base=static.default), static.named),
            {name: tuple(parts) for name, parts in contents.items()},
            tuple(w.name for w in self.query.dataset.named_windows if not w.unnamed),
        )

    def renew(self, static: Static) -> None:
        """Use these static graphs from now on."""
        self.static = static
        self._static: tuple[int, Dataset] | None = None
        self._changes = static.changes()
        self._graph_changes = changes_read(self.query, static)

    def _background(self, time: int) -> Dataset:
        """The static graphs at a time, built anew only when one of them has changed."""
        period = bisect_right(self._changes, time)
        if self._static is None or self._static[0] != period:
            self._static = (period, static_dataset(self.query, self.static, time))
        return self._static[1]


def expand(query: Query, registered: Sequence[str]) -> list[str]:
    """The streams that a query reads, those of a variable in its place, in the order of the text."""
    streams: list[str] = []
    for stream in query.streams:
        streams += sorted(registered) if isinstance(stream, Variable) else [stream]
    return list(dict.fromkeys(streams))


def _timestamps(held: Mapping[StreamWindow, Held]) -> Callable[[Term, Term, Term], int | None]:
    """f:timestamp [36]: the latest time of a triple in any window; looked up only where it is asked for."""

    def timestamp(*sought: Term) -> int | None:
        times = [t for content in held.values() for t, quad in content.quads if quad[:3] == sought]
        return max(times, default=None)

    return timestamp
