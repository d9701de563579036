"""Random queries over random streams: ``interval`` answers what ``reference`` answers, however input is cut.

A case is a seed: a query of any form with random windows (kinds, report policies, bounds, t0, ticks, bags),
R2S and "before", over messages disordered within the lateness and cut into slabs anywhere. ``WEIR_EXAMPLES``
multiplies the number of cases (2,000 and 500), ``WEIR_SEED`` moves to other ones; a failure names its seed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from properties.generate import STREAMS, Case, Message, Step, background, case, slab
from weir.kernel import contract as batch
from weir.kernel.contract import Evaluator, NotCovered
from weir.kernel.interval import evaluator
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.reference import ReferenceEvaluator
from weir.language.algebra.windows import TickKind
from weir.plan.analysis.ticks import looking
from weir.rdf.ids.dictionary import Dictionary

pytestmark = pytest.mark.hypothesis
"""So that ``make long`` takes it."""
SCALE = max(1, int(20 * float(os.environ.get("WEIR_EXAMPLES", "1"))))
FIRST = int(os.environ.get("WEIR_SEED", "1")) * 1_000_000
CHUNK = 100
Make = Callable[..., Evaluator]


@dataclass(frozen=True)
class Outcome:
    """Everything that came out, in an order that does not depend on ties."""

    rows: tuple[tuple[Any, ...], ...]
    empty: tuple[int, ...]
    evaluations: int


def outcome(
    make: Make,
    given: Case,
    steps: Sequence[Step],
    *,
    restarts: bool = False,
    turn: tuple[int, int] = (0, 1),
) -> Outcome:
    dictionary = Dictionary()
    graphs = background(given, dictionary)
    made = make(given.query, graphs, dictionary, streams=STREAMS)
    rows: list[tuple[Any, ...]] = []
    empty: list[int] = []
    evaluations = 0
    for step in steps:
        found = made.advance(replace(slab(step, dictionary), turn=turn))
        columns = [
            column.tolist() if name == "boolean" else dictionary.texts(column)
            for name, column in found.columns.items()
        ]
        rows += zip(found.at.tolist(), *columns, strict=True)
        empty += found.empty.tolist()
        evaluations += found.evaluations
        if restarts:
            state = made.snapshot()
            made = make(given.query, graphs, dictionary, streams=STREAMS)
            made.restore(state)
    looks = looking(given.query)
    if looks.reason is not None and looks.tick.kind is TickKind.BATCH:
        # Evaluations that cannot bring anything may be left out.
        evaluations = 0
    return Outcome(tuple(sorted(rows, key=str)), tuple(sorted(empty)), evaluations)


def together(steps: Sequence[Step]) -> tuple[Step, ...]:
    """All slabs as one, in the same order of arrival within each time."""
    arrivals: dict[str, list[Message]] = {}
    for step in steps:
        for name, sent in step.arrivals.items():
            arrivals.setdefault(name, []).extend(sent)
    ordered = {name: tuple(sorted(sent, key=lambda each: each.time)) for name, sent in arrivals.items()}
    return (Step(ordered, steps[-1].through, steps[-1].end),)


@pytest.mark.parametrize("chunk", range(SCALE))
def test_interval_equals_reference(chunk: int) -> None:
    covered = 0
    for seed in range(FIRST + chunk * CHUNK, FIRST + (chunk + 1) * CHUNK):
        given = case(Random(seed))
        expected = outcome(ReferenceEvaluator, given, given.steps)
        try:
            found = outcome(IntervalEvaluator, given, given.steps)
        except NotCovered:
            continue
        covered += 1
        assert found == expected, f"seed {seed}: {given.query}"
    assert covered > CHUNK * 0.9


@pytest.mark.parametrize("chunk", range(max(1, SCALE // 4)))
def test_cuts_and_restarts_change_nothing(chunk: int) -> None:
    for seed in range(FIRST + 500_000 + chunk * CHUNK, FIRST + 500_000 + (chunk + 1) * CHUNK):
        given = case(Random(seed))
        ticks = {window.semantics.tick.kind for window in given.query.dataset.windows}
        given = replace(given, steps=tuple(given.steps))
        try:
            cut = outcome(IntervalEvaluator, given, given.steps, restarts=True)
            whole = outcome(IntervalEvaluator, given, together(given.steps))
        except NotCovered:
            continue
        if TickKind.TUPLE not in ticks:
            assert cut == whole, f"seed {seed}: {given.query}"
        assert cut == outcome(IntervalEvaluator, given, given.steps), f"seed {seed}: {given.query}"


@pytest.mark.parametrize("chunk", range(max(1, SCALE // 4)))
def test_evaluators_that_take_turns_answer_together_what_one_does(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "_WORTH", 1)
    monkeypatch.setattr(evaluator, "_GROWTH", 3)
    shared = 0
    for seed in range(FIRST + 700_000 + chunk * CHUNK, FIRST + 700_000 + (chunk + 1) * CHUNK):
        given = case(Random(seed))
        if any(w.semantics.tick.kind is TickKind.TUPLE for w in given.query.dataset.windows):
            continue
        if not given.query.dataset.windows:
            continue
        steps = together(given.steps) if seed % 2 else given.steps
        try:
            whole = outcome(IntervalEvaluator, given, steps)
        except NotCovered:
            continue
        many = 2 + seed % 3
        found = [
            outcome(IntervalEvaluator, given, steps, restarts=bool(seed % 5), turn=(which, many))
            for which in range(many)
        ]
        shared += sum(each.evaluations > 0 for each in found) > 1
        rows = sorted((row for each in found for row in each.rows), key=str)
        empty = sorted(time for each in found for time in each.empty)
        evaluations = sum(each.evaluations for each in found)
        assert Outcome(tuple(rows), tuple(empty), evaluations) == whole, f"seed {seed}: {given.query}"
    assert shared > CHUNK * 0.3
