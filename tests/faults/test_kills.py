"""``kill -9`` of the server, its driver, its JVM and its workers at random moments, under load, and each of
them standing still for a minute (SIGSTOP): each message that was acknowledged counts exactly once.

    WEIR_KILLS=100 WEIR_SEED=1 pytest -m long tests/faults/test_kills.py
    WEIR_STILL=60 pytest -m long tests/faults/test_kills.py -k still

What happened is written to ``WEIR_RECORD``, where that names a file. A sample of one kill each is in the
tests of the server, of the cluster and in ``test_kill.py``.
"""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from cluster_kit import descendants
from server_kit import Server, until

pytestmark = [pytest.mark.spark, pytest.mark.network, pytest.mark.long, pytest.mark.timeout(7200)]

KILLS = int(os.environ.get("WEIR_KILLS", "100"))
STILL = float(os.environ.get("WEIR_STILL", "60"))
"""Seconds."""
KINDS = (*["worker"] * 3, "server", *["worker"] * 3, "driver", *["worker"] * 3, "jvm")
"""In turn; all but workers cost a start of Spark."""
CONFIG = f"[results]\nkeep = {1 << 32}\n"
EACH = "SELECT ?n WHERE { STREAM <http://e/load> [NOW] { ?who <http://e/n> ?n } }"
COUNT = (
    "REGISTER RSTREAM <counts> AS SELECT (COUNT(*) AS ?n) FROM NAMED WINDOW <w> ON <http://e/load> "
    "[RANGE PT1S STEP PT1S] WHERE { WINDOW <w> { ?who <http://e/n> ?m } }"
)


class Pusher(threading.Thread):
    """Pushes numbered messages, none of them twice; remembers which were acknowledged."""

    def __init__(self, base: str) -> None:
        super().__init__(daemon=True)
        self.base = base
        self.number = 0
        self.acknowledged: list[int] = []
        self.refused: Counter[str] = Counter()
        self.stopped = threading.Event()

    def run(self) -> None:
        while not self.stopped.wait(0.1):
            self.push(10)

    def push(self, count: int) -> None:
        numbers = range(self.number, self.number + count)
        self.number += count
        lines = "".join(f'{10**6 + n}\t<http://e/m{n}> <http://e/n> "{n}" .\n' for n in numbers)
        try:
            answer = httpx.post(
                f"{self.base}/api/streams/load/messages",
                content=lines,
                headers={"content-type": "application/x-tnq"},
                timeout=30,
            )
        except httpx.TransportError as error:
            self.refused[type(error).__name__] += 1
            return
        if answer.status_code == 202:
            self.acknowledged += numbers
        else:
            self.refused[str(answer.status_code)] += 1


def kill(process: int, number: int = signal.SIGKILL) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


def processes(server: Server) -> dict[str, dict[int, str]]:
    """Those of a server by their kind, with their command lines."""
    assert server.process is not None
    below = descendants(server.process.pid)
    jvm = {pid: command for pid, command in below.items() if "java" in command.split()[0]}
    workers = {
        pid: command
        for pid, command in below.items()
        if pid not in jvm and ("daemon" in command or "pyspark" in command)
    }
    return {"driver": {server.process.pid: "weir serve"}, "jvm": jvm, "worker": workers, "every": below}


def strike(server: Server, kind: str, dice: random.Random) -> str:
    """Kill one thing; what it was. All but workers end the server, which is then started again."""
    assert server.process is not None
    known = processes(server)
    below = known["every"]
    if kind == "worker":
        workers = list(known["worker"])
        if workers:
            chosen = dice.choice(workers)
            kill(chosen)
            return f"worker {below[chosen].split()[-1]}"
        return "no worker"
    if kind == "driver":
        kill(server.process.pid)
    if kind == "jvm":
        for pid in known["jvm"]:
            kill(pid)
    time.sleep(dice.choice([0.0, 0.0, dice.uniform(0, 2)]))
    with suppress(ProcessLookupError):
        os.killpg(server.process.pid, signal.SIGKILL)
    server.process.wait(30)
    if dice.random() < 0.5:
        for pid in below:
            kill(pid)
    server.process = None
    server.start()
    return kind


