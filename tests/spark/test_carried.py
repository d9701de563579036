"""A checkpoint that travels: its files by name, and a folder of them where a task runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark import SparkFiles

from weir.runtime.control.checkpoint import Checkpoint
from weir.spark import carried as module
from weir.spark.carried import carried, unpacked


@pytest.fixture
def checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkpoint:
    monkeypatch.setattr(SparkFiles, "getRootDirectory", lambda: str(tmp_path / "worker"))
    lease = Checkpoint.take(tmp_path / "made")
    made = Checkpoint.open(tmp_path / "made", version="1", slots=3)
    lease.close()
    (made.graphs / "base").mkdir(parents=True)
    (made.graphs / "base" / "plan").write_bytes(b"triples")
    return made


def test_who_sees_the_folder_uses_it(checkpoint: Checkpoint) -> None:
    assert unpacked(str(checkpoint.folder), carried(checkpoint.folder)) == str(checkpoint.folder)


def test_elsewhere_the_same_checkpoint_is_found_once(checkpoint: Checkpoint, tmp_path: Path) -> None:
    files = carried(checkpoint.folder)
    assert sorted(files) == ["graphs/base/plan", "meta.json"]
    there = unpacked(str(tmp_path / "unseen"), files)
    found = Checkpoint.read(Path(there), patience=0)
    assert (found.key, found.slots, found.origin) == (checkpoint.key, 3, checkpoint.origin)
    assert (found.graphs / "base" / "plan").read_bytes() == b"triples"
    (found.graphs / "base" / "plan").write_bytes(b"kept")
    assert unpacked(str(tmp_path / "unseen"), files) == there
    assert (found.graphs / "base" / "plan").read_bytes() == b"kept"
    other = unpacked(str(tmp_path / "unseen"), {**files, "graphs/base/plan": b"others"})
    assert other != there


def test_what_is_too_large_is_not_carried(checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT", 10)
    assert carried(checkpoint.folder) == {}
    assert unpacked("/unseen", {}) == "/unseen"
