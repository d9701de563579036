"""CQELS section 5, experiments 2 and 3: the cost of an evaluation as the static data and the queries grow.

Experiment 2 loads libraries of growing size, which Spark wrote, into Parquet stores by Spark, beside
pyoxigraph's bulk load of the same file, and measures queries on their extracts, beside that store evaluating
anew at each sighting. Experiment 3 evaluates up to 1,024 instances of Q1, Q3 and Q4 at once, beside a store
that evaluates each. Times of evaluations are processor time of the one thread that works; times of loading
are wall clock, as both loaders use all cores.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyoxigraph as ox
from pyspark.sql import SparkSession

from weir.kernel.contract import Background, Slab
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.matching.shared import SharedEvaluator
from weir.language import parse
from weir.language.algebra.query import Query
from weir.linked.graphs.extract import StaticGraphs
from weir.linked.graphs.graph_sources import GraphSources
from weir.linked.graphs.triple_tables import merged
from weir.rdf.ids.dictionary import Dictionary
from weir.spark.load import load_graphs
from weir.spark.session import open_session
from weir_bench.conference.blackbox import BlackBox, store_of
from weir_bench.conference.queries import PUBLISHED, QUERIES, Template
from weir_bench.data.conference import FLOORPLAN, RFID, Conference, Sightings, conference, sightings
from weir_bench.data.conference_files import lines, write_conference
from weir_bench.plots import figure
from weir_bench.report import Report

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
CROWDS = (1, 4, 16, 64, 256, 1024)
SLAB = 1000
FILL = 3_200
"""Sightings before measuring begins: more than the longest window holds."""

_ROUNDS = 3
_PATIENCE = 60.0
"""Seconds that the store is given for the instances of one query."""
_FLOOR = ox.NamedNode(FLOORPLAN)
_ASKED = 5
"""Sightings at which the store is asked each query."""
PUBLISHED_CROWD_MS = {"CQELS": 1_000.0, "C-SPARQL": 100_000.0}
"""Section 5.2, experiment 3: about a second with 1,000 queries, and more than 100 seconds."""
PUBLISHED_LIMIT = 2_000_000
"""Experiment 2: static triples at which C-SPARQL does not respond and ETALIS crashes."""


def static_size(report: Report, quick: bool) -> None:
    """Experiment 2. If ``quick``, up to 10^6 triples."""
    sizes = SIZES[:3] if quick else SIZES
    spark = open_session(None)
    rows: dict[str, list[Any]] = {name: [] for name in ("load", "extract_rows", "slab_us", "reevaluation_us")}
    rows["triples"] = list(sizes)
    for size in sizes:
        people = conference(size)
        with tempfile.TemporaryDirectory(prefix="weir-scale-") as name:
            folder = Path(name)
            begin = time.perf_counter()
            write_conference(spark, people, folder)
            written = time.perf_counter() - begin
            joined(sorted((folder / "library").iterdir()), folder / "library.nt")
            rows["load"].append({"write_s": written, **_load(spark, folder, size)})
            static_graphs, seconds = _opened(folder)
            rows["load"][-1]["open_s"] = seconds
            costs, held = _costs(people, static_graphs, 5_000 if quick else 20_000)
            rows["reevaluation_us"].append(_asked(people, folder))
        rows["slab_us"].append(costs)
        rows["extract_rows"].append(held)
    rows["published_ms"] = [{name: list(values) for name, values in PUBLISHED.items()}]
    rows["published_limit"] = [PUBLISHED_LIMIT]
    report.figures["static_size"] = rows
    _size_goals(report, rows, sizes)


def joined(parts: Sequence[Path], path: Path) -> None:
    """Files one after the other as one file; they go."""
    with open(path, "wb") as whole:
        for part in parts:
            with open(part, "rb") as file:
                shutil.copyfileobj(file, whole)
            part.unlink()


def _asked(people: Conference, folder: Path) -> dict[str, float]:
    """Microseconds of the store's evaluation of each query anew, the mean over three instances."""
    store = ox.Store(str(folder / "oxigraph"))
    store.bulk_load(path=str(folder / "floorplan.nt"), format=ox.RdfFormat.N_TRIPLES, to_graph=_FLOOR)
    box = BlackBox(store, sightings(people, Dictionary(), FILL + _ASKED))
    return {
        template.name: 1e6
        * float(
            np.mean(
                [
                    box.run(template, template.sparql(people.name(author)), FILL, FILL + _ASKED)[0]
                    for author in people.notable[: min(3, template.instances)]
                ]
            )
        )
        for template in QUERIES
    }


