"""Random queries over random streams: a query answers the same from what the match step keeps for it as from
everything, in both evaluators. ``WEIR_EXAMPLES`` and ``WEIR_SEED`` are those of ``test_evaluators``."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from properties.generate import STREAMS, Case, background, case, slab
from properties.test_evaluators import CHUNK, FIRST, SCALE, Make
from weir.kernel.contract import NotCovered
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.reference import ReferenceEvaluator
from weir.plan.analysis.demand import demands
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.ingest.matching import Selection


def answers(make: Make, given: Case, *, selected: bool) -> list[tuple[object, ...]]:
    dictionary = Dictionary()
    evaluator = make(given.query, background(given, dictionary), dictionary, streams=STREAMS)
    wanted = demands(given.query, STREAMS)
    selections = {stream: Selection(patterns, dictionary) for stream, patterns in wanted.items()}
    rows: list[tuple[object, ...]] = []
    for step in given.steps:
        whole = slab(step, dictionary)
        if selected:
            batches = {stream: selections[stream].of(batch) for stream, batch in whole.batches.items()}
            whole = replace(whole, batches=batches)
        found = evaluator.advance(whole)
        columns = [
            column.tolist() if name == "boolean" else dictionary.texts(column)
            for name, column in found.columns.items()
        ]
        rows += zip(found.at.tolist(), *columns, strict=True)
        rows += [(at,) for at in found.empty.tolist()]
    return sorted(rows, key=str)


@pytest.mark.parametrize("make", [IntervalEvaluator, ReferenceEvaluator])
@pytest.mark.parametrize("chunk", range(max(1, SCALE // 8)))
def test_what_is_kept_gives_the_answers_of_everything(chunk: int, make: Make) -> None:
    first = FIRST + 800_000 + chunk * CHUNK
    for seed in range(first, first + CHUNK):
        given = case(Random(seed))
        try:
            whole = answers(make, given, selected=False)
        except NotCovered:
            continue
        assert answers(make, given, selected=True) == whole, f"seed {seed}: {given.query}"
