"""Every fast path against the slow statement of what it means: small cases, with the sizes at which the
paths begin set so low that they are taken all the time.

The queries are of the CQELS kind (each message an evaluation, bags, the instant before), which is where
most short cuts apply; windows are read by joins with each other, with static graphs, and with what other
operators make of windows.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from properties.generate import (
    NODES,
    PREDICATES,
    STREAMS,
    VALUES,
    Case,
    Message,
    Step,
    background,
    graph,
    slab,
)
from weir.kernel.contract import Evaluator
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.operators.join import Policy
from weir.kernel.reference import ReferenceEvaluator
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.query import R2S, Construct, Dataset, Previous, Query, Select, Semantics
from weir.language.algebra.scope import visible
from weir.language.algebra.windows import (
    All,
    Content,
    Elements,
    Now,
    Range,
    Report,
    Triples,
    WindowDeclaration,
    WindowKind,
    WindowSemantics,
)
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Variable

pytestmark = pytest.mark.hypothesis
"""So that ``make long`` takes it."""
CASES = int(400 * float(os.environ.get("WEIR_EXAMPLES", "1")))
FIRST = int(os.environ.get("WEIR_SEED", "1")) * 1_000_000
CHUNK = 50


SIZES: dict[str, float] = {
    "windows.evaluation_times.CHUNK": 3,
    "interval.evaluator._GROWTH": 5,
    "fast.distinct_join._FEWEST": 1,
    "operators.inputs.input._TINY": 0,
    "windows.window_index._BROADCAST": 0,
    "windows.window_index._MANY": 0,
    "windows.window_index._SORT": 0.0,
    "windows.window_index._COMPARE": 1e6,
    "relations.keys._LARGE": 1,
    "fast.hash_index._MANY": 1,
    "relations.keys._MANY": 0,
    "windows.reduction._TRIED": 2,
    "fast.single_message._AGAIN": 2,
}
"""Sizes at which another way begins, such that it is taken all the time."""


@pytest.fixture(params=["as they are", "always"])
def sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Thresholds as they are, or such that every path is taken from the first rows on."""
    if request.param == "always":
        for name, value in SIZES.items():
            monkeypatch.setattr(f"weir.kernel.{name}", value)
    yield request.param


def kind(rng: Random) -> WindowKind:
    return rng.choice(
        (
            Now(),
            Now(),
            Range(rng.randrange(1, 8)),
            Range(rng.randrange(1, 8)),
            All(),
            Triples(rng.randrange(1, 4)),
            Elements(rng.randrange(1, 3)),
        )
    )


def pattern(rng: Random, names: list[str]) -> a.TriplePattern:
    ends = [
        Variable(rng.choice(names)) if rng.random() < 0.9 else rng.choice((*NODES, *VALUES)) for _ in range(2)
    ]
    return a.TriplePattern(ends[0], rng.choice(PREDICATES), ends[1])


def windowed(rng: Random, window: str, names: list[str]) -> a.Pattern:
    """A pattern on a window, at times below an operator whose rows a join cannot look up."""
    read = a.Window(IRI(window), a.BGP((pattern(rng, names),)))
    match rng.randrange(12):
        case 0:
            return a.Project(read, tuple(visible(read))[:1])
        case 1:
            return a.Distinct(a.Project(read, tuple(visible(read))[:1]))
        case 2:
            return a.Union(read, a.Window(IRI(window), a.BGP((pattern(rng, names),))))
        case 3:
            return a.extended(read, Variable(f"n{window}"), e.Call(e.Builtin.STR, (Variable(names[0]),)))
    return read


