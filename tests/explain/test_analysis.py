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


def test_what_every_slot_gets_is_told(tmp_path: Path) -> None:
    """Where a slot gets all of some predicate, it has those and its part of the others."""
    text = QUERY.replace("GRAPH <plan> { ?x :next ?y }", "").replace("?b :in ?y", "?b :on ?y")
    (tmp_path / "q.rspql").write_text(text)
    triple = "{}\t<http://e/{}> <http://e/{}> <http://e/r> .\n"
    lines = [triple.format(n, n, "in" if n % 2 else "on") for n in range(400)]
    (tmp_path / "s.tnq").write_text("".join(lines))
    files = ["--analyze", "--stream", f"s={tmp_path / 's.tnq'}"]
    done = CliRunner().invoke(app, ["explain", str(tmp_path / "q.rspql"), *files])
    assert "at most 8, by ?a, wherever a pattern has it" in done.output, done.output
    assert "each slot gets all triples of <http://e/on>" in done.output
    shown = [line for line in done.output.splitlines() if line.startswith("over ")]
    assert [line.partition(":")[0] for line in shown] == ["over 2 slots", "over 8 slots"]
    assert "the mean of 300 triples" in shown[0] and "the mean of 225 triples" in shown[1]


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
