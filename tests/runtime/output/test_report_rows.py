"""Rows travel as bytes, and with them the parts that a task has written."""

from __future__ import annotations

from weir.runtime.output.outputs import Output, written_row
from weir.runtime.output.report_rows import packed_rows, parts_in, parts_row, rows_of
from weir.runtime.output.sinks.part_folders import ResultPart


def test_rows_travel_as_bytes() -> None:
    rows = [Output("metrics", "", 3, b"{}", [1, 2]), Output("dead", "", 1, b"x"), written_row(5)]
    assert rows_of([packed_rows(rows[:2]), packed_rows([]), packed_rows(rows[2:])]) == rows
    assert parts_in(rows) == []


def test_parts_are_told_as_a_row() -> None:
    one, other = (
        ResultPart("batch-1-0.jsonl", "1-0-aa", 3, 90),
        ResultPart("batch-1-1.jsonl", "1-1-ab", 1, 30),
    )
    told = rows_of([packed_rows([written_row(3), parts_row([one])]), packed_rows([parts_row([other])])])
    assert parts_in(told) == [one, other]
