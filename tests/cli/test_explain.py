"""``weir explain`` and ``weir translate``: what they print, what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_kit import EX, localisation, weir
from weir.cli.explain import translate


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    localisation(tmp_path)
    return tmp_path


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


@pytest.mark.usefixtures("folder")
def test_what_a_query_means_comes_first_and_its_syntax_on_request() -> None:
    shown = weir("explain", "reaches.rq").stdout
    assert shown.startswith("== meaning ==\n") and "== ast ==" not in shown
    assert "== ast ==" in weir("explain", "reaches.rq", "--syntax").stdout


@pytest.mark.usefixtures("folder")
def test_a_translation_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    translate(Path("reaches.rq"), "rspql")
    assert "ISTREAM" in capsys.readouterr().out
