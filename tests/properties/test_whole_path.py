"""Random runs from text to result lines, through every stage but Spark, against what they mean.

The oracle (``oracle``, ``moments``) reads the same text and evaluates the unfiltered data by plain code; the
lines are compared in their order. pyoxigraph gives a second opinion on the solutions of some evaluations.

``WEIR_EXAMPLES`` multiplies the number of runs, ``WEIR_SEED`` chooses others; a failure is shrunk and printed
as a story, with the blob that repeats it.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from properties.oracle import Oracle
from properties.second_opinion import NoOpinion, opinion
from properties.stories import run, story

EXAMPLES = max(1, int(80 * float(os.environ.get("WEIR_EXAMPLES", "1"))))
QUERIES = 5
"""Queries of a run, each of them a case."""
SEED = int(os.environ.get("WEIR_SEED", "1"))
pytestmark = pytest.mark.hypothesis
"""So that ``make long`` takes it."""

ASKED = 3
"""Evaluations of a run on which pyoxigraph is asked."""
CHANCE = st.randoms(use_true_random=False)
MANY = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)


@seed(SEED)
@MANY
@given(CHANCE)
def test_lines_are_what_the_story_means(rng: Random) -> None:
    given = story(rng, count=QUERIES)
    note(f"{given}")
    found = run(given)
    for name in given.queries:
        assert found[name] == Oracle(given, name).lines()


def test_solutions_are_those_of_pyoxigraph() -> None:
    """How often it is asked, and why not, is counted: no reason may hide most of the cases."""
    asked, silent = 0, Counter[str]()

    @seed(SEED)
    @MANY
    @given(CHANCE)
    def compare(rng: Random) -> None:
        nonlocal asked
        given = story(rng)
        note(f"{given}")
        oracle = Oracle(given, "q0")
        for number, evaluated in enumerate(oracle.evaluations()):
            if number == ASKED:
                break
            try:
                expected = opinion(oracle.query, evaluated.sds, evaluated.at)
            except NoOpinion as reason:
                silent[str(reason)] += 1
                continue
            asked += 1
            assert expected.agrees(evaluated.solutions)

    compare()
    print(f"pyoxigraph was asked {asked} times; not asked: {dict(silent)}")
    assert asked > sum(silent.values())
