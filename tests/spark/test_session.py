"""Java is checked before Spark is started; what a session is set to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import SparkSession

from weir.errors import UsageError
from weir.spark.session import check_java


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
