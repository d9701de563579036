"""Which batch was written last, whatever happens in between."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from disk_kit import Faults
from weir.errors import CheckpointError, StorageError
from weir.storage import Commits, commits, disk
from weir.storage.files import numbered, replace_file


def opened(path: Path) -> Commits:
    made = Commits(path)
    made.open()
    return made


def test_what_was_committed_is_there_again(place: Path) -> None:
    first = opened(place / "sinks" / "log")
    assert first.last == -1 and not first.has(0)
    first.commit(0, {"a": 1, "b": [2, "x"]})
    first.commit(3, {"a": 5})
    again = opened(first.path)
    assert (again.last, again.marks) == (3, {"a": 5, "b": [2, "x"]})
    assert again.has(2) and again.has(3) and not again.has(4)


def test_records_stay_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commits, "_MANY", 10)
    log = opened(tmp_path / "log")
    for batch in range(100):
        log.commit(batch, {"a": batch})
        assert len(numbered(log.path)) <= 12
    assert opened(log.path).marks == {"a": 99}
    assert len(list(log.path.iterdir())) == 1
    opened(log.path).commit(100, {})
    assert opened(log.path).last == 100


def test_an_earlier_writer_commits_nothing_more(place: Path) -> None:
    """Not once, whatever it looked at before: the number that it would take is taken."""
    old = opened(place / "log")
    old.commit(0, {"a": 1})
    new = opened(old.path)
    for _ in range(2):
        with pytest.raises(CheckpointError, match="another job has taken over"):
            old.commit(1, {"a": 2})
    assert old.last == 0
    new.commit(1, {"a": 3})
    assert (opened(old.path).last, opened(old.path).marks) == (1, {"a": 3})


def test_nor_does_one_whose_number_is_free_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commits, "_MANY", 10)
    old = opened(tmp_path / "log")
    old.commit(0, {"a": 1})
    new = opened(old.path)
    for batch in range(1, 50):
        new.commit(batch, {"a": batch})
    with pytest.raises(CheckpointError, match="another job has taken over"):
        old.commit(1, {"a": -1})
    new.commit(50, {})
    assert (opened(old.path).last, opened(old.path).marks) == (50, {"a": 49})


def test_of_many_that_open_at_once_one_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "log"
    opened(path).commit(0, {"a": 0})
    with ThreadPoolExecutor(8) as pool:
        writers = list(pool.map(opened, [path] * 16))
        wrote = list(pool.map(lambda each: _tried(each, 1), writers))
    assert sum(wrote) == 1
    assert opened(path).last == 1


def _tried(writer: Commits, batch: int) -> bool:
    try:
        writer.commit(batch, {"a": batch})
    except CheckpointError:
        return False
    return True


def test_a_record_that_was_neither_promised_nor_taken_back_is_written_again(
    tmp_path: Path, faults: Faults
) -> None:
    log = opened(tmp_path / "log")
    real = disk.remove
    with pytest.MonkeyPatch.context() as broken, faults.failing("sync_folder"):
        broken.setattr(disk, "remove", lambda path: faults_refuse(path) if path.name == "1" else real(path))
        with pytest.raises(StorageError):
            log.commit(0, {"a": 1})
    assert numbered(log.path) == [0, 1]
    log.commit(0, {"a": 2})
    assert (log.last, opened(log.path).marks) == (0, {"a": 2})


def faults_refuse(path: Path) -> None:
    raise StorageError(f"{path} could not be removed")


def test_damage_is_refused(place: Path) -> None:
    log = opened(place / "log")
    log.commit(0, {})
    replace_file(log.path / "1", b"[0,")
    with pytest.raises(CheckpointError, match="damaged"):
        opened(log.path)


def test_a_batch_that_could_not_be_committed_is_not(tmp_path: Path, faults: Faults) -> None:
    log = opened(tmp_path / "log")
    log.commit(0, {"a": 1})
    for request in ("open_file", "write", "sync", "link", "sync_folder"):
        with faults.failing(request), pytest.raises(StorageError):
            log.commit(1, {"a": 2})
        assert (log.last, log.marks) == (0, {"a": 1})
    assert opened(log.path).last == 0
    log = opened(log.path)
    log.commit(1, {"a": 2})
    assert opened(log.path).marks == {"a": 2}
