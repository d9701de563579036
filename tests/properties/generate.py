"""Random continuous queries over random timed messages, small enough that everything happens often.

One source of chance (``random.Random`` or hypothesis's) decides everything, so a seed is a case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

import numpy as np

from properties.random_patterns import (
    GRAPHS,
    NODES,
    ODD,
    PREDICATES,
    REIFIES,
    VALUES,
    Patterns,
    form,
    stated,
)
from weir.kernel.contract import Background, GraphTable, Slab
from weir.language.algebra.query import R2S, Dataset, Previous, Query, Select, Semantics
from weir.language.algebra.scope import visible
from weir.language.algebra.windows import (
    AlignedTo,
    All,
    AtFirst,
    Bounds,
    Content,
    Elements,
    Now,
    Past,
    Range,
    Report,
    Start,
    StartAt,
    Tick,
    TickKind,
    Triples,
    WindowDeclaration,
    WindowKind,
    WindowSemantics,
)
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir.rdf.terms import IRI, BlankNode, Term, TripleTerm, Variable

STREAMS = ("urn:s1", "urn:s2")
BLANKS = (BlankNode("b0"), BlankNode("b1"))
ABSENT = IRI("urn:none")
"""A graph that is never registered."""
Quad = tuple[Term, Term, Term, Term | None]


@dataclass(frozen=True)
class Message:
    """A message before encoding; without quads it is a heartbeat."""

    time: int
    quads: tuple[Quad, ...]


@dataclass(frozen=True)
class Step:
    """One slab: what arrives on each stream, in order of time, and T."""

    arrivals: Mapping[str, tuple[Message, ...]]
    through: int
    end: bool = False


@dataclass(frozen=True)
class Case:
    """A query, its background and the slabs of its input."""

    query: Query
    default: tuple[tuple[Term, Term, Term, int | None, int | None], ...]
    named: Mapping[str, tuple[tuple[Term, Term, Term, int | None, int | None], ...]]
    steps: tuple[Step, ...]


# Data


def triple(rng: Random) -> tuple[Term, Term, Term]:
    if rng.random() < 0.08:
        return rng.choice(NODES), REIFIES if rng.random() < 0.7 else rng.choice(PREDICATES), stated(rng)
    target = rng.choice(NODES) if rng.random() < 0.6 else rng.choice((*VALUES, *VALUES, rng.choice(ODD)))
    return rng.choice(NODES), rng.choice(PREDICATES), target


def quad(rng: Random) -> Quad:
    subject, predicate, target = triple(rng)
    if rng.random() < 0.1:
        subject = rng.choice(BLANKS)
    if rng.random() < 0.1:
        target = rng.choice(BLANKS)
        if rng.random() < 0.2:
            target = TripleTerm(rng.choice(BLANKS), rng.choice(PREDICATES), target)
    return subject, predicate, target, rng.choice(GRAPHS) if rng.random() < 0.3 else None


def messages(rng: Random, horizon: int) -> list[Message]:
    """Messages in order of time; some times have several, some have none."""
    times = sorted(rng.randrange(horizon) for _ in range(rng.randrange(1, 16)))
    if rng.random() < 0.2:
        times.append(horizon + rng.randrange(horizon * 3))
    return [
        Message(t, tuple(quad(rng) for _ in range(0 if rng.random() < 0.1 else rng.randrange(1, 5))))
        for t in times
    ]


def graph(
    rng: Random, horizon: int, varying: bool
) -> tuple[tuple[Term, Term, Term, int | None, int | None], ...]:
    chosen = list(dict.fromkeys(triple(rng) for _ in range(rng.randrange(6))))
    rows = []
    for each in chosen:
        start = rng.randrange(-2, horizon) if varying and rng.random() < 0.5 else None
        end = (start or 0) + rng.randrange(1, horizon) if varying and rng.random() < 0.5 else None
        rows.append((*each, start, end))
    return tuple(rows)


def slabs(rng: Random, streams: Mapping[str, list[Message]], lateness: int, cuts: int) -> tuple[Step, ...]:
    """The messages in one order of arrival, disordered within the lateness, cut into slabs.

    A stream's T is its largest time so far less the lateness; no message is older than the T with which
    its slab begins. The query's T is the least of its streams'.
    """
    arrivals = []
    for name, sent in streams.items():
        reach = None
        waiting = list(sent)
        order = []
        while waiting:
            oldest = waiting[0].time
            near = [m for m in waiting if m.time <= oldest + lateness and _first_of_its_time(waiting, m)]
            chosen = rng.choice(near) if rng.random() < 0.5 else waiting[0]
            waiting.remove(chosen)
            order.append(chosen)
            reach = chosen.time if reach is None else max(reach, chosen.time)
        arrivals.append((name, order))
    queue: list[tuple[str, Message]] = []
    rest = {name: list(order) for name, order in arrivals}
    while any(rest.values()):
        name = rng.choice([name for name, left in rest.items() if left])
        queue.append((name, rest[name].pop(0)))
    bounds = sorted(rng.randrange(len(queue) + 1) for _ in range(cuts))
    steps = []
    largest: dict[str, int] = {}
    through = -(10**9)
    for low, high in zip([0, *bounds], [*bounds, len(queue)], strict=True):
        batch: dict[str, list[Message]] = {name: [] for name in streams}
        for name, message in queue[low:high]:
            batch[name].append(message)
            largest[name] = max(largest.get(name, message.time), message.time)
        if len(largest) == len(streams):
            through = max(through, min(time - lateness for time in largest.values()))
        ordered = {name: tuple(sorted(sent, key=lambda m: m.time)) for name, sent in batch.items()}
        steps.append(Step(ordered, through))
    if rng.random() < 0.7:
        steps.append(Step({}, through, end=True))
    return tuple(steps)


def _first_of_its_time(waiting: list[Message], message: Message) -> bool:
    """Messages of equal time keep their order: it is theirs in the lane."""
    return next(m for m in waiting if m.time == message.time) is message


# Windows


def duration(rng: Random) -> int:
    return rng.randrange(1, 9)


def kind(rng: Random) -> WindowKind:
    match rng.randrange(9):
        case 0:
            return Now()
        case 1:
            return All()
        case 2 | 3:
            return Range(duration(rng), duration(rng) if rng.random() < 0.7 else None)
        case 4:
            width = duration(rng)
            return Range(width, width)
        case 5:
            end = rng.randrange(4)
            return Past(end + duration(rng), end, duration(rng) if rng.random() < 0.7 else None)
        case 6 | 7:
            return Triples(rng.randrange(1, 6), rng.randrange(1, 5) if rng.random() < 0.5 else None)
        case _:
            return Elements(rng.randrange(1, 5), rng.randrange(1, 4) if rng.random() < 0.5 else None)


def report(rng: Random, window: WindowKind) -> Report:
    closes = not isinstance(window, Now | All) and window.step is not None
    periodic = duration(rng) if rng.random() < 0.2 else None
    return Report(
        window_close=closes and rng.random() < 0.6,
        content_change=rng.random() < (0.3 if closes else 0.8),
        periodic=periodic,
        non_empty=rng.random() < 0.4,
        closed=closes and periodic is not None and rng.random() < 0.6,
    )


def tick(rng: Random) -> Tick:
    """The one tick of a query."""
    chance = rng.random()
    if chance < 0.12:
        return Tick(TickKind.TUPLE)
    if chance < 0.24:
        return Tick(TickKind.TIME, duration(rng))
    return Tick(TickKind.CHANGE if chance < 0.5 else TickKind.BATCH)


def windows(rng: Random, horizon: int, lateness: int) -> tuple[WindowDeclaration, ...]:
    """Up to three windows of one tick; those of a variable are in no text but CQELS-QL's."""
    looks = tick(rng)
    promised = rng.random() < 0.1
    moving = looks.kind is TickKind.CHANGE and rng.random() < 0.5
    found = []
    for number in range(rng.randrange(1, 4)):
        chosen = kind(rng)
        start: Start = None
        if rng.random() < 0.2:
            start = StartAt(rng.randrange(-3, horizon))
        elif rng.random() < 0.2:
            start = rng.choice((AlignedTo(duration(rng)), AtFirst()))
        semantics = WindowSemantics(
            Report(content_change=True, non_empty=rng.random() < 0.6) if moving else report(rng, chosen),
            rng.choice((Content.GRAPH, Content.GRAPH, Content.BAG)),
            looks,
            start,
            rng.choice((Bounds.CLOSED_OPEN, Bounds.CLOSED_OPEN, Bounds.OPEN_CLOSED)),
            lateness,
            times_distinct=promised,
        )
        stream: str | Variable = rng.choice(STREAMS)
        if rng.random() < 0.05:
            stream = Variable("v")
        found.append(WindowDeclaration(f"w{number}", stream, chosen, semantics, rng.random() < 0.25))
    return tuple(found)


