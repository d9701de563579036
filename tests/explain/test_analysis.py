"""``weir explain --analyze``: what was done, counted, without Spark."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from weir.cli.main import app
from weir.explain.analysis import analyze_text
from weir.language import parse
from weir.linked.graphs import GraphSources

QUERY = """PREFIX : <http://e/>
SELECT ?a ?b FROM NAMED WINDOW <now> ON <s> [NOW] FROM NAMED WINDOW <all> ON <s> [ALL]
WHERE { WINDOW <now> { ?a :in ?x } WINDOW <all> { ?b :in ?y } GRAPH <plan> { ?x :next ?y } }"""


def test_analyze_runs_the_query_and_shows_the_routes_taken(tmp_path: Path) -> None:
    (tmp_path / "q.rspql").write_text(QUERY)
    (tmp_path / "s.tnq").write_text(
        "2\t<http://e/n> <http://e/in> <http://e/r2> .\n1\t<http://e/m> <http://e/in> <http://e/r1> .\n"
    )
    (tmp_path / "plan.nt").write_text("<http://e/r2> <http://e/next> <http://e/r1> .\n")
    files = ["--stream", f"s={tmp_path / 's.tnq'}", "--graph", f"plan={tmp_path / 'plan.nt'}"]
    done = CliRunner().invoke(app, ["explain", str(tmp_path / "q.rspql"), "--analyze", *files])
    assert done.exit_code == 0, done.output
    assert "answers: 1 in 2 evaluations" in done.output
    assert "routes:" in done.output


def test_analyze_needs_a_file_for_every_stream(tmp_path: Path) -> None:
    (tmp_path / "q.rspql").write_text(QUERY)
    done = CliRunner().invoke(app, ["explain", str(tmp_path / "q.rspql"), "--analyze"])
    assert done.exit_code == 2
    assert "no file for the stream <s>" in done.output


def test_how_a_split_query_would_be_spread_is_told(tmp_path: Path) -> None:
    file = tmp_path / "s.tnq"
    file.write_text("".join(f"{n}\t<http://e/{n}> <http://e/in> <http://e/r> .\n" for n in range(8)))
    told = analyze_text(
        parse("SELECT * { STREAM <s> [NOW] { ?a <http://e/in> ?x } }"), {"s": file}, GraphSources()
    )
    assert "over 2 slots: the fullest has" in told and "x the mean of 4 triples" in told
