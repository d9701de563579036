"""A pass over many evaluation times that fails is made again in halves."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from weir.errors import EvaluationError
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.matching.conjunctive import ConjunctiveSet
from weir.kernel.windows.evaluation_times import Evaluations
from weir.testing import Scenario

QUERY = """PREFIX : <http://e/> REGISTER {operator} <q> AS SELECT ?x (COUNT(*) AS ?n)
FROM NAMED WINDOW <w> ON <s> [{window}] {previous} WHERE {{ WINDOW <w> {{ ?x :p ?y }} }} GROUP BY ?x"""
WINDOWS = ("RANGE 20 STEP 10", "RANGE 7 REPORT CONTENT CHANGE", "TRIPLES 3 TICK TUPLE", "NOW", "ELEMENTS 2")


def lines() -> str:
    dice = Random(3)
    times = sorted(dice.randrange(90) for _ in range(60))
    return "".join(
        f"{time}\t<http://e/x{dice.randrange(4)}> <http://e/p> <http://e/y{time}> .\n" for time in times
    )


def frail(method: Callable[..., Any], size: Callable[[Any], int], most: int) -> Callable[..., Any]:
    """A method that fails where it is given more than ``most`` evaluations at a time."""

    def made(self: Any, given: Any) -> Any:
        if size(given) > most:
            raise EvaluationError("too much")
        return method(self, given)

    return made


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("previous", ["", "PREVIOUS INSTANT"])
@pytest.mark.parametrize("operator", ["RSTREAM", "ISTREAM", "DSTREAM"])
@pytest.mark.parametrize("window", WINDOWS)
def test_halves_give_what_the_whole_gives(
    monkeypatch: pytest.MonkeyPatch, window: str, operator: str, previous: str, most: int
) -> None:
    text = QUERY.format(operator=operator, window=window, previous=previous)
    expected = Scenario(text, evaluator="interval").run([lines()], "s")
    assert expected or (window, operator) == ("NOW", "DSTREAM")
    own = frail(IntervalEvaluator._answers, lambda chunk: len(chunk.times), most)
    monkeypatch.setattr(IntervalEvaluator, "_answers", own)
    scenario = Scenario(text, evaluator="interval")
    assert scenario.run([lines()], "s") == expected
    assert scenario.failures == {}


def test_so_they_do_for_queries_that_are_evaluated_together(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        f"q{k}": f"PREFIX : <http://e/> REGISTER ISTREAM <q{k}> AS SELECT ?y FROM NAMED WINDOW <w> ON <s> "
        f"[RANGE 20 STEP 10] WHERE {{ WINDOW <w> {{ :x{k % 4} :p ?y . ?z :p ?y }} }}"
        for k in range(20)
    }
    expected = Scenario(texts).run([lines()], "s")
    assert expected
    own = frail(ConjunctiveSet._evaluate, lambda at: int(at.emitted.sum()), 2)
    monkeypatch.setattr(ConjunctiveSet, "_evaluate", own)
    scenario = Scenario(texts)
    assert scenario.run([lines()], "s") == expected
    assert scenario.failures == {}


def test_the_evaluation_that_fails_is_told_with_those_before(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = IntervalEvaluator._answers

    def answers(self: IntervalEvaluator, chunk: Evaluations) -> Any:
        if (chunk.times >= 50_000).any():
            raise ZeroDivisionError
        return plain(self, chunk)

    monkeypatch.setattr(IntervalEvaluator, "_answers", answers)
    scenario = Scenario(
        QUERY.format(operator="RSTREAM", window="RANGE 10 STEP 10", previous=""), evaluator="interval"
    )
    evaluator = scenario.group.members["query"].evaluator
    assert evaluator is not None
    scenario.run([lines()], "s")
    failure = scenario.job.failures["query"]
    assert (failure.at, failure.before, failure.reason) == (50_000, 4, "ZeroDivisionError")
