"""``weir bench``, ``report`` among them, and ``weir generate``: what they refuse, and where pages go."""

from __future__ import annotations

import json
from pathlib import Path

from cli_kit import weir
from weir.cli.bench import BENCHMARKS
from weir_bench.report import Report


def test_an_unknown_benchmark_is_bad_usage() -> None:
    done = weir("bench", "everything")
    assert done.exit_code == 2
    assert f"one of {', '.join(BENCHMARKS)}, all" in done.stderr


def test_report_makes_a_page_of_recorded_runs(tmp_path: Path) -> None:
    report = Report("language")
    report.goal("times faster", 3.0, 2.0, "x")
    (tmp_path / "language.json").write_text(json.dumps(report.as_json()))
    done = weir("bench", "report", tmp_path)
    assert (done.exit_code, done.stdout) == (0, f"{tmp_path / 'benchmarks.md'}\n")
    assert "| times faster | 3 | 2 | x | holds |" in (tmp_path / "benchmarks.md").read_text()


def test_report_takes_a_folder_of_runs_and_nothing_else_does(tmp_path: Path) -> None:
    assert weir("bench", "report").exit_code == 2
    assert weir("bench", "language", tmp_path).exit_code == 2
    assert weir("bench", "report", tmp_path).exit_code == 2


def test_a_conference_has_a_least_size(tmp_path: Path) -> None:
    assert weir("generate", tmp_path, "--triples", "10").exit_code == 2
