"""A real standalone cluster on loopback: one master, workers of a core each.

The job runs there unchanged, loses a worker in mid-batch (``kill -9`` of the worker, its executor and their
Python processes), and writes what an undisturbed run on local cores writes, to the byte. So does one that is
given to ``spark-submit``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import SparkSession

from cli_kit import weir
from cluster_kit import cluster, end, environment
from fault_kit import ARGUMENTS, wait_for_growth, write_input

pytestmark = [pytest.mark.spark, pytest.mark.network, pytest.mark.timeout(600)]
FILES = 12
SUBMIT = Path(__file__).parents[2] / "examples" / "cluster" / "submit.py"


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
