"""Queries come and go in mid-stream, and each gets exactly what it would get alone."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matching_kit import (
    EXAMPLES,
    STREAM,
    alone,
    answered,
    batch,
    conjunctive,
    declaration,
    general,
    semantics,
    slabs,
    stream,
    triple,
)
from weir.errors import CheckpointError, UsageError
from weir.kernel.background import Background
from weir.kernel.batch import Slab
from weir.kernel.matching.shared import SharedEvaluator
from weir.language.query import R2S, Semantics
from weir.language.windows import (
    Content,
    Elements,
    Now,
    Past,
    Range,
    Report,
    Triples,
    WindowDeclaration,
    WindowSemantics,
)
from weir.plan.querysets import Drop, Register
from weir.rdf.dictionary import Dictionary


def queries_of(rng: Random, count: int):
    """Queries on a few windows, some equal, most of shapes that others have too."""
    windows = [(declaration(rng), semantics(rng)) for _ in range(2)]
    out = []
    while len(out) < count:
        window, means = rng.choice(windows)
        if out and rng.random() < 0.2:
            out.append(rng.choice(out))
        elif rng.random() < 0.6:
            out.append(conjunctive(rng, window, means))
        else:
            out.extend(general(rng, window, means))
    return out[:count]


def restarted(shared: SharedEvaluator, dictionary: Dictionary) -> SharedEvaluator:
    """The same evaluator in another process."""
    again = SharedEvaluator(Background(), dictionary, streams=(STREAM,))
    again.add(shared.queries)
    again.restore(shared.snapshot())
    return again


def check(seed: int) -> None:
    rng = Random(seed)
    dictionary = Dictionary()
    pool = queries_of(rng, rng.randint(1, 10))
    messages = stream(rng, 16)
    given_slabs = slabs(rng, messages, dictionary, end=rng.random() < 0.6)
    shared = SharedEvaluator(Background(), dictionary, streams=(STREAM,))
    life: dict[str, tuple[int, int]] = {}  # first slab, last slab
    found: dict[str, list] = {}
    queries = {}
    for number, query in enumerate(pool):
        try:
            alone(query, given_slabs, dictionary)
        except UsageError:
            continue
        name = f"q{number}"
        first = 0 if rng.random() < 0.5 else rng.randrange(len(given_slabs))
        last = len(given_slabs) if rng.random() < 0.7 else rng.randint(first, len(given_slabs))
        queries[name], life[name], found[name] = query, (first, last), []
    for number, slab in enumerate(given_slabs):
        coming = {n: queries[n] for n, (first, last) in life.items() if first == number < last}
        going = [n for n, (first, last) in life.items() if first < last == number]
        if rng.random() < 0.5:
            shared.drop(going)
            shared.add(coming, since=number)
        else:
            for name, query in coming.items():
                shared.add({name: query}, since=number)
            for name in going:
                shared.drop([name])
        if rng.random() < 0.2:
            shared = restarted(shared, dictionary)
        answers = shared.advance(slab)
        assert answers.delivered == sum(len(each.at) for _, each in answers.items())
        for name in shared.queries:
            found[name].append(answers.of(name))
    for name, query in queries.items():
        first, last = life[name]
        expected = alone(query, given_slabs[first:last], dictionary)
        assert answered(found[name], query) == expected, (name, query, life[name])


@given(seed=st.integers(0, 2**32))
@settings(max_examples=2 * EXAMPLES, deadline=None)
def test_adding_and_dropping_changes_only_the_query_itself(seed):
    check(seed)


@pytest.mark.parametrize("name", ["q0"])
def test_a_name_is_registered_once(name):
    rng = Random(1)
    query = conjunctive(rng, declaration(rng), semantics(rng))
    shared = SharedEvaluator(Background(), Dictionary())
    shared.add({name: query})
    with pytest.raises(UsageError, match="is registered already"):
        shared.add({name: query})
    shared.drop([name])
    with pytest.raises(UsageError, match="is not registered"):
        shared.drop([name])


def test_a_state_needs_its_queries():
    rng = Random(2)
    shared = SharedEvaluator(Background(), Dictionary())
    shared.add({"q": conjunctive(rng, declaration(rng), semantics(rng))})
    state = shared.snapshot()
    with pytest.raises(CheckpointError, match="not registered: 'q'"):
        SharedEvaluator(Background(), Dictionary()).restore(state)
    with pytest.raises(CheckpointError, match="not a state"):
        shared.restore(b"something else")


COUNTED = [Triples(3), Triples(4, 2), Elements(2), Elements(3, 2)]
TIMED = [Range(4), Range(6, 2), Now(), Past(5, 2, 1)]


@pytest.mark.parametrize("kind", COUNTED + TIMED, ids=str)
@pytest.mark.parametrize("content", list(Content))
def test_later_sets_join_the_first_once_nothing_older_is_alive(kind, content):
    rng = Random(f"{kind}{content}")
    dictionary = Dictionary()
    closes = getattr(kind, "step", None) is not None
    report = Report(window_close=closes, content_change=not closes)
    window = WindowDeclaration("urn:w", STREAM, kind, WindowSemantics(report, content))
    means = Semantics(rng.choice(list(R2S)))
    messages, time = [], 0
    for _ in range(120):
        time += rng.choice([0, 1, 1, 2])
        messages.append((time, [triple(rng) for _ in range(rng.choice([1, 1, 2, 3]))]))
    cuts = list(range(0, len(messages), 6))
    parts = [messages[low:high] for low, high in pairwise([*cuts, len(messages)])]
    given_slabs = [Slab({STREAM: batch(part, dictionary)}, part[-1][0]) for part in parts]
    shared = SharedEvaluator(Background(), dictionary, streams=(STREAM,))
    queries, found = {}, {}
    for number, slab in enumerate(given_slabs):
        if number < 12:
            query = conjunctive(rng, window, means)
            name = f"q{number}"
            shared.add({name: query}, since=number)
            queries[name], found[name] = (query, number), []
        answers = shared.advance(slab)
        for name in queries:
            found[name].append(answers.of(name))
    (generations,) = shared.sets.values()
    assert len(generations) < 12
    if not closes or not hasattr(kind, "count"):
        assert len(generations) == 1
    for name, (query, first) in queries.items():
        assert answered(found[name], query) == alone(query, given_slabs[first:], dictionary), (name, query)


def test_commands_register_and_drop():
    rng = Random(3)
    query = conjunctive(rng, declaration(rng), semantics(rng))
    shared = SharedEvaluator(Background(), Dictionary())
    shared.apply([Register("a", query), Register("b", query), Drop("a")])
    assert list(shared.queries) == ["b"]
