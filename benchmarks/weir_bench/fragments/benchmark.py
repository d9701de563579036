"""``weir bench fragments``: the query streamer's figures 2a, 2b and 3, and the goals that go beyond them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from weir.fragments.protocol.annotation import Labeling, Method
from weir_bench.fragments.costs import MODES, Cost, measure, running_server
from weir_bench.fragments.methods import METHODS, PAPER_ORDER, Run, figure_3, history, order
from weir_bench.fragments.peers import PeerUnavailable, ldf_server
from weir_bench.fragments.rates import Rate, load, requests_for, write_data
from weir_bench.plots import figure, lines
from weir_bench.report import PACKAGES, Report

PERIOD = 10.0
SERVER_SIDE = ("evaluated at the server (Weir)", "evaluated at the server (pyoxigraph)")


def run(quick: bool = False, json: str | Path | None = None, plot: str | Path | None = None) -> Report:
    """Run everything; about five minutes if ``quick``, else about twenty-five."""
    report = Report("fragments", quick, packages=(*PACKAGES, "uvicorn", "uvloop", "httptools"))
    _rates(report, 3.0 if quick else 8.0, 2 if quick else 3)
    _history(report, quick, plot)
    _methods(report, quick, plot)
    _costs(report, (10, 200) if quick else (10, 50, 100, 150, 200), 1 if quick else 2, plot)
    if json is not None:
        report.write(json)
    return report


def _rates(report: Report, seconds: float, rounds: int) -> None:
    """Requests per second beside @ldf/server, in turns, so that both meet the same noise."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "data.ttl"
        write_data(file)
        try:
            with ldf_server({"d": file}) as peer, running_server({"file": str(file)}) as (base, process):
                targets = {"weir": (f"{base}/d", process.pid), "ldf": (f"{peer.base}/d", peer.pid)}
                rates: dict[str, list[Rate]] = {}
                for turn in range(rounds):
                    report.step(f"requests per second, round {turn + 1} of {rounds}")
                    for name, (url, pid) in targets.items():
                        repeated = requests_for(url, distinct=False)
                        rates.setdefault(f"{name} repeated", []).append(
                            load(url, repeated, pid, seconds, once=False)
                        )
                        distinct = requests_for(url, distinct=True)[turn::rounds]
                        rates.setdefault(f"{name} distinct", []).append(
                            load(url, distinct, pid, seconds, once=True)
                        )
        except PeerUnavailable as error:
            report.figures["rates"] = {"skipped": str(error)}
            return
    found = {name: max(some, key=lambda rate: rate.per_second) for name, some in rates.items()}
    report.figures["rates"] = {name: asdict(rate) for name, rate in found.items()}
    for kind, name in (("repeated", "repeated"), ("distinct", "never repeated")):
        weir, ldf = found[f"weir {kind}"], found[f"ldf {kind}"]
        ratio = weir.per_second / ldf.per_second
        report.figures["rates"][f"ratio {kind}"] = ratio
        report.figures["rates"][f"processor ratio {kind}"] = (
            weir.per_processor_second / ldf.per_processor_second
        )
        report.goal(f"{name} fragment requests per second, in terms of @ldf/server's", ratio, 5.0, "x")


def _history(report: Report, quick: bool, plot: str | Path | None) -> None:
    """Interval labeling over ever more versions."""
    checkpoints = (20, 100, 300, 1000, 3000, 10_000)
    report.step(f"evaluation over up to {checkpoints[-1]:,} versions")
    moments = history(checkpoints, trains=10 if quick else 100, repeats=15)
    report.figures["history"] = [asdict(moment) for moment in moments]
    early = min(m.least for m in moments if m.versions <= 100)
    report.goal(
        "evaluation over 10,000 versions, in terms of 100",
        moments[-1].least / early,
        1.5,
        "x",
        at_least=False,
    )
    if plot is not None:
        with figure(plot, "history", title="Interval labeling with history", x="versions", y="ms") as axes:
            lines(axes, checkpoints, {"evaluation": [1e3 * m.median for m in moments]})
            axes.set_xscale("log")
            axes.set_ylim(bottom=0)


