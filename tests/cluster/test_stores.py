"""Everything on a store: checkpoint, stream, graph and results on a real HDFS, and on a real S3 server.

A cluster's job loses a worker in mid-batch and then its driver (``kill -9`` of both), is started again, and
has written what an undisturbed run on a disk writes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from cluster_kit import cluster, end, environment
from fault_kit import undisturbed
from store_kit import BUCKET, HADOOP, hdfs_cluster, maven_jars, s3_server
from weir.storage.files import numbered, replace_file
from weir.storage.places import path_at

pytestmark = [pytest.mark.spark, pytest.mark.network, pytest.mark.long, pytest.mark.timeout(3600)]
FILES = 8
_S3 = {
    "path.style.access": "true",
    "endpoint.region": "us-east-1",
    # The server answers "100 Continue" in a way that the SDK takes for a refusal.
    "connection.expect.continue": "false",
    "optimized.copy.from.local.enabled": "false",
}


Opened: TypeAlias = Callable[[Path, pytest.MonkeyPatch], AbstractContextManager[str]]


@contextmanager
def hdfs_store(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    with hdfs_cluster(folder) as (address, settings):
        for name, value in settings.items():
            patch.setenv(name, value)
        yield address


@contextmanager
def s3_store(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    jars = maven_jars(folder / "jars", f"org.apache.hadoop:hadoop-aws:{HADOOP}")
    with s3_server(folder) as settings:
        for name, value in settings.items():
            patch.setenv(name, value)
        told = {**_S3, "endpoint": settings["AWS_ENDPOINT_URL"]}
        conf = [f"--conf spark.hadoop.fs.s3a.{name}={value}" for name, value in told.items()]
        conf += [f"--conf spark.{each}.extraClassPath={jars}/*" for each in ("driver", "executor")]
        patch.setenv("PYSPARK_SUBMIT_ARGS", f"{' '.join(conf)} pyspark-shell")
        yield f"s3a://{BUCKET}"


def wait_for_commits(driver: subprocess.Popen[bytes], log: Path, count: int) -> int:
    """Until so many batches are committed; how many are."""
    deadline = time.monotonic() + 600
    while driver.poll() is None and len(numbered(log)) < count and time.monotonic() < deadline:
        time.sleep(0.1)
    assert driver.poll() is None, driver.communicate()[1].decode()[-3000:]
    return len(numbered(log))


@pytest.mark.parametrize("opened", [hdfs_store, s3_store])
def test_a_job_whose_worker_and_driver_are_killed_has_written_every_result_once(
    opened: Callable[[Path, pytest.MonkeyPatch], AbstractContextManager[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    undisturbed(tmp_path, FILES)
    (tmp_path / "store").mkdir()
    with opened(tmp_path / "store", monkeypatch) as root:
        at = path_at(root)
        replace_file(at / "floor.ttl", (tmp_path / "floor.ttl").read_bytes())
        for path in (tmp_path / "stream").iterdir():
            replace_file(at / "stream" / path.name, path.read_bytes())
        command = [
            *(sys.executable, "-m", "weir", "run", "counts.rq", "reaches.rq", "--files-per-batch", "1"),
            *("--stream", f"rfid={root}/stream", "--graph", f"floorplan={root}/floor.ttl"),
            *("--format", "jsonl", "--out", f"{root}/out.jsonl", "--checkpoint", f"{root}/ck"),
        ]
        with cluster(tmp_path, workers=2) as (master, first):

            def start() -> subprocess.Popen[bytes]:
                return subprocess.Popen(
                    [*command, "--master", master],
                    env={**os.environ, **environment(tmp_path)},
                    start_new_session=True,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                )

            driver = start()
            try:
                log = at / "ck" / "spark" / "commits"
                done = wait_for_commits(driver, log, 1)
                end(first)
                done = wait_for_commits(driver, log, done + 2)
            finally:
                end(driver)
                driver.communicate()
            assert done < FILES, "it was killed on its way"
            driver = start()
            try:
                errors = driver.communicate(timeout=900)[1].decode()
            finally:
                end(driver)
        assert driver.returncode == 0, errors[-3000:]
        for name in ("jsonl", "jsonl.dead.jsonl"):
            parts = sorted((at / f"out.{name}").glob("batch-*"))
            found = b"".join(part.read_bytes() for part in parts)
            whole = (tmp_path / f"whole.{name}").read_bytes()
            # Dead letters name their file by its whole address.
            assert found.replace(root.encode(), b"") == whole.replace(os.fsencode(tmp_path), b"")
    assert not list(tmp_path.glob("s3a:*")) and not list(tmp_path.glob("hdfs:*"))
