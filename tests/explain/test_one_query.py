"""``weir explain`` of one query: its stages, the evaluator that takes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir.cli.main import app
from weir.explain.one_query import explain_text
from weir.language import parse

QUERY = """PREFIX : <http://e/>
SELECT ?a ?b FROM NAMED WINDOW <now> ON <s> [NOW] FROM NAMED WINDOW <all> ON <s> [ALL]
WHERE { WINDOW <now> { ?a :in ?x } WINDOW <all> { ?b :in ?y } GRAPH <plan> { ?x :next ?y } }"""


def test_names_of_graphs_are_shown_as_wanted() -> None:
    windowed = "SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { %s } }"
    for body, text in (
        ("GRAPH ?g {}", "anything, once a message, in every named graph"),
        ("GRAPH <http://e/g> {}", "anything, once a message, in <http://e/g>"),
    ):
        assert text in explain_text(parse(windowed % body))


@pytest.mark.parametrize(
    ("routing", "said"),
    [
        ("cost", "routed by cost: after each operator, the join that gives the fewest rows"),
        ("cardinality", "routed by cardinality: after each operator, the input with the fewest rows"),
    ],
)
def test_the_routing_is_the_one_that_was_asked_for(tmp_path: Path, routing: str, said: str) -> None:
    (tmp_path / "q.rspql").write_text(QUERY)
    done = CliRunner().invoke(app, ["explain", str(tmp_path / "q.rspql"), "--routing", routing])
    assert done.exit_code == 0 and said in done.output


def test_an_unknown_routing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "q.rspql").write_text(QUERY)
    done = CliRunner().invoke(app, ["explain", str(tmp_path / "q.rspql"), "--routing", "luck"])
    assert done.exit_code == 2 and "known are cardinality, cost" in done.output


def test_every_stage_has_its_heading() -> None:
    headings = [line.strip("= ") for line in explain_text(parse(QUERY)).splitlines() if line[:2] == "=="]
    stages = ["meaning", "semantics", "dataset", "algebra", "plan", "evaluator", "streams", "layout"]
    assert headings == stages
    assert "\n\n== ast ==\nSelect at " in explain_text(parse(QUERY), syntax=True)


def test_what_is_sent_out_is_said_in_words() -> None:
    said = explain_text(parse(QUERY.replace("SELECT", "REGISTER ISTREAM <out> AS SELECT")))
    assert "It sends the answers that are new since the evaluation before (ISTREAM)" in said
