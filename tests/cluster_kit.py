"""A real standalone cluster on loopback: one master, workers of a core each."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(folder: Path) -> dict[str, str]:
    """Everything Spark writes goes into ``folder``; little memory."""
    return {
        **os.environ,
        "SPARK_HOME": _find_spark_home(),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_LOG_DIR": str(folder / "logs"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


@contextmanager
def daemon(folder: Path, role: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A master or a worker in a process group of its own, which ends with the block."""
    command = [f"{_find_spark_home()}/bin/spark-class", f"org.apache.spark.deploy.{role}", *arguments]
    process = subprocess.Popen(
        command,
        env=environment(folder),
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """``kill -9`` of a process group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(30)


def await_port(port: int, limit: float = 120.0) -> None:
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the master did not start")


@contextmanager
def cluster(
    folder: Path, workers: int, *, apart: bool = False
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Where the master is, and its first worker; workers that are ``apart`` are on hosts of their own, as far
    as Spark knows."""
    port = free_port()
    place = f"spark://127.0.0.1:{port}"
    hosts = [f"127.0.0.{1 + (number if apart else 0)}" for number in range(workers)]
    own = ["--webui-port", "0"]
    with ExitStack() as stack:
        stack.enter_context(daemon(folder, "master.Master", *own, "--host", "127.0.0.1", "--port", str(port)))
        await_port(port)
        options = [*own, "--cores", "1", "--memory", "1g", place]
        started = [
            stack.enter_context(daemon(folder, "worker.Worker", "--host", host, *options)) for host in hosts
        ]
        yield place, started[0]


def descendants(process: int) -> dict[int, str]:
    """The processes below one, with their command lines."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError, ValueError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found: dict[int, str] = {}
    below = [process]
    while below:
        parent = below.pop()
        for child in [each for each, above in parents.items() if above == parent]:
            with suppress(OSError):
                command = (Path("/proc") / str(child) / "cmdline").read_bytes()
                # One that has ended and was not waited for has no command line.
                if command.strip(b"\0"):
                    found[child] = command.replace(b"\0", b" ").decode()
            below.append(child)
    return found
