"""``weir bench peers``: Weir beside other engines, each in a process of its own, round after round in turn.

Same data, same question, and the same answers by value, or the ratio does not count. Weir runs its
pipeline in one process, without Spark. ``rival`` adds engines that a user has (the protocol is told in
``rivals``). What cannot be had is listed as absent.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weir_bench.answers import Rows, difference
from weir_bench.peers.rivals import WEIR, Outcome, Rival, drive, rivals
from weir_bench.peers.workloads import workloads, write
from weir_bench.plots import figure
from weir_bench.report import Report

ROUNDS = 3
GOALS = {"rsp-js": 100.0, "rsp-rs": 8.0}
"""How many times a rival's throughput, in windows that close, with the same answers."""
GIVEN = {
    "csparql": {"join, all": 20.0, "aggregate, all": 20.0},
    "cqels": {
        **{f"Q{number} as published, all": 50.0 for number in range(1, 6)},
        **{f"Q{number} as published, each": 2.0 for number in range(1, 6)},
    },
}
"""Goals beside engines that a user gives by these names. They are known to answer otherwise here and there
(`What engines do` in the guide), so the ratio counts whatever they answer, and the difference is told."""

Outcomes = dict[str, dict[str, dict[str, Any]]]


def run(
    quick: bool = False,
    json: str | Path | None = None,
    plot: str | Path | None = None,
    rival: Sequence[str] = (),
    only: Sequence[str] = (),
) -> Report:
    """Every engine on every workload, as fast as it goes and message by message; ``only`` names workloads."""
    report = Report("peers", quick)
    report.step("engines are installed or built")
    found, absent = rivals(rival)
    outcomes: Outcomes = {}
    with tempfile.TemporaryDirectory(prefix="weir-peers-") as folder:
        for workload in workloads(published=bool(rival)):
            if only and workload.name not in only:
                continue
            for mode, count in workload.counts.items():
                title = f"{workload.name}, {mode}"
                report.step(title)
                at = Path(folder) / title
                triples = write(workload, count // 10 if quick else count, at)
                outcomes[title] = rounds_of([WEIR, *found], at, mode, triples, 1 if quick else ROUNDS)
    engines = {each.name: each.version for each in found if each.version}
    report.figures |= {"outcomes": outcomes, "absent": absent, "engines": engines}
    set_goals(report, outcomes)
    if plot is not None:
        _plot(plot, outcomes)
    if json is not None:
        report.write(json)
    return report


def rounds_of(
    engines: Sequence[Rival], folder: Path, mode: str, triples: int, rounds: int
) -> dict[str, dict[str, Any]]:
    """Medians over rounds in which every engine has its turn; answers are compared in the first. Who cannot,
    or fails, is asked once."""
    every: dict[str, list[Outcome]] = {engine.name: [] for engine in engines}
    for number in range(rounds):
        for engine in engines:
            runs = every[engine.name]
            if not any(each.failure or each.cannot for each in runs):
                runs.append(drive(engine, folder, mode, rows=number == 0))
    due = every[WEIR.name][0]
    return {name: _median(runs, triples, due.rows) for name, runs in every.items()}


def _median(runs: Sequence[Outcome], triples: int, due: Rows | None) -> dict[str, Any]:
    for each in runs:
        if each.cannot is not None:
            return {"cannot": each.cannot}
        if each.failure is not None:
            return {"failure": each.failure}
    found = runs[0].rows
    wrong = "Weir gave none" if due is None or found is None else difference(due, found)
    seconds = statistics.median(each.seconds for each in runs)
    return {
        "triples_a_second": triples / seconds,
        "seconds": [each.seconds for each in runs],
        "results": runs[0].results,
        "same_answers": wrong is None and all(each.results == runs[0].results for each in runs),
        "difference": wrong,
        "first_result": _middle(runs, "first_result"),
        "latency_ms": _middle(runs, "latency_ms"),
        "latency_p99_ms": _middle(runs, "latency_p99_ms"),
        "memory_mb": _middle(runs, "memory_mb"),
    }


def _middle(runs: Sequence[Outcome], name: str) -> float | None:
    found = [value for each in runs if (value := getattr(each, name)) is not None]
    return statistics.median(found) if found else None


def set_goals(report: Report, outcomes: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Ratios of throughput. No goal is set beside an engine that did not answer."""
    for title, engines in outcomes.items():
        own = engines[WEIR.name].get("triples_a_second", float("nan"))
        for name, goal in GOALS.items():
            other = engines.get(name, {})
            if "triples_a_second" not in other or not title.endswith(", all"):
                continue
            ratio = own / other["triples_a_second"] if other["same_answers"] else 0.0
            report.goal(f"{title}: times the throughput of {name}, same answers", ratio, goal, "x")
        for name, goals in GIVEN.items():
            other = engines.get(name, {})
            if "triples_a_second" in other and title in goals:
                ratio = own / other["triples_a_second"]
                report.goal(f"{title}: times the throughput of {name}", ratio, goals[title], "x")


def _plot(folder: str | Path, outcomes: Outcomes) -> None:
    names = sorted({name for engines in outcomes.values() for name in engines})
    for mode, title in (("all", "as fast as it goes"), ("each", "one message at a time")):
        shown = {name: each for name, each in outcomes.items() if name.endswith(f", {mode}")}
        labels = [name.partition(",")[0] for name in shown]
        with figure(folder, f"peers-{mode}", title=f"Engines, {title}", x="", y="triples a second") as axes:
            for name in names:
                values = [each[name].get("triples_a_second", float("nan")) for each in shown.values()]
                axes.plot(labels, values, "o", label=name)
            axes.set_yscale("log")
            axes.tick_params(axis="x", rotation=30)
