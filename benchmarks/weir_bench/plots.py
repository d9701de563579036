"""Plots without a display: every figure of a benchmark is one PNG in the folder given to ``--plot``.

Importing this needs matplotlib (the ``bench`` extra).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

MARKERS = "osD^vP*X<>"
_MANY = 6
"""More labels than this stand beside the figure, where they hide nothing."""


@contextmanager
def figure(
    folder: str | Path, name: str, *, title: str, x: str, y: str, size: tuple[float, float] = (6.0, 4.0)
) -> Iterator[Any]:
    """An axes to draw on, written to ``folder/name.png`` when the block ends."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    drawing, axes = plt.subplots(figsize=size, layout="constrained")
    try:
        yield axes
        axes.set_title(title)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.grid(alpha=0.3)
        labels = len(axes.get_legend_handles_labels()[0])
        if labels > _MANY:
            axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
        elif labels:
            axes.legend(fontsize="small")
        drawing.savefig(target / f"{name}.png", dpi=150)
    finally:
        plt.close(drawing)


def lines(
    axes: Any,
    x: Sequence[Any],
    series: Mapping[str, Sequence[float]],
    spread: Mapping[str, Sequence[float]] | None = None,
) -> None:
    """A marked line per series, with error bars where ``spread`` gives them."""
    for index, (label, values) in enumerate(series.items()):
        bars = None if spread is None else spread.get(label)
        axes.errorbar(x, values, yerr=bars, label=label, marker=MARKERS[index % len(MARKERS)], capsize=2)
