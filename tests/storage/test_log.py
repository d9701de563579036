"""Logs keep what they promised and lose what was torn."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.errors import CheckpointError
from weir.storage.log import AppendFile, LineLog


def test_lines_come_back_in_order(tmp_path: Path) -> None:
    log = LineLog(tmp_path / "log")
    assert log.lines() == []
    log.append([b"one", b""])
    log.append([b"three"], sync=False)
    log.sync()
    assert LineLog(log.path).lines() == [b"one", b"", b"three"]


def test_a_reader_is_given_what_is_new(tmp_path: Path) -> None:
    writer, reader = LineLog(tmp_path / "log"), LineLog(tmp_path / "log")
    assert reader.more() == []
    writer.append([b"one", b"two"])
    assert reader.more() == [b"one", b"two"]
    writer.append([b"three"])
    assert reader.more() == [b"three"]
    assert reader.more() == []


def test_appending_nothing_makes_no_file(tmp_path: Path) -> None:
    LineLog(tmp_path / "log").append([])
    assert not (tmp_path / "log").exists()


def test_a_log_is_rewritten_whole(tmp_path: Path) -> None:
    log = LineLog(tmp_path / "log")
    log.append([b"one", b"two"])
    log.rewrite([b"both"])
    log.append([b"three"])
    assert log.lines() == [b"both", b"three"]


@given(
    st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b" ")), max_size=8),
    st.integers(min_value=0),
)
def test_a_torn_end_never_happened(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], cut: int
) -> None:
    """Wherever a crash cuts a log, the whole lines before are there, and appending goes on after them."""
    path = tmp_path_factory.mktemp("log") / "log"
    path.touch()
    LineLog(path).append(lines)
    left = path.read_bytes()[: cut % (path.stat().st_size + 1)]
    path.write_bytes(left)
    kept = left.split(b"\n")[:-1]
    log = LineLog(path)
    assert log.more() == kept
    log.append([b"next"])
    assert log.more() == [b"next"]
    assert log.lines() == [*kept, b"next"]


def test_the_end_of_a_log_is_found_across_a_long_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\n" + b"x" * 200_000)
    log = LineLog(path)
    log.append([b"two"])
    assert log.lines() == [b"one", b"two"]


def test_a_file_is_cut_to_what_its_owner_knows(tmp_path: Path) -> None:
    path = tmp_path / "data"
    file = AppendFile(path)
    assert file.append(b"good", memoryview(b"!")) == 5
    file.append(b"half-done", sync=False)
    file.close()
    again = AppendFile(path, 5)
    assert again.append(b" more") == 10
    again.close()
    assert path.read_bytes() == b"good! more"


def test_a_file_that_lost_bytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"abc")
    with pytest.raises(CheckpointError, match=r"3 bytes of 4"):
        AppendFile(path, 4)


def test_what_another_hand_appended_is_undone(tmp_path: Path) -> None:
    path = tmp_path / "data"
    file = AppendFile(path)
    file.append(b"good")
    with open(path, "ab") as other:
        other.write(b"torn")
    file.undo()
    file.append(b" more")
    file.close()
    assert path.read_bytes() == b"good more"
