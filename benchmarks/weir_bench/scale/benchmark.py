"""``weir bench scale``: what a reader spends and sends, for a few slots and for hundreds.

A part of badge readings is parsed, matched with a query that is split by person, and made into the rows that
are shuffled: the stages of a job, without Spark. Processor time and bytes for each triple are compared with
those of two slots, measured in turns in the same run. They should depend on the triples, not on the slots.
Then the router's part of an aggregate with one hot key, a job on a standalone cluster whose tasks write
results (what the driver spends beside the workers), and a long run. With ``--simulate`` a cluster instead.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from weir.rdf.formats.tnq import parse_lines
from weir.rdf.formats.tnq_split import padded
from weir.runtime.control.catalog import Catalog, Registration, StreamEntry
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.ingest.matching import MatchPlan
from weir.runtime.ingest.parts import LaneInput
from weir.spark.tasks import packed
from weir_bench.plots import figure
from weir_bench.report import Report
from weir_bench.scale import driver, growth
from weir_bench.scale import simulate as simulation
from weir_bench.scale.costs import COUNTS, SPAN, dealt
from weir_bench.scale.large_graphs import large_graph
from weir_bench.scale.readings import hot, readings

SLOTS = (2, 8, 32, 128, 512)
GOAL = 1.3
DRIVER_GOAL = 0.02
HOT_SLOTS = 128
_KEY = b"weir bench scale"
_QUERY = """PREFIX : <http://example.org/> SELECT ?person ?room
FROM NAMED WINDOW <w> ON <s> [RANGE PT10S STEP PT5S] WHERE { WINDOW <w> { ?person :in ?room } }"""


def read(data: bytes, plan: MatchPlan, checkpoint: Checkpoint) -> tuple[float, float, int]:
    """Seconds of processor time to parse, seconds to match and deal to slots, and the bytes of all rows."""
    began = time.process_time()
    parsed = parse_lines(padded(data), scope="s 0", key=_KEY)
    middle = time.process_time()
    batches = list(packed(plan.packed("s", LaneInput("0", parsed)), checkpoint, 0))
    return middle - began, time.process_time() - middle, sum(batch.nbytes for batch in batches)


def measure(triples: int, turns: int) -> dict[int, dict[str, float]]:
    """For each number of slots the medians of ``turns``: nanoseconds and bytes a triple."""
    data = readings(triples)
    with TemporaryDirectory(prefix="weir-bench-") as folder:
        places = {
            slots: Checkpoint.open(Path(folder) / str(slots), version="bench", slots=slots) for slots in SLOTS
        }
        plans = {}
        for slots in SLOTS:
            query = Registration("q", _QUERY, slots=tuple(range(slots)), share=0, evaluator="interval")
            plans[slots] = MatchPlan(Catalog({"s": StreamEntry("s")}, {"q": query}), slots, _KEY)
            read(data, plans[slots], places[slots])
        found: dict[int, list[tuple[float, float, int]]] = {slots: [] for slots in SLOTS}
        for _ in range(turns):
            for slots in SLOTS:
                found[slots].append(read(data, plans[slots], places[slots]))
    out = {}
    for slots, each in found.items():
        parse, match, size = (statistics.median(column) for column in zip(*each, strict=True))
        out[slots] = {
            "parse_ns": 1e9 * parse / triples,
            "match_ns": 1e9 * match / triples,
            "bytes": size / triples,
        }
    return out


def run(
    quick: bool = False, plot: Path | None = None, graph: int | None = None, simulate: bool = False
) -> Report:
    """The ratios, each a goal; the figures by number of slots. With ``graph`` a static graph of so many
    triples instead, with ``simulate`` a cluster."""
    if simulate:
        return simulation.simulate(quick, plot)
    report = Report("scale", quick)
    if graph is not None:
        large_graph(report, graph)
        return report
    triples = 20_000 if quick else 120_000
    report.step(f"{triples:,} triples for {', '.join(map(str, SLOTS))} slots")
    found = measure(triples, 3 if quick else 9)
    report.figures = {"triples": triples, "slots": {str(slots): each for slots, each in found.items()}}
    few = found[SLOTS[0]]
    for slots in SLOTS[1:]:
        each = found[slots]
        spent = (each["parse_ns"] + each["match_ns"]) / (few["parse_ns"] + few["match_ns"])
        report.goal(f"reader's CPU a triple, {slots} slots", spent, GOAL, "× that of 2", at_least=False)
        sent = each["bytes"] / few["bytes"]
        report.goal(f"bytes a triple, {slots} slots", sent, GOAL, "× those of 2", at_least=False)
    report.step("an aggregate of which one group has half of all triples")
    with TemporaryDirectory(prefix="weir-bench-") as name:
        loads = dealt(Path(name), HOT_SLOTS, hot(triples, SPAN), COUNTS)
    report.figures["hot key"] = {"slots": HOT_SLOTS, "loads": loads}
    report.goal("the fullest slot, one hot key", max(loads), 2.0, "× the mean", at_least=False)
    readers = 40_000 if quick else 600_000
    report.step(f"{readers:,} triples on a standalone cluster, driver heap {driver.HEAP}")
    told = driver.measure(readers)
    report.figures["driver"] = told.as_json()
    report.goal("driver's CPU a result", told.share(), DRIVER_GOAL, "× the workers'", at_least=False)
    ratio = told.per_result("driver") / told.per_result("workers")
    report.goal("driver's CPU one more result", ratio, DRIVER_GOAL, "× the workers'", at_least=False)
    fewest = min(each.results for each in told.large)
    report.goal("results in a batch", fewest, 1_000_000, "results", at_least=True)
    short, long = (800_000, 3_200_000) if quick else (8_000_000, 80_000_000)
    report.step(f"{short:,} -> {long:,} triples in one run")
    with TemporaryDirectory(prefix="weir-bench-") as name:
        grown = growth.measure(Path(name), long, short // 4)
    report.figures["growth"] = grown.as_json()
    ratio = grown.per_triple(long) / grown.per_triple(short)
    report.goal("CPU a triple, ten times as many", ratio, 1.1, "×", at_least=False)
    ratio = grown.python(long) / grown.python(short)
    report.goal("memory of Python, ten times as many triples", ratio, 1.1, "×", at_least=False)
    if plot is not None:
        with figure(plot, "scale", title="What a reader sends", x="slots", y="bytes a triple") as axes:
            axes.plot(SLOTS, [found[slots]["bytes"] for slots in SLOTS], marker="o")
            axes.set_xscale("log", base=2)
            axes.set_ylim(bottom=0)
    return report
