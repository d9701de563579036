"""``weir bench service``: many subscribers of one query while messages are pushed over HTTP.

One server, as ``weir serve`` starts it; followers and pusher in processes of their own, on the same machine.
The query counts the messages of each second and room, so that the sum of its results is the number of
messages: a message that is lost or doubled anywhere shows. The engine's own latency is that of the same
results when they were committed to the log of results.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil

from weir_bench.report import Report

STREAM = "http://example.org/load"
QUERY = (
    "SELECT ?room (COUNT(*) AS ?n) FROM NAMED WINDOW <w> ON <http://example.org/load> "
    "[RANGE PT1S STEP PT1S CONTENT BAG] "
    "WHERE { WINDOW <w> { ?who <http://example.org/in> ?room } } GROUP BY ?room"
)
ROOMS = 10
PERIOD = 0.05
WARM = 3
"""Evaluations before the measurement."""
CONFIG = "[limits]\nsubscribers = 2000\nrequests = 100000.0\nburst = 100000.0\n"


def run(*, quick: bool = False, plot: Path | None = None) -> Report:
    """500 subscribers and 10,000 messages a second for two minutes; ``quick``: 100, 2,000 and 20 s."""
    report = Report(
        "service", quick, packages=("weir", "pyspark", "fastapi", "uvicorn", "httptools", "uvloop")
    )
    subscribers, rate, seconds = (100, 2_000, 20.0) if quick else (500, 10_000, 120.0)
    with tempfile.TemporaryDirectory(prefix="weir-bench-service-", ignore_cleanup_errors=True) as name:
        figures = measure(Path(name), subscribers, rate, seconds)
    report.figures.update(figures)
    report.goal("messages lost or doubled", abs(figures["accepted"] - figures["counted"]), 0, at_least=False)
    report.goal("subscribers with a gap", figures["incomplete"], 0, at_least=False)
    report.goal("messages pushed", figures["rate"], 0.99 * rate, "1/s")
    report.goal("p95 of delivery to that of the engine", figures["ratio"], 2.0, "×", at_least=False)
    report.goal("memory at the end to that before", figures["growth"], 1.1, "×", at_least=False)
    return report


def measure(folder: Path, subscribers: int, rate: int, seconds: float) -> dict[str, Any]:
    """One server, its followers and a pusher."""
    port = _free_port()
    (folder / "weir.toml").write_text(CONFIG)
    data = folder / "data"
    command = [sys.executable, "-m", "weir", "serve", "--config", str(folder / "weir.toml")]
    command += ["--port", str(port), "--data", str(data)]
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    base = f"http://127.0.0.1:{port}"
    try:
        with httpx.Client(base_url=base, timeout=120) as api:
            _until_healthy(api, server)
            api.post("/api/streams", json={"iri": STREAM, "id": "load"}).raise_for_status()
            api.post("/api/queries", json={"text": QUERY, "name": "rooms"}).raise_for_status()
            before = _warm(api)
            outcome = folder / "followers.json"
            arguments = [str(port), "rooms", str(subscribers), str(outcome)]
            followers = subprocess.Popen(
                [sys.executable, "-m", "weir_bench.service.subscribers", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            assert followers.stdout is not None
            followers.stdout.readline()
            pushed = _push(api, server.pid, rate, seconds)
            _finish(api)
            followers.communicate(timeout=120)
            told = api.get("/api/metrics").json()
    finally:
        server.terminate()
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:
            server.kill()
    pushed["accepted"] += before
    return _figures(json.loads(outcome.read_text()), pushed, told, data / "results" / "commits.jsonl")


def _push(api: httpx.Client, pid: int, rate: int, seconds: float) -> dict[str, Any]:
    """Messages at a rate, a request every 50 ms; each message has a time of its own."""
    batch = round(rate * PERIOD)
    headers = {"content-type": "application/x-tnq"}
    process = psutil.Process(pid)
    accepted, memory, waits = 0, [], []
    began = time.time()
    requests = round(seconds / PERIOD)
    for number in range(requests):
        due = began + number * PERIOD
        time.sleep(max(0.0, due - time.time()))
        sent = time.time()
        answer = api.post("/api/streams/load/messages", content=_lines(sent, batch), headers=headers)
        waits.append(time.time() - sent)
        if answer.status_code == 202:
            accepted += answer.json()["accepted"]
        if number % round(1 / PERIOD) == 0:
            memory.append(_memory(process))
    return {
        "accepted": accepted,
        "rate": accepted / (time.time() - began),
        "request_p95": float(np.percentile(waits, 95)),
        "memory": memory,
    }


def _lines(now: float, count: int) -> str:
    """``count`` messages of the time just before ``now``, evenly spaced."""
    first = int(now * 1_000_000) - count * 2
    stamps = (datetime.fromtimestamp((first + 2 * place) / 1_000_000, UTC) for place in range(count))
    return "".join(
        f"{stamp:%Y-%m-%dT%H:%M:%S.%f}Z\t<http://example.org/p{place}> <http://example.org/in> "
        f"<http://example.org/room{place % ROOMS}> .\n"
        for place, stamp in enumerate(stamps)
    )


def _figures(
    followers: list[dict[str, Any]], pushed: dict[str, Any], told: dict[str, Any], commits: Path
) -> dict[str, Any]:
    delivered = np.concatenate([np.array(each["latency"][WARM * ROOMS :]) for each in followers])
    own = _engine_latency(followers[0], commits)
    memory = np.array(pushed["memory"], float)
    half = max(1, len(memory) // 4)
    server, tree = memory[:, 0], memory[:, 1]
    complete = max(each["events"] for each in followers)
    p95 = float(np.percentile(delivered, 95))
    engine = float(np.percentile(own, 95))
    return {
        "subscribers": len(followers),
        "accepted": pushed["accepted"],
        "counted": max(each["total"] for each in followers),
        "incomplete": sum(
            each["gaps"] > 0 or each["missed"] > 0 or each["events"] != complete for each in followers
        ),
        "rate": pushed["rate"],
        "request_p95": pushed["request_p95"],
        "events": int(sum(each["events"] for each in followers)),
        "delivery": {"p50": float(np.percentile(delivered, 50)), "p95": p95},
        "engine": {"p50": float(np.percentile(own, 50)), "p95": engine},
        "ratio": p95 / engine,
        "growth": float(np.median(server[-half:]) / np.median(server[half : 2 * half])),
        "memory": {"server": server.tolist(), "with JVM and workers": tree.tolist()},
        "restarts": told["restarts"],
        "batches": told["batches"],
    }


def _engine_latency(follower: dict[str, Any], commits: Path) -> np.ndarray:
    """Seconds from the time of each result to the commit that made it readable."""
    when = np.array(follower["at"])
    written = np.full(len(when), np.nan)
    first = 0
    for line in commits.read_bytes().splitlines():
        entry = json.loads(line)
        mark = entry["tails"].get("rooms")
        if mark is not None:
            written[first : mark[2]] = entry["time"]
            first = mark[2]
    latency: np.ndarray = written - when
    return latency[WARM * ROOMS :]


def _warm(api: httpx.Client) -> int:
    """Some seconds of messages, until results come: workers are started, code is compiled. How many."""
    accepted = 0
    headers = {"content-type": "application/x-tnq"}
    for _ in range(100):
        sent = api.post("/api/streams/load/messages", content=_lines(time.time(), ROOMS), headers=headers)
        accepted += sent.json()["accepted"]
        time.sleep(0.5)
        if api.get("/api/queries/rooms").json()["position"] >= WARM * ROOMS:
            break
    return accepted


def _finish(api: httpx.Client) -> None:
    """The stream falls silent; its heartbeats close the last window, whose results are then sent."""
    last = f"{datetime.fromtimestamp(time.time() + 1, UTC):%Y-%m-%dT%H:%M:%S}"
    until = time.monotonic() + 120
    while time.monotonic() < until and (api.get("/api/queries/rooms").json()["through"] or "") <= last:
        time.sleep(0.5)
    time.sleep(3)


def _memory(process: psutil.Process) -> tuple[int, int]:
    own = process.memory_info().rss
    others = 0
    for child in process.children(recursive=True):
        try:
            others += child.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return own, own + others


def _until_healthy(api: httpx.Client, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 300
    while time.monotonic() < until and server.poll() is None:
        try:
            if api.get("/health").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError("the server does not start")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
