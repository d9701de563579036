"""``weir bench report DIR``: a page from a template and the JSON of recorded runs.

The template holds the prose; a line ``{{run NAME}}`` becomes how the figures were made, ``{{goals NAME}}``
the goals of the run, ``{{show NAME.FIGURE}}`` a table or a plot of ``figures``, ``{{recorded}}`` the list
of runs. The same runs give the same page, so that a test can tell whether it is current.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.errors import UsageError
from weir_bench.pages import figures
from weir_bench.pages.drawing import Plot
from weir_bench.pages.recording import small
from weir_bench.pages.tables import Table, goals_of, made_by, number

TEMPLATE = Path(__file__).with_name("benchmarks.template.md")
PAGE = "benchmarks.md"
_LINE = re.compile(r"\{\{(\w+) ?([^}]*)\}\}")
_RECORDED = ("benchmark", "quick", "started", "machine", "versions", "figures", "goals")

Run = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pages:
    """The page, its plots by file name, and the runs that it was made of in their small form."""

    text: str
    plots: Mapping[str, str]
    runs: Mapping[str, Run]


def runs_in(*folders: Path) -> dict[str, Run]:
    """The latest run of each benchmark among the JSON files of folders."""
    found: dict[str, Run] = {}
    for path in sorted(path for folder in folders for path in folder.glob("*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        missing = [key for key in _RECORDED if key not in run] if isinstance(run, dict) else ["everything"]
        if missing:
            raise UsageError(
                f"{path} is no report of a benchmark",
                detail=f"it has no {', '.join(missing)}",
                hint="weir bench NAME --json FILE",
            )
        before = found.get(run["benchmark"])
        if before is None or before["started"] <= run["started"]:
            found[run["benchmark"]] = run
    if not found:
        raise UsageError(
            f"{folders[0]} holds no report of a benchmark", hint="weir bench NAME --json FOLDER/NAME.json"
        )
    return found


def page_of(runs: Mapping[str, Run], plots_at: str = "", template: str | None = None) -> Pages:
    """The page of these runs; ``plots_at`` is where the page finds its plots."""
    kept = {name: small(run) for name, run in runs.items()}
    plots: dict[str, str] = {}
    lines = []
    text = TEMPLATE.read_text(encoding="utf-8") if template is None else template
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip())
        lines.append(line if match is None else _filled(match[1], match[2].strip(), kept, plots, plots_at))
    return Pages(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n", plots, kept)


def _filled(kind: str, what: str, runs: Mapping[str, Run], plots: dict[str, str], plots_at: str) -> str:
    if kind == "recorded":
        return _recorded(runs).markdown()
    name, _, figure = what.partition(".")
    run = runs.get(name)
    if kind == "run":
        return "No run of it is recorded here." if run is None else made_by(run)
    if run is None:
        return ""
    if kind == "goals":
        return goals_of(run)
    if kind != "show":
        raise UsageError(f"the template has {{{{{kind} {what}}}}}", hint="run, goals, show or recorded")
    shown = figures.shown(name, figure, run["figures"])
    if isinstance(shown, Plot):
        file = f"{name}-{figure}.svg"
        plots[file] = shown.svg()
        return f"![{shown.title}]({plots_at}{file})"
    return "" if shown is None else shown.markdown()


def _recorded(runs: Mapping[str, Run]) -> Table:
    rows = []
    for name, run in sorted(runs.items()):
        goals = run["goals"]
        held = sum(bool(goal["holds"]) for goal in goals)
        size = "quick" if run["quick"] else "full"
        rows.append(
            [f"`{name}`", run["started"][:10], size, number(run["seconds"]), f"{held} of {len(goals)}"]
        )
    return Table(["benchmark", "date", "size", "seconds", "goals that hold"], rows)


def write_pages(folder: Path, docs: Path | None = None) -> Path:
    """Make the page of the runs in ``folder``, there or in a documentation's folders: ``guide`` for the page,
    ``benchmarks`` for plots and the runs in their small form, beside those that are kept there. The page's
    path."""
    if docs is None:
        page, beside, made = folder / PAGE, folder, page_of(runs_in(folder))
    else:
        page, beside = docs / "guide" / PAGE, docs / "benchmarks"
        made = page_of(runs_in(folder, beside), "../benchmarks/")
        _write(beside, {f"{name}.json": as_text(run) for name, run in made.runs.items()})
    _write(beside, made.plots)
    _write(page.parent, {page.name: made.text})
    return page


def as_text(run: Run) -> str:
    """A run as it is kept."""
    return json.dumps(run, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
