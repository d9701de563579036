"""Figures 2a and 2b: what following costs server and clients, against pushing and server-side evaluation.

The server is a process of its own, and clients are spread over ten more, as over the paper's ten machines;
their processor time is read from the system over whole periods, after every client has had its first results.
Each client asks its own query.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any
from urllib.parse import urlencode

import httpx
import psutil

from weir.errors import RemoteError
from weir.fragments.protocol.annotation import Fact, time_text
from weir_bench.fragments.departures import SECOND, Departures
from weir_bench.fragments.peers import end_process, varnish
from weir_bench.oxigraph import free_port

MODES: Mapping[str, Mapping[str, str]] = {
    "fragments": {"mode": "fragments"},
    "pushed over SSE, one query": {"mode": "shared", "evaluator": "oxigraph"},
    "evaluated at the server (pyoxigraph)": {"mode": "each", "evaluator": "oxigraph"},
    "evaluated at the server (Weir)": {"mode": "each", "evaluator": "weir"},
}


_MACHINES = 10
"""Processes that clients are spread over."""


def worker(role: str, setting: Mapping[str, Any], **options: Any) -> subprocess.Popen[str]:
    """A process of ``fragments_worker``."""
    command = [sys.executable, "-m", "weir_bench.fragments.processes", role, json.dumps(setting)]
    return subprocess.Popen(command, text=True, **options)


@contextmanager
def running_server(setting: Mapping[str, Any]) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server process, and its address."""
    port = free_port()
    process = worker("server", {**setting, "port": port})
    url = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + 60
        while True:
            if process.poll() is not None or time.monotonic() > end:
                raise RemoteError("the benchmark's server did not start")
            try:
                httpx.get(f"{url}/d", timeout=5)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield url, process
    finally:
        end_process(process)


def push(url: str, facts: list[Fact]) -> None:
    """Push facts of one validity as an external process would."""
    body = "".join(f"{f.subject} {f.predicate} {f.object} .\n" for f in facts)
    times = {"start": _lexical(facts[0].start), "end": _lexical(facts[0].end)}
    response = httpx.post(
        f"{url}/d?{urlencode(times)}",
        content=body.encode(),
        headers={"Content-Type": "application/n-triples"},
        timeout=30,
    )
    response.raise_for_status()


def _lexical(time_: int) -> str:
    return time_text(time_)[1:].partition('"')[0]


class Pusher(threading.Thread):
    """Pushes a version each period: a little ahead of its start, or when it starts."""

    def __init__(self, url: str, data: Departures, *, ahead: float) -> None:
        super().__init__(daemon=True)
        self.url, self.data, self.ahead = url, data, ahead
        self.begin = time.time_ns() // 1000
        self.stopped = threading.Event()
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            number = 0
            while not self.stopped.is_set():
                start = self.begin + number * self.data.period
                push(self.url, self.data.version(number, start))
                number += 1
                due = self.begin + number * self.data.period
                self.stopped.wait(max(0.0, due / SECOND - self.ahead - time.time()))
        except Exception as error:
            self.failure = error

    def sleep_to_boundary(self) -> None:
        """Wait until just before the next version starts."""
        period = self.data.period / SECOND
        passed = (time.time() - self.begin / SECOND) % period
        time.sleep((period - passed - 1.2) % period)


@dataclass(frozen=True, slots=True)
class Cost:
    """Shares of one core over whole periods; ``course`` is a client's share in each second from its start."""

    server: float
    client: float
    requests: int
    updates: int
    bytes: int
    first: float
    course: list[tuple[float, float]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "server_cpu": self.server,
            "client_cpu": self.client,
            "requests": self.requests,
            "updates": self.updates,
            "bytes": self.bytes,
            "first_results_s": self.first,
            "client_course": self.course,
        }


def measure(
    mode: Mapping[str, str], count: int, period: float, periods: int, *, cached: bool = False
) -> Cost:
    """One point of the figure; ``cached`` puts a Varnish between the server and its clients."""
    data = Departures(time.time_ns() // 1000, period=int(period * SECOND))
    setting = {**mode, "first": data.first, "period": data.period}
    with ExitStack() as stack:
        url, server = stack.enter_context(running_server(setting))
        pusher = Pusher(url, data, ahead=1.0 if mode["mode"] == "fragments" else 0.0)
        pusher.start()
        stack.callback(pusher.join, 30)
        stack.callback(pusher.stopped.set)
        time.sleep(0.3)
        address = url
        if cached:
            folder = Path(stack.enter_context(TemporaryDirectory()))
            address = stack.enter_context(varnish(url, folder))
        crowds = [
            _crowd(stack, {**setting, "numbers": list(range(first, count, _MACHINES)), "url": address})
            for first in range(min(count, _MACHINES))
        ]
        for crowd in crowds:
            assert crowd.stdout is not None
            _await_ready(crowd.stdout)
        pusher.sleep_to_boundary()
        before = _processor(server.pid), sum(_processor(crowd.pid) for crowd in crowds), time.monotonic()
        time.sleep(periods * period)
        after = _processor(server.pid), sum(_processor(crowd.pid) for crowd in crowds), time.monotonic()
        reports = []
        for crowd in crowds:
            outcome, _ = crowd.communicate("end\n", timeout=60)
            reports.append(json.loads(outcome.splitlines()[-1]))
    if pusher.failure is not None:
        raise RemoteError("pushing facts failed", detail=str(pusher.failure))
    wall = after[2] - before[2]
    return Cost(
        server=(after[0] - before[0]) / wall,
        client=(after[1] - before[1]) / wall / count,
        requests=sum(report["requests"] for report in reports),
        updates=sum(report["updates"] for report in reports),
        bytes=sum(report["bytes"] for report in reports),
        first=max(report["first"][-1] for report in reports),
        course=_course(reports[0]["samples"], len(range(0, count, _MACHINES))),
    )


def _crowd(stack: ExitStack, setting: Mapping[str, Any]) -> subprocess.Popen[str]:
    crowd = worker("clients", setting, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stack.callback(crowd.wait, 20)
    stack.callback(crowd.kill)
    return crowd


def _await_ready(out: IO[str]) -> None:
    line = out.readline()
    if line.strip() != "ready":
        raise RemoteError("the benchmark's clients did not start", detail=line)


def _processor(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def _course(samples: list[tuple[float, float]], count: int) -> list[tuple[float, float]]:
    """Share of a core per client in each second since the start."""
    course = []
    last = (0.0, 0.0)
    for at, used in samples:
        if at - last[0] >= 1.0:
            course.append((round(at, 2), (used - last[1]) / (at - last[0]) / count))
            last = (at, used)
    return course
