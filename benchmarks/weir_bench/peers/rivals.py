"""Engines that run beside Weir: how their drivers are started, and what comes back.

Protocol: ``COMMAND DIR MODE``. ``DIR`` holds the question (``query.rspql``, ``query.csparql``, and
``query.sparql`` for a store whose window is a graph; or ``query.cqels``), ``stream.tnq``, ``static.nt``
for the default graph, and ``workload.json``. ``MODE`` is ``all``, as fast as it goes, or ``each``, a
message only when everything that follows from the one before is out. The driver writes a JSON line for
each result, with its ``bindings`` as in SPARQL's JSON, and last ``{"figures": {"seconds", "results",
"first_result", "latency_ms"}}``: the time from the first message handed over to the last result written,
the start of the engine and the reading of files left out. A driver whose engine has no such query writes
``{"cannot": reason}`` alone.
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
from weir_bench.answers import Rows, rows_of
from weir_bench.fragments.peers import PACKAGES, PeerUnavailable, install
from weir_bench.peers.crates import RSP_RS, built

_DRIVERS = Path(__file__).parent / "drivers"
_MODULES = "weir_bench.peers.drivers"


@dataclass(frozen=True, slots=True)
class Rival:
    """A driver's command and the folder in which it runs."""

    name: str
    command: tuple[str, ...]
    folder: Path | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run of a driver gave; where it gave nothing, ``failure`` or ``cannot`` says why. ``rows`` are
    there if they were asked for."""

    seconds: float = float("nan")
    results: int = -1
    first_result: float | None = None
    latency_ms: float | None = None
    latency_p99_ms: float | None = None
    memory_mb: float = float("nan")
    failure: str | None = None
    cannot: str | None = None
    rows: Rows | None = None


WEIR = Rival("weir", (sys.executable, "-m", f"{_MODULES}.weir_driver"))


def rivals(extra: Sequence[str] = ()) -> tuple[list[Rival], dict[str, str]]:
    """Those that can be had, ``NAME=COMMAND`` of the user's among them, and why the others cannot."""
    given = [_given(text) for text in extra]
    taken = {each.name for each in given}
    found = [Rival("pyoxigraph", (sys.executable, "-m", f"{_MODULES}.pyoxigraph_driver"))]
    absent = {}
    for name, make in (("rsp-rs", _rsp_rs), ("rsp-js", _rsp_js)):
        if name in taken:
            continue
        try:
            found.append(make())
        except PeerUnavailable as error:
            absent[name] = str(error)
    return [each for each in found if each.name not in taken] + given, absent


def _rsp_rs() -> Rival:
    program = built("rsp-rs", _DRIVERS / "rsp_rs_driver.rs", RSP_RS, plain="oxigraph")
    return Rival("rsp-rs", (str(program),), version=RSP_RS["rsp-rs"].lstrip("="))


def _rsp_js() -> Rival:
    command = ("node", str(_DRIVERS / "rsp_js_driver.js"))
    return Rival("rsp-js", command, install("rsp-js"), PACKAGES["rsp-js"].partition("@")[2])


def _given(text: str) -> Rival:
    name, equals, command = text.partition("=")
    if not equals or not name or not shlex.split(command):
        raise UsageError(f"{text!r} names no rival", hint="--rival NAME=COMMAND")
    return Rival(name, tuple(shlex.split(command)))


def drive(rival: Rival, folder: Path, mode: str, *, rows: bool = False, timeout: float = 120) -> Outcome:
    """Run a driver once. Memory is the most that its process ever held; ``rows`` asks for its answers."""
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
    if process.returncode == _TIMED_OUT:
        return Outcome(failure=f"it took more than {timeout:g} s")
    told = _told(lines)
    if process.returncode == 0 and "cannot" in told:
        return Outcome(cannot=str(told["cannot"]))
    figures = told.get("figures")
    if process.returncode or not isinstance(figures, dict) or not {"seconds", "results"} <= set(figures):
        return Outcome(failure=f"exit status {process.returncode}: {said[-300:]}")
    if figures["results"] != len(lines) - 1:
        return Outcome(failure=f"it tells of {figures['results']} results and wrote {len(lines) - 1}")
    return Outcome(
        float(figures["seconds"]),
        len(lines) - 1,
        figures.get("first_result"),
        figures.get("latency_ms"),
        figures.get("latency_p99_ms"),
        used.ru_maxrss / 1024,
        rows=rows_of(lines[:-1]) if rows else None,
    )


_TIMED_OUT = 124
"""The exit status of ``timeout``."""


def _told(lines: Sequence[bytes]) -> Mapping[str, Any]:
    """The last line, if it is an object."""
    try:
        found = json.loads(lines[-1])
    except (IndexError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
