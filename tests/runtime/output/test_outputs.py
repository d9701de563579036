"""The rows that a group sends to the driver."""

from __future__ import annotations

import json

from answers_kit import stepped
from weir.runtime.output.outputs import answers_of, outputs, read_answers


def test_one_row_for_many_queries() -> None:
    scenario, step = stepped(2)
    rows = list(answers_of(step, scenario.group, 0, ["jsonl"]))
    assert 0 < len(rows) < len(list(step.each()))
    assert not any(row.name for row in rows)
    assert sum(read_answers(row.data).num_rows for row in rows) == sum(
        len(each.answers.at) for each in step.each()
    )


def test_the_last_row_has_the_counters() -> None:
    scenario, step = stepped(2)
    row = list(outputs(scenario.group, step, [], 7))[-1]
    assert (row.kind, row.slot) == ("metrics", 7)
    assert set(json.loads(row.data[:])["queries"]) == set(scenario.group.members)
    assert row.counts is not None