# Cases


def query(rng: Random, declared: tuple[WindowDeclaration, ...], depth: int) -> Query:
    """A query of any form over these windows, beside static graphs."""
    patterns = Patterns(rng, declared)
    pattern = patterns.pattern(depth)
    made = form(rng, pattern)
    if isinstance(made, Select):
        pattern = patterns.modified(pattern)
        made = Select(tuple(v for v in visible(pattern) if not v.internal))
    semantics = Semantics(
        rng.choice(list(R2S)),
        rng.choice(list(Previous)),
        emit_after=rng.randrange(1, 4) if rng.random() < 0.1 else 0,
        report_empty=rng.random() < 0.3,
    )
    if all(w.semantics.tick.kind is TickKind.CHANGE for w in declared) and rng.random() < 0.6:
        semantics = Semantics(R2S.ISTREAM, Previous.INSTANT)
    names: tuple[str, ...] = ()
    if rng.random() < 0.3:
        names = tuple(each.value for each in (*GRAPHS, ABSENT) if rng.random() < 0.5)
    froms = (rng.choice((*GRAPHS, ABSENT)).value,) if rng.random() < 0.15 else ()
    return Query(made, pattern, Dataset(froms, names, declared), semantics, output="urn:out")


def case(rng: Random, *, depth: int = 2, cuts: int = 3) -> Case:
    """A whole case."""
    horizon = rng.choice((6, 12, 25))
    lateness = rng.choice((0, 0, 2, 5))
    declared = windows(rng, horizon, lateness)
    made = query(rng, declared, depth)
    varying = rng.random() < 0.25
    streams = {name: messages(rng, horizon) for name in _read(declared)}
    return Case(
        made,
        graph(rng, horizon, varying),
        {each.value: graph(rng, horizon, varying) for each in GRAPHS if rng.random() < 0.7},
        slabs(rng, streams, lateness, rng.randrange(cuts + 1)),
    )


