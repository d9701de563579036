"""Where two queries differ on the same data, and which option makes it so."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_kit import weir
from weir.explain.differences import compared
from weir.language import parse
from weir.notebook import query

LINE = '{}\t<http://e/s{}> <http://e/temp> "{}"^^<http://www.w3.org/2001/XMLSchema#decimal> .\n'
CLOSES = """SELECT ?s ?t FROM NAMED WINDOW <w> ON <http://e/stream> [RANGE PT3S STEP PT1S]
WHERE { WINDOW <w> { ?s <http://e/temp> ?t } }"""
CHANGES = CLOSES.replace("PT1S]", "PT1S REPORT CONTENT CHANGE]")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("s.tnq").write_text("".join(LINE.format(1000 * n, n % 2, 20 + n) for n in range(1, 5)))
    Path("closes.rq").write_text(CLOSES)
    Path("changes.rq").write_text(CHANGES)
    return tmp_path


STREAM = ("--stream", "http://e/stream=s.tnq")


@pytest.mark.usefixtures("folder")
def test_the_option_that_makes_the_difference_is_named() -> None:
    done = weir("compare", "closes.rq", "changes.rq", *STREAM)
    assert done.exit_code == 1, done.stderr
    assert "first at 1970-01-01T00:00:01.000Z" in done.stdout
    assert "  only changes: ?s=<http://e/s1> ?t=21" in done.stdout
    assert "why: report. With WINDOW CLOSE, changes gives what closes gives" in done.stdout


def test_a_difference_of_patterns_is_no_matter_of_options(folder: Path) -> None:
    (folder / "other.rq").write_text(CLOSES.replace("e/temp", "e/none"))
    done = weir("compare", "closes.rq", "other.rq", *STREAM)
    assert done.exit_code == 1
    assert "both have the same window options: their patterns or forms" in done.stdout


@pytest.mark.usefixtures("folder")
def test_the_same_query_gives_the_same() -> None:
    done = weir("compare", "closes.rq", "closes.rq", *STREAM)
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "the same results")


def test_one_query_in_two_dialects(folder: Path) -> None:
    (folder / "c.rq").write_text("SELECT ?s FROM STREAM <http://e/stream> [RANGE 3s STEP 1s] { ?s ?p ?t }")
    done = weir("compare", "c.rq", "--dialect", "csparql", "--dialect", "auto", *STREAM)
    assert done.exit_code == 0, done.output
    refused = weir("compare", "c.rq", *STREAM)
    assert (refused.exit_code, "two queries, or one and two dialects" in refused.stderr) == (2, True)


@pytest.mark.usefixtures("folder")
def test_it_is_told_which_option_it_was_though_several_differ() -> None:
    first, second = parse(CLOSES), parse(CHANGES.replace("RANGE PT3S", "RANGE PT4S"))
    same, told = compared(
        ("one", "other"),
        first,
        second,
        lambda text, dialect: query(text, {"http://e/stream": "s.tnq"}, dialect=dialect).texts,
    )
    assert not same
    assert "  report  WINDOW CLOSE" in told and "  window  " in told
    assert "partly why: " in told or "why: no one option alone" in told
