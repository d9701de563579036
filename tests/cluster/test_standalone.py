"""A real standalone cluster on loopback: one master, workers of a core each.

The job runs there unchanged, loses a worker in mid-batch (``kill -9`` of the worker, its executor and their
Python processes), and writes what an undisturbed run on local cores writes, to the byte. So does one that is
given to ``spark-submit``.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import SparkSession

from cli_kit import weir
from fault_kit import ARGUMENTS, wait_for_growth, write_input

pytestmark = [pytest.mark.spark, pytest.mark.network, pytest.mark.timeout(600)]
FILES = 12
SUBMIT = Path(__file__).parents[2] / "examples" / "cluster" / "submit.py"


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
def cluster(folder: Path, workers: int) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Where the master is, and its first worker."""
    port = free_port()
    place = f"spark://127.0.0.1:{port}"
    own = ["--host", "127.0.0.1", "--webui-port", "0"]
    with ExitStack() as stack:
        stack.enter_context(daemon(folder, "master.Master", *own, "--port", str(port)))
        await_port(port)
        options = [*own, "--cores", "1", "--memory", "1g", place]
        started = [stack.enter_context(daemon(folder, "worker.Worker", *options)) for _ in range(workers)]
        yield place, started[0]


def assert_same(folder: Path) -> None:
    """What the cluster wrote is what local cores wrote."""
    for name in ("{}.jsonl", "{}.jsonl.dead.jsonl"):
        assert (folder / name.format("out")).read_bytes() == (folder / name.format("whole")).read_bytes()


def test_a_cluster_that_loses_a_worker_in_mid_batch_writes_what_local_cores_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    monkeypatch.chdir(tmp_path)
    write_input(tmp_path, FILES)
    undisturbed = weir("run", *ARGUMENTS, "--out", "whole.jsonl")
    assert undisturbed.exit_code == 0, undisturbed.stderr

    with cluster(tmp_path, workers=2) as (place, first):
        command = [sys.executable, "-m", "weir", "run", *ARGUMENTS, "--out", "out.jsonl"]
        driver = subprocess.Popen(
            [*command, "--checkpoint", "ck", "--master", place],
            env=environment(tmp_path),
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            out = tmp_path / "out.jsonl"
            wait_for_growth(driver, out, 0)
            size = out.stat().st_size
            wait_for_growth(driver, out, size)
            assert driver.poll() is None, driver.communicate()[1].decode()
            end(first)
            _, errors = driver.communicate(timeout=400)
        finally:
            end(driver)
    assert driver.returncode == 0, errors.decode()
    assert f"{FILES} batches" in errors.decode()
    assert_same(tmp_path)


def test_a_job_given_to_spark_submit_writes_what_local_cores_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    monkeypatch.chdir(tmp_path)
    write_input(tmp_path, 3)
    undisturbed = weir("run", *ARGUMENTS, "--out", "whole.jsonl")
    assert undisturbed.exit_code == 0, undisturbed.stderr

    with cluster(tmp_path, workers=1) as (place, _):
        submit = [f"{_find_spark_home()}/bin/spark-submit", "--master", place, str(SUBMIT), "run"]
        done = subprocess.run(
            [*submit, *ARGUMENTS, "--out", "out.jsonl", "--checkpoint", "ck"],
            env={**environment(tmp_path), "PYSPARK_PYTHON": sys.executable},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stdout.decode()[-3000:]
    assert "3 batches" in done.stdout.decode()
    assert_same(tmp_path)
