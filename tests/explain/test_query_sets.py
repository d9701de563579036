"""``explain --all``: states, templates and sharing as text; the constraints of Table 1 by their names."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir.cli.main import app
from weir.explain.query_sets import constraints, explain_set_text
from weir.language import parse

HEAD = "SELECT * FROM NAMED WINDOW <w> ON STREAM <s> [TRIPLES 100 CONTENT BAG] WHERE { WINDOW <w> "
QUERIES = {
    "q1": HEAD + "{ ?x1 <b> <c> . ?x1 <d> <e> } }",
    "q2": HEAD + "{ ?x2 <b> <c> . ?x2 <d> <e> . <a> <d> ?x2 } }",
    "q3": HEAD + "{ ?y <b> <c> . ?y <d> <e> } }",
    "q4": HEAD + "{ ?y <b> <f> . ?y <d> <g> } }",
    "hot": HEAD + "{ ?r <value> ?v FILTER (?v > 20) } }",
    "hotter": HEAD + "{ ?reading <value> ?value FILTER (?value > 30) } }",
    "odd": HEAD + "{ ?r <value> ?v OPTIONAL { ?r <unit> ?u } } }",
    "first": HEAD + "{ ?r <value> ?v } } LIMIT 1",
}

SHOWN = """8 queries

conjunctions on <s> [TRIPLES 100 REPORT CONTENT CHANGE CONTENT BAG], RSTREAM
  4 queries, 3 different up to the names of variables; equal ones are evaluated once
  automaton: 11 states; 9 triple patterns share 5 machines
  steps: 7 of the different queries share 7 nodes
  templates: 2, with the number of their queries
         3  (?1 # #) (?1 # #)   m1m2 → SS
         1  (# # ?1) (?1 # #) (?1 # #)   m1m2 → OS, m1m3 → OS, m2m3 → SS

template of 2 queries: 2 different, evaluated once
  1 constant in a row of its table for each
  hot, hotter

by itself: 2 queries
  odd: no other query of its shape
  first: ORDER BY, LIMIT or OFFSET
"""


def test_the_whole_set_is_shown():
    assert explain_set_text({name: parse(text) for name, text in QUERIES.items()}) == SHOWN


# Variables 0, 1 are shared; −1 is a constant; others occur once.
TABLE_1 = {
    "SS": ((0, -1, -1), (0, -1, -1)),
    "PP": ((-1, 0, -1), (-1, 0, -1)),
    "OO": ((-1, -1, 0), (-1, -1, 0)),
    "SO": ((0, -1, -1), (-1, -1, 0)),
    "OS": ((-1, -1, 0), (0, -1, -1)),
    "SSPP": ((0, 1, -1), (0, 1, -1)),
    "SSOO": ((0, -1, 1), (0, -1, 1)),
    "PPOO": ((-1, 0, 1), (-1, 0, 1)),
    "SOPP": ((0, 1, -1), (-1, 1, 0)),
    "OSPP": ((-1, 1, 0), (0, 1, -1)),
}


@pytest.mark.parametrize("name", TABLE_1)
def test_constraint_of_table_1_is_found_and_named(name):
    assert constraints(TABLE_1[name]) == [f"m1m2 → {name}"]


def test_figure_2():
    #      (?x1, b, c)   (?x1, d, e)
    q1 = ((0, -1, -1), (0, -1, -1))
    #      (?x2, b, c)   (?x2, d, e)   (a, d, ?x2)
    q2 = ((0, -1, -1), (0, -1, -1), (-1, -1, 0))
    assert constraints(q1) == ["m1m2 → SS"]
    assert constraints(q2) == ["m1m2 → SS", "m1m3 → SO", "m2m3 → SO"]


def test_three_shared_variables_are_one_constraint():
    assert constraints(((0, 1, 2), (0, 1, 2))) == ["m1m2 → SSPPOO"]


def test_a_predicate_may_join_a_subject():
    assert constraints(((0, 1, -1), (1, -1, 2))) == ["m1m2 → PS"]


def test_a_variable_twice_in_one_pattern_constrains_that_pattern():
    assert constraints(((0, -1, 0), (0, -1, 1))) == ["m1m1 → SO", "m1m2 → OSSS"]


def test_patterns_without_a_shared_variable_have_no_constraint():
    assert constraints(((0, -1, 1), (2, -1, 3))) == []


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
    assert "ask: SERVICE" in done.output
    assert CliRunner().invoke(app, ["explain", *files]).exit_code == 2
