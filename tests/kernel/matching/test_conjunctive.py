"""A set of conjunctive queries gives each query exactly what it gets alone in the reference evaluator."""

from __future__ import annotations

from random import Random

import numpy as np
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
    semantics,
    slabs,
    stream,
)
from weir.errors import UsageError
from weir.kernel.contract import NotCovered, Slab
from weir.kernel.matching import resolve, trie
from weir.kernel.matching.conjunctive import ConjunctiveSet
from weir.language.algebra.patterns import TriplePattern
from weir.language.algebra.query import R2S, Semantics
from weir.language.algebra.windows import Report, Triples, WindowDeclaration, WindowSemantics
from weir.plan.analysis.conjunctions import Conjunction, conjunction
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Variable


def check(seed: int) -> None:
    rng = Random(seed)
    dictionary = Dictionary()
    window, means = declaration(rng), semantics(rng)
    queries = {f"q{number}": conjunctive(rng, window, means) for number in range(rng.randint(1, 8))}
    messages = stream(rng)
    given_slabs = slabs(rng, messages, dictionary, end=rng.random() < 0.7)
    try:
        expected = {name: alone(query, given_slabs, dictionary) for name, query in queries.items()}
        together = ConjunctiveSet(conjunction(queries["q0"]).window, means)
    except (UsageError, NotCovered):
        return
    together.add([(name, conjunction(query)) for name, query in queries.items()], dictionary)
    found = [together.advance(slab) for slab in given_slabs]
    for name, query in queries.items():
        assert answered([answers.of(name) for answers in found], query) == expected[name], (name, query)
    for answers in found:
        assert answers.delivered == sum(len(each.at) for _, each in answers.items())
        for _, each in answers.items():
            assert (np.diff(each.at) >= 0).all()


@given(seed=st.integers(0, 2**32))
@settings(max_examples=3 * EXAMPLES, deadline=None)
def test_each_query_gets_what_it_gets_alone(seed):
    check(seed)


@pytest.mark.parametrize("seed", range(100, 140))
def test_children_found_by_value_or_one_by_one(seed, monkeypatch):
    monkeypatch.setattr(trie, "WIDE", 2)
    check(seed)


@pytest.mark.parametrize("seed", range(200, 220))
def test_blocks_of_any_size(seed, monkeypatch):
    monkeypatch.setattr(resolve, "STRIDE", 1)
    monkeypatch.setattr(resolve, "BLOCK", 1)
    check(seed)


def test_figure_2_evaluated():
    """q1: (?x, b, c)(?x, d, e); q2: (?x, b, c)(?x, d, e)(a, d, ?x), over the latest four triples.

    x b c | x d e | y b c | a d x | y d e | z d e
            q1      .       q2      q1      .
    """
    a, b, c, d, e, x, y, z = (IRI(f"urn:{name}") for name in "abcdexyz")
    var = Variable("v")
    q1 = (TriplePattern(var, b, c), TriplePattern(var, d, e))
    q2 = (*q1, TriplePattern(a, d, var))
    window = WindowDeclaration("w", STREAM, Triples(4), WindowSemantics(Report(content_change=True)))
    means, dictionary = Semantics(R2S.ISTREAM), Dictionary()
    together = ConjunctiveSet(window, means)
    together.add(
        [(name, Conjunction(window, patterns, (var,))) for name, patterns in (("q1", q1), ("q2", q2))],
        dictionary,
    )
    triples = [(x, b, c), (x, d, e), (y, b, c), (a, d, x), (y, d, e), (z, d, e)]
    slab = Slab({STREAM: batch([(at, [triple]) for at, triple in enumerate(triples)], dictionary)}, 10)
    answers = together.advance(slab)
    found = {
        name: [(at, dictionary.text(i)) for at, i in zip(each.at, each.columns["v"], strict=True)]
        for name, each in answers.items()
    }
    assert found == {"q1": [(1, "<urn:x>"), (4, "<urn:y>")], "q2": [(3, "<urn:x>")]}
    assert len(together.channels.matcher) == 3
    assert len(together.channels.trie) == 5


def test_queries_equal_up_to_names_are_one_channel():
    p = IRI("urn:p")
    window = WindowDeclaration("w", STREAM, Triples(4), WindowSemantics(Report(content_change=True)))
    one, two = Variable("one"), Variable("two")
    same = [
        Conjunction(window, (TriplePattern(one, p, two),), (one, two)),
        Conjunction(window, (TriplePattern(two, p, one),), (one, two)),
    ]
    together = ConjunctiveSet(window, Semantics(R2S.ISTREAM))
    dictionary = Dictionary()
    together.add([("a", same[0]), ("b", same[1])], dictionary)
    answers = together.advance(Slab({STREAM: batch([(1, [(IRI("urn:s"), p, IRI("urn:o"))])], dictionary)}, 2))
    assert (len(answers), answers.delivered) == (1, 2)
    shown = [{v: dictionary.text(int(i[0])) for v, i in each.columns.items()} for _, each in answers.items()]
    assert shown == [{"one": "<urn:s>", "two": "<urn:o>"}, {"one": "<urn:o>", "two": "<urn:s>"}]
