"""``weir bench start``: from the shell to the first result, and from a message to its result.

Cold, each in a process of its own: the README's query by ``weir run`` and by ``weir try``, the demo of
``make run`` to its first live result, and two jobs of Spark that do nothing, one with a source of files, one
with a source in Python. Warm: the second job of a session. All in one run, in rounds, one after the other;
medians are compared. Then the conference's queries in the direct runner, a message at a time.
"""

from __future__ import annotations

import json as json_text
import statistics
import tempfile
from pathlib import Path
from typing import Any

from weir_bench.conference.queries import QUERIES
from weir_bench.data.conference import conference
from weir_bench.report import Report
from weir_bench.start.empty_jobs import KINDS
from weir_bench.start.latency import latencies, quantiles, write_world
from weir_bench.start.processes import QUERY, Took, timed, write_inputs

_COMMANDS = {
    "import weir": ("-c", "import weir; print()"),
    "weir explain": ("-m", "weir", "explain", "reach.rspql"),
    "weir try": ("-m", "weir", "try", *QUERY),
    "weir run": ("-m", "weir", "run", *QUERY),
    "make run": ("-m", "weir", "demo", "--plain", "--seconds", "1"),
}
_AWAITED = {"make run": "the first live results"}
"""What the line before the first result says, where other lines come first."""
_EMPTY = {"file": "empty job, file source", "python": "empty job, Python source"}


def run(quick: bool = False, json: str | Path | None = None, plot: str | Path | None = None) -> Report:
    """Measure; ``quick`` has one round and fewer messages."""
    report = Report("start", quick)
    rounds = 1 if quick else 3
    with tempfile.TemporaryDirectory(prefix="weir-start-") as name:
        folder = Path(name)
        inputs = folder / "inputs"
        write_inputs(inputs)
        cold, warm = _started(report, folder, inputs, rounds)
        report.figures |= {"cold": cold, "warm": warm}
        report.figures["latency"] = _latencies(report, folder, 3_000 if quick else 20_000)
    _goals(report)
    if json is not None:
        report.write(json)
    return report


def _started(
    report: Report, folder: Path, inputs: Path, rounds: int
) -> tuple[dict[str, Any], dict[str, list[float]]]:
    """Seconds to the first result of each command and each empty job, cold; of the second job, warm."""
    cold: dict[str, list[dict[str, float]]] = {}
    warm: dict[str, list[float]] = {kind: [] for kind in KINDS}
    outcome: dict[str, tuple[str, ...]] = {}

    def note(name: str, took: Took) -> None:
        cold.setdefault(name, []).append({"first": took.first, "whole": took.whole})
        outcome[name] = took.lines

    for number in range(rounds):
        for name, arguments in _COMMANDS.items():
            report.step(f"round {number + 1}: {name}")
            note(name, timed(arguments, inputs, _AWAITED.get(name, "")))
        for kind in KINDS:
            report.step(f"round {number + 1}: two jobs in one session, {kind}")
            place = folder / f"{kind}-{number}"
            module = ("-m", "weir_bench.start.empty_jobs")
            took = timed((*module, kind, str(place), "2", str(inputs)), inputs)
            if kind in _EMPTY:
                note(_EMPTY[kind], took)
            warm[kind].append(json_text.loads(took.lines[1])["first"])
    if outcome["weir try"] != outcome["weir run"]:
        raise RuntimeError("weir try and weir run do not give the same lines")
    return cold, warm


def _latencies(report: Report, folder: Path, messages: int) -> dict[str, dict[str, float]]:
    world = conference(100_000)
    write_world(world, folder)
    found = {}
    for template in QUERIES:
        report.step(f"{template.name}: {messages:,} messages at 1,000 a second")
        took = latencies(template, world, folder, messages=messages, rate=1000, warm=messages // 10)
        found[template.name] = quantiles(took)
    return found


def _goals(report: Report) -> None:
    cold = {
        name: statistics.median(each["first"] for each in told)
        for name, told in report.figures["cold"].items()
    }
    warm = {kind: statistics.median(told) for kind, told in report.figures["warm"].items()}
    report.figures["medians"] = {"cold": cold, "warm": warm}

    def most(name: str, value: float, goal: float, unit: str) -> None:
        report.goal(name, value, goal, unit, at_least=False)

    most("import weir", cold["import weir"], 0.15, "s")
    most("weir explain", cold["weir explain"], 0.6, "s")
    most("weir try: first result of the README's query", cold["weir try"], 2.0, "s")
    most(
        "weir run / empty job with a Python source, cold", cold["weir run"] / cold[_EMPTY["python"]], 1.0, "×"
    )
    most("weir run / empty job with a file source, cold", cold["weir run"] / cold[_EMPTY["file"]], 1.3, "×")
    most(
        "make run: first live result / empty job with a file source, cold",
        cold["make run"] / cold[_EMPTY["file"]],
        1.15,
        "×",
    )
    most("Weir / empty job with a file source, second in a session", warm["weir"] / warm["file"], 1.3, "×")
    for name, told in report.figures["latency"].items():
        most(f"{name}: message to result, p50", told["p50"], 1.0, "ms")
        most(f"{name}: message to result, p99", told["p99"], 5.0, "ms")
