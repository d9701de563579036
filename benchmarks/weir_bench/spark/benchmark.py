"""``weir bench spark``: the pipeline end to end, beside what bounds it, all measured in one run.

Throughput is over a backlog of files and is compared with Spark merely reading their lines; batches and
latency are those of a live stream and are compared with a stateful job that does nothing. What is compared
takes turns, round after round; a ratio is the median of those of the rounds, so that a machine which becomes
slower or faster meanwhile changes little.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from weir.spark.session import open_session
from weir_bench.plots import figure
from weir_bench.report import Report
from weir_bench.spark.baselines import line_rate, parse_rate
from weir_bench.spark.data import LIVE_ROWS, QUERIES, write_files, write_floorplan
from weir_bench.spark.jobs import BATCH, Live, Million, backlog, empty, live, million

CORES = (1, 2)
LIVE_RATE = 1000
_PERCENTILES = {"p50": 50, "p95": 95, "p99": 99}


def run(quick: bool = False, json: str | Path | None = None, plot: str | Path | None = None) -> Report:
    """Run everything: about nine minutes of an idle machine if ``quick``, twenty if not."""
    report = Report("spark", quick)
    files, lines = (8, 1_100_000) if quick else (12, 1_100_000)
    rounds, seconds = (2, 10.0) if quick else (3, 20.0)
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as name:
        folder = Path(name)
        write_floorplan(folder / "floorplan.nt")
        paths = write_files(folder / "stream", files, lines)
        size = sum(path.stat().st_size for path in paths)
        report.step("data written")
        report.figures["data"] = {
            "lines": files * lines,
            "bytes": size,
            "batch_bytes": BATCH,
            "live_rate": LIVE_RATE,
        }
        for cores in CORES:
            report.figures[f"{cores} cores"] = _measured(
                report, folder, paths, files * lines, cores, rounds, seconds
            )
        steps = 60_000
        write_files(folder / "million", 34 if quick else 60, steps, rooms=LIVE_ROWS, people=LIVE_ROWS)
        report.step("a million live rows")
        report.figures["million"] = _million(folder / "million")
    _goals(report)
    if plot is not None:
        _draw(report, plot)
    if json is not None:
        report.write(json)
    return report


def _measured(
    report: Report,
    folder: Path,
    paths: Sequence[Path],
    lines: int,
    cores: int,
    rounds: int,
    seconds: float,
) -> dict[str, Any]:
    spark = open_session(f"local[{cores}]")
    rates: dict[str, list[float]] = {"lines": [], "parse": []}
    backlogs: dict[str, list[dict[str, Any]]] = {name: [] for name in QUERIES}
    lives: dict[str, list[Live]] = {name: [] for name in ("empty", *QUERIES)}
    try:
        # Once for nothing: workers start, load what is compiled, and get the memory that they keep.
        report.step(f"{cores} cores: warming up")
        line_rate(spark, paths, lines)
        parse_rate(spark, paths, lines, cores)
        warm = folder / f"warm-{cores}.jsonl"
        backlog(spark, "Q2", folder / "stream", folder / "floorplan.nt", warm)
        warm.unlink()
        for turn in range(rounds):
            report.step(f"{cores} cores, round {turn + 1} of {rounds}: reading, parsing, backlogs")
            rates["lines"].append(line_rate(spark, paths, lines))
            rates["parse"].append(parse_rate(spark, paths, lines, cores))
            for query in QUERIES:
                out = folder / f"{query}-{cores}-{turn}.jsonl"
                found = backlog(spark, query, folder / "stream", folder / "floorplan.nt", out)
                backlogs[query].append(found.as_json())
                out.unlink()
                rates.setdefault(query, []).append(found.triples_per_second)
            report.step(f"{cores} cores, round {turn + 1} of {rounds}: live streams")
            for query in lives:
                place = folder / f"live-{query}-{cores}-{turn}"
                if query == "empty":
                    lives[query].append(empty(spark, place, cores, seconds))
                else:
                    plan = folder / "floorplan.nt"
                    lives[query].append(live(spark, query, place, plan, seconds, LIVE_RATE))
    finally:
        spark.stop()
    return {
        "triples_per_second": {name: float(np.median(found)) for name, found in rates.items()},
        "rounds": rates,
        "backlog": backlogs,
        "live": {name: _summary(found) for name, found in lives.items()},
        "live_rounds": {name: [_summary([each]) for each in found] for name, found in lives.items()},
    }


def _summary(runs: Sequence[Live]) -> dict[str, Any]:
    latencies = np.concatenate([np.array(each.latencies) for each in runs])
    batches = [took for each in runs for took in each.batches]
    out: dict[str, Any] = {
        "batch_seconds": float(np.median(batches)) if batches else float("nan"),
        "batches": len(batches),
        "steps_ms": runs[-1].steps,
        "results": len(latencies),
    }
    if len(latencies):
        out |= {name: float(np.percentile(latencies, share)) for name, share in _PERCENTILES.items()}
    return out


def _million(stream: Path) -> dict[str, Any]:
    spark = open_session(f"local[{CORES[-1]}]")
    try:
        found: Million = million(spark, stream)
    finally:
        spark.stop()
    full = int(0.95 * LIVE_ROWS)
    return {"seconds": found.seconds, "rows": found.rows, "growth": found.growth(full)}


def _goals(report: Report) -> None:
    for cores in CORES:
        found = report.figures[f"{cores} cores"]
        rates: Mapping[str, Sequence[float]] = found["rounds"]
        of = f"of line reading, {cores} cores"
        for name, shown, goal in (
            ("parse", "parse and encode", 0.6),
            ("filter", "filter query", 0.5),
            ("Q2", "Q2", 0.3),
        ):
            report.goal(f"{shown} {of}", _ratio(rates[name], rates["lines"]), goal, "x")
        rounds: Mapping[str, Sequence[Mapping[str, float]]] = found["live_rounds"]
        nothing = [each["batch_seconds"] for each in rounds["empty"]]
        for query in QUERIES:
            to = f"against the empty stateful job's batch, {cores} cores"
            for key, shown, limit in (
                ("batch_seconds", "batch", 1.3),
                ("p50", "latency p50", 2.0),
                ("p99", "latency p99", 2.7),
            ):
                ratio = _ratio([each.get(key, float("nan")) for each in rounds[query]], nothing)
                report.goal(f"{query}: {shown} {to}", ratio, limit, "x", at_least=False)
    rows = max(report.figures["million"]["rows"], default=0)
    report.goal("live rows of state", rows, 0.99 * LIVE_ROWS, "rows")
    report.goal(
        "batch time at a million live rows, later against earlier",
        report.figures["million"]["growth"],
        1.25,
        "x",
        at_least=False,
    )


def _ratio(measured: Sequence[float], bounds: Sequence[float]) -> float:
    """The median of the ratios of the rounds."""
    return float(np.median([one / other for one, other in zip(measured, bounds, strict=True)]))


def _draw(report: Report, folder: str | Path) -> None:
    with figure(folder, "spark-throughput", title="Throughput", x="", y="million triples/s") as axes:
        for place, cores in enumerate(CORES):
            rates = report.figures[f"{cores} cores"]["triples_per_second"]
            at = np.arange(len(rates)) + 0.4 * place
            axes.bar(at, [rate / 1e6 for rate in rates.values()], 0.4, label=f"{cores} cores")
            axes.set_xticks(np.arange(len(rates)) + 0.2, list(rates))
    with figure(folder, "spark-latency", title="Latency of results", x="", y="seconds") as axes:
        for place, cores in enumerate(CORES):
            lives = report.figures[f"{cores} cores"]["live"]
            for offset, name in enumerate(_PERCENTILES):
                at = np.arange(len(QUERIES)) + 0.4 * place + 0.12 * offset
                axes.bar(at, [lives[query].get(name, 0) for query in QUERIES], 0.12, label=f"{name}, {cores}")
            axes.set_xticks(np.arange(len(QUERIES)) + 0.3, list(QUERIES))
    with figure(folder, "spark-million", title="A million live rows", x="batch", y="seconds") as axes:
        axes.plot(report.figures["million"]["seconds"], marker=".")