def _size_goals(report: Report, rows: dict[str, list[Any]], sizes: Sequence[int]) -> None:
    base = sizes.index(100_000)
    for query in rows["slab_us"][-1]:
        ratio = rows["slab_us"][-1][query] / rows["slab_us"][base][query]
        report.goal(f"{query}: cost at {sizes[-1]:,} / at 100,000 triples", ratio, 1.2, "×", at_least=False)
    last = rows["load"][-1]
    label = f"{sizes[-1]:,} triples"
    report.goal(
        f"loading {label}: Spark / pyoxigraph", last["spark_s"] / last["oxigraph_s"], 3, "×", at_least=False
    )
    report.goal(f"loading {label}: memory", last["spark_gb"], 6, "GB", at_least=False)


def _load(spark: SparkSession, folder: Path, size: int) -> dict[str, float]:
    """Wall clock of both loaders on the same file, and the most memory that Weir's took."""
    source = folder / "library.nt"
    begin = time.perf_counter()
    store = ox.Store(str(folder / "oxigraph"))
    store.bulk_load(path=str(source), format=ox.RdfFormat.N_TRIPLES)
    store.flush()
    other = time.perf_counter() - begin
    del store
    with _memory() as most:
        begin = time.perf_counter()
        loaded = load_graphs(spark, [("", source)], folder / "store")
        spent = time.perf_counter() - begin
    if len(loaded) != size:
        raise AssertionError(f"{len(loaded)} triples were loaded of {size}")
    return {"spark_s": spent, "oxigraph_s": other, "spark_gb": most[0] / 1e9}


@contextmanager
def _memory() -> Iterator[list[int]]:
    """The largest sum of the resident memory of this process and all it started, while the block runs."""
    most = [0]
    ended = threading.Event()

    def look() -> None:
        own = psutil.Process()
        while not ended.wait(0.2):
            total = 0
            for process in [own, *own.children(recursive=True)]:
                try:
                    total += process.memory_info().rss
                except psutil.Error:
                    continue
            most[0] = max(most[0], total)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield most
    finally:
        ended.set()
        watcher.join()


def _opened(folder: Path) -> tuple[StaticGraphs, float]:
    library = GraphSources()
    library.add(None, folder / "store")
    library.add(FLOORPLAN, folder / "floorplan.nt")
    key = library.key
    assert key is not None
    begin = time.perf_counter()
    return library.open(Dictionary(key)), time.perf_counter() - begin


def _costs(
    people: Conference, static_graphs: StaticGraphs, count: int
) -> tuple[dict[str, float], dict[str, int]]:
    """Microseconds per evaluation and rows of the extract, the mean over ten instances."""
    stream = sightings(people, static_graphs.dictionary, FILL + count)
    costs: dict[str, float] = {}
    held: dict[str, int] = {}
    for template in QUERIES:
        found, rows = [], []
        for author in people.notable[: min(10, template.instances)]:
            text = template.cqels(people.name(author))
            extract = static_graphs.extract(parse(text, "cqels"), (RFID,))
            rows.append(sum(len(each.subject) for each in (extract.default, *extract.named.values())))
            found.append(min(_alone(text, extract, static_graphs.dictionary, stream) for _ in range(_ROUNDS)))
        costs[template.name] = float(np.mean(found))
        held[template.name] = int(np.mean(rows))
    return costs, held


def _alone(text: str, extract: Background, dictionary: Dictionary, stream: Sightings) -> float:
    evaluator = IntervalEvaluator(parse(text, "cqels"), extract, dictionary)
    evaluator.advance(_slab(stream, 0, FILL))
    slabs = [_slab(stream, low, low + SLAB) for low in range(FILL, len(stream) - SLAB + 1, SLAB)]
    begin = time.thread_time()
    evaluations = sum(evaluator.advance(slab).evaluations for slab in slabs)
    return 1e6 * (time.thread_time() - begin) / evaluations


def _slab(stream: Sightings, low: int, high: int) -> Slab:
    return Slab({RFID: stream.batch(low, high)}, int(stream.time[high - 1]))


