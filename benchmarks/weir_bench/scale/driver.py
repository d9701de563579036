"""What the driver spends on results that tasks write, beside what the workers spend.

A standalone cluster on the loopback, a job whose driver has 512 MB of heap, and large batches between small
ones. Processor time is that of the processes themselves: the driver with its JVM and what else it has
started, and the executors with their Python processes, from the end of one batch to that of the next. What a
result costs *more* is the difference between large and small batches: the rest is what a batch costs whatever
is in it.
"""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import psutil
from pyspark.find_spark_home import _find_spark_home

from weir.runtime.output.sinks.part_folders import PartFolder
from weir_bench.scale.readings import readings

HEAP = "512m"
_WORKERS = 2
_PATIENCE = 1200.0
_LOOK = 0.05
_WARM = 3
_LEAST = 8_000
"""Readings of a small batch: enough for windows to close, so that it has results."""
_QUERY = """PREFIX : <http://example.org/> REGISTER RSTREAM <rooms> AS SELECT ?person ?room
FROM NAMED WINDOW <w> ON <s> [RANGE PT20S STEP PT5S] WHERE { WINDOW <w> { ?person :in ?room } }"""
"""Each reading is in four answers."""


@contextmanager
def _process(command: list[str], folder: Path, **options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own, which ends with the block."""
    own = {
        **os.environ,
        "SPARK_HOME": _find_spark_home(),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_IP": "127.0.0.1",
        **options,
    }
    with open(folder / "errors.log", "ab") as errors:
        started = subprocess.Popen(
            command, cwd=folder, env=own, start_new_session=True, stdout=subprocess.DEVNULL, stderr=errors
        )
    try:
        yield started
    finally:
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.wait(30)


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[int]]]:
    """The address of a master, and the processes of its workers, of a core each."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    place = f"spark://127.0.0.1:{port}"
    kind = f"{_find_spark_home()}/bin/spark-class"
    own = ["--host", "127.0.0.1", "--webui-port", "0"]
    with ExitStack() as stack:
        master = [kind, "org.apache.spark.deploy.master.Master", *own, "--port", str(port)]
        stack.enter_context(_process(master, folder))
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(_LOOK)
        worker = [
            kind,
            "org.apache.spark.deploy.worker.Worker",
            *own,
            "--cores",
            "1",
            "--memory",
            "1g",
            place,
        ]
        started = [stack.enter_context(_process(worker, folder)) for _ in range(_WORKERS)]
        yield place, [each.pid for each in started]


def cpu_seconds(roots: list[int]) -> float:
    """Processor time of these processes and all below them, with that of children they have waited for."""
    found = 0.0
    for root in roots:
        with suppress(psutil.Error):
            own = psutil.Process(root)
            for process in (own, *own.children(recursive=True)):
                with suppress(psutil.Error):
                    times = process.cpu_times()
                    found += times.user + times.system + times.children_user + times.children_system
    return found


@dataclass(frozen=True, slots=True)
class Batch:
    """Results of a batch, and the seconds of processor time that driver and workers spent on it."""

    results: int
    driver: float
    workers: float


@dataclass(frozen=True, slots=True)
class Spent:
    """The batches of a job once it is warm, small and large ones."""

    small: list[Batch]
    large: list[Batch]

    def share(self) -> float:
        """What the driver spends on large batches, beside the workers: all of it."""
        return sum(each.driver for each in self.large) / sum(each.workers for each in self.large)

    def per_result(self, who: str) -> float:
        """Seconds that one more result costs (``driver`` or ``workers``), by medians."""
        large, small = (median(getattr(each, who) for each in of) for of in (self.large, self.small))
        more, fewer = (median(each.results for each in of) for of in (self.large, self.small))
        return float((large - small) / (more - fewer))

    def as_json(self) -> dict[str, Any]:
        return {name: [asdict(each) for each in getattr(self, name)] for name in self.__slots__}


def measure(triples: int, turns: int = 3) -> Spent:
    """What large batches of so many triples cost, ``turns`` of them, and as many small ones behind them."""
    small = max(triples // 20, _LEAST)
    sizes = [*[small] * _WARM, *[triples] * (turns + 1), *[small] * (turns + 2)]
    with TemporaryDirectory(prefix="weir-bench-") as name:
        folder = Path(name)
        (folder / "rooms.rq").write_text(_QUERY)
        (folder / "stream").mkdir()
        lines = readings(sum(sizes)).splitlines(keepends=True)
        for number, (first, last) in enumerate(itertools.pairwise([0, *itertools.accumulate(sizes)])):
            (folder / "stream" / f"{number:02}.tnq").write_bytes(b"".join(lines[first:last]))
        command = [sys.executable, "-m", "weir", "run", "rooms.rq", "--stream", f"s={folder / 'stream'}"]
        command += ["--files-per-batch", "1", "--checkpoint", str(folder / "ck")]
        command += ["--to", f"jsonl:{folder}/out"]
        parts = PartFolder(folder / "out", "jsonl")
        with cluster(folder) as (place, workers):
            heap = f"--driver-memory {HEAP} pyspark-shell"
            asked = [*command, "--master", place]
            with _process(asked, folder, PYSPARK_SUBMIT_ARGS=heap) as driver:
                marks: list[tuple[float, float]] = []
                until = time.monotonic() + _PATIENCE
                while driver.poll() is None and time.monotonic() < until:
                    if len(parts.batches()) > len(marks):
                        marks.append((cpu_seconds([driver.pid]), cpu_seconds(workers)))
                    time.sleep(_LOOK)
                if driver.returncode != 0:
                    raise RuntimeError((folder / "errors.log").read_text(errors="replace")[-2000:])
        found = [
            Batch(sum(part.rows for part in parts.parts(batch)), mark[0] - last[0], mark[1] - last[1])
            for batch, last, mark in zip(parts.batches()[1:], marks, marks[1:], strict=False)
        ]
    # The first large batch is the first for which loops are compiled; the first small one ends its windows;
    # at the last one the job ends.
    return Spent(found[_WARM + turns + 1 : _WARM + 2 * turns + 1], found[_WARM : _WARM + turns])
