"""``weir bench spark``: its data, its empty job, its verdicts, its plots."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession

from network_peers import until
from weir.language import parse
from weir.rdf.formats.tnq import parse_lines
from weir_bench.report import Report
from weir_bench.spark.baselines import EmptyJob, durations
from weir_bench.spark.benchmark import CORES, _draw, _goals, _summary
from weir_bench.spark.data import (
    LIVE_ROWS,
    MILLION,
    QUERIES,
    RATE,
    ROOMS,
    Generator,
    write_files,
    write_floorplan,
)
from weir_bench.spark.jobs import Live, Million


@pytest.mark.parametrize("text", [*QUERIES.values(), MILLION])
def test_queries_parse(text: str) -> None:
    assert parse(text).streams


def test_files_hold_a_message_a_line_at_the_rate_and_are_the_same_when_written_again(
    tmp_path: Path,
) -> None:
    paths = write_files(tmp_path / "one", 2, 300)
    again = write_files(tmp_path / "two", 2, 300)
    assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in again]
    found = parse_lines(b"".join(path.read_bytes() for path in paths), scope="", key=bytes(16))
    assert len(found.messages.time) == len(found.messages.message) == 600 and not found.rejected
    assert set(np.diff(found.messages.time).tolist()) == {1_000_000 // RATE}


def test_the_floor_plan_makes_q2_give_about_one_result_per_triple(tmp_path: Path) -> None:
    write_floorplan(tmp_path / "floor.nt")
    doors = len((tmp_path / "floor.nt").read_text().splitlines()) / ROOMS
    assert 3 * RATE * doors / ROOMS == pytest.approx(1.0)


def test_generator_writes_whole_files_stamped_with_the_clock(tmp_path: Path) -> None:
    generator = Generator(tmp_path, rate=200, period=0.02)
    began = time.time()
    generator.start()
    time.sleep(0.2)
    generator.stop()
    data = b"".join(path.read_bytes() for path in sorted(tmp_path.glob("*.tnq")))
    times = parse_lines(data, scope="", key=bytes(16)).messages.time / 1e6
    assert len(times) and (np.diff(times) >= 0).all()
    assert began - 0.01 <= times[0] and times[-1] <= time.time()


def test_growth_compares_full_windows_only() -> None:
    found = Million([9.0, 9.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0], [1, 2, 10, 10, 10, 10, 10, 10])
    assert found.growth(10) == 2.0
    assert np.isnan(found.growth(11))


def figures(batch: float) -> dict[str, Any]:
    """What a run gives whose batches last ``batch`` seconds, those of the empty job one."""
    rates = {"lines": 2e6, "parse": 1.3e6, "filter": 1.1e6, "Q2": 0.7e6, "aggregate": 1e6}
    runs = {name: _summary([Live([1.4 * batch, 1.6 * batch], [batch] * 5, {})]) for name in QUERIES}
    runs["empty"] = _summary([Live([], [1.0], {})])
    rounds = {name: [rate / 2, 2 * rate, 3 * rate] for name, rate in rates.items()}
    lives = {name: [told] for name, told in runs.items()}
    measured = {"triples_per_second": rates, "rounds": rounds, "live": runs, "live_rounds": lives}
    every: dict[str, Any] = {f"{cores} cores": measured for cores in CORES}
    return {**every, "million": {"rows": [LIVE_ROWS], "growth": 1.0, "seconds": [1.0]}}


def test_goals_hold_at_their_limits_and_not_beyond(tmp_path: Path) -> None:
    good, bad = Report("spark", figures=figures(1.3)), Report("spark", figures=figures(1.4))
    _goals(good)
    _goals(bad)
    assert good.holds
    short = {goal.name.split(",")[0] for goal in bad.goals if not goal.holds}
    assert short >= {f"{name}: batch against the empty stateful job's batch" for name in QUERIES}
    pytest.importorskip("matplotlib", reason="plots need weir[bench]")
    _draw(good, tmp_path)
    assert {path.stem for path in tmp_path.glob("*.png")} == {
        "spark-throughput",
        "spark-latency",
        "spark-million",
    }


def test_the_job_that_does_nothing_runs_and_its_batches_are_timed(
    spark: SparkSession, tmp_path: Path
) -> None:
    job = EmptyJob.started(spark, tmp_path / "checkpoint", 2)
    try:
        assert until(lambda: durations(job.query, 0), 120)[0] > 0
    finally:
        job.stop()
