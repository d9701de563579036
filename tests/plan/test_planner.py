"""Every rewrite gives the same answers: random queries by the plan of each stage, against the reference."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from random import Random

from properties.generate import STREAMS, case
from properties.test_evaluators import outcome
from weir.kernel.contract import NotCovered
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.reference import ReferenceEvaluator
from weir.language import parse
from weir.plan import nodes as p
from weir.plan.planner import plan_query

CASES = max(120, int(120 * float(os.environ.get("WEIR_EXAMPLES", "1"))))
FIRST = int(os.environ.get("WEIR_SEED", "1")) * 1_000_000 + 900_000
STAGES = ("algebra", "filters first", "joins flattened", "static parts")


def staged(name: str, *given: object, **options: object) -> IntervalEvaluator:
    """An evaluator of the plan as it stands after one stage."""
    query = given[0]
    plan = plan_query(query, STREAMS)  # type: ignore[arg-type]
    root = dict(plan.stages)[name]
    at = replace(plan, root=root)
    return IntervalEvaluator(*given, plan=at, **options)  # type: ignore[arg-type]


def test_every_stage_answers_what_the_reference_answers() -> None:
    changed = dict.fromkeys(STAGES, 0)
    for seed in range(FIRST, FIRST + CASES):
        given = case(Random(seed))
        expected = outcome(ReferenceEvaluator, given, given.steps)
        before: p.Plan | None = None
        for name, plan in plan_query(given.query, STREAMS).stages:
            if plan == before:
                continue
            before = plan
            changed[name] += 1
            try:
                found = outcome(partial(staged, name), given, given.steps)
            except NotCovered:
                continue
            assert found == expected, f"seed {seed}, {name}: {given.query}"
    assert all(changed.values()), changed


def test_a_variable_stream_is_a_window_for_each_registered_stream() -> None:
    plan = plan_query(parse("SELECT * { STREAM ?s [NOW] { ?x ?p ?y } }"), ["t", "s"])
    assert [(window.name, window.stream) for window in plan.windows] == [(".1 s", "s"), (".1 t", "t")]
    assert plan.streams == ("s", "t")
