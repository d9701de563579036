"""Parts of tasks count once, however often they were written: the first manifest of a batch says which."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from disk_kit import Faults
from weir.errors import CheckpointError, StorageError, UsageError
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.sinks.part_folders import FORMATS, PartFolder


def lines(name: str, *texts: str) -> Results:
    column = pa.array([text + "\n" for text in texts], pa.large_string())
    return Results(name, pa.table({"at": pa.array(range(len(texts)), pa.int64()), "line": column}))


def solutions(name: str, *texts: str) -> Results:
    return Results(name, pa.table({"at": [1] * len(texts), "op": ["R"] * len(texts), "x": list(texts)}))


def files(folder: Path) -> dict[str, str]:
    """What somebody finds who knows nothing of manifests."""
    return {path.name: path.read_text() for path in sorted(folder.glob("batch-*"))}


def opened(tmp_path: Path, origin: str = "one") -> PartFolder:
    folder = PartFolder(tmp_path / "out", "jsonl")
    folder.open(origin)
    return folder


def test_parts_appear_when_their_batch_is_published(place: Path) -> None:
    folder = opened(place)
    parts = [*folder.write(3, 0, [lines("a", "1", "2")]), *folder.write(3, 1, [lines("b", "3")])]
    assert folder.write(3, 2, [lines("b")]) == [], "a task without results writes none"
    assert files(folder.folder) == {}
    assert folder.publish(3, parts)
    assert files(folder.folder) == {
        "batch-00000003-00000.jsonl": "1\n2\n",
        "batch-00000003-00001.jsonl": "3\n",
    }
    assert folder.batches() == [3] and [part.rows for part in folder.parts(3)] == [2, 1]
    assert [part.bytes for part in folder.parts(3)] == [4, 2]


def test_tasks_and_batches_that_are_repeated_count_once(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.write(0, 0, [lines("a", "lost attempt")])
    assert folder.publish(0, folder.write(0, 0, [lines("a", "first")]))
    assert not folder.publish(0, folder.write(0, 0, [lines("a", "second")]))
    assert not folder.publish(1, []) and folder.batches() == [0]
    assert list(files(folder.folder).values()) == ["first\n"]
    assert list((folder.folder / "_parts").iterdir()) == []


def test_a_crash_before_parts_have_their_place(tmp_path: Path, faults: Faults) -> None:
    folder = opened(tmp_path)
    parts = [*folder.write(0, 0, [lines("a", "1")]), *folder.write(0, 1, [lines("a", "2")])]
    later = folder.write(1, 0, [lines("a", "3")])
    with faults.failing("rename"), pytest.raises(StorageError):
        folder.publish(0, parts)
    again = opened(tmp_path)
    assert list(files(folder.folder).values()) == ["1\n", "2\n"], "the manifest was there"
    assert again.publish(1, later), "what was not published yet may be"
    assert list(files(folder.folder).values()) == ["1\n", "2\n", "3\n"]


def test_a_folder_belongs_to_one_checkpoint(tmp_path: Path) -> None:
    opened(tmp_path)
    opened(tmp_path)
    with pytest.raises(CheckpointError, match="results of another checkpoint"):
        opened(tmp_path, "other")
    with pytest.raises(CheckpointError, match="another format"):
        PartFolder(tmp_path / "out", "csv").open("one")
    with pytest.raises(UsageError, match="unknown format 'xml'"):
        PartFolder(tmp_path, "xml")


@pytest.mark.parametrize("format", [each for each in FORMATS if each != "jsonl"])
def test_every_format_makes_parts(tmp_path: Path, format: str) -> None:
    folder = PartFolder(tmp_path, format)
    folder.open("one")
    parts = folder.write(
        0, 0, [solutions("a", "<http://e/1>", "<http://e/2>"), solutions("b", "<http://e/3>")]
    )
    assert folder.publish(0, parts) and sum(part.rows for part in parts) == 3
    if format == "parquet":
        (path,) = (tmp_path / "a").iterdir()
        assert pq.read_table(path, partitioning=None)["x"].to_pylist() == ["<http://e/1>", "<http://e/2>"]
        assert len(list((tmp_path / "b").iterdir())) == 1
    else:
        (text,) = files(tmp_path).values()
        assert all(f"http://e/{number}" in text for number in (1, 2, 3))