def _methods(report: Report, quick: bool, plot: str | Path | None) -> None:
    """Figure 3, and the order of the methods beside the paper's."""
    report.step("annotation methods and labelings")
    runs = figure_3(10 if quick else 60, 10 if quick else 60, whole=not quick)
    report.figures["figure_3"] = [run.as_json() for run in runs]
    orders: dict[str, Any] = {"paper": list(PAPER_ORDER)}
    for labeling in Labeling:
        for plain in (False, True):
            orders[f"{labeling.value}, {'plain' if plain else 'weir'}"] = order(runs, labeling, plain=plain)
    report.figures["order"] = orders
    ours = [run for run in runs if run.labeling == "interval" and not run.plain]
    report.goal(
        "growth of interval execution times over the iterations",
        median(run.growth for run in ours),
        1.3,
        "x",
        at_least=False,
    )
    cached = sum(run.settled for run in runs if run.cache and not run.plain)
    anew = sum(run.settled for run in runs if not run.cache and not run.plain)
    report.figures["cache_speedup"] = anew / cached
    if plot is not None:
        _draw_methods(runs, plot)


def _draw_methods(runs: Sequence[Run], plot: str | Path) -> None:
    for plain in (False, True):
        for cache in (True, False):
            some = [run for run in runs if run.plain == plain and run.cache == cache]
            if not some:
                continue
            name = f"figure_3_{'plain' if plain else 'weir'}_{'cache' if cache else 'no_cache'}"
            title = f"{'Plain' if plain else 'Weir'} client, {'with' if cache else 'without'} cache"
            title += f", {some[0].trains} trains"
            with figure(plot, name, title=title, x="iteration", y="execution time (ms)") as axes:
                for run in some:
                    values = [1e3 * seconds for seconds in run.seconds]
                    axes.plot(
                        range(1, len(values) + 1),
                        values,
                        label=f"{run.method}, {run.labeling}",
                        color=f"C{METHODS.index(Method(run.method))}",
                        linestyle="--" if run.labeling == Labeling.INTERVAL.value else "-",
                        linewidth=1,
                    )
                axes.set_ylim(0, 1.4 * axes.get_ylim()[1])


def _costs(report: Report, counts: Sequence[int], periods: int, plot: str | Path | None) -> None:
    """Figures 2a and 2b."""
    costs: dict[str, list[Cost]] = {name: [] for name in MODES}
    for count in counts:
        for name, mode in MODES.items():
            report.step(f"{count} clients, {name}")
            costs[name].append(measure(mode, count, PERIOD, periods))
    report.figures["figure_2"] = {
        "clients": list(counts),
        **{name: [cost.as_json() for cost in some] for name, some in costs.items()},
    }
    ours = costs["fragments"][-1].server
    report.goal(f"server CPU at {counts[-1]} clients", 100 * ours, 5.0, "% of a core", at_least=False)
    for name, goal in zip(SERVER_SIDE, (10.0, None), strict=True):
        ratio = costs[name][-1].server / max(ours, 1e-6)
        report.figures[f"server CPU {name}, in terms of fragments"] = ratio
        if goal is not None:
            report.goal(f"server CPU saved against queries {name}", ratio, goal, "x")
    if plot is not None:
        _draw_costs(counts, costs, plot)


def _draw_costs(counts: Sequence[int], costs: dict[str, list[Cost]], plot: str | Path) -> None:
    for name, attribute, title in (
        ("figure_2a", "server", "Server load"),
        ("figure_2b", "client", "Client load"),
    ):
        series = {mode: [100 * getattr(cost, attribute) for cost in some] for mode, some in costs.items()}
        with figure(plot, name, title=title, x="concurrent clients", y="% of a core") as axes:
            lines(axes, counts, series)
    with figure(plot, "figure_2b_course", title="One client", x="s since the start", y="% of a core") as axes:
        course = costs["fragments"][0].course
        axes.plot([at for at, _ in course], [100 * share for _, share in course])
