"""Random continuous queries over random timed messages, small enough that everything happens often.

One source of chance (``random.Random`` or hypothesis's) decides everything, so a seed is a case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

import numpy as np

from weir.kernel.contract import Background, GraphTable, Slab
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.query import (
    R2S,
    Ask,
    Construct,
    Dataset,
    Describe,
    Form,
    Previous,
    Query,
    Select,
    Semantics,
)
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
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Variable

STREAMS = ("urn:s1", "urn:s2")
NODES: tuple[Term, ...] = (IRI("urn:a"), IRI("urn:b"), IRI("urn:c"))
VALUES: tuple[Term, ...] = (
    Literal("1", XSD + "integer"),
    Literal("2", XSD + "integer"),
    Literal("2.5", XSD + "decimal"),
    Literal("x"),
)
PREDICATES = (IRI("urn:p"), IRI("urn:q"))
GRAPHS = (IRI("urn:g1"), IRI("urn:g2"))
NAMES = ("x", "y", "z", "v")
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
    target = rng.choice(NODES) if rng.random() < 0.6 else rng.choice(VALUES)
    return rng.choice(NODES), rng.choice(PREDICATES), target


def quad(rng: Random) -> Quad:
    return (*triple(rng), rng.choice(GRAPHS) if rng.random() < 0.3 else None)


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


def windows(rng: Random, horizon: int) -> tuple[WindowDeclaration, ...]:
    looks = tick(rng)
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
            lateness=0,
        )
        stream: str | Variable = rng.choice(STREAMS)
        if rng.random() < 0.05:
            stream = Variable("v")
        found.append(WindowDeclaration(f"w{number}", stream, chosen, semantics, rng.random() < 0.25))
    return tuple(found)


# Patterns


def node(rng: Random, constants: tuple[Term, ...]) -> Term | Variable:
    return rng.choice(constants) if rng.random() < 0.12 else Variable(rng.choice(NAMES))


def bgp(rng: Random) -> a.BGP:
    count = rng.choice((1, 1, 1, 1, 2, 2, 3))
    return a.BGP(
        tuple(
            a.TriplePattern(
                node(rng, NODES),
                rng.choice(PREDICATES) if rng.random() < 0.85 else Variable(rng.choice(NAMES)),
                node(rng, (*NODES, *VALUES)),
            )
            for _ in range(count)
        )
    )


def path(rng: Random, depth: int = 2) -> a.Path:
    if depth == 0 or rng.random() < 0.3:
        return a.Link(rng.choice(PREDICATES))
    match rng.randrange(7):
        case 0:
            return a.Inverse(path(rng, depth - 1))
        case 1:
            return a.Sequence(path(rng, depth - 1), path(rng, depth - 1))
        case 2:
            return a.Alternative(path(rng, depth - 1), path(rng, depth - 1))
        case 3:
            return a.ZeroOrMore(path(rng, depth - 1))
        case 4:
            return a.OneOrMore(path(rng, depth - 1))
        case 5:
            return a.ZeroOrOne(path(rng, depth - 1))
        case _:
            return a.NegatedSet((rng.choice(PREDICATES),), ())


class Patterns:
    """Random patterns over some windows; ``depth`` bounds their nesting."""

    def __init__(self, rng: Random, declared: tuple[WindowDeclaration, ...]) -> None:
        self.rng = rng
        self.names = [window.name for window in declared]
        self.fresh = 0
        self.static = False

    def source(self, inner: a.Pattern) -> a.Pattern:
        """The pattern on a window, a graph or the default graph; not on a window inside ``unstreamed``."""
        if self.static:
            named = self.rng.random() < 0.6
            return a.Graph(self.rng.choice((*GRAPHS, Variable("v"))), inner) if named else inner
        chance = self.rng.random()
        if chance < 0.8:
            if self.rng.random() < 0.06:
                return a.Window(Variable("v"), inner)
            if self.rng.random() < 0.15:
                inner = a.Graph(self.rng.choice((*GRAPHS, Variable("v"))), self.body(inner))
            return a.Window(IRI(self.rng.choice(self.names)), inner)
        if chance < 0.88:
            return a.Graph(self.rng.choice((*GRAPHS, Variable("v"))), inner)
        return inner

    def body(self, inner: a.Pattern) -> a.Pattern:
        """What stands inside GRAPH: the pattern, or one that can succeed where it does not match."""
        nothing = a.BGP(())
        match self.rng.randrange(10):
            case 0:
                return nothing
            case 1:
                return a.LeftJoin(nothing, inner)
            case 2:
                return a.Filter(e.Exists(inner, negated=True), nothing)
            case 3:
                count = self.new()
                counted = a.Group(inner, (), ((count, e.Aggregate(e.Aggregation.COUNT, None)),))
                return a.Project(counted, (count,))
            case 4:
                return a.Union(inner, a.extended(nothing, self.new(), IRI("urn:a")))
        return inner

    def leaf(self) -> a.Pattern:
        chance = self.rng.random()
        if chance < 0.1:
            ends = node(self.rng, NODES), node(self.rng, NODES)
            return self.source(a.PathPattern(ends[0], path(self.rng), ends[1]))
        if chance < 0.15:
            names = tuple(Variable(name) for name in self.rng.sample(NAMES, self.rng.randrange(1, 3)))
            rows = tuple(
                tuple(self.rng.choice((*NODES, *VALUES, None)) for _ in names)
                for _ in range(self.rng.randrange(1, 4))
            )
            return a.Values(names, rows)
        return self.source(bgp(self.rng))

    def pattern(self, depth: int) -> a.Pattern:
        rng = self.rng
        if depth == 0 or rng.random() < 0.25:
            return self.leaf()
        match rng.randrange(12):
            case 0 | 1 | 2:
                return a.Join(self.pattern(depth - 1), self.pattern(depth - 1))
            case 3:
                condition = self.condition(depth - 1) if rng.random() < 0.3 else None
                return a.LeftJoin(self.pattern(depth - 1), self.pattern(depth - 1), condition)
            case 4:
                return a.Minus(self.pattern(depth - 1), self.pattern(depth - 1))
            case 5:
                return a.Union(self.pattern(depth - 1), self.pattern(depth - 1))
            case 6 | 7:
                return a.Filter(self.condition(depth - 1), self.pattern(depth - 1))
            case 8:
                inner = self.pattern(depth - 1)
                return a.extended(inner, self.new(), self.expression(2))
            case 9:
                return self.source(self.pattern(depth - 1))
            case _:
                return self.subquery(depth - 1)

    def unstreamed(self, depth: int) -> a.Pattern:
        """A pattern over static graphs or none, with an expression that may read variables bound outside."""
        before, self.static = self.static, True
        inner = a.BGP(()) if self.rng.random() < 0.15 else self.pattern(max(depth - 1, 0))
        if self.rng.random() < 0.7:
            inner = a.Filter(self.condition(max(depth - 1, 0)), inner)
        else:
            inner = a.extended(inner, self.new(), self.expression(2))
        self.static = before
        return inner

    def new(self) -> Variable:
        self.fresh += 1
        return Variable(f"n{self.fresh}")

    def subquery(self, depth: int) -> a.Pattern:
        inner = self.modified(self.pattern(depth))
        return inner

    def modified(self, inner: a.Pattern) -> a.Pattern:
        """Grouping and solution modifiers, in SPARQL's order."""
        rng = self.rng
        if rng.random() < 0.4:
            seen = visible(inner, {"w": Variable("v")})
            keys = tuple(rng.sample(seen, min(len(seen), rng.randrange(3)))) if seen else ()
            count = rng.randrange(1, 3)
            inner = a.Group(inner, keys, tuple((self.new(), self.aggregate()) for _ in range(count)))
        named = [variable for variable in dict.fromkeys(visible(inner)) if not variable.internal]
        ordered = rng.random() < 0.25 and bool(named)
        if ordered:
            keys_by = tuple(
                a.OrderKey(
                    self.expression(1) if rng.random() < 0.3 else rng.choice(named), rng.random() < 0.5
                )
                for _ in range(rng.randrange(1, 3))
            )
            inner = a.OrderBy(inner, keys_by)
        kept = tuple(rng.sample(named, rng.randrange(1, len(named) + 1))) if named else ()
        inner = a.Project(inner, kept)
        if rng.random() < 0.3:
            inner = a.Distinct(inner)
        if rng.random() < 0.15:
            inner = a.Slice(inner, rng.randrange(2), rng.randrange(1, 4))
        return inner

    def aggregate(self) -> e.Aggregate:
        rng = self.rng
        function = rng.choice(list(e.Aggregation))
        operand: e.Expression | None = Variable(rng.choice(NAMES))
        if function is e.Aggregation.COUNT and rng.random() < 0.4:
            operand = None
        elif rng.random() < 0.2:
            operand = self.expression(1)
        return e.Aggregate(function, operand, rng.random() < 0.3)

    # Expressions

    def condition(self, depth: int) -> e.Expression:
        rng = self.rng
        match rng.randrange(9):
            case 0 | 1 | 2:
                operator = rng.choice(list(e.Comparison))
                return e.Compare(operator, self.expression(1), self.expression(1))
            case 3:
                return e.Bound(Variable(rng.choice(NAMES)))
            case 4:
                return e.Or(self.condition(depth), self.condition(depth))
            case 5:
                return e.And(self.condition(depth), self.condition(depth))
            case 6:
                return e.Not(self.condition(depth))
            case 7:
                inner = self.unstreamed(depth) if rng.random() < 0.3 else self.pattern(max(depth - 1, 0))
                return e.Exists(inner, rng.random() < 0.5)
            case _:
                return e.In(self.expression(0), (self.expression(0), rng.choice(NODES)), rng.random() < 0.5)

    def expression(self, depth: int) -> e.Expression:
        rng = self.rng
        if depth == 0 or rng.random() < 0.5:
            if rng.random() < 0.7:
                return Variable(rng.choice(NAMES))
            return rng.choice((*NODES, *VALUES))  # type: ignore[return-value]
        match rng.randrange(6):
            case 0 | 1:
                operator = rng.choice(list(e.Arithmetic))
                return e.Calculate(operator, self.expression(depth - 1), self.expression(depth - 1))
            case 2:
                return e.Call(e.Builtin.STR, (self.expression(depth - 1),))
            case 3:
                return e.Coalesce((self.expression(depth - 1), self.expression(depth - 1)))
            case 4:
                if rng.random() < 0.3:
                    return e.Call(rng.choice((e.Builtin.RAND, e.Builtin.BNODE, e.Builtin.NOW)))
                return e.Call(e.Builtin.ISIRI, (self.expression(depth - 1),))
            case _:
                return e.If(self.condition(0), self.expression(depth - 1), self.expression(depth - 1))


