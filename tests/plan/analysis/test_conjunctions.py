"""Conjunctive queries: which are, which are not and why."""

from __future__ import annotations

import pytest

from weir.language import parse
from weir.plan.analysis.conjunctions import Conjunction, conjunction, signature

HEAD = "FROM NAMED WINDOW <w> ON STREAM <s> [RANGE PT10S STEP PT1S] WHERE { "


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT * " + HEAD + "WINDOW <w> { ?s <p> <a> FILTER (?s != <b>) } }", "more than triple patterns"),
        ("SELECT * " + HEAD + "WINDOW <w> { ?s <p> <a> } ?s <p> ?o }", "more than triple patterns"),
        ("SELECT (COUNT(*) AS ?n) " + HEAD + "WINDOW <w> { ?s <p> <a> } }", "more than triple patterns"),
        ("SELECT * " + HEAD + "WINDOW <w> { ?s <p> <a> } } LIMIT 3", "a solution modifier"),
        ("CONSTRUCT { ?s <p> <a> } " + HEAD + "WINDOW <w> { ?s <p> <a> } }", "not a SELECT"),
    ],
)
def test_what_is_no_conjunction_says_why(text, reason):
    found = conjunction(parse(text))
    assert isinstance(found, str)
    assert reason in found


def test_patterns_in_several_groups_are_one_conjunction():
    found = conjunction(
        parse("SELECT DISTINCT ?s " + HEAD + "WINDOW <w> { ?s <p> ?o } WINDOW <w> { ?o <q> <a> } }")
    )
    assert isinstance(found, Conjunction)
    assert (len(found.patterns), found.distinct) == (2, True)


def test_a_window_in_the_default_graph_needs_the_default_graph_to_itself():
    query = parse("SELECT * FROM WINDOW <w> ON STREAM <s> [TRIPLES 5] WHERE { ?s <p> ?o }")
    assert isinstance(conjunction(query), Conjunction)
    assert conjunction(query, bare_default=False) == "its patterns may match static triples"


def test_queries_that_differ_in_names_alone_have_one_signature() -> None:
    one = signature(parse("SELECT ?s " + HEAD + "WINDOW <w> { ?s <p> ?o . ?o <q> <a> } }"))
    two = signature(parse("SELECT ?x " + HEAD + "WINDOW <w> { ?x <p> ?y . ?y <q> <a> } }"))
    other = signature(parse("SELECT ?x " + HEAD + "WINDOW <w> { ?x <p> ?y . ?x <q> <a> } }"))
    assert one == two and one != other and one is not None
    assert signature(parse("ASK " + HEAD + "WINDOW <w> { ?s <p> ?o } }")) is None
