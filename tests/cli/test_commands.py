"""Commands that need no Spark: what they print, what they refuse, and what all of them share."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from cli_kit import localisation, weir
from weir.cli.options import pair, read_query, reported
from weir.cli.run import summary
from weir.errors import EvaluationError, UsageError
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.output.metrics import Metrics


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    localisation(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("rfid=a.tnq", ("rfid", "a.tnq")),
        ("<http://e/s>=mqtt://h/t?qos=1", ("http://e/s", "mqtt://h/t?qos=1")),
        ("http://e/?x=1=floor.ttl", ("http://e/?x=1", "floor.ttl")),
    ],
)
def test_the_first_cut_that_leaves_something_to_read_counts(
    text: str, parts: tuple[str, str], folder: Path
) -> None:
    assert pair(text, "--stream", "IRI=SOURCE") == parts


def test_a_query_file_is_read_or_named(folder: Path) -> None:
    assert read_query(folder / "reaches.rq").startswith("PREFIX")
    with pytest.raises(UsageError, match="no such query file"):
        read_query(folder / "missing.rq")
    (folder / "latin.rq").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot read"):
        read_query(folder / "latin.rq")


@pytest.mark.parametrize(("error", "status"), [(UsageError("u"), 2), (EvaluationError("e"), 1)])
def test_errors_have_the_status_of_their_kind(
    error: Exception, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as left, reported():
        raise error
    assert left.value.exit_code == status
    assert capsys.readouterr().err.startswith("weir: ")


def test_the_summary_tells_what_was_set_aside() -> None:
    metrics = Metrics()
    assert "\n" not in summary(metrics, None)
    metrics.rejected = 2
    assert summary(metrics, Path("dead.jsonl")).endswith("weir: 2 set aside in dead.jsonl")


def spark_must_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: object) -> None:
        raise AssertionError("Spark was started")

    for module in ("job", "rescale"):
        monkeypatch.setattr(f"weir.spark.{module}.open_session", started)
    monkeypatch.setattr("weir.cli.load.open_session", started)


REACHES = ["reaches.rq", "--stream", "rfid=rfid.tnq"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", *REACHES, "--checkpoint", "gs://bucket/ck"],
        ["run", *REACHES, "--out", "abfs://host:8020/out.jsonl", "--format", "jsonl"],
        ["run", *REACHES, "--dead-letters", "gs://bucket/dead"],
        ["run", *REACHES, "--late", "abfss://c@a/late"],
        ["run", *REACHES, "--to", "files:gs://bucket/out"],
        ["run", *REACHES, "--to", "jsonl:gs://bucket/out"],
        ["run", *REACHES, "--to", "s3a://bucket/out"],
        ["run", *REACHES, "--graph", "floorplan=gs://bucket/floor.ttl"],
        ["run", *REACHES, "--stream", "more=abfs://host/stream"],
        ["run", *REACHES, "--stream", "more=replay:s3a://b/stream.tnq?rate=1"],
        ["run", "s3a://bucket/reaches.rq", "--stream", "rfid=rfid.tnq"],
        ["try", *REACHES, "--out", "gs://bucket/out.jsonl"],
        ["try", *REACHES, "--to", "files:hdfs://host/out"],
        ["try", *REACHES, "--default-graph", "gs://bucket/floor.ttl"],
        ["try", *REACHES, "--dead-letters", "gs://bucket/dead"],
        ["serve", "--data", "s3a://bucket/data"],
        ["serve", "--config", "data.toml"],
        ["serve", "--dataset", "d=hdfs://host/d.nq"],
        ["serve", "--dataset", "d=facts.nq", "--facts", "s3a://bucket/facts"],
        ["load", "s3a://bucket/floor.ttl", "--into", "store"],
        ["load", "floorplan=floor.ttl", "--into", "hdfs://host/store"],
        ["rescale", "s3a://bucket/ck", "--partitions", "3"],
        ["explain", "reaches.rq", "--analyze", "--stream", "rfid=gs://bucket/rfid.tnq"],
        ["explain", *REACHES, "--analyze", "--graph", "floorplan=abfs://host/floor.ttl"],
    ],
)
def test_schemes_that_do_not_work_are_refused_before_spark_starts(
    folder: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As paths they would be local folders of that name."""
    spark_must_not_start(monkeypatch)
    (folder / "data.toml").write_text('data = "s3a://bucket/data"')
    (folder / "facts.nq").write_text("")
    before = sorted(folder.iterdir())
    done = weir(*arguments)
    assert done.exit_code == 2, done.stderr
    works = (
        r"(does not work|on a disk|unknown kind of stream)(?s:.*)file:///path|kind of sink(?s:.*)files:DIR"
    )
    assert re.search(works, done.stderr), done.stderr
    assert sorted(folder.iterdir()) == before


def test_addresses_of_files_are_paths(folder: Path) -> None:
    at = folder.as_uri()
    done = weir(
        "try", f"{at}/reaches.rq", "--stream", f"rfid={at}/rfid.tnq", "--format", "jsonl",
        "--out", f"{at}/out.jsonl", "--graph", f"floorplan={at}/floor.ttl",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert (folder / "out.jsonl").read_text()
    assert not list(folder.glob("file:*"))


def test_a_second_job_is_refused_before_spark_starts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spark_must_not_start(monkeypatch)
    lease = Checkpoint.take(folder / "ck")
    done = weir(
        "run", "reaches.rq", "--stream", "rfid=file://" + str(folder / "rfid.tnq"), "--checkpoint", "ck"
    )
    lease.close()
    assert done.exit_code == 2
    assert "another job runs with the checkpoint" in done.stderr
    assert "stop it first" in done.stderr


WARNED = """PREFIX : <http://example.org/>
SELECT ?p ?l ?nobody FROM NAMED :plan FROM NAMED WINDOW :w ON <rfid> [RANGE 2 STEP 1]
WHERE { WINDOW :w { ?p :detectedAt ?l } OPTIONAL { GRAPH :plan { ?l :conn ?m } } }"""


def test_what_is_hardly_meant_draws_a_warning_and_strict_refuses_it(folder: Path) -> None:
    (folder / "q.rq").write_text(WARNED)
    done = weir("try", "q.rq", "--stream", "rfid=rfid.tnq")
    assert done.exit_code == 0, done.stderr
    assert "weir: warning: the query 'q': ?nobody can never be bound where SELECT uses it" in done.stderr
    assert "weir: warning: the query 'q': the graph <http://example.org/plan> is not given" in done.stderr
    assert ":m1" in done.stdout and "<http://example.org/" not in done.stdout
    given = weir("try", "q.rq", "--stream", "rfid=rfid.tnq", "--graph", "http://example.org/plan=floor.ttl")
    assert "is not given" not in given.stderr
    refused = weir("try", "q.rq", "--stream", "rfid=rfid.tnq", "--strict")
    assert (refused.exit_code, refused.stdout) == (2, "")
