"""Work on one query: what it raises is its failure, and it may take so long."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from network_peers import until
from weir.errors import CheckpointError, EvaluationError, OutOfTime
from weir.kernel.contract import FailedAt
from weir.runtime.control.catalog import Registration
from weir.runtime.worker.alone import PAUSED, Failures, TimeLimit, failure_of

TEXT = """REGISTER RSTREAM <q> AS SELECT ?x FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10]
EMIT AFTER PT1S WHERE { WINDOW <w> { ?x ?y ?z } }"""
QUERY = Registration("q", TEXT, since=3)


def for_ever() -> None:
    """Work that can be told to end."""
    while True:
        time.sleep(0.001)


def test_a_failure_knows_the_query_the_time_and_the_reason() -> None:
    cause = EvaluationError("too many rows", hint="use a smaller window")
    error = FailedAt(20_000, 4)
    error.__cause__ = cause
    found = failure_of(QUERY, error, slot=2)
    assert (found.name, found.since, found.at, found.before, found.slot) == ("q", 3, 20_000, 4, 2)
    assert found.reason == "too many rows\nhint: use a smaller window"
    assert found.delay == 1_000_000


def test_an_error_outside_any_evaluation_undoes_the_batch() -> None:
    found = failure_of(QUERY, ValueError("bad"))
    assert (found.at, found.before, found.reason) == (None, 0, "ValueError: bad")


def test_the_first_failure_counts_and_the_work_goes_on() -> None:
    failures = Failures(slot=1)
    for error in (MemoryError(), SystemExit(2)):
        with failures.of(QUERY):
            raise error
    assert failures.found["q"].reason == "MemoryError"
    assert failures.seconds["q"] >= 0


@pytest.mark.parametrize("error", [KeyboardInterrupt(), CheckpointError("damaged")])
def test_what_is_not_its_own_passes(error: BaseException) -> None:
    failures = Failures()
    with pytest.raises(type(error)), failures.of(QUERY, CheckpointError):
        raise error
    assert failures.found == {}


def test_work_that_takes_too_long_is_ended() -> None:
    failures = Failures(TimeLimit(0.2))
    with failures.of(QUERY):
        for_ever()
    assert failures.found["q"].reason == "OutOfTime: it took longer than 0.2 s in one batch"


def test_the_limit_is_on_each_piece_of_work() -> None:
    failures = Failures(TimeLimit(30.0))
    for _ in range(100):
        with failures.of(QUERY):
            pass
    assert failures.found == {}


def test_what_comes_too_late_does_not_reach_what_follows() -> None:
    """The limit is over just when the work is: nothing is raised behind it."""
    limit = TimeLimit(0.01)
    for _ in range(30):
        try:
            with limit.over(["q"]):
                time.sleep(0.01)
        except OutOfTime:
            continue
    time.sleep(0.05)


@pytest.mark.parametrize("seconds", [0.01, 30.0])
def test_work_is_left_under_a_profiler(seconds: float) -> None:
    """Python 3.11 does not get on under one where an exception was taken back that nobody had sent."""
    code = f"""
import sys, time
from weir.errors import OutOfTime
from weir.runtime.worker.alone import TimeLimit
limit = TimeLimit({seconds})
sys.setprofile(lambda *_: None)
for _ in range(20):
    try:
        with limit.over(["q"]):
            time.sleep(0.01)
    except OutOfTime:
        pass
"""
    subprocess.run([sys.executable, "-c", code], timeout=120, check=True)


def test_work_that_cannot_be_ended_is_told_of() -> None:
    """As compiled code does, the work takes no notice."""
    told: list[str] = []
    ended = threading.Event()

    def stuck(names: object) -> None:
        told.extend(names)  # type: ignore[arg-type]
        ended.set()

    limit = TimeLimit(0.1, stuck)
    with limit.over(["a", "b"]):
        while not ended.is_set():
            try:
                ended.wait(0.05)
            except OutOfTime:
                continue
    assert told == ["a", "b"]


def test_work_that_somebody_asks_to_end_is_ended_without_a_limit() -> None:
    limit = TimeLimit()
    asked: list[str] = ["other"]
    limit.asked = lambda: asked
    failures = Failures(limit)
    timer = threading.Timer(1.5, asked.append, ["q"])
    timer.start()
    with failures.of(QUERY):
        for_ever()
    assert failures.found["q"].reason == f"Asked: {PAUSED}"
    with failures.of(Registration("good", TEXT, since=3)):
        time.sleep(0.01)
    assert list(failures.found) == ["q"]


def test_nobody_looks_after_work_that_is_over() -> None:
    limit = TimeLimit(0.2)
    for _ in range(2):
        failures = Failures(limit)
        with failures.of(QUERY):
            for_ever()
        assert "0.2 s" in failures.found["q"].reason
        until(lambda: limit._watcher is None)


def test_rows_that_are_kept_are_limited() -> None:
    failures = Failures(rows=10)
    failures.kept(QUERY, 10)
    assert failures.found == {}
    failures.kept(QUERY, 1_001)
    assert failures.found["q"].reason == "it kept 1,001 rows, more than 10"
