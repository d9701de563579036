"""Which tables and plots a benchmark's ``figures`` give. What a run did not measure is left out."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from typing import Any

from weir_bench.pages.drawing import Plot
from weir_bench.pages.tables import Table, number, spread

Figures = Mapping[str, Any]
Maker = Callable[[Figures], Table | Plot | None]
MAKERS: dict[str, Maker] = {}


def figure_of(name: str) -> Callable[[Maker], Maker]:
    """Register what draws ``BENCHMARK.FIGURE``."""

    def register(maker: Maker) -> Maker:
        MAKERS[name] = maker
        return maker

    return register


def shown(benchmark: str, figure: str, figures: Figures) -> Table | Plot | None:
    """A table or a plot; None where the run did not measure it."""
    try:
        return MAKERS[f"{benchmark}.{figure}"](figures)
    except (KeyError, IndexError) as error:
        if f"{benchmark}.{figure}" not in MAKERS:
            raise LookupError(f"there is no figure {benchmark}.{figure}") from error
        return None


def _peers(figures: Figures, mode: str) -> tuple[list[str], list[str], dict[str, Any]]:
    outcomes = {t: each for t, each in figures["outcomes"].items() if t.endswith(f", {mode}")}
    engines = list(dict.fromkeys(name for each in outcomes.values() for name in each))
    return [title.rpartition(",")[0] for title in outcomes], engines, outcomes


def _peer_cell(outcome: Mapping[str, Any], shown: str) -> str:
    if "cannot" in outcome:
        return "cannot"
    if "failure" in outcome:
        return "failed"
    return shown if outcome["same_answers"] else f"{shown} (other answers)"


def _peer_table(figures: Figures, mode: str, cell: Callable[[Mapping[str, Any]], str]) -> Table:
    titles, engines, outcomes = _peers(figures, mode)
    rows = []
    for title, each in zip(titles, outcomes.values(), strict=True):
        told = [each.get(name, {"cannot": ""}) for name in engines]
        rows.append([title, *(_peer_cell(one, cell(one)) for one in told)])
    return Table(["", *engines], rows)


@figure_of("peers.throughput")
def _peers_throughput(figures: Figures) -> Table:
    def cell(told: Mapping[str, Any]) -> str:
        seconds = told.get("seconds")
        if not seconds:
            return ""
        triples = told["triples_a_second"] * sorted(seconds)[len(seconds) // 2]
        return spread([triples / each for each in seconds])

    return _peer_table(figures, "all", cell)


@figure_of("peers.latency")
def _peers_latency(figures: Figures) -> Table:
    def cell(told: Mapping[str, Any]) -> str:
        return f"{number(told.get('latency_ms'))} / {number(told.get('latency_p99_ms'))}"

    return _peer_table(figures, "each", cell)


@figure_of("peers.memory")
def _peers_memory(figures: Figures) -> Table:
    def cell(told: Mapping[str, Any]) -> str:
        first = told.get("first_result")
        return f"{number(told.get('memory_mb'))} / {number(None if first is None else 1000 * first)}"

    return _peer_table(figures, "all", cell)


@figure_of("peers.absent")
def _peers_absent(figures: Figures) -> Table:
    return Table(["absent", "why"], [[name, why] for name, why in figures["absent"].items()])


@figure_of("peers.plot")
def _peers_plot(figures: Figures) -> Plot:
    titles, engines, outcomes = _peers(figures, "all")
    series = {
        name: [each.get(name, {}).get("triples_a_second") for each in outcomes.values()] for name in engines
    }
    return Plot("As fast as it goes", titles, series, "triples a second", log_y=True)


@figure_of("city.throughput")
def _city_throughput(figures: Figures) -> Table:
    rows = []
    for name, told in figures["queries"].items():
        rates = [told["triples"] / each for each in told["cpu_seconds"]]
        rows.append(
            [
                name,
                "yes" if told["exact"] else "**no**",
                number(told["rows_checked"]),
                spread(rates),
                number(told["rows_a_second"]),
            ]
        )
    return Table(["query", "exact", "rows checked", "triples/s a core", "rows/s a core"], rows)


@figure_of("city.latency")
def _city_latency(figures: Figures) -> Plot:
    found = figures["latency_ms"]
    speeds = list(next(iter(found.values())))
    series = {speed: [each[speed]["median"] for each in found.values()] for speed in speeds}
    return Plot("Median latency by pace of the sensors", list(found), series, "ms", log_y=True)


@figure_of("city.copies")
def _city_copies(figures: Figures) -> Table:
    found = figures["copies"]
    counts = list(next(iter(found.values())))
    rows = [
        [name, *(f"{number(each[count] / each[counts[0]])} ×" for count in counts)]
        for name, each in found.items()
    ]
    return Table(["query", *(f"{count} copies" for count in counts)], rows)


@figure_of("conference.queries")
def _conference_queries(figures: Figures) -> Table:
    rows = [
        [
            name,
            number(told["slab_us"]),
            number(told["slab_of_one_us"]),
            number(told["reevaluation_us"]),
            *(number(1000 * figures["published_ms"][who][place]) for who in ("CQELS", "C-SPARQL")),
        ]
        for place, (name, told) in enumerate(figures["queries"].items())
    ]
    head = ["µs an evaluation", "Weir, slabs", "Weir, one at a time", "pyoxigraph anew"]
    return Table([*head, "CQELS, 2011", "C-SPARQL, 2011"], rows)


@figure_of("conference.window")
def _conference_window(figures: Figures) -> Plot:
    told = figures["window_growth"]
    return Plot(
        "Q2 by the rows in its window", told["rows"], {"slabs": told["slab_us"]}, "µs an evaluation", "rows"
    )


@figure_of("conference.size")
def _conference_size(figures: Figures) -> Plot:
    told = figures["static_size"]
    series = {name: [row[name] for row in told["slab_us"]] for name in told["slab_us"][0]}
    series["Q1, pyoxigraph"] = [row["Q1"] for row in told["reevaluation_us"]]
    return Plot(
        "An evaluation as static data grow", told["triples"], series, "µs", "triples", log_x=True, log_y=True
    )


@figure_of("conference.crowd")
def _conference_crowd(figures: Figures) -> Plot:
    told = figures["instances"]
    names = [name for name in ("Q1", "Q2", "Q3", "Q4", "Q5") if name in told]
    series = {name: told[name] for name in names}
    series |= {f"{name}, pyoxigraph": told[f"{name} store"] for name in names}
    return Plot(
        "A sighting as queries are added", told["instances"], series, "µs", "queries", log_x=True, log_y=True
    )


@figure_of("matching.queries")
def _matching_queries(figures: Figures) -> Plot:
    return _by_points(figures["queries"], "Triples a second by the number of queries", "queries")


@figure_of("matching.table")
def _matching_table(figures: Figures) -> Table:
    told = figures["queries"]
    rates = told["triples/s"]
    rows = [
        [number(count), *(number(values[place]) for values in rates.values())]
        for place, count in enumerate(told["points"])
    ]
    return Table(["queries", *rates], rows)


@figure_of("matching.window")
def _matching_window(figures: Figures) -> Plot:
    return _by_points(figures["window"], "Triples a second by the window", "triples in the window")


def _by_points(told: Figures, title: str, x: str) -> Plot:
    return Plot(title, told["points"], told["triples/s"], "triples a second", x, log_x=True, log_y=True)


@figure_of("spark.throughput")
def _spark_throughput(figures: Figures) -> Table:
    cores = [name for name in figures if name.endswith(" cores")]
    shown = figures[cores[0]]["rounds"]
    rows = [[name, *(spread([r / 1e6 for r in figures[c]["rounds"][name]]) for c in cores)] for name in shown]
    return Table(["million triples/s", *(name.replace("1 cores", "1 core") for name in cores)], rows)


@figure_of("spark.live")
def _spark_live(figures: Figures) -> Table:
    rows = []
    for cores in (name for name in figures if name.endswith(" cores")):
        for query, told in figures[cores]["live"].items():
            times = [number(told.get(key)) for key in ("batch_seconds", "p50", "p99")]
            rows.append([f"{query}, {cores.replace('1 cores', '1 core')}", *times])
    return Table(["seconds", "batch", "latency p50", "latency p99"], rows)


@figure_of("scale.slots")
def _scale_slots(figures: Figures) -> Table:
    slots = figures["slots"]
    keys = list(next(iter(slots.values())))
    rows = [[count, *(number(told.get(key)) for key in keys)] for count, told in slots.items()]
    return Table(["slots", *(key.replace("_", " ") for key in keys)], rows)


@figure_of("start.medians")
def _start_medians(figures: Figures) -> Table:
    rows = [
        [f"{kind}: {name}", number(value)]
        for kind, told in figures["medians"].items()
        for name, value in told.items()
    ]
    return Table(["to the first result", "seconds"], rows)


@figure_of("fragments.clients")
def _fragments_clients(figures: Figures) -> Plot:
    told = figures["figure_2"]
    series = {
        name: [100 * each["server"] for each in costs] for name, costs in told.items() if name != "clients"
    }
    return Plot(
        "What followers cost the server", told["clients"], series, "% of a core", "clients", log_y=True
    )


@figure_of("fragments.history")
def _fragments_history(figures: Figures) -> Plot:
    told = figures["history"]
    series = {"median": [1000 * each["median"] for each in told]}
    return Plot(
        "Evaluation over a history", [each["versions"] for each in told], series, "ms", "versions", log_x=True
    )


@figure_of("freshness.learned")
def _freshness_learned(figures: Figures) -> Table:
    rows = [
        [f"{told['name']}, {told['changes']}", *map(number, _freshness(told).values())]
        for told in figures["learned"]
    ]
    return Table(["share of fresh rows", *_freshness(figures["learned"][0])], rows)


def _freshness(told: Mapping[str, Any]) -> dict[str, float | None]:
    """Means over the seeds: each way of planning, what the account says, exact phases where known, and what
    nobody can pass who knows the rates but no phases."""
    runs = told["runs"]
    found: dict[str, float | None] = {
        how: statistics.fmean(run["freshness"] for run in each) for how, each in runs.items()
    }
    found["estimate"] = statistics.fmean(run["estimate"] for run in runs["learned"])
    found["exact phases"] = statistics.fmean(told["exact_phases"]) if told["exact_phases"] else None
    blind = told.get("bound_without_phases")
    found["bound without phases"] = statistics.fmean(blind) if blind else None
    return found


@figure_of("freshness.plot")
def _freshness_plot(figures: Figures) -> Plot:
    cells = [told for told in figures["learned"] if told["changes"].startswith("equal")]
    shown = [_freshness(told) for told in cells]
    series = {how: [each[how] for each in shown] for how in shown[0]}
    return Plot(
        "Nothing declared, changes at equal intervals", [t["name"] for t in cells], series, "fresh rows"
    )


def _suite(told: Figures) -> Table:
    rows = []
    for name, each in told.items():
        rates = [each["triples"] / seconds for seconds in each["cpu_seconds"]]
        times = each["triples_a_second"] / each["store_triples_a_second"]
        exact = "yes" if each["difference"] is None else "**no**"
        shown = [exact, number(each["rows_checked"]), spread(rates), number(each["rows"])]
        rows.append([f"{name}: {each['stresses']}", *shown, f"{number(times)} ×"])
    return Table(["question", "exact", "rows checked", "triples/s a core", "rows", "the store's"], rows)


@figure_of("suites.nexmark")
def _suites_nexmark(figures: Figures) -> Table:
    return _suite(figures["nexmark"])


@figure_of("suites.lsbench")
def _suites_lsbench(figures: Figures) -> Table:
    return _suite(figures["lsbench"])


@figure_of("suites.large")
def _suites_large(figures: Figures) -> Table:
    asked = {name: told for name, told in figures["large"].items() if isinstance(told, Mapping)}
    rows = [
        [name, number(told["triples"]), number(told["results"]), number(told["triples_a_second"])]
        for name, told in asked.items()
    ]
    return Table(["through Spark", "triples", "results", "triples/s"], rows)


@figure_of("suites.unsaid")
def _suites_unsaid(figures: Figures) -> Table:
    return Table(["NEXMark", "why it is not asked"], list(figures["nexmark unsaid"].items()))
