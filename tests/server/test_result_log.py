"""The log of results: positions, retention, and what a crash leaves behind."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from disk_kit import Faults
from server_kit import answers
from weir.errors import StorageError
from weir.server.result_log import Mark, ResultLog, Tail
from weir.storage import disk


def read_all(tail: Tail, position: int = 0, most: int = 300) -> list[int]:
    found: list[int] = []
    while True:
        chunk = tail.read(position, most)
        if chunk.next == position:
            return found
        numbers = [json.loads(line)["n"] for _, line in chunk.lines()]
        assert [place for place, _ in chunk.lines()] == list(range(chunk.first, chunk.next))
        found += numbers
        position = chunk.next


def test_lines_are_read_from_any_position_in_chunks_of_any_size(tmp_path: Path) -> None:
    log = ResultLog(tmp_path, segment=500, keep=1 << 20)
    log.open()
    chance = random.Random(4)
    total = 0
    for batch in range(30):
        count = chance.randrange(12)
        log.write(batch, [answers("q", total, count)])
        total += count
    tail = log.tail("q")
    assert tail.end == total
    assert len(list((tmp_path / "q").glob("*.jsonl"))) > 3
    for position in range(total + 1):
        assert read_all(tail, position, chance.randrange(1, 900)) == list(range(position, total))


def test_a_batch_is_written_once_and_a_torn_one_never_happened(tmp_path: Path) -> None:
    log = ResultLog(tmp_path)
    log.open()
    log.write(0, [answers("q", 0, 3), answers("other", 0, 1)])
    log.write(1, [answers("q", 3, 2)])
    log.write(1, [answers("q", 3, 2)])
    # A crash in the middle of batch 2: data without a commit, and half a record that has no name yet.
    log.tail("q").append(answers("q", 5, 2).table["line"][0].as_py().encode(), 1)
    (tmp_path / "commits" / ".3.0123.partial").write_bytes(b'[2,{"q"')
    again = ResultLog(tmp_path)
    again.open()
    assert read_all(again.tail("q")) == [0, 1, 2, 3, 4]
    again.write(1, [answers("q", 3, 2)])
    again.write(2, [answers("q", 5, 4)])
    assert read_all(again.tail("q"), 3) == [3, 4, 5, 6, 7, 8]
    assert read_all(again.tail("other")) == [0]


def test_what_is_not_kept_any_more_is_told(tmp_path: Path) -> None:
    log = ResultLog(tmp_path, segment=200, keep=600)
    log.open()
    for batch in range(60):
        log.write(batch, [answers("q", batch * 5, 5)])
    tail = log.tail("q")
    assert tail.size <= 600 + 200
    chunk = tail.read(10)
    assert chunk.first == tail.start > 10
    assert chunk.missed == tail.start - 10
    assert read_all(tail, tail.start) == list(range(tail.start, 300))
    again = ResultLog(tmp_path, segment=200, keep=600)
    again.open()
    assert (again.tail("q").start, again.tail("q").end) == (tail.start, 300)


def test_positions_go_on_when_a_name_is_used_again(tmp_path: Path) -> None:
    log = ResultLog(tmp_path)
    log.open()
    log.write(0, [answers("q", 0, 7)])
    log.erase("q")
    assert (log.tail("q").start, log.tail("q").end) == (7, 7)
    log.write(1, [answers("q", 7, 2)])
    again = ResultLog(tmp_path)
    again.open()
    assert read_all(again.tail("q")) == [7, 8]
    assert again.tail("q").read(0).missed == 7


def test_the_commit_log_stays_short(tmp_path: Path) -> None:
    log = ResultLog(tmp_path)
    log.open()
    for batch in range(20):
        log.write(batch, [answers("q", batch, 1)])
    assert len(list((tmp_path / "commits").iterdir())) == 21
    ResultLog(tmp_path).open()
    assert len(list((tmp_path / "commits").iterdir())) == 1


@pytest.mark.parametrize("request_", ["open_file", "write", "sync"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_batch_that_the_disk_refused_is_written_once_it_is_back(
    tmp_path: Path, faults: Faults, request_: str, number: int
) -> None:
    """Two tails and the commit log: each is refused once, in a segment that is there or in a new one."""
    log = ResultLog(tmp_path, segment=1)
    log.open()
    log.write(0, [answers("q", 0, 3), answers("r", 0, 1)])
    faults.plan(request_, number)
    with pytest.raises(StorageError):
        log.write(1, [answers("q", 3, 2), answers("r", 1, 1)])
    faults.heal()
    assert read_all(log.tail("q")) == [0, 1, 2]
    log.write(1, [answers("q", 3, 2), answers("r", 1, 1)])
    log.write(2, [answers("q", 5, 1)])
    for each in (log, ResultLog(tmp_path)):
        each.open()
        assert read_all(each.tail("q")) == [0, 1, 2, 3, 4, 5]
        assert read_all(each.tail("r")) == [0, 1]


def test_what_was_erased_does_not_come_back_where_its_files_could_not_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = ResultLog(tmp_path, segment=1)
    log.open()
    for batch in range(3):
        log.write(batch, [answers("q", batch, 1)])

    def refused(folder: Path) -> None:
        raise StorageError(f"{folder} could not be removed")

    with monkeypatch.context() as broken, pytest.raises(StorageError):
        broken.setattr(disk, "remove_folder", refused)
        log.erase("q")
    again = ResultLog(tmp_path)
    again.open()
    assert (again.tail("q").start, again.tail("q").end) == (3, 3)


def test_an_empty_tail_of_a_mark_without_files(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "t", segment=10, keep=10)
    tail.open(Mark(0, 0, 0))
    assert tail.read(0).next == 0
    assert tail.read(99).next == 0