def short_case(rng: Random) -> Case:
    names = ["x", "y", "z", "w"][: rng.randrange(2, 5)]
    windows = []
    parts: list[a.Pattern] = []
    for number in range(rng.randrange(1, 4)):
        content = Content.BAG if rng.random() < 0.8 else Content.GRAPH
        semantics = WindowSemantics(Report(content_change=True, non_empty=rng.random() < 0.7), content)
        stream = STREAMS[0] if rng.random() < 0.8 else STREAMS[1]
        windows.append(WindowDeclaration(f"w{number}", stream, kind(rng), semantics))
        parts.append(windowed(rng, f"w{number}", names))
    for _ in range(rng.randrange(3)):
        static: a.Pattern = a.BGP(tuple(pattern(rng, names) for _ in range(rng.randrange(1, 3))))
        parts.append(static if rng.random() < 0.5 else a.Graph(IRI("urn:g1"), static))
    rng.shuffle(parts)
    joined = parts[0]
    for part in parts[1:]:
        joined = a.Join(joined, part)
    if rng.random() < 0.25:
        joined = a.Filter(e.Compare(e.Comparison.NE, Variable(names[0]), Variable(names[1])), joined)
    seen = [variable for variable in visible(joined) if not variable.internal]
    made: Any
    if rng.random() < 0.5 and seen:
        made = Construct((a.TriplePattern(rng.choice(seen), PREDICATES[0], rng.choice(seen)),))
    else:
        chosen = tuple(rng.sample(seen, rng.randrange(1, len(seen) + 1))) if seen else ()
        joined, made = a.Project(joined, chosen), Select(chosen)
    r2s = R2S.ISTREAM if rng.random() < 0.75 else rng.choice(list(R2S))
    previous = Previous.INSTANT if rng.random() < 0.8 else Previous.EVALUATION
    query = Query(made, joined, Dataset(windows=tuple(windows)), Semantics(r2s, previous), output="urn:out")
    return Case(query, graph(rng, 20, False), {"urn:g1": graph(rng, 20, False)}, steps(rng, query))


def steps(rng: Random, query: Query) -> tuple[Step, ...]:
    """Messages of mostly one triple, mostly one a slab."""
    read = [stream for stream in STREAMS if stream in query.streams]
    found: list[Step] = []
    time = 0
    waiting: dict[str, list[Message]] = {name: [] for name in read}
    for _ in range(rng.randrange(4, 40)):
        time += rng.choice((0, 1, 1, 1, 2, 5))
        quads = tuple(
            (rng.choice(NODES), rng.choice(PREDICATES), rng.choice((*NODES, VALUES[0])), None)
            for _ in range(1 if rng.random() < 0.85 else rng.randrange(6))
        )
        waiting[rng.choice(read)].append(Message(time, quads))
        if rng.random() < 0.75:
            found.append(Step({name: tuple(sent) for name, sent in waiting.items()}, time))
            waiting = {name: [] for name in read}
    found.append(Step({name: tuple(sent) for name, sent in waiting.items()}, time, end=rng.random() < 0.5))
    return tuple(found)


def answers(made: Evaluator, given: Case, dictionary: Dictionary) -> tuple[Counter[Any], int]:
    rows: Counter[Any] = Counter()
    evaluations = 0
    for step in given.steps:
        found = made.advance(slab(step, dictionary))
        texts = [dictionary.texts(column) for column in found.columns.values()]
        rows.update(zip(found.at.tolist(), *texts, strict=True))
        evaluations += found.evaluations
        assert found.at.tolist() == sorted(found.at.tolist())
    return rows, evaluations


@pytest.mark.parametrize("chunk", range(max(1, CASES // CHUNK)))
def test_short_cuts_change_nothing(sizes: str, chunk: int) -> None:
    taken = 0
    for seed in range(FIRST + chunk * CHUNK, FIRST + (chunk + 1) * CHUNK):
        given = short_case(Random(seed))
        dictionary = Dictionary()
        graphs = background(given, dictionary)
        expected = answers(ReferenceEvaluator(given.query, graphs, dictionary), given, dictionary)
        for policy in Policy:
            made = IntervalEvaluator(given.query, graphs, dictionary, policy=policy)
            assert answers(made, given, dictionary) == expected, f"seed {seed} {policy}: {given}"
            taken += bool(made.statistics()["routes"])
    assert taken


def test_one_slab_of_everything_is_the_same(sizes: str) -> None:
    for seed in range(FIRST + 100_000, FIRST + 100_000 + CHUNK):
        given = short_case(Random(seed))
        whole: dict[str, list[Message]] = {}
        for step in given.steps:
            for name, sent in step.arrivals.items():
                whole.setdefault(name, []).extend(sent)
        last = given.steps[-1]
        together = replace(
            given, steps=(Step({name: tuple(s) for name, s in whole.items()}, last.through, last.end),)
        )
        found = []
        for each in (given, together):
            dictionary = Dictionary()
            made = IntervalEvaluator(each.query, background(each, dictionary), dictionary)
            found.append(answers(made, each, dictionary))
        assert found[0] == found[1], f"seed {seed}"
