"""``weir bench matching``: thousands of conjunctive queries on one stream (CTP-automata, section 3).

Smart-building readings, random-walk queries with Table 2's parameters and defaults, and the paper's four
figures: construction time, and throughput by the number of queries, of patterns, and by window; besides, the
number of queries at equal results per triple. Side by side in one run: Weir's kernel, the paper's HashMat
and StringMat compiled, HashMat in a kinder variant, every query by itself, and Weir on Spark from files to
files. Published figures are reference lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir_bench.data.energy import energy
from weir_bench.matching.figures import draw
from weir_bench.matching.queries import Workload, query, walks
from weir_bench.matching.registering import adding_to
from weir_bench.matching.spark import CORES, run_spark
from weir_bench.matching.systems import (
    SLAB,
    Data,
    Patterns,
    Speed,
    build_automaton,
    build_hashmat,
    build_set,
    build_stringmat,
    conjunctions,
    mean,
    run_mat,
    run_one_by_one,
    run_set,
    seconds,
)
from weir_bench.report import PACKAGES, Report

DEFAULT = Workload()
PAPER = {
    "construction ms, CQELS": {100: 400, 2000: 1610},
    "construction ms, HashMat": {2000: 50},
    "queries, HashMat": {100: 64_000, 1000: 5_000, 2000: 3_000},
    "queries, CQELS": {100: 3_000, 2000: 50},
    "patterns, HashMat": {1: 30_000, 5: 3_000},
    "patterns, CQELS": {1: 1_200, 5: 300},
    "window, HashMat": {10: 9_500, 50: 6_200, 500: 4_500},
    "window, CQELS": {10: 500, 500: 300},
}
"""What section 3.2 says of its figures: triples per second, or milliseconds."""

WIDE = 1_000
"""From this window on, no walk goes against an edge: results would grow with a power of the window."""


def run(quick: bool = False, json: str | Path | None = None, plot: str | Path | None = None) -> Report:
    """All figures; ``quick`` takes fewer points and less of the stream."""
    report = Report("matching", quick, packages=(*PACKAGES, "numba"))
    bench = _Bench(report, quick)
    bench.construction()
    bench.by_queries()
    bench.by_patterns()
    bench.by_window()
    bench.at_equal_results()
    bench.adding_one()
    bench.registering()
    bench.goals()
    if plot is not None:
        draw(report.figures, plot)
    if json is not None:
        report.write(json)
    return report


class _Bench:
    def __init__(self, report: Report, quick: bool) -> None:
        self.report = report
        self.quick = quick
        self.data = Data(energy(200_000 if quick else 2_000_000))
        self.budget = 0.5 if quick else 3.0
        self.rounds = 2 if quick else 3
        report.figures["stream"] = {
            "triples": len(self.data.energy),
            "terms": len(self.data.energy.terms),
            "paper": PAPER,
            "workload": asdict(DEFAULT),
        }

    def construction(self) -> None:
        """Figure 4, from parsed queries."""
        points = (100, 1000, 2000) if self.quick else (100, 500, 1000, 1500, 2000)
        series: dict[str, list[float]] = {}
        # Once for nothing: compiled code is loaded on first use.
        warm = self._queries(DEFAULT, 10)
        build_hashmat(warm), build_stringmat(warm, self.data), build_set(warm)
        for count in points:
            self.report.step(f"construction, {count:,} queries")
            parsed = self._queries(DEFAULT, count)
            systems: dict[str, Callable[[], object]] = {
                "HashMat": partial(build_hashmat, parsed),
                "StringMat": partial(build_stringmat, parsed, self.data),
                "Weir, automaton": partial(build_automaton, parsed),
                "Weir, everything": partial(build_set, parsed),
            }
            for name, work in systems.items():
                best = min(seconds(work) for _ in range(self.rounds + 2))
                series.setdefault(name, []).append(best * 1000)
        self.report.figures["construction"] = {"queries": points, "milliseconds": series}

    def by_queries(self) -> None:
        """Figure 5, and on to 100,000 queries."""
        points = (100, 1000, 2000, 10_000) if self.quick else (
            100, 500, 1000, 1500, 2000, 5000, 10_000, 30_000, 100_000,
        )  # fmt: skip
        spark = (1000,) if self.quick else (100, 1000, 2000, 10_000)
        runs = {
            count: self._compare(replace(DEFAULT, queries=count), count <= 2000, count in spark)
            for count in points
        }
        self.report.figures["queries"] = _table(runs)

    def by_patterns(self) -> None:
        """Figure 6: the maximum number of patterns."""
        points = (1, 3, 5) if self.quick else (1, 2, 3, 4, 5)
        runs = {
            count: self._compare(replace(DEFAULT, patterns=count), True, not self.quick) for count in points
        }
        self.report.figures["patterns"] = _table(runs)

    def by_window(self) -> None:
        """Figure 7, and on to windows of 100,000 triples."""
        points = (10, 100, 10_000) if self.quick else (10, 50, 100, 500, 1000, 10_000, 100_000)
        runs = {}
        for window in points:
            backward = DEFAULT.backward if window < WIDE else 0.0
            workload = replace(DEFAULT, window=window, backward=backward)
            runs[window] = self._compare(workload, window <= 500, not self.quick and window <= 10_000)
        self.report.figures["window"] = _table(runs)

    def _compare(self, workload: Workload, everyone: bool, spark: bool) -> dict[str, Speed]:
        """All systems on one workload, each the mean of as many runs; beyond the paper's ranges Weir and the
        kinder HashMat alone.

        Compiled loops are timed first: Spark leaves processes behind.
        """
        data, window = self.data, workload.window
        self.report.step(f"{workload.queries:,} queries of {workload.patterns} patterns, window {window:,}")
        found = walks(data.energy, workload)
        parsed = [query(patterns, window) for patterns in found]
        speeds: dict[str, list[Speed]] = {}
        hashmat = build_hashmat(parsed)
        stringmat = build_stringmat(parsed, data) if everyone else None
        mats = [("HashMat", hashmat, data.triples)]
        if stringmat is not None:
            mats.append(("StringMat", stringmat, data.coded))
        for _ in range(self.rounds):
            speeds.setdefault("Weir", []).append(self._weir(parsed, window, workload.queries))
            for name, mat, triples in mats if workload.queries <= 10_000 and window < WIDE else ():
                pinned = run_mat(mat, triples, window, self.budget, pinned=True)
                speeds.setdefault(f"{name}, kinder", []).append(pinned)
            for name, mat, triples in mats if everyone else ():
                speeds.setdefault(name, []).append(run_mat(mat, triples, window, self.budget))
        if everyone:
            speeds["query at a time"] = [run_one_by_one(found, data, window, 1000 if self.quick else 4000)]
        if spark:
            self.report.step("the same on Spark")
            told = run_spark(found, window, speeds["Weir"][0].results, 2 if self.quick else 4)
            speeds["Weir on Spark"] = [told.speed]
            self.report.figures.setdefault("spark", []).append(
                {"workload": asdict(workload), "cores": CORES, **asdict(told)}
            )
        return {name: mean(each) for name, each in speeds.items()}

    def _weir(self, parsed: Sequence[Any], window: int, queries: int) -> Speed:
        count = 40_000 if self.quick else 400_000
        if queries > 10_000 or window > WIDE:
            count //= 10
        return run_set(build_set(parsed), self.data, window + 1000, count, min(SLAB, max(count // 2, 10_000)))

    def at_equal_results(self) -> None:
        """More and more queries, chosen so that a triple has as many results however many there are."""
        points = (100, 1000, 10_000) if self.quick else (100, 300, 1000, 3000, 10_000, 30_000)
        target = 25.0
        pool = walks(self.data.energy, replace(DEFAULT, queries=3 * points[-1], seed=11, constant=1.0))
        rates = self._rates(pool)
        runs: dict[int, dict[str, Speed]] = {}
        for count in points:
            self.report.step(f"{count:,} queries at equal results")
            chosen = choose(rates, count, target)
            parsed = [query(pool[number], DEFAULT.window) for number in chosen.tolist()]
            best = max(
                (self._weir(parsed, DEFAULT.window, count) for _ in range(self.rounds)),
                key=lambda speed: speed.triples,
            )
            runs[count] = {"Weir": best}
        self.report.figures["equal results"] = _table(runs)

    def _rates(self, pool: Sequence[Patterns]) -> NDArray[np.float64]:
        """Results per triple of each query, measured on a part of the stream."""
        count = 50_000
        together = build_set([query(patterns, DEFAULT.window) for patterns in pool])
        answers = together.advance(self.data.slab(0, count))
        by_channel = np.zeros(len(answers.members), np.int64)
        for part in answers.parts:
            by_channel += np.bincount(part.channel, minlength=len(by_channel))
        channels = np.array([header.channel for header in answers.headers.values()])
        rates: NDArray[np.float64] = by_channel[channels] / count
        return rates

    def adding_one(self) -> None:
        """One query more on top of 2,000: what the automaton and the tree of steps have to touch."""
        self.report.step("adding one query")
        parsed = self._queries(DEFAULT, 2000)
        extra = conjunctions(self._queries(replace(DEFAULT, seed=99), 15))
        together = build_set(parsed)
        dictionary = Dictionary()
        states, nodes = together.channels.matcher.states, len(together.channels.trie)
        times = []
        for number, (_, each) in enumerate(extra):
            times.append(seconds(partial(together.add, [(f"extra{number}", each)], dictionary)))
        patterns = sum(len(each.patterns) for _, each in extra)
        self.report.figures["adding one"] = {
            "milliseconds": float(np.median(times)) * 1000,
            "patterns": patterns,
            "states made": together.channels.matcher.states - states,
            "nodes made": len(together.channels.trie) - nodes,
        }

    def registering(self) -> None:
        """One query more over the public API, beside 10,000 that run."""
        count = 1_000 if self.quick else 10_000
        self.report.step(f"registering one query beside {count:,}")
        found = walks(self.data.energy, replace(DEFAULT, queries=count + 40))
        told = adding_to(found, DEFAULT.window, count)
        self.report.figures["registering"] = {"queries": count, **told}

    def goals(self) -> None:
        """The issue's goals, each from figures of this run."""
        figures, report = self.report.figures, self.report
        queries = figures["queries"]
        at = queries["points"].index(1000)
        weir, speeds = queries["triples/s"]["Weir"][at], queries["triples/s"]
        report.goal(
            "kernel against compiled HashMat, 1,000 queries", weir / speeds["HashMat"][at], 100, "times"
        )
        spark = speeds["Weir on Spark"][at]
        report.goal("through Spark on 2 cores, 1,000 queries", spark, 200_000, "triples/s")
        figures["kernel against the kinder HashMat, 1,000 queries"] = weir / speeds["HashMat, kinder"][at]
        equal = figures["equal results"]
        first, last = equal["points"].index(100), equal["points"].index(10_000)
        fall = equal["triples/s"]["Weir"][first] / equal["triples/s"]["Weir"][last]
        name = "fall from 100 to 10,000 queries at equal results"
        report.goal(name, fall, 3, "times", at_least=False)
        built = figures["construction"]["milliseconds"]
        ratio = built["Weir, automaton"][-1] / built["HashMat"][-1]
        report.goal(
            "automaton of 2,000 queries against HashMat's construction", ratio, 2, "times", at_least=False
        )
        ratio = built["Weir, everything"][-1] / built["HashMat"][-1]
        report.goal("everything for 2,000 queries against HashMat", ratio, 2, "times", at_least=False)
        told = figures["registering"]
        name = f"registering one query beside {told['queries']:,}"
        report.goal(name, told["one more"], 10, "ms", at_least=False)
        one = figures["adding one"]
        share = one["milliseconds"] / built["Weir, everything"][-1]
        report.goal("adding one query against building 2,000", share, 0.1, "times", at_least=False)

    def _queries(self, workload: Workload, count: int) -> list[Any]:
        found = walks(self.data.energy, replace(workload, queries=count))
        return [query(patterns, workload.window) for patterns in found]


