"""A process that compiled code holds is ended, and the next one knows by which query."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from weir.runtime.worker.alone import TimeLimit
from weir.runtime.worker.watchdog import Watchdog, working

HELD = """
import re, sys
from pathlib import Path
from weir.runtime.worker.alone import TimeLimit
from weir.runtime.worker.watchdog import Watchdog

dog = Watchdog(Path(sys.argv[1]), 3, 1.0)
assert dog.begin(7) == ([], False)
limit = TimeLimit(0.3, lambda names: print("an exception was enough"))
limit.dog = dog
with limit.over(["harmless"]):
    pass
with limit.over(["bad", "worse"]):
    re.match("(a+)+$", "a" * 60 + "b")
"""
"""The matcher of ``re`` never lets go of the interpreter."""


def test_code_that_lets_nobody_else_run_is_ended_and_told_of(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HELD, str(tmp_path)], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert "Timeout" in (tmp_path / "3.stuck").read_text()
    again = Watchdog(tmp_path, 3, 60.0)
    assert again.begin(7) == (["bad", "worse"], True)
    assert again.begin(7) == ([], False)
    again.close()


@pytest.mark.parametrize("batch, told", [(4, ["q"]), (5, [])])
def test_it_is_told_of_for_the_batch_it_was_at(tmp_path: Path, batch: int, told: list[str]) -> None:
    dog = Watchdog(tmp_path, 0, 60.0)
    dog.begin(4)
    dog.at(["q"])
    (tmp_path / "0.stuck").write_text("Timeout")
    assert dog.begin(batch) == (told, True)
    dog.close()


def test_others_see_what_is_being_worked_on(tmp_path: Path) -> None:
    dogs = [Watchdog(tmp_path, slot, 60.0) for slot in range(3)]
    for dog, batch, names in zip(dogs, (4, 4, 3), (["a", "b"], [], ["c"]), strict=True):
        dog.begin(batch)
        dog.at(names)
    assert set(working(tmp_path, 4)) == {"a", "b"}
    assert all(0 <= seconds < 3600 for seconds in working(tmp_path, 4).values())
    assert working(tmp_path, 5) == working(tmp_path / "nowhere", 4) == {}
    for dog in dogs:
        dog.close()


def died(folder: Path, batch: int, *names: str) -> list[str]:
    """A process takes up a batch and dies at some queries; which ones it was told of."""
    dog = Watchdog(folder, 0, 60.0)
    found, stuck = dog.begin(batch)
    assert not stuck
    dog.at(names)
    dog.close()
    return found


def test_a_process_that_was_killed_blames_nobody(tmp_path: Path) -> None:
    for names in (["q"], ["q"], ["r"], ["q"], [], ["q"], ["q"]):
        assert died(tmp_path, 4, *names) == []
    for _ in range(3):
        assert died(tmp_path, 5, "q") == []


def test_whatever_kills_again_and_again_is_to_blame(tmp_path: Path) -> None:
    told = [died(tmp_path, 4, "q", "r") for _ in range(5)]
    assert told == [[], [], [], ["q", "r"], ["q", "r"]]


def test_a_process_may_die_while_it_writes(tmp_path: Path) -> None:
    died(tmp_path, 4, "a query with a long name")
    with open(tmp_path / "0.work", "r+b") as file:
        file.write(b'[4, ["q"]]')
    for name in ("0.work", "0.died"):
        assert died(tmp_path, 4, "q") == []
        (tmp_path / name).write_text("[4,")
    assert died(tmp_path, 4) == []


def test_a_full_disk_is_nobodys_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dog = Watchdog(tmp_path, 0, 60.0)
    dog.begin(4)
    dog.at(["q"])
    real = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, data, at: full() if data else real(file, data, at))
    limit = TimeLimit(30.0)
    limit.dog = dog
    with limit.over(["r"]):
        pass
    monkeypatch.undo()
    assert dog.begin(4) == ([], False)
    dog.close()


def full() -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_many_names_are_told_in_part(tmp_path: Path) -> None:
    dog = Watchdog(tmp_path, 0, 60.0)
    dog.begin(1)
    dog.at([f"query {number}" for number in range(20_000)])
    (tmp_path / "0.stuck").write_text("Timeout")
    found, _ = dog.begin(1)
    assert found[:2] == ["query 0", "query 1"] and len(found) > 1000
    dog.close()


def test_work_that_ends_in_time_is_left_alone(tmp_path: Path) -> None:
    limit = TimeLimit(30.0)
    limit.dog = Watchdog(tmp_path, 0, 60.0)
    for _ in range(3):
        with limit.over(["q"]):
            pass
    assert not (tmp_path / "0.stuck").read_text()
