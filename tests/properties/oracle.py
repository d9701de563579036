"""What a story means, by plain code straight from docs/semantics.md: which messages get in, when the query
is evaluated, what its windows and graphs hold then, and what is sent out.

The whole input is at hand here, so nothing is kept, dropped or advanced. Of the kernel only the algebra over
terms and the query forms are used (``kernel.reference``): no match step, no planner, no frames, and none of
the kernel's windows and reports.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from properties.generate import Message, Quad
from properties.moments import Instant, View, evaluation_instants, is_complete_at_its_time
from properties.stories import Lines, Story, received
from weir.kernel.functions import Context
from weir.kernel.functions.scalar import seed
from weir.kernel.reference.algebra import Evaluation
from weir.kernel.reference.datasets import SDS, Dataset, Graph, WindowContent, as_set, window_dataset
from weir.kernel.reference.multisets import Bindings, difference
from weir.kernel.reference.query_forms import Row, gamma, rows
from weir.language import parse
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import parts
from weir.language.algebra.patterns import is_ordered
from weir.language.algebra.query import R2S, Ask, Describe, Previous, Query, Select
from weir.language.algebra.windows import WindowDeclaration
from weir.rdf.terms import IRI, Term, Triple, json_term

BEGINNING = -(2**62)
Content: TypeAlias = Mapping[View, list[tuple[int, Quad]]]


@dataclass(frozen=True)
class Evaluated:
    """One evaluation: what the query saw, the solutions of its pattern, and what is sent out of them."""

    at: int
    sds: SDS
    solutions: list[Bindings]
    sent: list[Row]


def declared(query: Query) -> Mapping[str, list[WindowDeclaration]]:
    """The windows on each stream."""
    found: dict[str, list[WindowDeclaration]] = {}
    for window in query.dataset.windows:
        assert isinstance(window.stream, str)
        found.setdefault(window.stream, []).append(window)
    return found


# What gets in


@dataclass
class _Stream:
    """A stream as the query reads it: T, and the messages that were not late. Where times are distinct, a
    message completes its own timestamp, for the messages after it in its lane at once."""

    lateness: int
    distinct: bool
    lanes: dict[str, int]
    ended: set[str] = field(default_factory=set)
    complete: int = BEGINNING
    taken: list[tuple[int, str, int, Message]] = field(default_factory=list)

    def take(self, brought: Mapping[str, Sequence[Message]], ended: set[str]) -> None:
        began = self.complete
        for lane, sent in brought.items():
            for message in sent:
                due = max(began, self.lanes[lane] - self.lateness) if self.distinct else began
                completes = self.distinct and bool(message.quads)
                self.lanes[lane] = max(self.lanes[lane], message.time + completes)
                if message.quads and message.time >= due:
                    self.taken.append((message.time, lane, len(self.taken), message))
        self.ended |= ended
        waited = [high for lane, high in self.lanes.items() if lane not in self.ended]
        reached = min(waited) - self.lateness if waited else 2**62
        self.complete = max(self.complete, reached)

    @property
    def messages(self) -> list[Message]:
        """By (time, lane, position in the lane)."""
        return [message for *_, message in sorted(self.taken, key=lambda each: each[:3])]


@dataclass(frozen=True)
class _Input:
    """Everything that got in, T at last, whether the input ended, and from when each change counts."""

    messages: Mapping[str, list[Message]]
    complete: int
    ended: bool
    effective: list[int]


def _read(query: Query, story: Story) -> _Input:
    streams = {
        name: _Stream(
            max(window.semantics.lateness for window in windows),
            any(window.semantics.times_distinct for window in windows),
            {lane: BEGINNING for stream, lane in story.lanes if stream == name},
        )
        for name, windows in declared(query).items()
    }
    effective = []
    complete = BEGINNING
    ended: set[tuple[str, str]] = set()
    for batch, brought in zip(story.batches, received(story), strict=True):
        for change in batch.changes:
            effective.append(max(BEGINNING if change.at is None else change.at, _present(query, complete)))
        ended |= batch.ended
        for name, stream in streams.items():
            own = {lane: sent for (other, lane), sent in brought.items() if other == name}
            stream.take(own, {lane for other, lane in batch.ended if other == name})
        complete = max(complete, min(stream.complete for stream in streams.values()))
    over = ended >= {lane for lane in story.lanes if lane[0] in streams}
    if over:
        complete = max(high for stream in streams.values() for high in stream.lanes.values())
    return _Input(
        {name: stream.messages for name, stream in streams.items()},
        complete,
        over,
        effective,
    )


def _present(query: Query, complete: int) -> int:
    """The earliest time at which the query cannot have been evaluated yet."""
    if complete <= BEGINNING // 2:
        return BEGINNING
    return complete + 1 if is_complete_at_its_time(query.dataset.windows) else complete


# What the graphs are


def _graphs(story: Story, effective: Sequence[int], time: int) -> dict[str | None, dict[Triple, None]]:
    """The static graphs at a time."""
    graphs: dict[str | None, dict[Triple, None]] = {None: dict.fromkeys(story.default)}
    graphs |= {name: dict.fromkeys(triples) for name, triples in story.named.items()}
    changes = [change for batch in story.batches for change in batch.changes]
    counted = sorted(range(len(changes)), key=lambda number: effective[number])
    for number in counted:
        if effective[number] > time:
            continue
        last: dict[Quad, bool] = {}
        for inserted, quads in changes[number].operations:
            for quad in quads:
                last[quad] = inserted
        for (s, p, o, name), inserted in last.items():
            key = name.value if isinstance(name, IRI) else None
            if inserted:
                graphs.setdefault(key, {})[s, p, o] = None
            elif key in graphs:
                graphs[key].pop((s, p, o), None)
    return graphs


def _static(query: Query, story: Story, effective: Sequence[int], time: int) -> Dataset:
    """The static graphs at a time, as the query's FROM clauses pick them."""
    graphs = _graphs(story, effective, time)
    default = list(graphs[None])
    for name in query.dataset.default:
        default += graphs.get(name, {})
    wanted = query.dataset.named or [name for name in graphs if name is not None]
    named: dict[Term, Graph] = {IRI(name): Graph(graphs[name]) for name in wanted if name in graphs}
    return Dataset(Graph(as_set(default)), named)


