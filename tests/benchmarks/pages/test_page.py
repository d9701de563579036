"""The page is what the recorded runs make of it, and says what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shared import ROOT
from weir.errors import UsageError
from weir_bench.pages.page import page_of, runs_in, write_pages
from weir_bench.report import Report

KEPT = ROOT / "docs" / "benchmarks"


def run_of(name: str, value: float = 3.0, **figures: Any) -> dict[str, Any]:
    report = Report(name, quick=True, figures=figures)
    report.goal("times faster", value, 2.0, "x")
    return report.as_json()


def test_the_page_of_the_docs_is_made_of_the_runs_that_are_kept() -> None:
    """After a change of the template or a new run: weir bench report docs/benchmarks --docs docs."""
    made = page_of(runs_in(KEPT), "../benchmarks/")
    assert (ROOT / "docs" / "guide" / "benchmarks.md").read_text(encoding="utf-8") == made.text
    assert {path.name for path in KEPT.glob("*.svg")} == set(made.plots)
    for name, drawn in made.plots.items():
        assert (KEPT / name).read_text(encoding="utf-8") == drawn
    for name, run in made.runs.items():
        assert json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8")) == run


def test_a_goal_is_told_as_it_came_out() -> None:
    text = page_of({"language": run_of("language", 1.5)}, template="{{recorded}}\n{{goals language}}\n").text
    assert "| `language` |" in text and "0 of 1" in text
    assert "| times faster | 1.5 | 2 | x | **missed** |" in text


def test_how_figures_were_made_is_told() -> None:
    run = run_of("language")
    text = page_of({"language": run}, template="{{run language}}\n{{run city}}\n").text
    assert f"`weir bench language --quick`, {run['started'][:10]}" in text
    assert f"{run['machine']['cores']} cores" in text and f"weir {run['versions']['weir']}" in text
    assert "No run of it is recorded here." in text


def test_what_a_run_did_not_measure_is_left_out() -> None:
    found = page_of({"conference": run_of("conference")}, template="a\n\n{{show conference.size}}\n\nb\n")
    assert found.text == "a\n\nb\n" and not found.plots


@pytest.mark.parametrize("line", ["{{show conference.colour}}", "{{sing conference}}"])
def test_a_template_that_asks_for_nothing_known_fails(line: str) -> None:
    with pytest.raises((LookupError, UsageError)):
        page_of({"conference": run_of("conference")}, template=line + "\n")


def test_the_latest_run_of_a_benchmark_counts(tmp_path: Path) -> None:
    for name, started in (("b", "2026-01-02T00:00:00Z"), ("a", "2026-01-03T00:00:00Z")):
        run = {**run_of("language"), "started": started}
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
    assert runs_in(tmp_path)["language"]["started"] == "2026-01-03T00:00:00Z"


def test_a_folder_without_reports_is_bad_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no report"):
        runs_in(tmp_path)
    (tmp_path / "other.json").write_text("[1]")
    with pytest.raises(UsageError, match="is no report of a benchmark"):
        runs_in(tmp_path)


def test_a_page_goes_into_its_folder_or_into_a_documentation(tmp_path: Path) -> None:
    window = {"seconds": [3, 6], "rows": [300, 600], "slab_us": [1.0, 2.25]}
    run = run_of("conference", window_growth=window, samples=[float(n) for n in range(1000)])
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "conference.json").write_text(json.dumps(run))
    assert "](conference-window.svg)" in write_pages(runs).read_text()
    page = write_pages(runs, tmp_path / "docs")
    assert "](../benchmarks/conference-window.svg)" in page.read_text()
    kept = json.loads((tmp_path / "docs" / "benchmarks" / "conference.json").read_text())
    assert kept["figures"]["window_growth"] == window
    assert kept["figures"]["samples"] == {"count": 1000, "least": 0.0, "median": 500.0, "most": 999.0}
    write_pages(tmp_path / "docs" / "benchmarks", tmp_path / "again")
    for path in (tmp_path / "docs").rglob("*.*"):
        assert (tmp_path / "again" / path.relative_to(tmp_path / "docs")).read_text() == path.read_text()


def test_a_new_run_stands_beside_those_that_are_kept(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for name in ("language", "service"):
        (runs / "one.json").write_text(json.dumps(run_of(name)))
        text = write_pages(runs, tmp_path / "docs").read_text()
    assert "| `language` |" in text and "| `service` |" in text
