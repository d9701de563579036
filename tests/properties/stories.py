"""A whole run as text: a query, graphs, and what comes by which lane in which batch; and how to run it.

``story`` draws one, ``run`` takes it through every stage but Spark. The terms that the query sees of the
messages, blank nodes under their names, are in ``received``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, TypeAlias

from properties.generate import ABSENT, Message, Quad, graph, messages, query, triple, windows
from properties.random_patterns import GRAPHS, REIFIES
from weir.language.algebra.query import Dialect, Query, Semantics
from weir.language.algebra.windows import (
    AlignedTo,
    Past,
    Range,
    Report,
    StartAt,
    Tick,
    TickKind,
    WindowDeclaration,
    WindowKind,
)
from weir.language.writing.dialects import write
from weir.rdf.terms import Term, Triple, TripleTerm, Variable, relabelled
from weir.testing import KEY, Scenario

Lane: TypeAlias = tuple[str, str]
"""A stream and the name of one of its lanes."""
Lines: TypeAlias = list[dict[str, Any]]


@dataclass(frozen=True)
class Change:
    """An update of static graphs: insertions (True) and deletions, asked for at a time or for the present."""

    operations: tuple[tuple[bool, tuple[Quad, ...]], ...]
    at: int | None = None

    @property
    def request(self) -> str:
        return " ; ".join(
            f"{'INSERT' if inserted else 'DELETE'} DATA {{ {' '.join(map(_statement, quads))} }}"
            for inserted, quads in self.operations
        )


def _statement(quad: Quad) -> str:
    subject, predicate, target, name = quad
    plain = f"{subject} {predicate} {target} ."
    return plain if name is None else f"GRAPH {name} {{ {plain} }}"


@dataclass(frozen=True)
class Batch:
    """What changes before a batch, what each lane brings with it, and which lanes it ends."""

    sent: Mapping[Lane, tuple[Message, ...]]
    ended: frozenset[Lane] = frozenset()
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class Story:
    """``queries`` are texts by name; ``named`` graphs are there from the beginning, also where they are
    empty. Times and windows are multiples of ``unit`` µs."""

    queries: Mapping[str, str]
    lanes: tuple[Lane, ...]
    batches: tuple[Batch, ...]
    default: tuple[Triple, ...] = ()
    named: Mapping[str, tuple[Triple, ...]] = field(default_factory=dict)
    unit: int = 1

    def __str__(self) -> str:
        lines = [f"{name}:\n{text}" for name, text in self.queries.items()]
        lines.append(f"default graph: {_turtle(self.default)}")
        lines += [f"graph <{name}>: {_turtle(triples)}" for name, triples in self.named.items()]
        for number, batch in enumerate(self.batches):
            lines.append(f"batch {number}:")
            lines += [f"  {change.request} at {change.at}" for change in batch.changes]
            for (stream, lane), sent in batch.sent.items():
                lines += [f"  {stream} {lane}: {line}" for each in sent for line in written(each)]
            lines += [f"  end of {stream} {lane}" for stream, lane in sorted(batch.ended)]
        return "\n".join(lines)

    @property
    def text(self) -> str:
        """The text of the only query."""
        (text,) = self.queries.values()
        return text


# Drawing one


def story(rng: Random, *, count: int = 1, depth: int = 2, tidy: bool = False, unit: int = 1) -> Story:
    """So many queries over windows on one or two streams of one or two lanes; unless ``tidy``, some messages
    are late and graphs change. The unit of time is ``unit`` µs at the least."""
    horizon, lateness = rng.choice((6, 12, 25)), rng.choice((0, 0, 0, 2, 5))
    unit = max(unit, rng.choice((1, 1, 1_000, 1_000_000)))
    made = [asked(rng, number, horizon, lateness, unit, depth) for number in range(count)]
    declared = [window for each in made for window in each.dataset.windows]
    tuples = any(each.semantics.tick.kind is TickKind.TUPLE for each in declared)
    texts = {f"q{number}": reified(write(each, Dialect.RSPQL)) for number, each in enumerate(made)}
    streams = sorted({str(each.stream) for each in declared})
    return told(rng, texts, streams, (horizon, lateness, unit), single=tuples, tidy=tidy)


def told(
    rng: Random,
    texts: Mapping[str, str],
    streams: Sequence[str],
    sizes: tuple[int, int, int],
    *,
    single: bool = False,
    tidy: bool = False,
) -> Story:
    """These queries over random input: times below a horizon, disordered within a lateness, in units of so
    many microseconds. ``single`` is for one lane a stream."""
    horizon, lateness, unit = sizes
    queue: list[tuple[Lane, Message]] = []
    lanes: list[Lane] = []
    for stream in streams:
        own = [(stream, str(number)) for number in range(1 if single or rng.random() < 0.75 else 2)]
        lanes += own
        arrived = disordered(rng, messages(rng, horizon), lateness, 0 if tidy else 0.05)
        queue = shuffled(rng, queue, [(rng.choice(own), each) for each in arrived])
    queue = [(lane, Message(each.time * unit, each.quads)) for lane, each in parted(queue)]
    named = {
        each.value: tuple(row[:3] for row in graph(rng, horizon, False))
        for each in GRAPHS
        if rng.random() < 0.7
    }
    return Story(
        texts,
        tuple(lanes),
        cut(rng, queue, lanes, 0 if tidy else horizon * unit),
        tuple(row[:3] for row in graph(rng, horizon, False)),
        named,
        unit,
    )


def asked(rng: Random, number: int, horizon: int, lateness: int, unit: int, depth: int) -> Query:
    """A query that can be written; the first has the lateness that is given."""
    own = lateness if not number else rng.choice((lateness, lateness, 0, 3))
    declared = tuple(_writable(each) for each in windows(rng, horizon, own))
    made = query(rng, declared, depth)
    return scaled(replace(made, output=f"urn:out{number}"), unit)


def _writable(window: WindowDeclaration) -> WindowDeclaration:
    """As a text can say it: every window has a report, a past window a step, a stream a name."""
    semantics = window.semantics
    kind, report = window.kind, semantics.report
    if isinstance(kind, Past) and kind.step is None:
        kind = replace(kind, step=kind.start - kind.end)
    if report == Report():
        closes = isinstance(kind, Range | Past) and kind.step is not None
        report = Report(window_close=closes, content_change=not closes)
    stream = "urn:s1" if isinstance(window.stream, Variable) else window.stream
    return replace(window, kind=kind, stream=stream, semantics=replace(semantics, report=report))


def scaled(made: Query, unit: int) -> Query:
    """The query with every duration so many times as long."""
    semantics: Semantics = replace(made.semantics, emit_after=made.semantics.emit_after * unit)
    declared = tuple(_scaled_window(each, unit) for each in made.dataset.windows)
    return replace(made, semantics=semantics, dataset=replace(made.dataset, windows=declared))


def _scaled_window(window: WindowDeclaration, unit: int) -> WindowDeclaration:
    kind: WindowKind = window.kind
    if isinstance(kind, Range):
        kind = Range(kind.range * unit, None if kind.step is None else kind.step * unit)
    elif isinstance(kind, Past):
        kind = Past(kind.start * unit, kind.end * unit, None if kind.step is None else kind.step * unit)
    old = window.semantics
    every, period = old.tick.every, old.report.periodic
    start = old.start
    if isinstance(start, StartAt):
        start = StartAt(start.instant * unit)
    elif isinstance(start, AlignedTo):
        start = AlignedTo(start.duration * unit)
    semantics = replace(
        old,
        report=replace(old.report, periodic=None if period is None else period * unit),
        tick=Tick(old.tick.kind, None if every is None else every * unit),
        start=start,
        lateness=old.lateness * unit,
    )
    return replace(window, kind=kind, semantics=semantics)


def disordered(rng: Random, sent: Sequence[Message], lateness: int, late: float) -> list[Message]:
    """In an order of arrival: a message may come before older ones, by the chance ``late`` beyond the
    lateness."""
    waiting, order = list(sent), []
    while waiting:
        near = [each for each in waiting if each.time <= waiting[0].time + lateness]
        chance = rng.random()
        chosen = rng.choice(waiting if chance < late else near) if chance < 0.5 else waiting[0]
        waiting.remove(chosen)
        order.append(chosen)
    return order


def shuffled(
    rng: Random, one: list[tuple[Lane, Message]], other: list[tuple[Lane, Message]]
) -> list[tuple[Lane, Message]]:
    """Both, each in its order."""
    merged, rest = [], [list(one), list(other)]
    while any(rest):
        merged.append(rng.choice([each for each in rest if each]).pop(0))
    return merged


def parted(queue: Sequence[tuple[Lane, Message]]) -> list[tuple[Lane, Message]]:
    """Neighbours of one time in a lane are one message, as in the text of a stream."""
    found: list[tuple[Lane, Message]] = []
    last: dict[Lane, int] = {}
    for lane, each in queue:
        place = last.get(lane)
        if place is not None and found[place][1].time == each.time:
            found[place] = (lane, Message(each.time, found[place][1].quads + each.quads))
        else:
            last[lane] = len(found)
            found.append((lane, each))
    return found


def cut(
    rng: Random, queue: Sequence[tuple[Lane, Message]], lanes: Sequence[Lane], horizon: int
) -> tuple[Batch, ...]:
    """The queue cut into batches anywhere; mostly all lanes end, some before others, some with the last
    messages and some after them. Graphs change where there is a ``horizon`` for it."""
    bounds = sorted(rng.randrange(len(queue) + 1) for _ in range(rng.randrange(5)))
    pieces = [queue[low:high] for low, high in zip([0, *bounds], [*bounds, len(queue)], strict=True)]
    open_, batches = set(lanes), []
    ends = rng.random() < 0.75
    for number, piece in enumerate(pieces):
        sent = {lane: tuple(each for other, each in piece if other == lane) for lane in lanes}
        later = {lane for rest in pieces[number + 1 :] for lane, _ in rest}
        over = {lane for lane in sorted(open_) if ends and lane not in later and rng.random() < 0.4}
        open_ -= over
        changes = tuple(change(rng, horizon) for _ in range(horizon > 0 and rng.random() < 0.15))
        batches.append(Batch(sent, frozenset(over), changes))
    if ends and open_:
        batches.append(Batch({}, frozenset(open_)))
    return tuple(batches)


def change(rng: Random, horizon: int) -> Change:
    operations = []
    for _ in range(rng.choice((1, 1, 2))):
        names: list[Term | None] = [None, None, *GRAPHS, ABSENT]
        quads = tuple((*triple(rng), rng.choice(names)) for _ in range(rng.randrange(1, 4)))
        operations.append((rng.random() < 0.6, quads))
    return Change(tuple(operations), None if rng.random() < 0.4 else rng.randrange(horizon))


# As text


def written(message: Message) -> list[str]:
    """The lines of a message."""
    time = str(message.time // 1_000)
    if message.time % 1_000:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=message.time)
        time = moment.isoformat().replace("+00:00", "Z")
    statements = [" ".join(str(term) for term in quad if term is not None) + " ." for quad in message.quads]
    return [f"{time}\t{each}" for each in statements or [""]]


def _turtle(triples: Sequence[Triple]) -> str:
    """With reifiers and annotations in their own syntax."""
    return "".join(f"{_turtle_statement(each, triples)} .\n" for each in triples)


def _turtle_statement(given: Triple, triples: Sequence[Triple]) -> str:
    subject, predicate, target = given
    if predicate != REIFIES or not isinstance(target, TripleTerm):
        return f"{subject} {predicate} {target}"
    inner = f"{target.subject} {target.predicate} {target.object} ~ {subject}"
    known = (target.subject, target.predicate, target.object) in triples
    return inner if known else f"<< {inner} >>"


def reified(text: str) -> str:
    """The text of a query with reified triples where it has reifiers of triple terms."""
    return _REIFIER.sub(r"<< \2 \3 \4 ~ \1 >>", text)


_REIFIER = re.compile(r"(\S+) (?:rdf:reifies|<\S+#reifies>) <<\( (\S+) (\S+) (\S+) \)>>")


def received(given: Story) -> list[dict[Lane, list[Message]]]:
    """The messages of each batch with their blank nodes as they are named inside."""
    position = dict.fromkeys(given.lanes, 0)
    batches = []
    for batch in given.batches:
        brought: dict[Lane, list[Message]] = {}
        for lane, sent in batch.sent.items():
            for message in sent:
                brought.setdefault(lane, []).append(_named(message, lane, position[lane]))
                position[lane] += sum(len(line.encode()) + 1 for line in written(message))
        batches.append(brought)
    return batches


def _named(message: Message, lane: Lane, position: int) -> Message:
    """Blank nodes get the name of (lane, position of the message, label)."""
    tag = hashlib.blake2b(" ".join(lane).encode(), digest_size=6, key=KEY).hexdigest()

    def name(term: Term | None) -> Any:
        return None if term is None else relabelled(term, lambda label: f"{tag}p{position}x{label}")

    quads = tuple((name(s), name(p), name(o), name(g)) for s, p, o, g in message.quads)
    return Message(message.time, quads)


# Running


def begun(given: Story, others: Mapping[str, str] | None = None, **settings: Any) -> Scenario:
    """A scenario with the story's query, graphs and lanes; ``others`` are more queries."""
    graphs = {None: _turtle(given.default)} | {n: _turtle(rows) for n, rows in given.named.items()}
    streams = list(dict.fromkeys(stream for stream, _ in given.lanes))
    queries = {**given.queries, **(others or {})}
    settings.setdefault("dialect", "rspql")
    scenario = Scenario(queries, graphs=graphs, streams=streams, **settings)
    for lane in given.lanes:
        scenario.lane(*lane)
    return scenario


def run(given: Story, others: Mapping[str, str] | None = None, **settings: Any) -> dict[str, Lines]:
    """The result lines of each of the story's queries, in the order in which they come."""
    scenario = begun(given, others, **settings)
    found: Lines = []
    for batch in given.batches:
        found += step(scenario, batch)
    assert not scenario.failures, scenario.failures
    return {name: [line for line in found if line["query"] == name] for name in given.queries}


def step(scenario: Scenario, batch: Batch) -> Lines:
    """One batch."""
    for change in batch.changes:
        scenario.update(change.request, change.at)
    for lane, sent in batch.sent.items():
        scenario.lane(*lane).put("".join(line + "\n" for each in sent for line in written(each)))
    for lane in batch.ended:
        scenario.lane(*lane).end()
    return scenario.batch()
