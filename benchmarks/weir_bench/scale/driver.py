"""What the driver spends on results that tasks write, beside what the workers spend.

A standalone cluster on the loopback, a job whose driver has 512 MB of heap, and one large batch between two
small ones. Processor time is that of the processes themselves: the driver with its JVM and what else it has
started, and the executors with their Python processes, from the end of the batch before to that of the large
one.
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
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
from pyspark.find_spark_home import _find_spark_home

from weir.runtime.output.sinks.part_folders import PartFolder
from weir_bench.scale.readings import readings

HEAP = "512m"
_WORKERS = 2
_PATIENCE = 1200.0
_LOOK = 0.05
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


def measure(triples: int) -> dict[str, float]:
    """Results of the large batch, and the seconds of processor time that driver and workers spent on it."""
    with TemporaryDirectory(prefix="weir-bench-") as name:
        folder = Path(name)
        (folder / "rooms.rq").write_text(_QUERY)
        (folder / "stream").mkdir()
        small = max(triples // 20, _LEAST)
        edge = 2 * small
        lines = readings(edge + triples).splitlines(keepends=True)
        cuts = (0, small, small + triples, edge + triples)
        for number, (first, last) in enumerate(itertools.pairwise(cuts)):
            (folder / "stream" / f"{number}.tnq").write_bytes(b"".join(lines[first:last]))
        command = [sys.executable, "-m", "weir", "run", "rooms.rq", "--stream", f"s={folder / 'stream'}"]
        command += [
            "--files-per-batch",
            "1",
            "--checkpoint",
            str(folder / "ck"),
            "--to",
            f"jsonl:{folder}/out",
        ]
        parts = PartFolder(folder / "out", "jsonl")
        with cluster(folder) as (place, workers):
            heap = f"--driver-memory {HEAP} pyspark-shell"
            asked = [*command, "--master", place]
            with _process(asked, folder, PYSPARK_SUBMIT_ARGS=heap) as driver:
                spent: list[tuple[float, float]] = []
                until = time.monotonic() + _PATIENCE
                while driver.poll() is None and time.monotonic() < until:
                    if len(parts.batches()) > len(spent):
                        spent.append((cpu_seconds([driver.pid]), cpu_seconds(workers)))
                    time.sleep(_LOOK)
                if driver.returncode != 0:
                    raise RuntimeError((folder / "errors.log").read_text(errors="replace")[-2000:])
        large = parts.batches()[1]
        return {
            "results": sum(part.rows for part in parts.parts(large)),
            "driver": spent[1][0] - spent[0][0],
            "workers": spent[1][1] - spent[0][1],
        }
