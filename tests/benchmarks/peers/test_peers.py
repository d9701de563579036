"""Engines beside Weir: drivers give the same answers; one that lies or fails is told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fragments_peers import peer
from weir.errors import UsageError
from weir_bench.answers import difference
from weir_bench.peers.benchmark import rounds_of, run, set_goals
from weir_bench.peers.rivals import WEIR, Rival, drive, rivals
from weir_bench.peers.workloads import Workload, workloads, write
from weir_bench.report import Report

MODULE = "weir_bench.peers.drivers.pyoxigraph_driver"
STORE = Rival("pyoxigraph", (sys.executable, "-m", MODULE))
DRIVERS = Path(sys.modules[drive.__module__].__file__ or "").parent / "drivers"
CLOSING = {each.name: each for each in workloads()}


@pytest.mark.parametrize("name", ["join", "static", "Q3", "Q5"])
def test_weir_and_a_store_give_the_same_answers(name: str, tmp_path: Path) -> None:
    triples = write(CLOSING[name], 400, tmp_path)
    found = rounds_of([WEIR, STORE], tmp_path, "all", triples, 1)
    assert found["weir"]["results"] > 0
    assert found["pyoxigraph"]["same_answers"], found["pyoxigraph"]["difference"]
    assert found["weir"]["memory_mb"] > 1 and found["weir"]["first_result"] > 0


def test_one_message_at_a_time(tmp_path: Path) -> None:
    write(CLOSING["aggregate"], 60, tmp_path)
    own, other = drive(WEIR, tmp_path, "each"), drive(STORE, tmp_path, "each")
    assert own.failure is None and own.results == other.results > 0
    assert own.latency_ms is not None and own.latency_p99_ms is not None
    assert 0 < own.latency_ms <= own.latency_p99_ms


@pytest.mark.peer("rsp-js")
@pytest.mark.parametrize("name", ["join", "aggregate"])
def test_rsp_js_gives_the_same_answers(name: str, tmp_path: Path) -> None:
    rival = Rival("rsp-js", ("node", str(DRIVERS / "rsp_js_driver.js")), peer("rsp-js"))
    _same(rival, CLOSING[name], tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", CLOSING)
def test_rsp_rs_gives_the_same_answers(name: str, tmp_path: Path) -> None:
    """The first time, cargo builds the engine."""
    found, absent = rivals()
    rival = next((each for each in found if each.name == "rsp-rs"), None)
    if rival is None:
        pytest.skip(absent["rsp-rs"])
    _same(rival, CLOSING[name], tmp_path)


def _same(rival: Rival, workload: Workload, folder: Path) -> None:
    write(workload, 120, folder)
    theirs, own = drive(rival, folder, "all", rows=True), drive(WEIR, folder, "all", rows=True)
    assert theirs.failure is None and theirs.rows is not None and own.rows is not None
    assert difference(own.rows, theirs.rows) is None and own.results > 0


def test_queries_as_published_are_for_engines_that_read_them(tmp_path: Path) -> None:
    published = next(each for each in workloads(published=True) if each.name == "Q1 as published")
    triples = write(published, 150, tmp_path)
    found = rounds_of([WEIR, STORE], tmp_path, "all", triples, 2)
    assert found["weir"]["results"] > 0
    assert "weir bench conference" in found["pyoxigraph"]["cannot"]


def test_a_driver_that_lies_or_fails_is_told(tmp_path: Path) -> None:
    script = 'print(\'{}\'); print(\'{"figures": {"seconds": 1, "results": 7}}\')'
    lies = drive(Rival("lies", (sys.executable, "-c", script)), tmp_path, "all")
    assert lies.failure == "it tells of 7 results and wrote 1"
    fails = drive(Rival("fails", (sys.executable, "-c", "raise SystemExit('no jar')")), tmp_path, "all")
    assert "no jar" in str(fails.failure)
    sleeps = Rival("sleeps", (sys.executable, "-c", "import time; time.sleep(60)"))
    assert drive(sleeps, tmp_path, "all", timeout=0.2).failure == "it took more than 0.2 s"


def test_other_answers_are_no_victory() -> None:
    report = Report("peers")
    slow = {"triples_a_second": 1.0, "same_answers": False}
    given = {"weir": {"triples_a_second": 1e6}, "rsp-js": slow, "rsp-rs": {"failure": "no"}, "csparql": slow}
    set_goals(report, {"join, all": given})
    assert [(goal.value, goal.goal, goal.holds) for goal in report.goals] == [
        (0.0, 100.0, False),
        (1e6, 20.0, True),
    ]


def test_a_rival_of_the_users_takes_part_in_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("WEIR_PEERS", str(tmp_path))
    monkeypatch.setattr("weir_bench.peers.crates.shutil.which", lambda name: None)
    monkeypatch.setattr("weir_bench.fragments.peers.shutil.which", lambda name: None)
    command = f"mine={sys.executable} -m {MODULE}"
    report = run(quick=True, rival=[command], only=["static"])
    outcome = report.figures["outcomes"]["static, all"]
    assert outcome["mine"]["same_answers"] and set(report.figures["absent"]) == {"rsp-rs", "rsp-js"}


def test_a_rival_of_the_users_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("WEIR_PEERS", str(tmp_path))
    found, absent = rivals(["rsp-rs=./mine --fast"])
    assert found[-1] == Rival("rsp-rs", ("./mine", "--fast"))
    assert "rsp-rs" not in absent and "npm" in absent["rsp-js"]
    assert rivals()[1]["rsp-rs"] == "cargo is not installed"
    with pytest.raises(UsageError, match="names no rival"):
        rivals(["rsp-rs"])
