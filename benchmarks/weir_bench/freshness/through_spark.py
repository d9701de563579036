"""Who is told nothing, through all of Weir: a stream of files, Spark, SERVICE, and a real SPARQL server.

Nothing is declared but the budget. Event time goes step by step: the server gets the values of the next
evaluation time, then a file brings the stream up to it, and its results are compared with what the server
held when they were asked for. So freshness is counted row by row in the results that users get, by nobody's
belief.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from weir.engine import Engine
from weir.errors import EvaluationError
from weir.rdf.columns import Ids
from weir.runtime.output.sinks.base import Results
from weir_bench.freshness.data import Setting, Trace
from weir_bench.freshness.learned import drawn
from weir_bench.oxigraph import Oxigraph

E = "http://example.org/"
_QUERY = f"""PREFIX : <{E}>
REGISTER RSTREAM <reach> AS
SELECT ?tweet ?user ?n
FROM NAMED WINDOW <recent> ON <tweets> [RANGE PT4S STEP PT1S]
WHERE {{
  WINDOW <recent> {{ ?tweet :mentions ?user }}
  SERVICE <%s> {{ ?user :followers ?n }}
}}"""
_PATIENCE = 120.0
"""Seconds that a step may take."""


@dataclass(slots=True)
class _Lines:
    """A sink that keeps result lines, by evaluation time (ms)."""

    form = "jsonl"
    promise = "at least once"
    by_time: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    come: threading.Condition = field(default_factory=threading.Condition)

    def open(self) -> None:
        """Nothing to open."""

    def write(self, batch: int, results: Sequence[Results]) -> None:
        found: dict[int, list[dict[str, Any]]] = {}
        for result in results:
            for text in result.table["line"].to_pylist():
                line = json.loads(text)
                at = datetime.fromisoformat(line["at"])
                found.setdefault(round(at.timestamp() * 1000), []).append(line["bindings"])
        with self.come:
            self.by_time |= found
            self.come.notify_all()

    def close(self) -> None:
        """Nothing to close."""

    def at(self, time_ms: int) -> list[dict[str, Any]]:
        """The rows of an evaluation, once they have come."""
        with self.come:
            if not self.come.wait_for(lambda: time_ms in self.by_time, _PATIENCE):
                raise EvaluationError(f"no results of {time_ms} ms came in {_PATIENCE:.0f} s")
            return self.by_time[time_ms]


@dataclass(frozen=True, slots=True)
class SparkRun:
    """Means over the measured evaluations: the share of true rows among those there should be, and what the
    account says; the most requests at one evaluation, and seconds for each."""

    freshness: float
    estimate: float | None
    audited: float | None
    most: int
    seconds: float


def run_through_spark(
    setting: Setting, seed: int, policy: str, budget: int, *, even: bool = True, runner: str = "spark"
) -> SparkRun:
    """One run of ``setting.evaluations`` slides."""
    data = drawn(setting, seed, even=even)
    with Oxigraph() as server, tempfile.TemporaryDirectory() as folder:
        stream = Path(folder, "stream")
        stream.mkdir()
        engine = Engine(Path(folder, "checkpoint") if runner == "spark" else None, runner=runner)
        engine.stream("tweets", stream, watch=True)
        # Who never learns takes everything for stale.
        told = {} if policy == "expected" else {"change_interval": "1ms"}
        engine.service(server.endpoint, budget=budget, batch=1, policy=policy, deadline=30.0, **told)
        engine.register(_QUERY % server.endpoint, name="reach")
        sink = _Lines()
        version = data.version(data.windows[0].at)
        server.load(" ".join(_fact(user, int(number)) for user, number in enumerate(version)))
        _write(stream, data, 0)
        job = engine.start(sinks=[sink])
        try:
            return _measured(data, server, stream, sink, job)
        finally:
            job.stop()


def _fact(user: int, number: int) -> str:
    return f"<{E}u{user}> <{E}followers> {number} ."


def _write(stream: Path, data: Trace, number: int) -> None:
    """The messages up to an evaluation time: each left node that has come mentions its right nodes."""
    at, slide = data.windows[number].at, data.setting.slide
    new = data.windows[number].row_left
    life = data.windows[number].row_life
    fresh = new[life == life.max()] if number else new
    lines = []
    for count, left in enumerate(fresh.tolist()):
        for right in data.edge_right[data.edge_left == left].tolist():
            lines.append(f"{at - slide + 2}\t<{E}t{left}-{number}-{count}> <{E}mentions> <{E}u{right}> .\n")
    # A message is whole when the next has come.
    lines += [f'{time}\t<{E}clock> <{E}reads> "{time}" .\n' for time in (at, at + 1)]
    place = stream.with_name("next")
    place.write_text("".join(lines))
    place.rename(stream / f"{number:06d}.tnq")


def _measured(data: Trace, server: Oxigraph, stream: Path, sink: _Lines, job: Any) -> SparkRun:
    setting = data.setting
    shares, accounts, seconds = [], [], []
    held: Ids = data.version(data.windows[0].at).copy()
    for number, window in enumerate(data.windows):
        version = data.version(window.at)
        if number:
            changed = np.flatnonzero(version != held).tolist()
            if changed:
                users = " ".join(f"<{E}u{user}>" for user in changed)
                facts = " ".join(_fact(user, int(version[user])) for user in changed)
                server.update(
                    f"DELETE {{ ?u ?p ?n }} WHERE {{ VALUES ?u {{ {users} }} ?u ?p ?n }} ; "
                    f"INSERT DATA {{ {facts} }}"
                )
            held = version.copy()
            _write(stream, data, number)
        started = time.perf_counter()
        rows = sink.at(window.at)
        seconds.append(time.perf_counter() - started)
        asked = np.array([int(row["user"]["value"].removeprefix(f"{E}u")) for row in rows], np.int64)
        told = np.array([int(row["n"]["value"]) for row in rows])
        found = job.metrics.queries.get("reach", {}).get("services", [])
        account = found[0] if found else {}
        whole = len(rows) + int(account.get("missing", 0))
        shares.append(float((told == held[asked]).sum()) / max(whole, 1))
        accounts.append(account)
    kept = [each for each in accounts[setting.first :] if each.get("estimate") is not None]
    return SparkRun(
        float(np.mean(shares[setting.first :])),
        float(np.mean([each["estimate"] for each in kept])) if kept else None,
        kept[-1]["audited"] if kept else None,
        max(int(each.get("requests", 0)) for each in accounts),
        float(np.mean(seconds[setting.first :])),
    )
