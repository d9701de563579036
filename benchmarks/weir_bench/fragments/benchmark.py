"""``weir bench fragments``: the query streamer's figures 2a, 2b and 3, and the goals that go beyond them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from weir.fragments.protocol.annotation import Annotation, Labeling, Method
from weir_bench.fragments.costs import MODES, Cost, measure, running_server
from weir_bench.fragments.methods import METHODS, PAPER_ORDER, Run, figure_3, history, order
from weir_bench.fragments.peers import PeerUnavailable, ldf_server
from weir_bench.fragments.rates import (
    BINDINGS,
    KINDS,
    Rate,
    delays,
    load,
    requests_for,
    write_data,
    write_facts,
)
from weir_bench.plots import figure, lines
from weir_bench.report import PACKAGES, Report

PERIOD = 10.0
CROWD = 1000
CROWD_PERIOD = 60.0
"""A thousand clients evaluate in turns on the few cores of one machine: their facts last longer."""
SERVER_SIDE = ("evaluated at the server (Weir)", "evaluated at the server (pyoxigraph)")


def run(quick: bool = False, json: str | Path | None = None, plot: str | Path | None = None) -> Report:
    """Run everything; about ten minutes if ``quick``, else about forty-five."""
    report = Report("fragments", quick, packages=(*PACKAGES, "uvicorn", "uvloop", "httptools"))
    _rates(report, 2.0 if quick else 5.0, 2 if quick else 3)
    _history(report, quick, plot)
    _methods(report, quick, plot)
    _costs(report, (10, 200) if quick else (10, 50, 100, 150, 200), 1 if quick else 2, plot)
    _annotations(report, 50)
    _crowd(report, 200 if quick else CROWD)
    if json is not None:
        report.write(json)
    return report


def _rates(report: Report, seconds: float, rounds: int) -> None:
    """Requests per second beside @ldf/server, in turns, so that both meet the same noise."""
    with TemporaryDirectory() as folder:
        file, facts = Path(folder) / "data.ttl", Path(folder) / "facts.trig"
        write_data(file)
        now = time.time_ns() // 1000
        write_facts(facts, delays(THINGS, now, now + 3600 * 1_000_000))
        try:
            with (
                ldf_server({"d": file, "facts": facts}) as peer,
                running_server({"file": str(file), "facts": THINGS}) as (base, process),
            ):
                rates: dict[str, list[Rate]] = {}
                for turn in range(rounds):
                    report.step(f"requests per second, round {turn + 1} of {rounds}")
                    for kind in KINDS:
                        theirs = f"{peer.base}/{'facts' if kind == 'facts' else 'd'}"
                        for name, url, pid in (
                            ("weir", f"{base}/d", process.pid),
                            ("ldf", theirs, peer.pid),
                        ):
                            requests = requests_for(url, kind, single=name == "ldf")
                            once = kind != "repeated"
                            some = requests[turn::rounds] if once else requests
                            rate = load(url, some, pid, seconds, once=once)
                            rates.setdefault(f"{name} {kind}", []).append(rate)
        except PeerUnavailable as error:
            report.figures["rates"] = {"skipped": str(error)}
            return
    found = {name: _middle(some) for name, some in rates.items()}
    report.figures["rates by round"] = {n: [rate.per_second for rate in some] for n, some in rates.items()}
    report.figures["rates"] = {name: asdict(rate) for name, rate in found.items()}
    for kind, name in zip(KINDS, _SAID, strict=True):
        weir, ldf = found[f"weir {kind}"], found[f"ldf {kind}"]
        worth = BINDINGS if kind == "bindings" else 1
        ratio = worth * weir.per_second / ldf.per_second
        report.figures["rates"][f"ratio {kind}"] = ratio
        report.figures["rates"][f"processor ratio {kind}"] = (
            worth * weir.per_processor_second / ldf.per_processor_second
        )
        report.goal(f"{name} per second, in terms of @ldf/server's", ratio, 5.0, "x")


def _middle(rates: Sequence[Rate]) -> Rate:
    """The median round by its rate, of an even number the slower of the two."""
    return sorted(rates, key=lambda rate: rate.per_second)[(len(rates) - 1) // 2]


THINGS = 10_000
_SAID = (
    "repeated fragment requests",
    "never repeated fragment requests",
    "never repeated full pages",
    "bindings of never repeated requests",
    "never repeated requests for facts",
)


def _history(report: Report, quick: bool, plot: str | Path | None) -> None:
    """Interval labeling over ever more versions."""
    checkpoints = (20, 100, 300, 1000, 3000, 10_000)
    report.step(f"evaluation over up to {checkpoints[-1]:,} versions")
    moments = history(checkpoints, trains=10 if quick else 100, repeats=15)
    report.figures["history"] = [asdict(moment) for moment in moments]
    early = median(m.median for m in moments if m.versions <= 100)
    report.goal(
        "evaluation over 10,000 versions, in terms of 100",
        moments[-1].median / early,
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
    _judge(report, counts[-1], {name: some[-1].server for name, some in costs.items()})
    if plot is not None:
        _draw_costs(counts, costs, plot)


def _judge(report: Report, count: int, servers: dict[str, float]) -> None:
    """Fragments against the best of the two ways of evaluating at the server."""
    ours = max(servers["fragments"], 1e-6)
    report.goal(f"server CPU at {count} clients", 100 * ours, 5.0, "% of a core", at_least=False)
    for name in SERVER_SIDE:
        report.figures[f"server CPU {name}, {count} clients, in terms of fragments"] = servers[name] / ours
    best = min(SERVER_SIDE, key=lambda name: servers[name])
    report.goal(
        f"server CPU saved against the best, {best}, {count} clients", servers[best] / ours, 10.0, "x"
    )


def _annotations(report: Report, count: int) -> None:
    """What each method and labeling costs the server."""
    found = {}
    for annotation in (Annotation(method, labeling) for method in METHODS for labeling in Labeling):
        report.step(f"{count} clients, {annotation}")
        shown = {"method": annotation.method.value, "labeling": annotation.labeling.value}
        found[str(annotation)] = measure({**MODES["fragments"], **shown}, count, PERIOD, 1).as_json()
    report.figures["annotations"] = {"clients": count, **found}


def _crowd(report: Report, count: int) -> None:
    """A thousand followers, and the same behind a shared cache."""
    servers = {}
    for name, mode in MODES.items():
        report.step(f"{count} clients, {name}, every {CROWD_PERIOD:g} s")
        cost = measure(mode, count, CROWD_PERIOD, 1)
        servers[name] = cost.server
        report.figures.setdefault("crowd", {"clients": count, "period_s": CROWD_PERIOD})[name] = (
            cost.as_json()
        )
    _judge(report, count, servers)
    try:
        behind = {}
        for clients in (10, count):
            report.step(f"{clients} clients behind Varnish")
            behind[clients] = measure(MODES["fragments"], clients, CROWD_PERIOD, 1, cached=True)
    except PeerUnavailable as error:
        report.figures["behind Varnish"] = {"skipped": str(error)}
        return
    report.figures["behind Varnish"] = {str(clients): cost.as_json() for clients, cost in behind.items()}
    growth = behind[count].server / max(behind[10].server, 1e-6)
    report.goal(
        f"server CPU behind Varnish at {count} clients, in terms of 10", growth, 1.5, "x", at_least=False
    )


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
