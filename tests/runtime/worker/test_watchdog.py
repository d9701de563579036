"""A process that compiled code holds is ended, and the next one knows by which query."""

from __future__ import annotations

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
assert dog.begin(7) == []
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
    assert again.begin(7) == ["bad", "worse"]
    assert again.begin(7) == []
    again.close()


@pytest.mark.parametrize("batch, told", [(4, ["q"]), (5, [])])
def test_it_is_told_of_for_the_batch_it_was_at(tmp_path: Path, batch: int, told: list[str]) -> None:
    dog = Watchdog(tmp_path, 0, 60.0)
    dog.begin(4)
    dog.at(["q"])
    (tmp_path / "0.stuck").write_text("Timeout")
    assert dog.begin(batch) == told
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


def test_a_process_that_was_killed_blames_nobody(tmp_path: Path) -> None:
    dog = Watchdog(tmp_path, 0, 60.0)
    dog.begin(4)
    dog.at(["q"])
    dog.close()
    assert Watchdog(tmp_path, 0, 60.0).begin(4) == []


def test_many_names_are_told_in_part(tmp_path: Path) -> None:
    dog = Watchdog(tmp_path, 0, 60.0)
    dog.begin(1)
    dog.at([f"query {number}" for number in range(20_000)])
    (tmp_path / "0.stuck").write_text("Timeout")
    found = dog.begin(1)
    assert found[:2] == ["query 0", "query 1"] and len(found) > 1000
    dog.close()


def test_work_that_ends_in_time_is_left_alone(tmp_path: Path) -> None:
    limit = TimeLimit(30.0)
    limit.dog = Watchdog(tmp_path, 0, 60.0)
    for _ in range(3):
        with limit.over(["q"]):
            pass
    assert not (tmp_path / "0.stuck").read_text()
