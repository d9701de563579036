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
    graphs,
    semantics,
    slabs,
    stream,
    triple,
)
from weir.errors import CheckpointError, UsageError
from weir.kernel.contract import Background, Slab
from weir.kernel.matching.shared import SharedEvaluator
from weir.language.algebra.query import R2S, Semantics
from weir.language.algebra.windows import (
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
from weir.rdf.ids.dictionary import Dictionary


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


def restarted(
    shared: SharedEvaluator, dictionary: Dictionary, life: dict[str, tuple[int, int]]
) -> SharedEvaluator:
    """The same evaluator in another process."""
    again = SharedEvaluator(Background(), dictionary, streams=(STREAM,))
    for name, query in shared.queries.items():
        again.add({name: query}, life[name][0], {name: graphs(dictionary)})
    again.restore(shared.snapshot())
    return again


def check(seed: int) -> None:
    rng = Random(seed)
    dictionary = Dictionary()
    pool = queries_of(rng, rng.randint(1, 10))
    messages = stream(rng, 16)
    given_slabs = slabs(rng, messages, dictionary, end=rng.random() < 0.6)
    static = graphs(dictionary)
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
            shared.add(coming, number, dict.fromkeys(coming, static))
        else:
            for name, query in coming.items():
                shared.add({name: query}, number, {name: graphs(dictionary)})
            for name in going:
                shared.drop([name])
        if rng.random() < 0.2:
            shared = restarted(shared, dictionary, life)
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


def test_a_state_gives_each_query_its_own_and_no_other():
    rng = Random(2)
    window = declaration(rng, tuples=False)
    queries = {name: conjunctive(rng, window, Semantics(R2S.ISTREAM)) for name in "abcd"}
    shared = SharedEvaluator(Background(), Dictionary())
    shared.add({name: queries[name] for name in "abc"})
    state = shared.snapshot()
    again = SharedEvaluator(Background(), Dictionary())
    again.add({name: queries[name] for name in "ad"})
    again.add({"b": queries["b"]}, since=7)  # another query, as it happens of the same name
    again.restore(state)
    (generations,) = again.sets.values()
    members = [sorted(each.set.channels.queries) for each in generations]
    # Nothing had come yet, so what starts from nothing in the same batch joins.
    assert members == [["a", "d"], ["b"]]
    with pytest.raises(CheckpointError, match="damaged"):
        shared.restore(b"something else")


def test_sets_stay_apart_while_messages_of_earlier_batches_may_come():
    window = WindowDeclaration(
        "urn:w", STREAM, Triples(1), WindowSemantics(Report(content_change=True), Content.BAG)
    )
    rng, dictionary = Random(5), Dictionary()
    shared = SharedEvaluator(Background(), dictionary)
    shared.add({"a": conjunctive(rng, window, Semantics(R2S.ISTREAM))}, since=0)
    for number in range(6):
        if number == 2:
            shared.add({"b": conjunctive(rng, window, Semantics(R2S.ISTREAM))}, since=2)
        part = Slab(
            {STREAM: batch([(10 * number + k, [triple(rng)]) for k in range(5)], dictionary)}, 10 * number + 6
        )
        shared.advance(lambda since, part=part: part, settled=1 if number < 4 else 4)
        (generations,) = shared.sets.values()
        assert len(generations) == (2 if number in (2, 3) else 1)


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