def _read(declared: tuple[WindowDeclaration, ...]) -> list[str]:
    read = [window.stream for window in declared]
    if any(isinstance(stream, Variable) for stream in read):
        return list(STREAMS)
    return [stream for stream in STREAMS if stream in read]


# Encoding


def table(
    rows: tuple[tuple[Term, Term, Term, int | None, int | None], ...], dictionary: Dictionary
) -> GraphTable:
    columns = [dictionary.encode_terms([row[place] for row in rows]) for place in range(3)]
    if all(row[3] is None and row[4] is None for row in rows):
        return GraphTable(*columns)
    start = np.array([-(2**62) if row[3] is None else row[3] for row in rows], np.int64)
    end = np.array([2**62 if row[4] is None else row[4] for row in rows], np.int64)
    return GraphTable(*columns, start, end)


def background(given: Case, dictionary: Dictionary) -> Background:
    return Background(
        table(given.default, dictionary),
        {name: table(rows, dictionary) for name, rows in given.named.items()},
    )


def batch(sent: tuple[Message, ...], dictionary: Dictionary) -> Messages:
    quads = [each for message in sent for each in message.quads]
    columns = [dictionary.encode_terms([each[place] for each in quads]) for place in range(4)]
    counts = np.array([len(message.quads) for message in sent], np.int64)
    message = np.repeat(np.arange(len(sent)), counts)
    position = np.arange(len(quads)) - np.repeat(np.cumsum(counts) - counts, counts)
    time = np.array([each.time for each in sent], np.int64)
    return Messages(time, counts, message, position, *columns)


def slab(step: Step, dictionary: Dictionary) -> Slab:
    batches = {name: batch(sent, dictionary) for name, sent in step.arrivals.items()}
    return Slab(batches, step.through, step.end)
