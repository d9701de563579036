"""A log whose appends are objects keeps the laws of one that is a file: the same test, at every place."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from weir.errors import CheckpointError, StorageError
from weir.storage import object_log, record_log
from weir.storage.files import numbered, replace_file
from weir.storage.object_log import ObjectLog


def test_records_come_back_in_order_with_their_numbers(place: Path) -> None:
    log, reader = record_log(place / "log"), record_log(place / "log")
    assert log.more() == reader.more() == []
    log.append([b"one", b""])
    assert reader.more() == [b"one", b""]
    log.append([b"three"], at=2)
    assert (reader.more(), reader.more(), reader.end) == ([b"three"], [], 3)
    again = record_log(log.path)
    assert (again.more(), again.first, again.end) == ([b"one", b"", b"three"], 0, 3)


def test_a_log_that_was_written_anew_is_read_anew_and_keeps_its_numbers(place: Path) -> None:
    log, reader = record_log(place / "log"), record_log(place / "log")
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


def test_another_writer_is_noticed_and_promises_nothing(place: Path) -> None:
    old = record_log(place / "log")
    old.append([b"a"])
    new = record_log(place / "log")
    new.append([b"b"])
    for change in (lambda: old.append([b"x"]), lambda: old.rewrite([b"x"], 1), lambda: new.append([b"x"], 1)):
        with pytest.raises(CheckpointError, match="another process has written"):
            change()
    assert record_log(place / "log").more() == [b"a", b"b"]


def test_of_many_that_begin_at_once_none_loses_what_was_promised(store: Path) -> None:
    """Each is refused as soon as another one has begun; what it had promised by then is kept."""

    def writes(name: int) -> list[bytes]:
        log, promised = record_log(store / "log"), []
        for number in range(5):
            record = f"{name} {number}".encode()
            try:
                log.append([record])
            except CheckpointError:
                break
            promised.append(record)
        return promised

    with ThreadPoolExecutor(4) as pool:
        promised = [each for part in pool.map(writes, range(4)) for each in part]
    found = record_log(store / "log").more()
    assert promised and sorted(found) == sorted(set(found)) and set(promised) <= set(found)


def test_few_objects_are_kept_and_readers_that_follow_notice_nothing(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_log, "_MANY", 5)
    log, reader, late = (record_log(store / "log") for _ in range(3))
    dice, expected, seen = random.Random(1), [], []
    for number in range(30):
        records = [b"%d" % number] * dice.randrange(1, 4)
        log.append(records)
        expected += records
        seen += reader.more()
        assert len(numbered(log.path)) <= 7
    assert seen == expected and reader.version == 0
    assert late.more() == expected


def test_what_was_never_promised_is_not_there(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store took it, and the answer was lost for good."""
    log, reader = ObjectLog(store / "log"), record_log(store / "log")
    log.append([b"a"])
    put = object_log.put_if_absent

    def lost(path: Path, data: bytes) -> bool:
        put(path, data)
        raise StorageError("the answer was lost")

    with monkeypatch.context() as patch:
        patch.setattr(object_log, "put_if_absent", lost)
        with pytest.raises(StorageError):
            log.append([b"never"])
    log.append([b"b"])
    assert reader.more() == record_log(store / "log").more() == log.more() == [b"a", b"b"]


def test_damage_is_refused(store: Path) -> None:
    log = record_log(store / "log")
    log.append([b"a"])
    replace_file(log.path / "1", b"[fal")
    with pytest.raises(CheckpointError, match="/log/1 is damaged"):
        record_log(log.path).more()
