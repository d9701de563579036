"""Commands that need no Spark: what they print, what they refuse, and what all of them share."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from cli_kit import EX, localisation, weir
from weir.cli.bench import BENCHMARKS
from weir.cli.options import pair, read_query, reported, summary
from weir.errors import EvaluationError, UsageError
from weir.runtime.output.metrics import Metrics


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    localisation(tmp_path)
    return tmp_path


def test_every_command_has_its_help() -> None:
    shown = weir("--help").stdout
    for command in ["run", "load", "explain", "translate", "follow", "serve", "demo", "generate", "bench"]:
        assert command in shown


@pytest.mark.usefixtures("folder")
def test_explain_and_translate() -> None:
    shown = weir("explain", "reaches.rq")
    assert shown.exit_code == 0
    assert "== algebra ==" in shown.stdout
    assert f"? <{EX}detectedAt> ?" in shown.stdout
    written = weir("translate", "reaches.rq", "--to", "rspql")
    assert written.exit_code == 0
    assert "ISTREAM" in written.stdout
    refused = weir("translate", "reaches.rq", "--to", "sparqlstream")
    assert refused.exit_code == 2
    assert "cannot express" in refused.stderr


def test_explain_with_a_set_needs_all(folder: Path) -> None:
    done = weir("explain", "reaches.rq", "reaches.rq")
    assert (done.exit_code, "with --all" in done.stderr) == (2, True)
    same = weir("explain", "reaches.rq", "reaches.rq", "--all")
    assert (same.exit_code, "the same name" in same.stderr) == (2, True)
    missing = weir("explain", "reaches.rq", "--analyze")
    assert "no file for the stream <rfid>" in missing.stderr


def test_an_unknown_benchmark_is_bad_usage() -> None:
    done = weir("bench", "everything")
    assert done.exit_code == 2
    assert f"one of {', '.join(BENCHMARKS)}, all" in done.stderr


def test_a_conference_has_a_least_size(tmp_path: Path) -> None:
    assert weir("generate", tmp_path, "--triples", "10").exit_code == 2


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
