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
from weir.language import parse
from weir.linked.graphs.extract import StaticGraphs
from weir.linked.graphs.graph_sources import GraphSources
from weir.rdf.ids.dictionary import Dictionary
from weir.spark.load import load_graphs
from weir.spark.session import open_session
from weir_bench.conference.agreement import FILL, agree
from weir_bench.conference.blackbox import BlackBox
from weir_bench.conference.queries import PUBLISHED, QUERIES
from weir_bench.data.conference import FLOORPLAN, RFID, Conference, Sightings, conference, sightings
from weir_bench.data.conference_files import write_conference
from weir_bench.plots import figure
from weir_bench.report import Report

SIZES = (10_000, 100_000, 1_000_000, 2_000_000, 10_000_000)
"""The paper's, and those at which it says that others stop."""
BASE = 100_000
SLAB = 1000

_ROUNDS = 3
_FLOOR = ox.NamedNode(FLOORPLAN)
_ASKED = 5
"""Sightings at which the store is asked each query."""
PUBLISHED_LIMIT = 2_000_000
"""Experiment 2: static triples at which C-SPARQL does not respond and ETALIS crashes."""


def static_size(
    report: Report, sizes: Sequence[int] = SIZES, count: int = 20_000, spark: SparkSession | None = None
) -> None:
    """Experiment 2, over ``count`` sightings."""
    spark = spark or open_session(None)
    names = ("load", "extract_rows", "slab_us", "reevaluation_us", "solutions_compared")
    rows: dict[str, list[Any]] = {name: [] for name in names}
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
            costs, held = _costs(people, static_graphs, count)
            asked, compared = _asked(people, folder, static_graphs)
            rows["reevaluation_us"].append(asked)
            rows["solutions_compared"].append(compared)
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


def _asked(
    people: Conference, folder: Path, static_graphs: StaticGraphs
) -> tuple[dict[str, float], dict[str, int]]:
    """Microseconds of the store's evaluation of each query anew, the mean over those who are seen then, and
    how many solutions it has: the same as an evaluator has on the extract."""
    store = ox.Store(str(folder / "oxigraph"))
    store.bulk_load(path=str(folder / "floorplan.nt"), format=ox.RdfFormat.N_TRIPLES, to_graph=_FLOOR)
    stream = sightings(people, static_graphs.dictionary, FILL + _ASKED + 1)
    box = BlackBox(store, stream)
    seen = list(dict.fromkeys(stream.author[FILL : FILL + _ASKED].tolist()))
    spent: dict[str, float] = {}
    found: dict[str, int] = {}
    for template in QUERIES:
        seconds = []
        found[template.name] = 0
        for author in seen[: template.instances]:
            name = people.name(author)
            text = template.cqels(name)
            took, due = box.run(template, template.sparql(name), FILL, FILL + _ASKED)
            seconds.append(took)
            extract = static_graphs.extract(parse(text, "cqels"), (RFID,))
            given = extract, static_graphs.dictionary, stream
            found[template.name] += agree(template, text, *given, due)
        spent[template.name] = 1e6 * float(np.mean(seconds))
    return spent, found


def _size_goals(report: Report, rows: dict[str, list[Any]], sizes: Sequence[int]) -> None:
    base = sizes.index(BASE) if BASE in sizes else 0
    for query in rows["slab_us"][-1]:
        ratio = rows["slab_us"][-1][query] / rows["slab_us"][base][query]
        name = f"{query}: cost at {sizes[-1]:,} / at {sizes[base]:,} triples"
        report.goal(name, ratio, 1.2, "×", at_least=False)
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


def draw(report: Report, folder: str | Path) -> None:
    """Each experiment that was run, as a figure."""
    if "static_size" in report.figures:
        _draw_sizes(report.figures["static_size"], folder)


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
