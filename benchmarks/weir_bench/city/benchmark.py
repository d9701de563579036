"""``weir bench city --data DIR``: CityBench (Ali, Gao, Mileo 2015), all 24 query texts as published.

First every row is checked, window by window, by a store that is not Weir's. Then each query is measured as
fast as it goes and at 1, 10 and 100 times the pace of the sensors, and the queries that the benchmark's
authors ran in numbers (Q1, Q5, Q8) as 1, 10 and 50 copies together. One process, without Spark. The
benchmark's data are not part of Weir: ``data`` is a clone of its repository.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from weir.errors import UsageError
from weir_bench.city.check import check
from weir_bench.city.data import City
from weir_bench.city.measure import full_speed, messages_of, paced, triples_of
from weir_bench.city.queries import CityQuery, city_queries
from weir_bench.plots import figure
from weir_bench.report import Report

SPEEDS = (1, 10, 100)
COPIES = (1, 10, 50)
COPIED = (1, 5, 8)
ROUNDS = 3

TRIPLES_GOAL, ROWS_GOAL = 20_000.0, 300_000.0
"""Triples read a second and core; rows written, where a triple gives so many that they take the time."""
COPIES_GOAL = 5.0
_CHECKED, _CHECKED_ROWS = 300, 60_000
_MESSAGES, _ROWS = 3_000, 300_000
_COPIED_ROWS = 400_000


def run(
    quick: bool = False,
    json: str | Path | None = None,
    plot: str | Path | None = None,
    data: str | Path | None = None,
    numbers: Sequence[int] | None = None,
) -> Report:
    """Everything takes about half an hour, ``quick`` a few minutes; ``numbers`` are the queries to run."""
    if data is None:
        raise UsageError(
            "weir bench city needs the benchmark's data", hint="--data DIR, a clone of CityBench"
        )
    city, report = City(Path(data)), Report("city", quick)
    queries = [query for query in city_queries(city) if numbers is None or query.number in numbers]
    size = 10 if quick else 1
    found: dict[str, dict[str, Any]] = {}
    for query in queries:
        report.step(query.name)
        found[query.name] = _one(city, query, size)
    shown = [query for query in queries if not quick or query.number in COPIED]
    latency = _latencies(report, city, shown, 2 if quick else 10)
    together = _together(report, city, [each for each in queries if each.number in COPIED], size)
    report.figures |= {"queries": found, "latency_ms": latency, "copies": together}
    _goals(report, queries, found, together)
    if plot is not None:
        _plots(plot, found, latency)
    if json is not None:
        report.write(json)
    return report


def _fitting(rows: float, most: int, limit: int) -> int:
    """How many messages a stream may have so that about ``limit`` rows come out."""
    return int(min(most, max(10, limit / rows if rows else most)))


def _one(city: City, query: CityQuery, size: int) -> dict[str, Any]:
    """Check the rows of a query, then run it as fast as it goes."""
    first = full_speed(city, query, messages_of(city, query, 10))
    rows = first.rows / 10
    checked = messages_of(city, query, _fitting(rows, _CHECKED // size, _CHECKED_ROWS // size))
    verdict = check(city, query, checked, full_speed(city, query, checked, keep=True).text)
    messages = messages_of(city, query, _fitting(rows, _MESSAGES // size, _ROWS // size))
    rounds = [full_speed(city, query, messages) for _ in range(1 if size > 1 else ROUNDS)]
    seconds = statistics.median(each.cpu for each in rounds)
    return {
        "exact": verdict.wrong is None,
        "difference": verdict.wrong,
        "rows_checked": verdict.rows,
        "times_checked": verdict.times,
        "triples": rounds[0].triples,
        "rows": rounds[0].rows,
        "cpu_seconds": [each.cpu for each in rounds],
        "triples_a_second": rounds[0].triples / seconds,
        "rows_a_second": rounds[0].rows / seconds,
    }


def _latencies(
    report: Report, city: City, queries: Sequence[CityQuery], seconds: int
) -> dict[str, dict[str, dict[str, float]]]:
    """For each query and speed: how long after a second of event time was due its answer was there."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for query in queries:
        report.step(f"{query.name} by the clock")
        for speed in SPEEDS:
            messages = messages_of(city, query, 4 + seconds * speed)
            late = 1000 * np.array(paced(city, query, messages, speed))
            found.setdefault(query.name, {})[f"{speed}x"] = {
                "median": float(np.median(late)),
                "p99": float(np.percentile(late, 99)),
                "triples_a_second": triples_of(messages) / (4 + seconds * speed) * speed,
            }
    return found


def _together(
    report: Report, city: City, queries: Sequence[CityQuery], size: int
) -> dict[str, dict[str, float]]:
    """Processor seconds of so many copies of a query over the same messages."""
    found: dict[str, dict[str, float]] = {}
    for query in queries:
        report.step(f"copies of {query.name}")
        rows = full_speed(city, query, messages_of(city, query, 10)).rows / 10
        most = _fitting(rows * COPIES[-1], _MESSAGES // size, _COPIED_ROWS // size)
        messages = messages_of(city, query, most)
        found[query.name] = {
            str(count): statistics.median(
                full_speed(city, query, messages, count).cpu for _ in range(1 if size > 1 else ROUNDS)
            )
            for count in COPIES
        }
    return found


def _goals(
    report: Report,
    queries: Sequence[CityQuery],
    found: dict[str, dict[str, Any]],
    together: dict[str, dict[str, float]],
) -> None:
    exact = sum(each["exact"] for each in found.values())
    report.goal("queries whose every row pyoxigraph confirms", exact, len(queries), "queries")
    for name, each in found.items():
        if each["rows"] / each["triples"] > ROWS_GOAL / TRIPLES_GOAL:
            report.goal(f"{name}, rows written a core", each["rows_a_second"], ROWS_GOAL, "rows/s")
        else:
            report.goal(f"{name}, triples read a core", each["triples_a_second"], TRIPLES_GOAL, "triples/s")
    for name, times in together.items():
        ratio = times[str(COPIES[-1])] / times[str(COPIES[0])]
        report.goal(f"{name}, {COPIES[-1]} copies against one", ratio, COPIES_GOAL, "x", at_least=False)


def _plots(
    folder: str | Path, found: dict[str, dict[str, Any]], latency: dict[str, dict[str, dict[str, float]]]
) -> None:
    with figure(
        folder, "city", title="CityBench, one core", x="", y="triples read a second", size=(10.0, 4.0)
    ) as axes:
        axes.bar(list(found), [each["triples_a_second"] for each in found.values()])
        axes.tick_params(axis="x", rotation=90)
        axes.set_yscale("log")
    with figure(
        folder, "city-latency", title="CityBench, median latency", x="", y="ms", size=(10.0, 4.0)
    ) as axes:
        for speed in SPEEDS:
            axes.plot(
                list(latency),
                [each[f"{speed}x"]["median"] for each in latency.values()],
                "o",
                label=f"{speed}×",
            )
        axes.tick_params(axis="x", rotation=90)
