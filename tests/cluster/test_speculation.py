"""Speculation, and a worker that stands still for a minute (SIGSTOP): the output is that of a run without.

Spark runs tasks that stand still again on another worker, which its log of events proves, and both attempts
may end: each state that they leave is whole, and the batch counts once, also where tasks write the results.
Whether the job moves on meanwhile is Spark's affair: what it shuffled lies with the worker that made it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from cluster_kit import cluster, descendants, end, environment
from fault_kit import ARGUMENTS, undisturbed

pytestmark = [pytest.mark.spark, pytest.mark.network, pytest.mark.long, pytest.mark.timeout(1800)]
FILES = 12
STILL = float(os.environ.get("WEIR_STILL", "60"))
"""Seconds."""
SETTINGS = """\
spark.speculation                          true
spark.speculation.interval                 200ms
spark.speculation.task.duration.threshold  2s
spark.eventLog.enabled                     true
spark.eventLog.compress                    false
spark.eventLog.rolling.enabled             false
spark.eventLog.dir                         {events}
"""


def speculated(events: Path) -> list[dict[str, object]]:
    """The second attempts that Spark says it began."""
    lines = [line for path in events.iterdir() for line in path.read_text().splitlines()]
    told = [json.loads(line) for line in lines if '"SparkListenerTaskStart"' in line]
    return [each["Task Info"] for each in told if each["Task Info"]["Speculative"]]


def tell(processes: list[int], number: int) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def test_a_worker_that_stands_still_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    undisturbed(tmp_path, FILES)
    (tmp_path / "conf").mkdir()
    events = tmp_path / "events"
    events.mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(SETTINGS.format(events=events.as_uri()))
    manifests = tmp_path / "out" / "_batches"
    # Spark runs no task twice on one host.
    with cluster(tmp_path, workers=2, apart=True) as (place, first):
        command = [
            sys.executable,
            "-m",
            "weir",
            "run",
            *ARGUMENTS,
            "--to",
            "jsonl:out",
            "--dead-letters",
            "dead",
        ]
        driver = subprocess.Popen(
            [*command, "--checkpoint", "ck", "--master", place],
            env={**environment(tmp_path), "SPARK_CONF_DIR": str(tmp_path / "conf")},
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            while driver.poll() is None and not list(manifests.glob("[0-9]*")):
                time.sleep(0.02)
            assert driver.poll() is None, driver.communicate()[1].decode()
            executors = list(descendants(first.pid))
            assert executors
            tell(executors, signal.SIGSTOP)
            began = time.monotonic()
            while driver.poll() is None and time.monotonic() < began + STILL:
                time.sleep(0.1)
            tell(executors, signal.SIGCONT)
            _, errors = driver.communicate(timeout=600)
        finally:
            end(driver)
    assert driver.returncode == 0, errors.decode()
    found = [line for part in (tmp_path / "out").glob("batch-*") for line in part.read_text().splitlines()]
    assert sorted(found) == sorted((tmp_path / "whole.jsonl").read_text().splitlines())
    assert (tmp_path / "dead").read_bytes() == (tmp_path / "whole.jsonl.dead.jsonl").read_bytes()
    assert speculated(events), "no task was run a second time"
