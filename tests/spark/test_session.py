"""Java is checked before Spark is started; what a session is set to."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil
import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import SparkSession

from weir.engine import Engine
from weir.errors import UsageError
from weir.spark.session import check_java, interrupts_kept


def fake_java(folder: Path, version: str) -> None:
    java = folder / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
    java.chmod(0o755)


def test_missing_java_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="Java 17 or newer") as caught:
        check_java()
    assert "apt-get install openjdk-17-jre-headless" in str(caught.value)


@pytest.mark.parametrize(
    ("version", "good"), [("1.8.0_402", False), ("11.0.2", False), ("17.0.15", True), ("21", True)]
)
def test_old_java_is_refused(
    version: str, good: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    fake_java(tmp_path, version)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    if good:
        check_java()
    else:
        with pytest.raises(UsageError, match="is older"):
            check_java()


@pytest.mark.spark
def test_workers_import_the_compiled_pyspark_and_checkpoints_have_no_checksum_files(
    spark: SparkSession, tmp_path: Path
) -> None:
    def where(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.record_batch([pa.array([pyspark.__file__])], names=["file"])

    found = spark.range(1, numPartitions=1).mapInArrow(where, "file string").collect()
    assert found[0][0] == pyspark.__file__ and ".zip" not in pyspark.__file__
    spark.range(3).write.csv(str(tmp_path / "rows"))
    assert not list(tmp_path.rglob("*.crc"))


QUERY = """REGISTER RSTREAM <out> AS SELECT ?o FROM NAMED WINDOW <w> ON <http://e/s> [RANGE PT1S STEP PT1S]
WHERE { WINDOW <w> { ?s <http://e/p> ?o } }"""


@pytest.mark.spark
def test_every_port_that_is_open_while_a_job_runs_is_on_the_loopback(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The driver, the JVM, and the workers with their state servers: all sockets of the process tree."""
    lines = [f"{n * 1000}\t<http://e/x> <http://e/p> <http://e/o{n}> ." for n in range(5)]
    (tmp_path / "in.tnq").write_text("\n".join(lines) + "\n")
    seen: set[str] = set()

    class Looking:
        form, promise = "jsonl", "none"

        def open(self) -> None: ...

        def write(self, batch: int, results: object) -> None:
            """While a batch is delivered its workers are there."""
            for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
                for each in process.net_connections("inet"):
                    if each.status == psutil.CONN_LISTEN:
                        seen.add(each.laddr.ip)

        def close(self) -> None: ...

    engine = Engine(checkpoint=tmp_path / "checkpoint", spark=spark)
    engine.stream("http://e/s", str(tmp_path / "in.tnq"))
    engine.register(QUERY)
    engine.run(sinks=[Looking()])
    assert seen and seen <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


def test_an_interrupt_stays_with_who_handles_it() -> None:
    def mine(*_: object) -> None:
        """What a job that stops between two batches does."""

    before = signal.signal(signal.SIGINT, mine)
    try:
        with interrupts_kept():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        assert signal.getsignal(signal.SIGINT) is mine
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with interrupts_kept():
            signal.signal(signal.SIGINT, mine)
        assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)
