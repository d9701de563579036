"""Queries in two stages through the whole path: batches, failures of a slot, forms."""

from __future__ import annotations

import pytest

from weir.runtime.output.outputs import Output
from weir.runtime.output.partial_answers import PART
from weir.runtime.output.putting_together import put_together
from weir.testing import Scenario

ROOMS = """PREFIX : <http://e/> SELECT ?room (AVG(?v) AS ?mean)
FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10]
WHERE { WINDOW <w> { ?x :value ?v } GRAPH <plan> { ?x :in ?room } } GROUP BY ?room"""
PLAN = "@prefix : <http://e/> ." + "".join(f":s{n} :in :room{n % 2} ." for n in range(6))


DOUBLE = "<http://www.w3.org/2001/XMLSchema#double>"


def line(time: int, sensor: int, value: float) -> str:
    return f'{time}\t<http://e/s{sensor}> <http://e/value> "{value}"^^{DOUBLE} .\n'


def lines(*times: int) -> str:
    return "".join(line(t, n, n / 10 + t) for t in times for n in range(6))


@pytest.mark.parametrize("restarts", [False, True])
def test_evaluations_are_whole_in_every_batch(restarts: bool) -> None:
    one = Scenario(ROOMS, graphs={"plan": PLAN})
    four = Scenario(ROOMS, graphs={"plan": PLAN}, slots=4, restarts=restarts, workers=2)
    assert four.job.registry.queries()[0].slots == (0, 1, 2, 3)
    for batch in (lines(1, 4), lines(11, 12), lines(25), lines(31, 45)):
        for scenario in (one, four):
            scenario.lane("s").put(batch)
        expected = one.batch()
        assert four.batch() == expected
    assert expected


def test_rows_of_other_kinds_stay() -> None:
    scenario = Scenario(ROOMS, graphs={"plan": PLAN}, slots=2)
    rows = [Output("metrics", "", 0, b"{}"), Output("jsonl", "other", 1, b"")]
    assert put_together(rows, scenario.job.place.catalog(0), b"", ["jsonl"]) == rows


def test_a_query_whose_parts_cannot_be_read_fails_alone() -> None:
    scenario = Scenario(ROOMS, graphs={"plan": PLAN}, slots=2)
    rows = [Output(PART, "query", 0, b"no container"), Output("metrics", "", 0, b"{}")]
    found = put_together(rows, scenario.job.place.catalog(0), b"", ["jsonl"])
    assert [row.kind for row in found] == ["metrics", "failed"] and found[1].name == "query"


def test_no_slot_has_a_hot_value_for_itself() -> None:
    scenario = Scenario(ROOMS, graphs={"plan": PLAN}, slots=4)
    scenario.lane("s").put("".join(line(n // 50, 1, n) for n in range(400)))
    scenario.batch()
    groups = [scenario.job.place.groups[slot].group for slot in range(4)]
    held = [group.members["query"].evaluator.statistics()["live_rows"] for group in groups]  # type: ignore[union-attr]
    # The last instant, with its 50 readings, waits for the next one.
    assert sum(held) == 350 and max(held) <= 2 * sum(held) / 4, held
