"""Figures 4–7 of the CTP-automata paper, drawn from a run of ``weir bench matching``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weir_bench.plots import MARKERS, figure

_SIZE = (7.5, 4.0)
_STYLES = {"HashMat": "paper, HashMat", "CQELS": "paper, CQELS"}


def draw(figures: Mapping[str, Any], folder: str | Path) -> None:
    """One picture per figure; published values are dashed."""
    paper = figures["stream"]["paper"]
    built = figures["construction"]
    with figure(
        folder,
        "matching-4-construction",
        title="Construction time (Figure 4)",
        x="queries",
        y="milliseconds",
    ) as axes:
        _lines(axes, built["queries"], built["milliseconds"])
        _published(axes, paper["construction ms, CQELS"], "paper, CQELS")
        axes.set_yscale("log")
    for name, number, label in (
        ("queries", 5, "queries"),
        ("patterns", 6, "most patterns in a query"),
        ("window", 7, "window, triples (from 1,000 on, no walk goes against an edge)"),
    ):
        table = figures[name]
        with figure(
            folder,
            f"matching-{number}-{name}",
            title=f"Throughput by {name} (Figure {number})",
            x=label,
            y="triples per second",
            size=_SIZE,
        ) as axes:
            _lines(axes, table["points"], table["triples/s"])
            for system, shown in _STYLES.items():
                _published(axes, paper[f"{name}, {system}"], shown)
            axes.set_yscale("log")
            if name != "patterns":
                axes.set_xscale("log")
    table = figures["equal results"]
    with figure(
        folder,
        "matching-equal-results",
        title="Throughput at equal results per triple",
        x="queries",
        y="triples per second",
    ) as axes:
        _lines(axes, table["points"], table["triples/s"])
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)


def _lines(axes: Any, points: Sequence[int], series: Mapping[str, Sequence[float | None]]) -> None:
    for index, (label, values) in enumerate(series.items()):
        known = [(point, value) for point, value in zip(points, values, strict=True) if value is not None]
        axes.plot(*zip(*known, strict=True), label=label, marker=MARKERS[index % len(MARKERS)])


def _published(axes: Any, points: Mapping[int, float], label: str) -> None:
    axes.plot(list(points), list(points.values()), "--", color="grey", marker="x", label=label)
