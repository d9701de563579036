"""A set of conjunctive queries gives each query exactly what it gets alone in the reference evaluator."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matching_kit import EXAMPLES, alone, answered, conjunctive, declaration, semantics, slabs, stream
from weir.errors import UsageError
from weir.kernel.interval.compiler import NotCovered
from weir.kernel.matching import speed
from weir.kernel.matching.conjunctive import ConjunctiveSet
from weir.plan.conjunctions import conjunction
from weir.rdf.dictionary import Dictionary


@pytest.fixture(params=["compiled", "plain"])
def loops(request, monkeypatch):
    if request.param == "plain":
        monkeypatch.setattr(speed, "compiled", None)
    elif speed.compiled is None:
        pytest.skip("numba is not installed: only the numpy form runs")
    return request.param


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


@pytest.mark.parametrize("seed", range(40))
def test_both_forms_of_the_loops(seed, loops):
    check(seed)
