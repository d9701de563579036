"""A standalone cluster: a second driver is refused, and the job goes on with 2, 8 and 3 partitions.

Tasks write the results; all parts together are the answers of a job that nothing disturbed, each part in
order.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from cli_kit import json_lines, weir
from cluster_kit import cluster, end, environment
from fault_kit import ARGUMENTS, write_input
from weir.runtime.control.checkpoint import Checkpoint

pytestmark = [pytest.mark.spark, pytest.mark.network, pytest.mark.long, pytest.mark.timeout(1800)]
FILES = 9
STAGES = (3, 6, 9)
"""Files that are there before each change of partitions, and at the end."""


def start(folder: Path, place: str, own: str, *options: str) -> subprocess.Popen[bytes]:
    """A job that writes into the folder ``own``, beside which it has its checkpoint."""
    where = ("--to", f"jsonl:{own}", "--dead-letters", "dead", "--checkpoint", f"{own}-ck", "--master", place)
    return subprocess.Popen(
        [sys.executable, "-m", "weir", "run", *ARGUMENTS, "--watch", "--slots", "8", *where, *options],
        cwd=folder,
        env=environment(folder),
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def await_batch(process: subprocess.Popen[bytes], checkpoint: Path, batch: int) -> None:
    """Until Spark has committed the batch."""
    while not (checkpoint / "spark" / "commits" / str(batch)).exists():
        assert process.poll() is None, process.communicate()[1].decode()
        time.sleep(0.1)


def interrupt(process: subprocess.Popen[bytes]) -> None:
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert "interrupted" in errors.decode()


def test_a_job_goes_on_with_other_partitions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    monkeypatch.chdir(tmp_path)
    write_input(tmp_path, FILES)
    later = tmp_path / "later"
    (tmp_path / "stream").rename(later)
    (tmp_path / "stream").mkdir()
    sent = 0
    with cluster(tmp_path, workers=2) as (place, _):
        for stage, partitions in zip(STAGES, (2, 8, 3), strict=True):
            while sent < stage:
                (later / f"{sent:03d}.tnq").rename(tmp_path / "stream" / f"{sent:03d}.tnq")
                sent += 1
            driver = start(tmp_path, place, "parts", *(("--partitions", "2") if partitions == 2 else ()))
            try:
                # Spark makes a batch of each change.
                await_batch(driver, tmp_path / "parts-ck", stage - 1 + STAGES.index(stage))
                second = weir(
                    "run", *ARGUMENTS, "--watch", "--out", "second.jsonl", "--checkpoint", "parts-ck"
                )
                assert second.exit_code == 2 and "another job runs" in second.stderr
                assert not (tmp_path / "second.jsonl").exists()
                interrupt(driver)
            finally:
                end(driver)
            assert Checkpoint.read(tmp_path / "parts-ck").partitions == partitions
            if stage < FILES:
                asked = [
                    "rescale",
                    "parts-ck",
                    "--partitions",
                    {2: "8", 8: "3"}[partitions],
                    "--master",
                    place,
                ]
                done = subprocess.run(
                    [sys.executable, "-m", "weir", *asked],
                    cwd=tmp_path,
                    env=environment(tmp_path),
                    capture_output=True,
                    timeout=300,
                    check=False,
                )
                assert done.returncode == 0, done.stderr.decode()
    whole = start(tmp_path, "local[2]", "whole")
    try:
        await_batch(whole, tmp_path / "whole-ck", FILES - 1)
        interrupt(whole)
    finally:
        end(whole)
    assert lines(tmp_path / "parts") == lines(tmp_path / "whole")
    for part in (tmp_path / "parts").glob("batch-*"):
        found = [(line["query"], line["at"]) for line in json_lines(part)]
        assert found == sorted(found)


def lines(folder: Path) -> list[str]:
    return sorted(line for part in folder.glob("batch-*") for line in part.read_text().splitlines())
