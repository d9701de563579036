"""What the documentation shows is what happens: every example in it runs.

Each Markdown file is one session in an empty folder, from top to bottom:

- a fenced block with ``file=NAME`` is written to that file (and parsed, if it is a query);
- ``rspql``, ``cqels``, ``csparql``, ``sparqlstream`` and ``sparql`` blocks parse in their dialect;
- ``python`` blocks run, one after the other, in one interpreter;
- ``console`` blocks: what follows ``$ `` runs, and prints the lines below it (``...`` stands for anything).

The README's commands run in a shell, each starting Spark for itself; those of the guide that are nothing but
``weir …`` run in this process, on the tests' own session.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import cli_kit
import weir
from shared import ROOT

DIALECTS = {"rspql", "cqels", "csparql", "sparqlstream", "sparql"}
FENCE = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *(
        page
        for room in ("guide", "tutorial", "gallery")
        for page in sorted((ROOT / "docs" / room).glob("*.md"))
    ),
]


@dataclass(frozen=True)
class Block:
    language: str
    options: dict[str, str]
    body: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for match in FENCE.finditer(text):
        language, *rest = match["info"].split()
        options = dict(part.partition("=")[::2] for part in rest)
        yield Block(language, options, match["body"], text.count("\n", 0, match.start()) + 2)


def in_shell(command: str, folder: Path) -> str:
    """What a command prints."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    return done.stdout + done.stderr


def here(command: str, folder: Path) -> str:
    """The same, in this process where it is Weir's own command line."""
    plain = command.removesuffix(" 2>/dev/null")
    name, *arguments = shlex.split(plain)
    if name != "weir" or set(plain) & set("|<>&;$`*\\"):
        return in_shell(command, folder)
    done = cli_kit.weir(*arguments)
    return done.stdout + (done.stderr if plain == command else "")


def run_console(body: str, folder: Path, place: str, run: Callable[[str, Path], str]) -> None:
    for step in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, expected = step.partition("\n")
        printed = run(command, folder)
        wanted = "".join(
            ".*" if part == "..." else re.escape(part) for part in re.split(r"(\.\.\.)", expected.strip())
        )
        assert re.fullmatch(wanted, printed.strip(), re.DOTALL), (
            f"{place}: {command}\nprinted\n{printed}\ninstead of\n{expected}"
        )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    run = in_shell if page.name == "README.md" else here
    names: dict[str, object] = {"__name__": "__docs__"}
    for block in blocks(page):
        place = f"{page.name}:{block.line}"
        if block.language in DIALECTS and "fragment" not in block.options:
            weir.parse(block.body, dialect="auto" if block.language == "sparql" else block.language)
        if "file" in block.options:
            target = tmp_path / block.options["file"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.body.replace("<TAB>", "\t"))
        elif block.language == "python":
            exec(compile(block.body, place, "exec"), names)
        elif block.language == "console":
            run_console(block.body, tmp_path, place, run)