def form(rng: Random, pattern: a.Pattern) -> Form:
    named = tuple(v for v in visible(pattern) if not v.internal)
    chance = rng.random()
    if chance < 0.75 and named:
        return Select(named)
    if chance < 0.85:
        return Ask()
    if chance < 0.88 and named:
        return Describe((rng.choice(named),))
    chosen = [*named, *NODES]
    template = tuple(
        a.TriplePattern(
            rng.choice(chosen) if rng.random() < 0.8 else rng.choice((BlankNode("b"), Variable(".b"))),
            rng.choice(PREDICATES),
            rng.choice(chosen),
        )
        for _ in range(rng.randrange(1, 3))
    )
    return Construct(template)


def case(rng: Random, *, depth: int = 2, cuts: int = 3) -> Case:
    """A whole case."""
    horizon = rng.choice((6, 12, 25))
    declared = windows(rng, horizon)
    patterns = Patterns(rng, declared)
    pattern = patterns.pattern(depth)
    made = form(rng, pattern)
    if isinstance(made, Select):
        pattern = patterns.modified(pattern)
        made = Select(tuple(v for v in visible(pattern) if not v.internal))
    semantics = Semantics(rng.choice(list(R2S)), rng.choice(list(Previous)), report_empty=rng.random() < 0.3)
    if all(w.semantics.tick.kind is TickKind.CHANGE for w in declared) and rng.random() < 0.6:
        semantics = Semantics(R2S.ISTREAM, Previous.INSTANT)
    lateness = rng.choice((0, 0, 2, 5))
    if lateness:
        declared = tuple(
            WindowDeclaration(
                w.name,
                w.stream,
                w.kind,
                WindowSemantics(
                    w.semantics.report,
                    w.semantics.content,
                    w.semantics.tick,
                    w.semantics.start,
                    w.semantics.bounds,
                    lateness,
                ),
                w.in_default,
            )
            for w in declared
        )
    names = tuple(g.value for g in GRAPHS if rng.random() < 0.5) if rng.random() < 0.3 else ()
    froms = (GRAPHS[0].value,) if rng.random() < 0.15 else ()
    query = Query(made, pattern, Dataset(froms, names, declared), semantics, output="urn:out")
    varying = rng.random() < 0.25
    streams = {name: messages(rng, horizon) for name in _read(declared)}
    return Case(
        query,
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
