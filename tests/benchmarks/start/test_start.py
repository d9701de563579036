"""``weir bench start``: processes are timed to their first line, latencies are those of single messages."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from weir_bench.conference.queries import QUERIES
from weir_bench.data.conference import conference
from weir_bench.report import Report
from weir_bench.start import benchmark
from weir_bench.start.latency import latencies, quantiles, write_world
from weir_bench.start.processes import FILES, QUERY, timed, write_inputs

ROOT = Path(__file__).parents[3]


def test_the_query_is_that_of_the_readme() -> None:
    shown = (ROOT / "README.md").read_text().replace("<TAB>", "\t")
    for text in FILES.values():
        assert text in shown


def test_a_process_is_timed_to_its_first_line_and_to_its_end(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    script = "import time; print('a', flush=True); time.sleep(0.3); print('b')"
    took = timed(("-c", script), tmp_path)
    assert took.lines == ("a\n", "b\n")
    assert 0 < took.first < took.whole - 0.25
    assert timed(("-c", script), tmp_path, "b").first > took.first + 0.25
    with pytest.raises(RuntimeError, match="no line with 'c'"):
        timed(("-c", script), tmp_path, "c")
    with pytest.raises(RuntimeError, match="no such query file"):
        timed(("-m", "weir", "try", "nothing.rq", *QUERY[1:]), tmp_path)


def test_each_message_that_has_a_result_has_a_latency(tmp_path: Path) -> None:
    world = conference(5_000, participants=20)
    write_world(world, tmp_path)
    few = dataclasses.replace(QUERIES[1], instances=1)
    found = latencies(few, world, tmp_path, messages=60, rate=200, warm=10)
    told = quantiles(found)
    assert 0 < told["results"] <= 50
    assert 0 < told["p50"] <= told["p99"] <= told["max"]


def test_goals_are_ratios_of_medians() -> None:
    report = Report("start")
    seconds = {"import weir": 0.1, "weir explain": 0.5, "weir try": 1.0, "weir run": 10.0, "make run": 12.0}
    cold = {**seconds, "empty job, file source": 8.0, "empty job, Python source": 9.0}
    report.figures = {
        "cold": {
            name: [{"first": factor * each, "whole": 0.0} for factor in (1, 1, 9)]
            for name, each in cold.items()
        },
        "warm": {"weir": [2.0], "file": [1.0], "python": [1.0]},
        "latency": {"Q1": {"p50": 0.5, "p99": 9.0}},
    }
    benchmark._goals(report)
    values = {goal.name: (round(goal.value, 3), goal.holds) for goal in report.goals}
    assert values["weir run / empty job with a file source, cold"] == (1.25, True)
    assert values["weir run / empty job with a Python source, cold"] == (1.111, False)
    assert values["Weir / empty job with a file source, second in a session"] == (2.0, False)
    assert values["make run: first live result / empty job with a file source, cold"] == (1.5, False)
    assert values["Q1: message to result, p99"] == (9.0, False)
