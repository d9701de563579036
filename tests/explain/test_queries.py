"""`weir explain --analyze`: what was done, counted, without Spark."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from weir.cli.main import app

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


def test_all_shows_what_a_set_shares(tmp_path: Path) -> None:
    head = "SELECT * FROM NAMED WINDOW <w> ON <s> [TRIPLES 9] WHERE { WINDOW <w> "
    body = "\n---\n".join(f"{head} {{ ?x <p{n % 3}> ?y . ?x <q> <c{n}> }} }}" for n in range(20))
    (tmp_path / "many.rq").write_text(body, encoding="utf-8")
    (tmp_path / "ask.rq").write_text(f"{head} {{ ?x <p> ?y }} SERVICE <http://e/> {{ ?y <b> ?c }} }}")
    files = [str(tmp_path / name) for name in ("many.rq", "ask.rq")]
    done = CliRunner().invoke(app, ["explain", "--all", *files])
    assert done.exit_code == 0, done.output
    assert "20 queries, 20 different" in done.output
    assert "40 triple patterns share 23 machines" in done.output
    assert "20 queries share one evaluator per slot" in done.output
    assert "ask by itself: more than triple patterns on its window" in done.output
    assert CliRunner().invoke(app, ["explain", *files]).exit_code == 2


def test_names_of_graphs_are_shown_as_wanted(tmp_path: Path) -> None:
    windowed = "SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { %s } }"
    for body, text in (
        ("GRAPH ?g {}", "anything, once a message, in every named graph"),
        ("GRAPH <http://e/g> {}", "anything, once a message, in <http://e/g>"),
    ):
        (tmp_path / "q.rspql").write_text(windowed % body)
        done = CliRunner().invoke(app, ["explain", str(tmp_path / "q.rspql")])
        assert done.exit_code == 0 and text in done.output, done.output
