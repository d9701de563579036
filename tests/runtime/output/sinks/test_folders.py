"""Folders of results give back what was written, once."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from answers_kit import stepped
from weir.runtime.output.compact import COMPACT
from weir.runtime.output.outputs import answers_of, merged
from weir.runtime.output.results import result_columns
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.sinks.folders import ResultsFolder, read_results


def test_a_folder_of_results(tmp_path: Path) -> None:
    scenario, step = stepped(4)
    every_row = answers_of(step, scenario.group, 0, [COMPACT])
    rows = [row for row in every_row if row.kind == COMPACT]
    single = Results("other", pa.table({"at": [1], "op": ["R"], "x": ["<http://e/a>"]}))
    sink = ResultsFolder(tmp_path / "out", tmp_path / "out.log")
    sink.open()
    sink.write(0, [single, *merged(rows)])
    sink.write(1, [])
    sink.write(0, [single, *merged(rows)])
    found = dict(read_results(tmp_path / "out"))
    every = {each.member.name: each for each in step.each()}
    assert set(found) == {"other", *every}
    for name, answered in every.items():
        columns = result_columns(answered.member.query, name, answered.answers, scenario.group.dictionary)
        assert found[name].to_pydict() == pa.table(columns).to_pydict()
    assert [name for name, _ in read_results(tmp_path / "out", ["other", "q00 0"])] == ["other"]