def instances(report: Report, quick: bool) -> None:
    """Experiment 3 on a library of 10^5 triples: all instances together, per sighting."""
    people = conference(100_000)
    dictionary = Dictionary()
    with tempfile.TemporaryDirectory(prefix="weir-crowd-") as name:
        library = GraphSources()
        for graph, triples in ((None, people.library.all()), (FLOORPLAN, people.floorplan)):
            path = Path(name) / f"{'library' if graph is None else 'floorplan'}.nt"
            path.write_text("".join(lines(triples)), encoding="utf-8")
            library.add(graph, path)
        static_graphs = library.open(dictionary)
    stream = sightings(people, dictionary, FILL + (3_000 if quick else 10_000))
    everybody = [*people.notable, *(n for n in range(people.library.authors) if n not in set(people.notable))]
    rows: dict[str, Any] = {"instances": list(CROWDS), "published_ms": PUBLISHED_CROWD_MS}
    box = BlackBox(store_of(people), sightings(people, Dictionary(), FILL + _ASKED))
    for template in (QUERIES[0], QUERIES[2], QUERIES[3]):
        extracts: list[Background] = []
        costs = []
        for crowd in CROWDS:
            queries = {f"q{a}": parse(template.cqels(people.name(a)), "cqels") for a in everybody[:crowd]}
            new = list(queries.values())[len(extracts) :]
            extracts += [static_graphs.extract(query, (RFID,)) for query in new]
            graphs = _united(extracts)
            costs.append(min(_together(queries, graphs, dictionary, stream) for _ in range(_ROUNDS)))
        rows[template.name] = costs
        rows[f"{template.name} store"] = _asked_all(box, people, template, everybody)
        ratio = costs[-1] / costs[0]
        report.goal(f"{template.name}: cost of 1,024 instances / of one", ratio, 20, "×", at_least=False)
    report.figures["instances"] = rows


def _asked_all(
    box: BlackBox, people: Conference, template: Template, authors: Sequence[int]
) -> list[float | None]:
    """Microseconds a sighting where the store evaluates every instance; None where that would take long."""
    costs: list[float | None] = []
    seconds: list[float] = []
    begin = time.perf_counter()
    for crowd in CROWDS:
        for author in authors[len(seconds) : crowd]:
            if time.perf_counter() - begin > _PATIENCE:
                break
            text = template.sparql(people.name(author))
            seconds.append(box.run(template, text, FILL, FILL + _ASKED)[0])
        costs.append(1e6 * sum(seconds) if len(seconds) == crowd else None)
    return costs


def _united(extracts: Sequence[Background]) -> Background:
    """The extracts of queries that are evaluated together as one background."""
    names = dict.fromkeys(name for each in extracts for name in each.named)
    named = {name: merged([each.named[name] for each in extracts]) for name in names}
    return Background(merged([each.default for each in extracts]), named)


def _together(
    queries: dict[str, Query], extract: Background, dictionary: Dictionary, stream: Sightings
) -> float:
    evaluator = SharedEvaluator(extract, dictionary, streams=(RFID,))
    evaluator.add(queries)
    evaluator.advance(_slab(stream, 0, FILL))
    lows = range(FILL, len(stream) - SLAB + 1, SLAB)
    slabs = [_slab(stream, low, low + SLAB) for low in lows]
    begin = time.thread_time()
    for slab in slabs:
        evaluator.advance(slab)
    return 1e6 * (time.thread_time() - begin) / (len(slabs) * SLAB)


def draw(report: Report, folder: str | Path) -> None:
    """Each experiment that was run, as a figure."""
    if "static_size" in report.figures:
        _draw_sizes(report.figures["static_size"], folder)
    crowd = report.figures["instances"]
    title = "Cost of a sighting as queries are added"
    with figure(folder, "conference-queries", title=title, x="queries", y="microseconds (log)") as axes:
        for number, query in enumerate(("Q1", "Q3", "Q4")):
            axes.plot(crowd["instances"], crowd[query], f"C{number}o-", label=query)
            asked = [np.nan if cost is None else cost for cost in crowd[f"{query} store"]]
            axes.plot(crowd["instances"], asked, f"C{number}x:", label=f"{query}, pyoxigraph again each time")
        for name, cost in PUBLISHED_CROWD_MS.items():
            axes.scatter([1000], [1000 * cost], marker="*", s=80, label=f"{name}, published")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")


def _draw_sizes(sizes: dict[str, Any], folder: str | Path) -> None:
    title = "Cost of an evaluation as the static data grow"
    with figure(folder, "conference-size", title=title, x="static triples", y="microseconds (log)") as axes:
        for number, query in enumerate(sizes["slab_us"][0]):
            axes.plot(sizes["triples"], [row[query] for row in sizes["slab_us"]], f"C{number}o-", label=query)
            asked = [row[query] for row in sizes["reevaluation_us"]]
            axes.plot(sizes["triples"], asked, f"C{number}x:")
        axes.plot([], [], "kx:", label="pyoxigraph again each time")
        axes.axvline(
            PUBLISHED_LIMIT, color="grey", linestyle="--", label="C-SPARQL and ETALIS stop, published"
        )
        axes.set_xscale("log")
        axes.set_yscale("log")
