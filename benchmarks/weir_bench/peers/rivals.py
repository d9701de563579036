"""Engines that run beside Weir: how their drivers are started, and what comes back.

Protocol: ``COMMAND DIR MODE``. ``DIR`` holds the question (``query.rspql``, ``query.csparql``, and
``query.sparql`` for a store whose window is a graph), ``stream.tnq``, ``static.nt`` for the default
graph, and ``workload.json``. ``MODE`` is ``all``, as fast as it goes, or ``each``, a message only when
everything that follows from the one before is out. The driver writes a JSON line for each result and,
last, ``{"figures": {"seconds", "results", "first_result", "latency_ms"}}``: the time from the first
message handed over to the last result written, the start of the engine and the reading of files left
out.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import Any

from weir.errors import UsageError
from weir_bench.fragments.peers import PeerUnavailable, install

_DRIVERS = Path(__file__).parent / "drivers"
_MODULES = "weir_bench.peers.drivers"


@dataclass(frozen=True, slots=True)
class Rival:
    """A driver's command and the folder in which it runs."""

    name: str
    command: tuple[str, ...]
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run of a driver gave; ``failure`` says why where it gave nothing."""

    seconds: float = float("nan")
    results: int = -1
    first_result: float | None = None
    latency_ms: float | None = None
    memory_mb: float = float("nan")
    failure: str | None = None


WEIR = Rival("weir", (sys.executable, "-m", f"{_MODULES}.weir_driver"))


def rivals(extra: Sequence[str] = ()) -> tuple[list[Rival], dict[str, str]]:
    """Those that can be had, ``NAME=COMMAND`` of the user's among them, and why the others cannot."""
    found = [Rival("pyoxigraph", (sys.executable, "-m", f"{_MODULES}.pyoxigraph_driver"))]
    absent = {"rsp-rs": "Weir brings no driver for it yet; give one by --rival rsp-rs=COMMAND"}
    try:
        home = install("rsp-js")
        found.append(Rival("rsp-js", ("node", str(_DRIVERS / "rsp_js_driver.js")), home))
    except PeerUnavailable as error:
        absent["rsp-js"] = str(error)
    for text in extra:
        name, equals, command = text.partition("=")
        if not equals or not name or not shlex.split(command):
            raise UsageError(f"{text!r} names no rival", hint="--rival NAME=COMMAND")
        absent.pop(name, None)
        found = [each for each in found if each.name != name]
        found.append(Rival(name, tuple(shlex.split(command))))
    return found, absent


def drive(rival: Rival, folder: Path, mode: str, timeout: float = 120) -> Outcome:
    """Run a driver once. Memory is the most that its process ever held."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        try:
            process = Popen(
                ["timeout", str(timeout), *rival.command, str(folder), mode],
                stdout=out,
                stderr=errors,
                cwd=rival.folder,
            )
        except OSError as error:
            return Outcome(failure=str(error))
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        lines, said = out.read().splitlines(), errors.read().decode(errors="replace")
    figures = _figures(lines)
    if process.returncode or figures is None:
        return Outcome(failure=f"exit status {process.returncode}: {said[-300:]}")
    if figures["results"] != len(lines) - 1:
        return Outcome(failure=f"it tells of {figures['results']} results and wrote {len(lines) - 1}")
    return Outcome(
        float(figures["seconds"]),
        len(lines) - 1,
        figures.get("first_result"),
        figures.get("latency_ms"),
        used.ru_maxrss / 1024,
    )


def _figures(lines: Sequence[bytes]) -> Mapping[str, Any] | None:
    """The last line, if it is one of figures."""
    try:
        found = json.loads(lines[-1])["figures"]
        return found if {"seconds", "results"} <= set(found) else None
    except (IndexError, ValueError, KeyError, TypeError):
        return None