def _sds(query: Query, static: Dataset, content: Content) -> SDS:
    once: list[Triple] = [*static.default.triples]
    each_time: list[Triple] = []
    windows: dict[str, tuple[WindowContent, ...]] = {}
    for view, held in content.items():
        quads = [quad for _, quad in held]
        windows[view.declaration.name] = (WindowContent(window_dataset(quads, bag=view.bag)),)
        if view.declaration.in_default:
            (each_time if view.bag else once).extend((s, p, o) for s, p, o, _ in quads)
    named = tuple(window.name for window in query.dataset.named_windows)
    return SDS(Dataset(Graph(as_set(once) + each_time), static.named), windows, named)


# What is sent


class Oracle:
    """The evaluations of one of a story's queries, one after the other."""

    def __init__(self, story: Story, name: str) -> None:
        self.story = story
        self.name = name
        self.query = parse(story.queries[name], "rspql")
        self.input = _read(self.query, story)
        self.views = [
            View(window, str(window.stream), self.input.messages[str(window.stream)])
            for window in self.query.dataset.windows
        ]
        self.key = seed(self.query.output, self.query.form, self.query.pattern).hex()

    def evaluations(self) -> Iterator[Evaluated]:
        """Γ at every evaluation time, R2S, and the query's form."""
        query, before, last = self.query, list[Bindings](), None
        known = self.input
        instants = evaluation_instants(
            query, self.views, known.complete, end=known.ended, graphs=self._graph_changes()
        )
        for instant in instants:
            evaluation = self.evaluation(instant)
            now = gamma(query, evaluation)
            compared = before
            if query.semantics.previous is Previous.INSTANT and instant.time != last:
                compared = gamma(query, self.evaluation(Instant(instant.time - _grain(query))))
            match query.semantics.r2s:
                case R2S.RSTREAM:
                    kept = now
                case R2S.ISTREAM:
                    kept = difference(now, compared)
                case R2S.DSTREAM:
                    kept = difference(compared, now)
            before, last = now, instant.time
            yield Evaluated(instant.time, evaluation.sds, now, rows(query.form, kept, evaluation))

    def lines(self) -> Lines:
        """The result lines, in their order."""
        found: Lines = []
        semantics = self.query.semantics
        for each in self.evaluations():
            at = stamp(each.at + semantics.emit_after)
            head = {"query": self.name, "at": at, "op": semantics.r2s.value}
            found += [{**head, **body} for body in _bodies(self.query, each.sent)]
            if semantics.report_empty and not each.sent:
                found.append({**head, "empty": True})
        return found

    def _graph_changes(self) -> list[int]:
        """When a graph that the query reads becomes another [31]."""
        read, dataset = set(_read_graphs(self.query.pattern)), self.query.dataset
        if isinstance(self.query.form, Describe):
            read |= {None, "?"}

        def is_read(name: str | None) -> bool:
            if None in read and (name is None or name in dataset.default):
                return True
            return bool({"?", name} & read) and name is not None and name in (dataset.named or [name])

        def seen(time: int) -> object:
            graphs = _graphs(self.story, self.input.effective, time)
            return {name: set(triples) for name, triples in graphs.items() if is_read(name)}

        return [time for time in sorted(set(self.input.effective)) if seen(time) != seen(time - 1)]

    def evaluation(self, instant: Instant) -> Evaluation:
        content = {view: view.content(instant) for view in self.views}
        static = _static(self.query, self.story, self.input.effective, instant.time)
        context = Context(now=instant.time, timestamp=_timestamps(content))
        sds = _sds(self.query, static, content)
        return Evaluation(sds, context, key=f"{self.key} {instant.time}")


