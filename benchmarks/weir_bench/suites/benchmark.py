"""``weir bench suites``: the questions of NEXMark and of a social network like LSBench's, over RDF streams.

Every row is checked at small size by a store that is not Weir's. Then each question is measured as fast as
it goes, in one process without Spark, beside that store asked anew at each evaluation time, which is what an
engine without any notion of streams does; and a full run writes a stream of 10^8 triples by Spark and asks it
through the product's job. What SPARQL cannot say is listed with the reason.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weir_bench.plots import figure
from weir_bench.replay import Replay
from weir_bench.report import Report
from weir_bench.suites.auctions import AUCTIONS
from weir_bench.suites.check import check, expected
from weir_bench.suites.large import large
from weir_bench.suites.social import SOCIAL
from weir_bench.suites.suite import STREAM, Question, Suite

SUITES = (AUCTIONS, SOCIAL)
ROUNDS = 3
SLAB = 5_000
_CHECKED, _MEASURED, _ASKED = 30_000, 200_000, 20_000
"""Events that are checked, measured, and asked of the store."""
_LARGE = 10**8
_ON_SPARK = ("Q2", "Q5", "Q8", "Q20")


def run(quick: bool = False, json: str | Path | None = None, plot: str | Path | None = None) -> Report:
    """Both suites; a few minutes if ``quick``, without the stream of 10^8 triples."""
    report = Report("suites", quick)
    size = 10 if quick else 1
    with tempfile.TemporaryDirectory(prefix="weir-suites-") as name:
        for suite in SUITES:
            report.figures[suite.name] = _suite(report, suite, Path(name), size)
            report.figures[f"{suite.name} unsaid"] = suite.unsaid
        if not quick:
            report.figures["large"] = large(report, AUCTIONS, _ON_SPARK, Path(name), _LARGE)
    told = [each for suite in SUITES for each in report.figures[suite.name].values()]
    exact = sum(each["difference"] is None for each in told)
    report.goal("questions whose every row pyoxigraph confirms", exact, len(told), "questions")
    if plot is not None:
        _plot(report, plot)
    if json is not None:
        report.write(json)
    return report


def _suite(report: Report, suite: Suite, folder: Path, size: int) -> dict[str, Any]:
    static = suite.write_static(folder)
    messages = suite.lines(_MEASURED // size)
    found: dict[str, Any] = {}
    for question in suite.questions:
        report.step(f"{suite.name}: {question.name}, {question.stresses}")
        found[question.name] = one(suite, question, messages, static, size)
    return found


def one(
    suite: Suite, question: Question, messages: Sequence[str], static: Path | None, size: int
) -> dict[str, Any]:
    """Check the rows of a question, then run it as fast as it goes, in turn with the store."""
    checked = messages[: _CHECKED // size]
    rows, wrong = check(suite, question, checked, static, replayed(suite, question, checked, static)[0])
    spent: list[float] = []
    asked: list[float] = []
    written = 0
    for _ in range(ROUNDS if size == 1 else 1):
        text, seconds = replayed(suite, question, messages, static)
        written = text.count(b"\n")
        spent.append(seconds)
        begin = time.process_time()
        for _ in expected(suite, question, messages[: _ASKED // size], static):
            pass
        asked.append(time.process_time() - begin)
    triples = sum(text.count("\n") for text in messages)
    part = sum(text.count("\n") for text in messages[: _ASKED // size])
    return {
        "stresses": question.stresses,
        "difference": wrong,
        "rows_checked": rows,
        "triples": triples,
        "rows": written,
        "cpu_seconds": spent,
        "triples_a_second": triples / statistics.median(spent),
        "store_cpu_seconds": asked,
        "store_triples_a_second": part / statistics.median(asked),
    }


def replayed(
    suite: Suite, question: Question, messages: Sequence[str], static: Path | None
) -> tuple[bytes, float]:
    """Result lines, and the processor time from lines to lines."""
    graphs: dict[str | None, Path] = {} if static is None else {None: static}
    slabs = ["".join(messages[low : low + SLAB]).encode() for low in range(0, len(messages), SLAB)]
    with Replay({question.name: question.rspql(suite.prefixes)}, graphs, "rspql") as replay:
        replay.batch({})
        begin = time.process_time()
        for slab in slabs:
            replay.batch({STREAM: slab})
        replay.batch({}, ended=True)
        spent = time.process_time() - begin
        return replay.text, spent


def _plot(report: Report, folder: str | Path) -> None:
    for suite in SUITES:
        told = report.figures[suite.name]
        with figure(folder, suite.name, title=suite.name, x="", y="triples a second and core") as axes:
            axes.plot(list(told), [each["triples_a_second"] for each in told.values()], "o", label="Weir")
            rates = [each["store_triples_a_second"] for each in told.values()]
            axes.plot(list(told), rates, "x", label="pyoxigraph anew")
            axes.set_yscale("log")
