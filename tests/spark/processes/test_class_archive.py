"""The archive of Spark's classes: its place, who makes it, and that one that does not fit changes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from weir.spark.processes import class_archive
from weir.spark.processes.class_archive import CACHE, QUIET, home, is_kept, make, options

MAIN = "org.apache.spark.launcher.Main"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    yield home()


def test_the_home_in_the_cache_stays_the_same_and_has_no_zip_of_pyspark(place: Path) -> None:
    assert home() == place and is_kept(place)
    assert (place / "jars").is_dir() and not (place / "python").exists()
    assert options(place) == ""


@pytest.mark.parametrize("cache", ["off", "file"])
def test_without_a_cache_the_home_is_for_one_process(
    cache: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv(CACHE, cache if cache == "off" else str(tmp_path / cache))
    monkeypatch.setattr(class_archive.tempfile, "tempdir", str(tmp_path))
    one, other = home(), home()
    assert one != other and not is_kept(one) and (one / "jars").is_dir()


def test_one_process_makes_the_archive(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def loaded(option: str) -> None:
        made.append(option)
        Path(option.partition("=")[2]).write_bytes(b"classes")

    monkeypatch.setattr(class_archive, "_loaded", loaded)
    monkeypatch.setattr(os, "nice", lambda more: 0)
    mark = place / "making"
    mark.touch()
    make(place)
    assert not made, "another one is at it"
    os.utime(mark, (time.time() - 3600,) * 2)
    make(place)
    make(place)
    assert len(made) == 1 and not mark.exists()
    (archive,) = place.glob("classes-*.jsa")
    assert archive.read_bytes() == b"classes" and options(place).endswith(f"-XX:SharedArchiveFile={archive}")
    archive.write_bytes(b"Classes")
    assert options(place) == "" and not archive.exists()


def test_an_archive_that_nobody_used_for_long_goes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, age in (("spark-old", 40), ("spark-new", 4)):
        (place.parent / name).mkdir()
        (place.parent / name / "classes-0.jsa").touch()
        os.utime(place.parent / name, (time.time() - age * 86_400,) * 2)
    monkeypatch.setattr(class_archive, "_loaded", lambda told: Path(told.partition("=")[2]).write_text("x"))
    monkeypatch.setattr(os, "nice", lambda more: 0)
    make(place)
    left = sorted(path.parent.name for path in place.parent.glob("*/classes-*.jsa"))
    assert left == sorted(["spark-new", place.name])


def java(place: Path, *told: str) -> tuple[int, str]:
    """What a small program among Spark's jars prints."""
    jars = next((place / "jars").glob("spark-launcher*.jar"))
    command = ["java", *told, "-cp", str(jars), MAIN, "org.apache.spark.deploy.SparkSubmit", "--version"]
    env = {**os.environ, "SPARK_HOME": str(place), "SPARK_SCALA_VERSION": "2.13"}
    done = subprocess.run(command, capture_output=True, env=env, text=True, timeout=120, check=False)
    return done.returncode, done.stdout


@pytest.fixture
def archive(place: Path) -> Path:
    """An archive of the classes of that program."""
    fresh = place / "classes.new"
    assert java(place, f"-XX:ArchiveClassesAtExit={fresh}")[0] == 0
    return fresh.replace(place / f"classes-{class_archive._checksum(fresh)}.jsa")


def test_the_jvm_takes_an_archive_that_fits(archive: Path) -> None:
    plain = java(archive.parent)
    assert plain[0] == 0 and plain[1]
    assert java(archive.parent, *options(archive.parent).split()) == plain
    loud = [each for each in options(archive.parent).split() if not each.startswith("-Xlog")]
    assert "source: shared objects file (top)" in java(archive.parent, *loud, "-Xlog:class+load")[1]


@pytest.mark.parametrize("kept", [0, 1_000, 100_000])
def test_an_archive_that_is_damaged_is_not_taken(kept: int, archive: Path) -> None:
    data = archive.read_bytes()
    archive.chmod(0o600)
    archive.write_bytes(data[:kept])
    assert options(archive.parent) == ""


def test_the_jvm_passes_over_an_archive_of_another_place(archive: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "jars").symlink_to(archive.parent / "jars")
    plain = java(other)
    assert plain[0] == 0 and plain[1]
    assert java(other, *options(archive.parent).split()) == plain
    (other / "text").write_text("no archive at all\n" * 10_000)
    assert java(other, *QUIET.split(), f"-XX:SharedArchiveFile={other / 'text'}") == plain


@pytest.mark.long
@pytest.mark.spark
def test_a_run_takes_the_archive_that_was_made_behind_the_one_before(tmp_path: Path) -> None:
    env = {**os.environ, CACHE: str(tmp_path / "cache")}
    (tmp_path / "q.rq").write_text("SELECT * { STREAM <s> [NOW] { ?s ?p ?o } }")
    (tmp_path / "s.tnq").write_text("1\t<http://e/s> <http://e/p> <http://e/o> .\n")
    command = [sys.executable, "-m", "weir", "run", "q.rq", "--stream", "s=s.tnq", "--format", "jsonl"]

    def run() -> str:
        done = subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=240, check=True
        )
        return done.stdout

    told = run()
    assert "http://e/o" in told
    until = time.monotonic() + 240
    while not (found := list((tmp_path / "cache").glob("spark-*/classes-*.jsa"))):
        assert time.monotonic() < until
        time.sleep(0.5)
    assert run() == told
    found[0].write_bytes(found[0].read_bytes()[:100_000])
    assert run() == told


def test_what_is_told_to_the_jvm_is_known_to_it(place: Path) -> None:
    assert java(place, *QUIET.split())[0] == 0
