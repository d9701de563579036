"""How long a process takes from its start to its first line, and to its end."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FILES = {
    "badges.tnq": """0\t<http://example.org/anna> <http://example.org/in> <http://example.org/hall> .
1000\t<http://example.org/ben> <http://example.org/in> <http://example.org/lab> .
2000\t<http://example.org/cleo> <http://example.org/in> <http://example.org/hall> .
""",
    "plan.nt": """<http://example.org/hall> <http://example.org/connected> <http://example.org/lab> .
<http://example.org/lab> <http://example.org/connected> <http://example.org/hall> .
""",
    "reach.rspql": """PREFIX : <http://example.org/>
REGISTER ISTREAM <reach> AS
SELECT ?who ?whom
FROM NAMED WINDOW <now> ON <badges> [NOW]
FROM NAMED WINDOW <recent> ON <badges> [RANGE PT2S STEP PT1S REPORT CONTENT CHANGE]
WHERE {
  WINDOW <now>    { ?who :in ?here }
  WINDOW <recent> { ?whom :in ?there }
  GRAPH <plan>    { ?here :connected ?there }
}
""",
}
"""The first query of the README and its input."""
QUERY = ("reach.rspql", "--stream", "badges=badges.tnq", "--graph", "plan=plan.nt", "--format", "jsonl")
LIMIT = 300.0
"""Seconds after which a process is given up."""


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds to the first line on standard output and to the end, and all lines."""

    first: float
    whole: float
    lines: tuple[str, ...]


def write_inputs(folder: Path) -> None:
    """The files of the README's query."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)


def timed(arguments: Sequence[str], folder: Path, awaited: str = "") -> Took:
    """Run Python with these arguments in ``folder``; the first line is one that has what is ``awaited``."""
    began = time.perf_counter()
    first = 0.0
    lines = []
    with subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None and child.stderr is not None
        for line in child.stdout:
            if awaited in line:
                first = first or time.perf_counter() - began
            lines.append(line)
        said = child.stderr.read()
        code = child.wait(LIMIT)
    if code:
        raise RuntimeError(f"{' '.join(arguments)} ended with {code}: {said[-500:]}")
    if not first:
        raise RuntimeError(f"{' '.join(arguments)} printed no line with {awaited!r}")
    return Took(first, time.perf_counter() - began, tuple(lines))
