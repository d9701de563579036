"""Engines beside Weir: drivers agree on the number of results; one that lies or fails is told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fragments_peers import peer
from weir.errors import UsageError
from weir_bench.peers.benchmark import _goals, _rounds
from weir_bench.peers.rivals import WEIR, Rival, drive, rivals
from weir_bench.peers.workloads import WORKLOADS, Workload, write
from weir_bench.report import Report

MODULE = "weir_bench.peers.drivers.pyoxigraph_driver"
STORE = Rival("pyoxigraph", (sys.executable, "-m", MODULE))
DRIVERS = Path(sys.modules[drive.__module__].__file__ or "").parent / "drivers"


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_weir_and_a_store_give_as_many_results(workload: Workload, tmp_path: Path) -> None:
    triples = write(workload, 120, tmp_path)
    found = _rounds([WEIR, STORE], tmp_path, "all", triples, 1)
    assert found["weir"]["results"] > 100 and found["pyoxigraph"]["same_count"]
    assert found["weir"]["memory_mb"] > 1 and found["weir"]["first_result"] > 0


def test_one_message_at_a_time(tmp_path: Path) -> None:
    write(WORKLOADS[1], 60, tmp_path)
    own, other = drive(WEIR, tmp_path, "each"), drive(STORE, tmp_path, "each")
    assert own.failure is None and own.results == other.results > 0
    assert own.latency_ms is not None and own.latency_ms > 0


@pytest.mark.peer("rsp-js")
def test_rsp_js_gives_as_many_results(tmp_path: Path) -> None:
    rival = Rival("rsp-js", ("node", str(DRIVERS / "rsp_js_driver.js")), peer("rsp-js"))
    write(WORKLOADS[1], 120, tmp_path)
    theirs, own = drive(rival, tmp_path, "all"), drive(WEIR, tmp_path, "all")
    assert theirs.failure is None
    assert theirs.results == own.results


def test_a_driver_that_lies_or_fails_is_told(tmp_path: Path) -> None:
    script = 'print(\'{}\'); print(\'{"figures": {"seconds": 1, "results": 7}}\')'
    lies = drive(Rival("lies", (sys.executable, "-c", script)), tmp_path, "all")
    assert lies.failure == "it tells of 7 results and wrote 1"
    fails = drive(Rival("fails", (sys.executable, "-c", "raise SystemExit('no jar')")), tmp_path, "all")
    assert "no jar" in str(fails.failure)


def test_fewer_results_are_no_victory() -> None:
    report = Report("peers")
    slow = {"triples_a_second": 1.0, "same_count": False}
    _goals(report, {"join, all": {"weir": {"triples_a_second": 1e6}, "rsp-js": slow}})
    assert [(goal.value, goal.holds) for goal in report.goals] == [(0.0, False)]


def test_a_rival_of_the_users_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("WEIR_PEERS", str(tmp_path))
    found, absent = rivals(["rsp-rs=./mine --fast"])
    assert found[-1] == Rival("rsp-rs", ("./mine", "--fast"))
    assert "rsp-rs" not in absent and "npm" in absent["rsp-js"]
    with pytest.raises(UsageError, match="names no rival"):
        rivals(["rsp-rs"])
