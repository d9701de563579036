"""Answers for tests: those of queries that are evaluated together, and result lines made by hand."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from weir.kernel.matching.answers import SetAnswers
from weir.runtime.output.sinks.base import Results
from weir.runtime.worker.group import Step
from weir.testing import Scenario

BODIES = ["?x :p ?y", "?x :p ?y . ?x :q ?z", "?a ?b ?c", "?x :p ?y . ?z :q ?y", ':a :p ?y . ?s :r "0.5"']
SELECTED = ["*", "?y", "?nothing ?y", "DISTINCT ?x"]
QUERIES = {
    f"q{b}{s}{d}": (
        f"PREFIX : <http://e/> REGISTER ISTREAM <q{b}{s}{d}> AS SELECT {selected} FROM NAMED WINDOW <w> ON "
        f"<s> [TRIPLES 5 CONTENT BAG REPORT CONTENT CHANGE] WHERE {{ WINDOW <w> {{ {body} }} }}"
    )
    for b, body in enumerate(BODIES)
    for s, selected in enumerate(SELECTED)
    for d in range(1 + (s == 0))
}


def lines(seed: int, count: int = 60) -> str:
    draw = random.Random(seed)
    objects = [
        "<http://e/x>",
        '"0.5"',
        '"1.50"^^<http://www.w3.org/2001/XMLSchema#decimal>',
        '"a\\"b"@en',
        '"ä"',
    ]
    return "".join(
        f"{1000 + time // 3}\t<http://e/{draw.choice('abc')}> <http://e/{draw.choice('pqr')}> "
        f"{draw.choice(objects)} .\n"
        for time in range(count)
    )


def stepped(seed: int) -> tuple[Scenario, Step]:
    scenario = Scenario(QUERIES, evaluator="shared")
    scenario.lane("s").put(lines(seed)).end()
    scenario.batch()
    return scenario, scenario.steps[-1]


def parts(step: Step) -> Iterator[tuple[SetAnswers, Any]]:
    for together in step.shared:
        for part in together.answers.parts:
            assert isinstance(part, SetAnswers)
            yield part, {name: member.query for name, member in together.members.items()}


def line_results(query: str, *numbers: int) -> Results:
    """Result lines of a query, which say their numbers."""
    lines = [json.dumps({"query": query, "n": number}) + "\n" for number in numbers]
    return Results(
        query, pa.table({"at": pa.array(numbers, pa.int64()), "line": pa.array(lines, pa.large_string())})
    )
