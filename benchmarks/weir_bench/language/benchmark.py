"""``weir bench language``: registration is frequent and in bulk, so text → algebra must be fast.

2,000 different three-pattern queries, parsed and lowered by Weir and by rdflib's ``parseQuery`` and
``translateQuery``, in turns of a hundred so that both meet the same machine. Two more sections time the
stream dialects and the way back to text. Needs rdflib (the ``bench`` extra).
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery

from weir.language import parse, write
from weir_bench.plots import figure
from weir_bench.report import PACKAGES, Report

QUERIES = 2_000
TURN = 100
GOAL = 20.0
"""How many times faster than rdflib."""

_PREFIXES = (
    "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>\n"
    "PREFIX ssn: <http://www.w3.org/ns/ssn/>\n"
    "PREFIX ex: <http://example.org/energy#>\n"
)
_PREDICATES = ("ssn:observes", "ssn:hasValue", "ex:locatedIn", "ex:feeds", "ex:partOf", "rdf:type")


def queries(count: int = QUERIES, seed: int = 1) -> list[str]:
    """Different texts, each with three patterns: chains and stars that end in a constant, some filtered."""
    chance = np.random.default_rng(seed)
    found = []
    for number in range(count):
        chain = chance.random() < 0.5
        lines = []
        for place in range(3):
            subject = f"?v{place}" if chain else "?v0"
            predicate = _PREDICATES[int(chance.integers(len(_PREDICATES)))]
            end = f"?v{place + 1}" if place < 2 else f"ex:n{number}"
            lines.append(f"  {subject} {predicate} {end} .")
        if chance.random() < 0.3:
            lines.append(f"  FILTER (?v1 > {int(chance.integers(1_000))})")
        body = "\n".join(lines)
        found.append(f"{_PREFIXES}SELECT ?v0 ?v1\nWHERE {{\n{body}\n}}")
    return found


def streamed(text: str) -> dict[str, str]:
    """The same query over a window, in two dialects."""
    head, _, tail = text.partition("\nWHERE {\n")
    body = tail.removesuffix("\n}")
    return {
        "rspql": f"{head}\nFROM NAMED WINDOW <w> ON <s> [RANGE PT10S STEP PT5S]\n"
        f"WHERE {{ WINDOW <w> {{\n{body}\n}} }}",
        "cqels": f"{head}\nWHERE {{ STREAM <s> [RANGE 10s] {{\n{body}\n}} }}",
    }


def _rdflib(text: str) -> object:
    return translateQuery(parseQuery(text))


def _seconds(work: Callable[[str], object], texts: Sequence[str]) -> float:
    """Wall time of one pass, with the collector held back alike for everyone."""
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    for text in texts:
        work(text)
    spent = time.perf_counter() - start
    gc.enable()
    return spent


def run(quick: bool = False, json: str | Path | None = None, plot: str | Path | None = None) -> Report:
    """Time everything; about ten seconds, a fifth of it if ``quick``."""
    report = Report("language", quick, packages=(*PACKAGES, "rdflib"))
    texts = queries(QUERIES // 5 if quick else QUERIES)
    for text in texts[:20]:
        parse(text)
        _rdflib(text)
    own: list[float] = []
    other: list[float] = []
    for start in range(0, len(texts), TURN):
        turn = texts[start : start + TURN]
        own.append(_seconds(parse, turn) / len(turn))
        other.append(_seconds(_rdflib, turn) / len(turn))
    micro = {"weir": statistics.mean(own) * 1e6, "rdflib": statistics.mean(other) * 1e6}
    for dialect in ("rspql", "cqels"):
        micro[dialect] = _seconds(parse, [streamed(text)[dialect] for text in texts]) / len(texts) * 1e6
    parsed = {text: parse(text) for text in texts}
    micro["to text"] = _seconds(lambda text: write(parsed[text]), texts) / len(texts) * 1e6
    report.figures |= {
        "queries": len(texts),
        "different": len(set(texts)),
        "microseconds_per_query": micro,
        "turns": {"weir": own, "rdflib": other},
    }
    report.goal("parse and lower, times faster than rdflib", sum(other) / sum(own), GOAL, "x")
    if plot is not None:
        with figure(plot, "language", title="Text to algebra", x="", y="µs per query") as axes:
            axes.bar(list(micro), list(micro.values()))
            axes.set_yscale("log")
    if json is not None:
        report.write(json)
    return report
