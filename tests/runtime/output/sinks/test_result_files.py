"""A file of results that a crash cannot tear: batches once, in order, whole."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from answers_kit import line_results as results
from weir.errors import CheckpointError
from weir.runtime.output.sinks.result_files import (
    ExactFile,
    asides_at,
    exact_file,
    json_lines_sink,
    lines_of,
)
from weir.storage.files import replace_file


def opened(folder: Path) -> ExactFile:
    file = ExactFile(folder / "out" / "file", folder / "logs" / "file")
    file.open()
    return file


def test_a_batch_is_written_once_and_its_note_remembered(tmp_path: Path) -> None:
    file = opened(tmp_path)
    assert file.append(0, b"a\n") and file.append(3, b"b\n", "header x")
    file.close()
    again = opened(tmp_path)
    assert again.note == "header x"
    assert again.has(3) and not again.append(3, b"b\n")
    assert again.append(4, [memoryview(b"c"), memoryview(b"\n")])
    again.close()
    assert again.path.read_bytes() == b"a\nb\nc\n"


def test_on_a_store_each_batch_is_a_file_and_what_was_not_committed_is_gone(store: Path) -> None:
    def begun() -> ExactFile:
        file = exact_file(store / "out.nt", store / "logs")
        file.open(lazy=True)
        return file

    file = begun()
    assert file.append(0, b"a\n") and file.append(3, [memoryview(b"b\n")], "header x")
    replace_file(store / "out.nt" / "batch-00000004.nt", b"half")
    again = begun()
    assert again.note == "header x" and not again.append(3, b"other\n")
    found = {path.name: path.read_bytes() for path in (store / "out.nt").iterdir()}
    assert found == {"batch-00000000.nt": b"a\n", "batch-00000003.nt": b"b\n"}
    with pytest.raises(CheckpointError, match="another job has taken over"):
        file.append(4, b"late\n")


def test_what_was_not_logged_is_cut_off(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.append(0, b"whole\n")
    file.close()
    with file.path.open("ab") as torn:
        torn.write(b"ha")
    (tmp_path / "logs" / "file" / ".2.0123.partial").write_bytes(b"[1,{")
    again = opened(tmp_path)
    assert again.append(1, b"next\n")
    again.close()
    assert file.path.read_bytes() == b"whole\nnext\n"


def test_a_file_that_lost_what_was_promised_is_refused(tmp_path: Path) -> None:
    file = opened(tmp_path)
    file.append(0, b"whole\n")
    file.close()
    file.path.write_bytes(b"w")
    with pytest.raises(CheckpointError, match="shorter than the checkpoint knows it"):
        opened(tmp_path)


def test_a_writer_that_was_held_up_before_its_commit_commits_nothing(tmp_path: Path) -> None:
    """It has looked whether it may, and wakes up when another one has taken over and gone on."""
    old = opened(tmp_path)
    old.append(0, b"a\n")
    new = opened(tmp_path)
    with pytest.raises(CheckpointError, match="taken over"):
        old.append(1, b"old\n")
    assert new.path.read_bytes() == b"a\n"
    assert new.append(1, b"b\n")
    with pytest.raises(CheckpointError, match="another process has written"):
        old.append(1, b"old\n")
    assert new.append(2, b"c\n")
    assert new.path.read_bytes() == opened(tmp_path).path.read_bytes() == b"a\nb\nc\n"


def test_a_lazy_file_is_made_with_its_first_batch(tmp_path: Path) -> None:
    file = ExactFile(tmp_path / "late", tmp_path / "late.log")
    file.open(lazy=True)
    assert not file.path.exists()
    file.append(2, b"x")
    file.close()
    assert file.path.read_bytes() == b"x"


def test_without_a_checkpoint_what_was_set_aside_before_stays(tmp_path: Path) -> None:
    """Also where two runs in one folder add to it side by side, and after a crash in the middle of a line."""
    path = tmp_path / "dead-letters.jsonl"
    path.write_bytes(b"earlier\nto")
    one, other = (asides_at({"dead": path, "late": None}, None)["dead"] for _ in range(2))
    for file in (one, other):
        file.open(lazy=True)
    one.append(0, b"a\n")
    other.append(0, b"b\n")
    one.append(1, b"c\n")
    one.close()
    assert path.read_bytes() == b"earlier\nto\na\nb\nc\n"
    kept = asides_at({"late": path}, tmp_path / "logs")["late"]
    assert isinstance(kept, ExactFile), "a checkpoint knows what is its own"


def test_lines_go_to_a_stream_as_they_are() -> None:
    stream = io.BytesIO()
    sink = json_lines_sink(stream)
    sink.write(0, [results("q", 1, 2), results("r")])
    assert stream.getvalue().splitlines() == lines_of(results("q", 1, 2))
    assert (sink.form, sink.promise) == ("jsonl", "at least once")
