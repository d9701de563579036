"""The control log gives back what was written to it, up to the batch that is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.errors import CheckpointError
from weir.runtime.control.entries import (
    CONTROL_FILE,
    ControlLog,
    Entry,
    Registration,
    StreamEntry,
    drop_entry,
    entry_of,
)


def test_entries_count_from_their_batch_on(tmp_path: Path) -> None:
    writer, reader = ControlLog(tmp_path), ControlLog(tmp_path)
    first, second = entry_of(StreamEntry("s"), 0), drop_entry("q", 3)
    writer.append([first])
    assert reader.entries() == [first]
    writer.append([second])
    assert reader.entries(2) == [first]
    assert reader.entries(3) == reader.entries() == [first, second]


def test_an_entry_is_a_line() -> None:
    entry = entry_of(Registration("q", "SELECT", slots=(1, 2), since=9), 7)
    assert Entry.parse(entry.line()).batch == 7
    assert entry.operation == "register"
    assert "since" not in entry.values


def test_a_damaged_line_is_refused(tmp_path: Path) -> None:
    (tmp_path / CONTROL_FILE).write_text("7\n")
    with pytest.raises(CheckpointError, match="the control log is damaged"):
        ControlLog(tmp_path).entries()


def test_a_variable_ranges_over_the_streams_that_a_query_reads() -> None:
    assert Registration("q", "").over(["a", "b"]) == ("a", "b")
    assert Registration("q", "", reads=("b", "c")).over(["a", "b"]) == ("b",)
    assert not Registration("q", "", slots=(0, 1), share=2).by_time
    assert Registration("q", "", slots=(0, 1)).by_time
