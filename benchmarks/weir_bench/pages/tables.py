"""Numbers, tables and the lines that say how figures were made, as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SHOWN = ("weir", "pyspark", "pyarrow", "polars", "pyoxigraph")


@dataclass(frozen=True, slots=True)
class Table:
    """Cells are texts already; the first column is flush left, the others right."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        if not self.rows:
            return ""
        rule = ["---", *(["--:"] * (len(self.head) - 1))]
        return "\n".join(f"| {' | '.join(row)} |" for row in (self.head, rule, *self.rows))


def number(value: Any) -> str:
    """Three digits, thousands set apart; a dash where there is none."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return "–" if value is None else str(value)
    if abs(value) >= 100:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"


def spread(values: Sequence[float]) -> str:
    """The median, and the least and most where there are several."""
    if not values:
        return "–"
    middle = number(statistics.median(values))
    return middle if len(values) == 1 else f"{middle} ({number(min(values))}–{number(max(values))})"


def made_by(run: Mapping[str, Any]) -> str:
    """The command, the day, the machine and the versions."""
    machine, versions = run["machine"], run["versions"]
    command = f"weir bench {run['benchmark']}{' --quick' if run['quick'] else ''}"
    shown = [f"{name} {versions[name]}" for name in _SHOWN if name in versions]
    engines = run["figures"].get("engines", {})
    shown += [f"{name} {version}" for name, version in sorted(engines.items())]
    return (
        f"`{command}`, {run['started'][:10]}, {number(run['seconds'])} s, on {machine['cores']} cores"
        f" ({machine['processor']}), {machine['memory_gb']:g} GB, Python {machine['python']}, "
        f"{', '.join(shown)}."
    )


def goals_of(run: Mapping[str, Any]) -> str:
    """A line a goal, those that are missed in bold."""
    rows = [
        [goal["name"], number(goal["value"]), number(goal["goal"]), goal["unit"], _verdict(goal)]
        for goal in run["goals"]
    ]
    return Table(["goal", "measured", "wanted", "unit", ""], rows).markdown()


def _verdict(goal: Mapping[str, Any]) -> str:
    return "holds" if goal["holds"] else "**missed**"
