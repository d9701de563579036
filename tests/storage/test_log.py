"""Logs keep what they promised and lose what was torn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disk_kit import Faults, newest
from weir.errors import CheckpointError, StorageError
from weir.storage import disk
from weir.storage.log import AppendFile, RecordLog

RECORDS = st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b" ")), max_size=8)


def test_records_come_back_in_order_with_their_numbers(tmp_path: Path) -> None:
    log = RecordLog(tmp_path / "log")
    assert log.more() == []
    log.append([b"one", b""])
    log.append([b"three"])
    again = RecordLog(log.path)
    assert again.more() == [b"one", b"", b"three"]
    assert (again.first, again.end) == (0, 3)


def test_a_reader_is_given_what_is_new(tmp_path: Path) -> None:
    writer, reader = RecordLog(tmp_path / "log"), RecordLog(tmp_path / "log")
    assert reader.more() == []
    writer.append([b"one", b"two"])
    assert reader.more() == [b"one", b"two"]
    writer.append([b"three"])
    assert reader.more() == [b"three"]
    assert reader.more() == []


def test_appending_nothing_makes_no_file(tmp_path: Path) -> None:
    RecordLog(tmp_path / "log").append([])
    assert not (tmp_path / "log").exists()


def test_a_log_that_was_written_anew_is_read_anew_and_keeps_its_numbers(tmp_path: Path) -> None:
    log, reader = RecordLog(tmp_path / "log"), RecordLog(tmp_path / "log")
    log.append([b"one", b"two", b"three"])
    assert reader.more() == [b"one", b"two", b"three"]
    version = reader.version
    log.rewrite([b"all"], 3)
    assert reader.more() == [b"all"]
    assert (reader.version == version, reader.first, reader.end) == (False, 2, 3)
    log.append([b"four"])
    assert (reader.more(), reader.end) == ([b"four"], 4)
    with pytest.raises(ValueError, match="do not end at"):
        log.rewrite([b"a", b"b"], 1)


def test_a_log_rewritten_to_the_same_length_is_noticed(tmp_path: Path) -> None:
    log, reader = RecordLog(tmp_path / "log"), RecordLog(tmp_path / "log")
    log.append([b"one"])
    assert reader.more() == [b"one"]
    log.rewrite([b"eno"], 1)
    assert reader.more() == [b"eno"]


@given(RECORDS, st.integers(min_value=0))
def test_a_torn_end_never_happened(
    tmp_path_factory: pytest.TempPathFactory, records: list[bytes], cut: int
) -> None:
    """Wherever a crash cuts a log, the whole records before are there, and appending goes on after them."""
    path = tmp_path_factory.mktemp("log") / "log"
    RecordLog(path).append([b"", *records])
    whole = newest(path).read_bytes()
    head = whole.index(b"\n") + 1
    left = whole[: head + cut % (len(whole) - head + 1)]
    newest(path).write_bytes(left)
    kept = [b"", *records][: left[head:].count(b"\n")]
    log = RecordLog(path)
    assert log.more() == kept
    log.append([b"next"])
    assert log.more() == [*kept, b"next"]
    assert RecordLog(path).more() == [*kept, b"next"]


@given(st.integers(min_value=0), st.integers(min_value=1, max_value=255))
def test_damage_is_never_read(tmp_path_factory: pytest.TempPathFactory, place: int, change: int) -> None:
    """A byte that was changed: what comes back is a beginning of what was written, or the log is refused."""
    path = tmp_path_factory.mktemp("log") / "log"
    records = [b"one", b"two", b"three"]
    RecordLog(path).append(records)
    data = bytearray(newest(path).read_bytes())
    data[place % len(data)] ^= change
    newest(path).write_bytes(data)
    try:
        found = RecordLog(path).more()
    except CheckpointError as error:
        assert "is damaged at byte" in str(error)
    else:
        assert found == records[: len(found)] and len(found) < 3


def test_another_writer_is_noticed(tmp_path: Path) -> None:
    one, two = RecordLog(tmp_path / "log"), RecordLog(tmp_path / "log")
    one.append([b"one"])
    two.append([b"two"])
    with pytest.raises(CheckpointError, match="another process has written to"):
        one.append([b"three"])
    assert RecordLog(one.path).more() == [b"one", b"two"]


@pytest.mark.parametrize("request_", ["open_file", "write", "sync"])
def test_a_record_that_could_not_be_written_is_not_there(
    tmp_path: Path, faults: Faults, request_: str
) -> None:
    log = RecordLog(tmp_path / "log")
    log.append([b"one"])
    with faults.failing(request_), pytest.raises(StorageError):
        log.append([b"two"])
    assert RecordLog(log.path).more() == [b"one"]
    log.append([b"three"])
    assert RecordLog(log.path).more() == [b"one", b"three"]


def test_what_cannot_be_cut_back_is_cut_before_the_next_append(tmp_path: Path, faults: Faults) -> None:
    file = AppendFile(tmp_path / "data")
    file.append([b"good"])
    with faults.failing("sync"), pytest.raises(StorageError):
        file.append([b"bad"])
    with faults.failing("truncate"), pytest.raises(StorageError):
        file.undo(4)
        file.append([b"worse"])
    assert file.append([b" more"]) == 9
    file.close()
    assert file.path.read_bytes() == b"good more"


def test_a_file_is_cut_to_what_its_owner_knows(tmp_path: Path) -> None:
    path = tmp_path / "data"
    file = AppendFile(path)
    assert file.append([b"good", memoryview(b"!")]) == 5
    file.append([b"half-done"], sync=False)
    file.close()
    again = AppendFile(path, 5)
    assert again.append([b" more"]) == 10
    again.close()
    assert path.read_bytes() == b"good! more"


def test_a_file_that_lost_bytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"abc")
    with pytest.raises(CheckpointError, match=r"3 bytes of 4"):
        AppendFile(path, 4)


def test_what_another_hand_appended_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data"
    file = AppendFile(path)
    file.append([b"good"])
    with open(path, "ab") as other:
        other.write(b"torn")
    with pytest.raises(CheckpointError, match="another process has written"):
        file.append([b" more"])
    file.undo(0)
    file.close()
    assert path.read_bytes() == b"goodtorn"


def test_many_files_are_synced_and_a_failure_is_told(tmp_path: Path, faults: Faults) -> None:
    files = [AppendFile(tmp_path / str(number)) for number in range(10)]
    for file in files:
        file.append([b"x"], sync=False)
    faults.counts.clear()
    AppendFile.sync_all(files)
    assert faults.counts["sync"] == 10
    with faults.failing("sync"), pytest.raises(StorageError):
        AppendFile.sync_all(files)
    for file in files:
        file.close()


def test_a_record_that_was_neither_promised_nor_cut_off_is_not_there(
    tmp_path: Path, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = RecordLog(tmp_path / "log")
    log.append([b"first"])
    with monkeypatch.context() as broken, faults.failing("sync"):
        broken.setattr(disk, "truncate", _refused)
        with pytest.raises(StorageError):
            log.append([b"refused"])
    assert b"refused" in newest(log.path).read_bytes()
    assert log.more() == [b"first"]
    log.append([b"second"])
    assert log.more() == [b"second"]
    assert RecordLog(log.path).more() == [b"first", b"second"]


def _refused(file: int, size: int, path: Path) -> None:
    raise StorageError(f"{path} could not be cut")


@pytest.mark.parametrize("request_", ["write", "sync", "link"])
def test_a_writer_that_is_held_up_promises_nothing_and_disturbs_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request_: str
) -> None:
    """Another one takes over and appends exactly when the old one has asked the disk for something."""
    old, new = RecordLog(tmp_path / "log"), RecordLog(tmp_path / "log")
    old.append([b"first"])
    real = getattr(disk, request_)

    def held_up(*values: Any) -> Any:
        monkeypatch.setattr(disk, request_, real)
        found = real(*values)
        new.append([b"second"])
        return found

    monkeypatch.setattr(disk, request_, held_up)
    with pytest.raises(CheckpointError, match="another process has written"):
        if request_ == "link":
            old.rewrite([b"all"], 1)
        else:
            old.append([b"late"])
    for log in (old, RecordLog(old.path)):
        found = log.more()
        # What was written and not promised may have been seen by the one who took over.
        assert [each for each in found if each != b"late"] == [b"first", b"second"]
    new.append([b"third"])
    assert RecordLog(old.path).more()[-1] == b"third"
    with pytest.raises(CheckpointError):
        old.rewrite([], 0)
    assert RecordLog(old.path).more()[-1] == b"third"


def test_what_was_promised_is_read_by_whoever_takes_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old one appends exactly before the new one has said that it takes over."""
    old, new = RecordLog(tmp_path / "log"), RecordLog(tmp_path / "log")
    old.append([b"first"])
    real = disk.link

    def link(*values: Any) -> Any:
        monkeypatch.setattr(disk, "link", real)
        old.append([b"just in time"])
        return real(*values)

    monkeypatch.setattr(disk, "link", link)
    new.append([b"second"])
    assert RecordLog(old.path).more() == [b"first", b"just in time", b"second"]


def test_a_number_is_given_once(tmp_path: Path) -> None:
    one, two = RecordLog(tmp_path / "log"), RecordLog(tmp_path / "log")
    assert two.more() == []
    one.append([b"first"], 0)
    with pytest.raises(CheckpointError, match="another process has written"):
        two.append([b"other"], two.end)
    assert two.more() == [b"first"]
    two.append([b"second"], two.end)
    assert RecordLog(one.path).more() == [b"first", b"second"]


def test_few_files_are_kept(tmp_path: Path) -> None:
    for number in range(9):
        RecordLog(tmp_path / "log").append([b"%d" % number])
    assert len(list((tmp_path / "log").iterdir())) == 2
    assert RecordLog(tmp_path / "log").more() == [b"%d" % number for number in range(9)]


def test_a_writer_that_was_refused_cuts_off_nothing_of_another(tmp_path: Path) -> None:
    old, new = RecordLog(tmp_path / "log"), RecordLog(tmp_path / "log")
    old.append([b"first"])
    new.append([b"second"])
    for _ in range(3):
        with pytest.raises(CheckpointError, match="another process has written"):
            old.append([b"late"])
    assert RecordLog(old.path).more() == [b"first", b"second"]
