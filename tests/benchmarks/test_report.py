"""The benchmark report keeps its contract: five keys a goal, plain JSON, whole files."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from weir_bench.plots import figure, lines
from weir_bench.report import Goal, Report, machine, plain, versions


def test_goals_hold_by_their_direction() -> None:
    assert Goal("more", 2.0, 1.0).holds
    assert not Goal("more", 0.5, 1.0).holds
    assert Goal("less", 0.5, 1.0, at_least=False).holds
    assert not Goal("less", 2.0, 1.0, at_least=False).holds
    assert not Goal("unknown", math.nan, 1.0).holds
    assert not Goal("unknown", math.nan, 1.0, at_least=False).holds


def test_json_has_the_keys_that_tools_rely_on(tmp_path: Path) -> None:
    report = Report("example", quick=True)
    report.figures["sweep"] = {"x": np.arange(3), "y": [np.float64(1.5), float("nan")]}
    report.goal("ratio", np.float64(3), 2, "times")
    report.write(tmp_path / "deep" / "example.json")
    read = json.loads((tmp_path / "deep" / "example.json").read_text())
    assert read["goals"] == [{"name": "ratio", "value": 3.0, "goal": 2.0, "unit": "times", "holds": True}]
    assert read["figures"] == {"sweep": {"x": [0, 1, 2], "y": [1.5, None]}}
    assert {"machine", "versions", "benchmark", "quick", "seconds"} <= read.keys()
    assert read["machine"]["cores"] >= 1
    assert "numpy" in read["versions"]
    assert report.holds and "holds" in report.summary()


def test_plain_refuses_nothing() -> None:
    assert plain({1: (np.int64(2), np.bool_(True), None)}) == {"1": [2, True, None]}
    assert plain(Path("a")) == "a"


def test_machine_and_versions_are_plain() -> None:
    json.dumps(machine())
    assert versions(("no-such-package", "numpy")).keys() == {"numpy"}


def test_a_figure_is_a_png(tmp_path: Path) -> None:
    with figure(tmp_path / "plots", "example", title="t", x="x", y="y") as axes:
        lines(axes, [1, 2], {"a": [1.0, 2.0]}, {"a": [0.1, 0.2]})
    assert (tmp_path / "plots" / "example.png").read_bytes().startswith(b"\x89PNG")


def test_a_figure_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), figure(tmp_path, "bad", title="t", x="x", y="y"):
        raise ZeroDivisionError
    assert not (tmp_path / "bad.png").exists()
