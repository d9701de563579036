"""``weir bench peers``: Weir beside other engines, each in a process of its own, round after round in turn.

Same data, same question, and as many results as Weir or the ratio does not count. ``rival`` adds engines that
a user has (the protocol is told in ``rivals``). What cannot be had is listed as absent.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weir_bench.peers.rivals import WEIR, Outcome, Rival, drive, rivals
from weir_bench.peers.workloads import WORKLOADS, write
from weir_bench.plots import figure
from weir_bench.report import Report

ROUNDS = 5
GOALS = {"rsp-js": 100.0, "rsp-rs": 8.0}
"""How many times a rival's throughput."""
_MESSAGES = {"all": 20_000, "each": 500}


def run(
    quick: bool = False,
    json: str | Path | None = None,
    plot: str | Path | None = None,
    rival: Sequence[str] = (),
) -> Report:
    """Every engine on every workload, as fast as it goes and one message at a time."""
    report = Report("peers", quick)
    found, absent = rivals(rival)
    outcomes: dict[str, dict[str, dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory(prefix="weir-peers-") as folder:
        for workload in WORKLOADS:
            for mode, count in _MESSAGES.items():
                title = f"{workload.name}, {mode}"
                report.step(title)
                at = Path(folder) / title
                triples = write(workload, count // 10 if quick else count, at)
                outcomes[title] = _rounds([WEIR, *found], at, mode, triples, 1 if quick else ROUNDS)
    report.figures |= {"outcomes": outcomes, "absent": absent}
    _goals(report, outcomes)
    if plot is not None:
        _plot(plot, outcomes)
    if json is not None:
        report.write(json)
    return report


def _rounds(
    engines: Sequence[Rival], folder: Path, mode: str, triples: int, rounds: int
) -> dict[str, dict[str, Any]]:
    """Medians over rounds in which every engine has its turn."""
    every: dict[str, list[Outcome]] = {engine.name: [] for engine in engines}
    for _ in range(rounds):
        for engine in engines:
            every[engine.name].append(drive(engine, folder, mode))
    due = every[WEIR.name][0].results
    return {name: _median(runs, triples, due) for name, runs in every.items()}


def _median(runs: Sequence[Outcome], triples: int, due: int) -> dict[str, Any]:
    failure = next((each.failure for each in runs if each.failure), None)
    if failure is not None:
        return {"failure": failure}
    seconds = statistics.median(each.seconds for each in runs)
    waits = [each.latency_ms for each in runs if each.latency_ms is not None]
    firsts = [each.first_result for each in runs if each.first_result is not None]
    return {
        "triples_a_second": triples / seconds,
        "seconds": [each.seconds for each in runs],
        "results": runs[0].results,
        "same_count": all(each.results == due for each in runs),
        "first_result": statistics.median(firsts) if firsts else None,
        "latency_ms": statistics.median(waits) if waits else None,
        "memory_mb": statistics.median(each.memory_mb for each in runs),
    }


def _goals(report: Report, outcomes: dict[str, dict[str, dict[str, Any]]]) -> None:
    for title, engines in outcomes.items():
        own = engines[WEIR.name].get("triples_a_second", float("nan"))
        for name, goal in GOALS.items():
            other = engines.get(name)
            if other is None or not title.endswith(", all"):
                continue
            fair = other.get("same_count", False)
            ratio = own / other["triples_a_second"] if fair else 0.0
            report.goal(f"{title}: times the throughput of {name}, same results", ratio, goal, "x")


def _plot(folder: str | Path, outcomes: dict[str, dict[str, dict[str, Any]]]) -> None:
    names = sorted({name for engines in outcomes.values() for name in engines})
    with figure(folder, "peers", title="Engines for RDF streams", x="", y="triples a second") as axes:
        for name in names:
            values = [engines[name].get("triples_a_second", float("nan")) for engines in outcomes.values()]
            axes.plot(list(outcomes), values, "o", label=name)
        axes.set_yscale("log")
        axes.tick_params(axis="x", rotation=30)