def test_each_acknowledged_message_counts_once_whatever_is_killed(tmp_path: Path) -> None:
    seed = int(os.environ.get("WEIR_SEED", str(random.randrange(10**6))))
    print(f"WEIR_SEED={seed}")
    dice = random.Random(seed)
    struck: Counter[str] = Counter()

    def disturb(server: Server, pusher: Pusher) -> None:
        for number in range(KILLS):
            more(pusher)
            time.sleep(dice.uniform(0, 2))
            kind = KINDS[number % len(KINDS)]
            struck[strike(server, kind, dice).split()[0]] += 1
            print(f"{number + 1} {kind}", flush=True)

    under_load(tmp_path, disturb, {"seed": seed, "kills": struck})
    assert sum(struck.values()) == KILLS


def test_each_acknowledged_message_counts_once_whoever_stands_still(tmp_path: Path) -> None:
    stood: Counter[str] = Counter()

    def disturb(server: Server, pusher: Pusher) -> None:
        for kind in ("worker", "jvm", "driver"):
            more(pusher)
            chosen = processes(server)[kind]
            for pid in chosen:
                kill(pid, signal.SIGSTOP)
            time.sleep(STILL)
            for pid in chosen:
                kill(pid, signal.SIGCONT)
            stood[kind] += len(chosen)
            print(f"{len(chosen)} {kind} stood still for {STILL:g} s", flush=True)
        more(pusher)

    under_load(tmp_path, disturb, {"seconds": STILL, "stopped": stood})
    assert all(stood[kind] for kind in ("worker", "jvm", "driver"))


def more(pusher: Pusher) -> None:
    """Wait until more messages are acknowledged."""
    reached = len(pusher.acknowledged)
    until(lambda: len(pusher.acknowledged) > reached + 20, 300)


def under_load(folder: Path, disturb: Callable[[Server, Pusher], None], told: Mapping[str, object]) -> None:
    """A server under load is disturbed: nothing that it acknowledged is lost or doubled."""
    began = time.time()
    server = Server(folder, CONFIG).start()
    try:
        with httpx.Client(base_url=server.base, timeout=120) as api:
            assert api.post("/api/streams", json={"iri": "http://e/load", "id": "load"}).status_code == 201
            assert api.post("/api/queries", json={"text": EACH, "name": "each"}).status_code == 201
            assert api.post("/api/queries", json={"text": COUNT}).status_code == 201
        pusher = Pusher(server.base)
        pusher.start()
        disturb(server, pusher)
        pusher.stopped.set()
        pusher.join(60)
        until(lambda: _ended(pusher), 300)
        last = max(pusher.acknowledged) - 10
        until(lambda: last in _counted(folder), 300)
    finally:
        server.stop()
    counts = _counted(folder)
    acknowledged = set(pusher.acknowledged)
    ending = {number for number in acknowledged if number > last}
    record = {
        **told,
        "minutes": round((time.time() - began) / 60, 1),
        "messages": pusher.number,
        "acknowledged": len(acknowledged),
        "refused": dict(pusher.refused),
        "counted": len(counts),
        "lost": sorted(acknowledged - set(counts) - ending)[:20],
        "doubled": [number for number, times in counts.items() if times > 1][:20],
    }
    print(json.dumps(record))
    if path := os.environ.get("WEIR_RECORD"):
        Path(path).write_text(json.dumps(record, indent=1))
    assert not record["lost"] and not record["doubled"], record


def _ended(pusher: Pusher) -> bool:
    """Whether a message that ends the time of all others was taken."""
    before = len(pusher.acknowledged)
    pusher.push(10)
    return len(pusher.acknowledged) > before


def _counted(folder: Path) -> Counter[int]:
    """How often each number is in the results, as they lie on disk."""
    found: Counter[int] = Counter()
    for path in sorted((folder / "data" / "results" / "each").glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            with suppress(ValueError):
                found[int(json.loads(line)["bindings"]["n"]["value"])] += 1
    return found