def choose(rates: NDArray[np.float64], count: int, target: float) -> Ids:
    """``count`` queries whose results per triple add up to about ``target``.

    Drawn from those below and above the mean that is wanted, in the proportion that gives it.
    """
    wanted = target / count
    random = np.random.default_rng(5)
    order = random.permutation(len(rates))
    below, above = order[rates[order] <= wanted], order[rates[order] > wanted]
    low, high = float(rates[below].mean()), float(rates[above].mean())
    many = min(max(round(count * (wanted - low) / (high - low)), 0), len(above), count)
    if count - many > len(below):
        raise ValueError(f"{len(rates)} queries are too few to choose {count} of {target} results from")
    return np.concatenate([above[:many], below[: count - many]])


def _table(runs: dict[int, dict[str, Speed]]) -> dict[str, Any]:
    """Points, and for each system triples per second, results per triple and results per second."""
    names = list(dict.fromkeys(name for speeds in runs.values() for name in speeds))

    def series(value: str) -> dict[str, list[float | None]]:
        return {
            name: [getattr(speeds[name], value) if name in speeds else None for speeds in runs.values()]
            for name in names
        }

    return {
        "points": list(runs),
        "triples/s": series("triples"),
        "results per triple": series("results"),
        "results/s": series("delivered"),
    }
