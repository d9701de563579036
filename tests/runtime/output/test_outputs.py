"""The rows that a group sends to the driver."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from answers_kit import stepped
from weir.runtime.control.failure import Failure
from weir.runtime.output import results
from weir.runtime.output.outputs import (
    Output,
    answers_of,
    in_order,
    merged,
    outputs,
    read_answers,
    without_later,
    written_answers,
)
from weir.runtime.output.results import JSONL, PARTS, result_lines
from weir.storage.spool import SpoolWriter


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


def test_many_lines_come_in_parts_and_are_put_together_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario, step = stepped(5)
    answered = max(step.each(), key=lambda each: len(each.answers.at))
    query, dictionary, answers = answered.member.query, scenario.group.dictionary, answered.answers
    lines = pa.table(result_lines(query, "q", answers, dictionary))
    monkeypatch.setattr(results, "_SLICE", 3)
    data = written_answers(query, "q", answers, dictionary, JSONL, SpoolWriter)
    assert PARTS in read_answers(data).column_names
    one, other = (Output(JSONL, "q", slot, data) for slot in range(2))
    assert merged([one])[0].table.to_pydict() == lines.to_pydict()
    both = merged([one, other])[0]
    assert len(both) == 2 * len(lines)
    assert both.table.to_pydict() == in_order([lines, lines]).to_pydict()

    times = lines["at"].to_pylist()
    middle = times[len(times) // 2]
    kept, _ = without_later([one, other], [Failure("q", 0, "why", slot=1, at=middle)], [JSONL])
    older = lines.filter(pa.compute.less(lines["at"], middle))
    assert 0 < len(older) < len(lines)
    assert merged([kept])[0].table.to_pydict() == older.to_pydict()