def _grain(query: Query) -> int:
    """How far back the instant before is: under TICK TIME its unit, else a microsecond."""
    return max((window.semantics.tick.every or 1 for window in query.dataset.windows), default=1)


def _read_graphs(pattern: object, within: str | None = None) -> Iterator[str | None]:
    """The graphs that patterns outside of windows are matched against: the default graph as None, any named
    one as ``?``."""
    match pattern:
        case a.Window():
            return
        case a.Graph(name, inner):
            inside = name.value if isinstance(name, IRI) else "?"
            yield inside
            yield from _read_graphs(inner, inside)
        case a.PathPattern() | a.BGP() if pattern != a.BGP(()):
            yield within
        case _:
            for each in parts(pattern):
                yield from _read_graphs(each, within)


def _timestamps(content: Content) -> Any:
    def latest(*triple: Term) -> int | None:
        times = [time for held in content.values() for time, quad in held if quad[:3] == triple]
        return max(times, default=None)

    return latest


def stamp(time: int) -> str:
    """xsd:dateTime in UTC with milliseconds, and microseconds where there are any."""
    assert 0 <= time < 86_400_000_000
    seconds, rest = divmod(time, 1_000_000)
    fraction = f"{rest:06}" if rest % 1_000 else f"{rest // 1_000:03}"
    return f"1970-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction}Z"


def _bodies(query: Query, sent: Sequence[Row]) -> list[dict[str, Any]]:
    if not sent:
        return []
    if isinstance(query.form, Ask):
        return [{"boolean": row} for row in sent]
    if isinstance(query.form, Select):
        names = [variable.name for variable in query.form.variables]
        shown = [
            {"bindings": {name: json_term(row[name]) for name in names if name in row}}
            for row in sent
            if isinstance(row, dict)
        ]
        return shown if is_ordered(query.pattern) else sorted(shown, key=_text)
    triples = [row for row in sent if isinstance(row, tuple)]
    return [{"triples": sorted(f"{s} {p} {o} ." for s, p, o in triples)}]


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
