"""Random sets of queries of equal and different shapes, and streams to evaluate them on.

Few terms and short windows, so that matches, duplicates and expiries happen all the time. Everything is
drawn from one ``random.Random``: a seed is a case.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np

from weir.kernel.contract import Answers, Background, GraphTable, Slab
from weir.kernel.reference import ReferenceEvaluator
from weir.language.algebra.expressions import (
    Aggregate,
    Aggregation,
    Arithmetic,
    Calculate,
    Compare,
    Comparison,
)
from weir.language.algebra.patterns import (
    BGP,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    Project,
    TriplePattern,
    Union,
    Window,
)
from weir.language.algebra.query import R2S, Construct, Dataset, Previous, Query, Select, Semantics
from weir.language.algebra.scope import visible
from weir.language.algebra.windows import (
    AlignedTo,
    All,
    Bounds,
    Content,
    Elements,
    Now,
    Past,
    Range,
    Report,
    StartAt,
    Tick,
    TickKind,
    Triples,
    WindowDeclaration,
    WindowSemantics,
)
from weir.plan.analysis.templates import rebuilt
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir.rdf.terms import IRI, XSD, Literal, Variable

EXAMPLES = int(100 * float(os.environ.get("WEIR_EXAMPLES", "1")))
STREAM = "urn:s"
NODES = [IRI(f"urn:{name}") for name in "abc"]
PREDICATES = [IRI(f"urn:{name}") for name in "pq"]
GRAPH = IRI("urn:g")
OBJECTS = [*NODES, Literal("1", XSD + "integer"), Literal("x")]
VARIABLES = [Variable(name) for name in "xyzuv"]


def triple_pattern(rng: Random) -> TriplePattern:
    def node(choices: list, free: float) -> object:
        return rng.choice(VARIABLES[:3]) if rng.random() < free else rng.choice(choices)

    return TriplePattern(node(NODES, 0.7), node(PREDICATES, 0.15), node(OBJECTS, 0.6))


def basic_pattern(rng: Random, most: int = 3) -> tuple[TriplePattern, ...]:
    return tuple(triple_pattern(rng) for _ in range(rng.randint(1, most)))


def semantics(rng: Random) -> Semantics:
    return Semantics(rng.choice(list(R2S)), rng.choice(list(Previous)))


def declaration(rng: Random, *, tuples: bool = True) -> WindowDeclaration:
    """Any window that decision semantics-time allows."""
    width, step = rng.randint(1, 6), rng.randint(1, 4)
    kinds = [
        Triples(rng.randint(1, 5)),
        Triples(rng.randint(1, 5), step),
        Elements(rng.randint(1, 3)),
        Elements(rng.randint(1, 3), rng.randint(1, 2)),
        Range(width),
        Range(width, step),
        Now(),
        All(),
        Past(width + 2, 2, step),
    ]
    kind = rng.choice(kinds)
    closable = getattr(kind, "step", None) is not None
    change = rng.random() < 0.5 or not closable
    tick = Tick(TickKind.TUPLE) if tuples and rng.random() < 0.2 else Tick()
    if tick == Tick() and rng.random() < 0.1:
        tick = rng.choice([Tick(TickKind.CHANGE, 1), Tick(TickKind.TIME, 2)])
    start = rng.choice([None, None, None, StartAt(rng.randint(0, 4)), AlignedTo(rng.randint(1, 5))])
    return WindowDeclaration(
        "urn:w",
        STREAM,
        kind,
        WindowSemantics(
            Report(
                window_close=closable and (not change or rng.random() < 0.2),
                content_change=change,
                periodic=rng.choice([None, None, None, 3]),
                non_empty=rng.random() < 0.2,
            ),
            content=rng.choice(list(Content)),
            tick=tick,
            start=start,
            bounds=rng.choice(list(Bounds)),
        ),
    )


def conjunctive(rng: Random, window: WindowDeclaration, means: Semantics) -> Query:
    """A conjunctive query; now and then with a projection, DISTINCT, or its patterns in two groups."""
    patterns = basic_pattern(rng)
    named = list(
        dict.fromkeys(
            n for t in patterns for n in (t.subject, t.predicate, t.object) if isinstance(n, Variable)
        )
    )
    rng.shuffle(named)
    kept = tuple(named if rng.random() < 0.6 else named[: rng.randint(0, len(named))])
    if rng.random() < 0.1:
        kept = (*kept, Variable("never"))
    cut = rng.randint(1, len(patterns))
    body = Window(IRI(window.name), BGP(patterns))
    if cut < len(patterns) and rng.random() < 0.3:
        body = Join(
            Window(IRI(window.name), BGP(patterns[:cut])), Window(IRI(window.name), BGP(patterns[cut:]))
        )
    pattern = Project(body, kept)
    if rng.random() < 0.2:
        pattern = Distinct(pattern)
    return Query(Select(kept), pattern, Dataset(windows=(window,)), means)


def general(rng: Random, window: WindowDeclaration, means: Semantics) -> list[Query]:
    """Queries of one shape that is no conjunction, with constants of their own."""
    skeleton, kind = basic_pattern(rng, 2), rng.randrange(12)
    function, told = rng.choice(list(Aggregation)), rng.random() < 0.5
    extra, low, high = basic_pattern(rng, 1), rng.randint(0, 1), rng.randint(1, 2)
    names = [f"n{rng.randrange(100)}_" for _ in range(3)]

    def fresh(patterns: tuple[TriplePattern, ...]) -> BGP:
        def node(old: object, choices: list) -> object:
            return old if isinstance(old, Variable) else rng.choice(choices)

        return BGP(
            tuple(
                TriplePattern(node(t.subject, NODES), t.predicate, node(t.object, OBJECTS)) for t in patterns
            )
        )

    def one(prefix: str) -> Query:
        body, more = fresh(skeleton), fresh(extra)
        x, n, z = Variable("x"), Variable("n"), Variable("m")
        match kind:
            case 0:
                inner = LeftJoin(body, more)
            case 1:
                inner = Union(body, more)
            case 2:
                bound = Literal(str(rng.randint(low, high)), XSD + "integer")
                inner = Filter(Compare(Comparison.GE, Variable("y"), bound), body)
            case 3:
                inner = Minus(body, BGP(extra))
            case 4:
                inner = Group(body, (x,), ((n, Aggregate(Aggregation.COUNT)),))
                test = Compare(Comparison.GE, n, Literal(str(rng.randint(low, high)), XSD + "integer"))
                inner = Filter(test, inner)
            case 5:
                one_more = Calculate(Arithmetic.ADD, Variable("y"), Literal("1", XSD + "integer"))
                inner = Extend(body, ((n, one_more),))
            case 6:
                inner = LeftJoin(Distinct(Project(body, (x,))), more)
            case 7:
                inner = Group(
                    body, (), ((n, Aggregate(function, Variable("y"))), (z, Aggregate(function, x)))
                )
            case 8:
                bound = Literal(str(rng.randint(low, high)), XSD + "integer")
                inner = LeftJoin(body, more, Compare(Comparison.GE, Variable("y"), bound))
            case 9:
                inner = Extend(body, ((n, rng.choice(OBJECTS)),))
            case _:
                inner = body
        pattern: Pattern = Window(IRI(window.name), inner)
        if kind > 9:
            there = TriplePattern(x, PREDICATES[0], rng.choice(NODES) if told else Variable("v"))
            pattern = Join(pattern, Graph(GRAPH, BGP((there,))) if kind == 10 else BGP((there,)))
        if told and kind in (0, 1, 10):
            made = TriplePattern(x, PREDICATES[1], rng.choice(NODES))
            form = Construct((made, TriplePattern(x, PREDICATES[0], Variable("y"))))
            return _prefixed(Query(form, pattern, Dataset(windows=(window,)), means), prefix)
        kept = tuple(v for v in visible(pattern) if rng.random() < 0.8 or v == x)
        query = Query(Select(kept), Project(pattern, kept), Dataset(windows=(window,)), means)
        return _prefixed(query, prefix)

    return [one(rng.choice(["", *names])) for _ in range(rng.randint(1, 4))]


def _prefixed(query: Query, prefix: str) -> Query:
    """The same query with other names for its variables."""

    def change(node: object) -> object:
        return Variable(prefix + node.name) if isinstance(node, Variable) else rebuilt(node, change)

    return replace(query, form=change(query.form), pattern=change(query.pattern))


def triple(rng: Random) -> tuple:
    return rng.choice(NODES), rng.choice(PREDICATES), rng.choice(OBJECTS)


def stream(rng: Random, messages: int = 12) -> list[tuple[int, list[tuple]]]:
    """Messages (time, triples) in the order of time, some of equal time, a heartbeat now and then."""
    time, out = rng.randint(0, 3), []
    for place in reversed(range(rng.randint(1, messages))):
        time += rng.choice([0, 1, 1, 2, 5])
        size = rng.choice([0, 1, 1, 2, 3]) if place else rng.choice([1, 2])
        out.append((time, [triple(rng) for _ in range(size)]))
    return out


def batch(messages: list[tuple[int, list[tuple]]], dictionary: Dictionary) -> Messages:
    rows = [(m, place, *triple) for m, (_, ts) in enumerate(messages) for place, triple in enumerate(ts)]
    ids = [dictionary.encode_terms([row[2 + place] for row in rows]) for place in range(3)]
    return Messages(
        np.array([time for time, _ in messages], np.int64),
        np.array([len(triples) for _, triples in messages], np.int64),
        np.array([row[0] for row in rows], np.int64),
        np.array([row[1] for row in rows], np.int64),
        *ids,
        np.zeros(len(rows), np.int64),
    )


def slabs(rng: Random, messages: list, dictionary: Dictionary, *, end: bool = True) -> list[Slab]:
    """The stream cut anywhere; T is the largest time seen."""
    cuts = sorted({rng.randint(0, len(messages)) for _ in range(rng.randint(0, 3))} | {len(messages)})
    out, first = [], 0
    for cut in cuts:
        part = messages[first:cut]
        through = messages[cut - 1][0] if cut else -1
        out.append(Slab({STREAM: batch(part, dictionary)}, through, end and cut == len(messages)))
        first = cut
    return out


def answered(found: list[Answers], query: Query) -> Counter:
    """All answers as a multiset of (time, bindings)."""
    bag: Counter = Counter()
    made = ("subject", "predicate", "object")
    names = made if isinstance(query.form, Construct) else [v.name for v in query.form.variables]
    for answers in found:
        columns = [answers.columns[name].tolist() for name in names]
        for place, at in enumerate(answers.at.tolist()):
            bag[at, tuple(column[place] for column in columns)] += 1
    return bag


def graphs(dictionary: Dictionary) -> Background:
    """Static graphs, of which every query may use some."""

    def table(places: tuple[int, ...]) -> GraphTable:
        rows = [(NODES[place], PREDICATES[0], NODES[place - 1]) for place in places]
        return GraphTable(*(dictionary.encode_terms([row[place] for row in rows]) for place in range(3)))

    return Background(table((0, 1)), {GRAPH.value: table((0, 2))})


def alone(query: Query, given: list[Slab], dictionary: Dictionary) -> Counter:
    """What the reference evaluator gives for one query."""
    reference = ReferenceEvaluator(query, graphs(dictionary), dictionary, streams=(STREAM,))
    return answered([reference.advance(slab) for slab in given], query)
