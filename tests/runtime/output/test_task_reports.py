"""Reports reach the driver, and whoever told them waits until it has heard."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from weir.errors import CheckpointError
from weir.runtime.output import task_reports as module
from weir.runtime.output.task_reports import Reports


def test_a_report_is_what_tasks_told(tmp_path: Path) -> None:
    reports = Reports(tmp_path)
    assert reports.batches() == []
    reports.tell(7, "0", [b"some", b""])
    reports.tell(7, "1", [b"other"])
    reports.tell(7, "1", [b"again"])
    assert reports.batches() == [7]
    assert reports.read(7) == [b"some", b"", b"again"], "a task that is repeated tells once"
    reports.heard(7)
    assert reports.batches() == [] and reports.read(7) == []


def test_who_tells_waits_for_the_driver(tmp_path: Path) -> None:
    reports = Reports(tmp_path)
    reports.wait()
    reports.tell(0, "0", [])
    waiting = threading.Thread(target=reports.wait)
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    reports.heard(0)
    waiting.join(60)
    assert not waiting.is_alive()


def test_a_driver_that_cannot_go_on_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = Reports(tmp_path)
    reports.tell(0, "0", [])
    reports.refuse("the disk is full")
    with pytest.raises(CheckpointError, match="the disk is full"):
        reports.wait()
    reports.clear()
    reports.wait()
    reports.tell(0, "0", [])
    monkeypatch.setattr(module, "_LONGEST", 0.0)
    with pytest.raises(CheckpointError, match="did not take a report"):
        reports.wait()
