"""Shapes: which queries are the same up to constants and names, and which have to stay alone."""

from __future__ import annotations

import pytest

from weir.language import parse
from weir.plan.analysis.templates import NUMBER, Instance, instance, template
from weir.plan.parameters import ParameterTable

HEAD = "FROM NAMED WINDOW <w> ON STREAM <s> [RANGE PT10S STEP PT1S] WHERE { "


def shape(text: str) -> Instance:
    found = instance(parse(text))
    assert isinstance(found, Instance), found
    return found


def test_constants_of_patterns_and_comparisons_become_parameters():
    one = shape("SELECT ?s " + HEAD + "WINDOW <w> { ?s <p> <a> ; <q> ?v FILTER (?v > 10) } }")
    two = shape("SELECT ?x " + HEAD + "WINDOW <w> { ?x <p> <b> ; <q> ?y FILTER (?y > 99) } }")
    assert one.shape == two.shape
    assert {str(term) for term in one.constants} == {
        "<a>",
        '"10"^^<http://www.w3.org/2001/XMLSchema#integer>',
    }
    assert one.constants != two.constants
    assert (one.names, two.names) == ((("v0", "s"),), (("v0", "x"),))


def test_predicates_stay_in_the_shape():
    one = shape("SELECT * " + HEAD + "WINDOW <w> { ?s <p> ?o OPTIONAL { ?o <q> <a> } } }")
    two = shape("SELECT * " + HEAD + "WINDOW <w> { ?s <p> ?o OPTIONAL { ?o <r> <a> } } }")
    assert one.shape != two.shape


def test_names_of_windows_do_not_matter_but_windows_do():
    one = "SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE PT1S STEP PT1S] WHERE { WINDOW <w> { ?s <p> <a> } }"
    assert shape(one).shape == shape(one.replace("<w>", "<other>")).shape
    assert shape(one).shape != shape(one.replace("RANGE PT1S", "RANGE PT2S")).shape


def test_the_template_carries_the_number_of_the_query():
    one = shape("SELECT ?s " + HEAD + "WINDOW <w> { { ?s <p> <a> } UNION { ?s <q> <b> } } }")
    query = template(one.shape, ParameterTable(2))
    assert query.form.variables[-1] == NUMBER
    assert query.pattern.variables[-1] == NUMBER


def test_identical_queries_need_no_number():
    one = shape("SELECT ?s " + HEAD + "WINDOW <w> { ?s <p> ?o MINUS { ?s <q> <b> } } }")
    assert one.shape.parameters == ()
    assert template(one.shape, ParameterTable(0)) == one.shape.query


def test_constants_of_what_construct_makes_and_of_bind_are_parameters():
    text = "CONSTRUCT { ?s <is> <a> } " + HEAD + "WINDOW <w> { ?s <p> ?o BIND (<a> AS ?b) } }"
    one, two = shape(text), shape(text.replace("<a>", "<b>"))
    assert one.shape == two.shape and one.shape.key == two.shape.key
    assert {str(term) for term in one.constants} == {"<a>"}
    assert template(one.shape, ParameterTable(2)).form.beside == (NUMBER,)


def test_keys_differ_where_shapes_do():
    one = shape("SELECT ?s " + HEAD + "WINDOW <w> { ?s <p> <a> } ?s <q> <b> }")
    two = shape("SELECT ?s " + HEAD + "WINDOW <w> { ?s <p> <a> . ?s <q> <b> } }")
    assert one.shape.key != two.shape.key


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ASK " + HEAD + "WINDOW <w> { ?s <p> <a> } }", "neither a SELECT nor"),
        ("SELECT * " + HEAD + "WINDOW <w> { ?s <p> <a> } } LIMIT 2", "ORDER BY, LIMIT or OFFSET"),
        ("SELECT * " + HEAD + "WINDOW <w> { ?s <p> <a> } BIND (RAND() AS ?r) }", "RAND, which is seeded"),
        ("CONSTRUCT { ?s <q> [] } " + HEAD + "WINDOW <w> { ?s <p> <a> } }", "CONSTRUCT of blank nodes"),
        ("SELECT * " + HEAD + "WINDOW <w> { ?s <p> <a> } SERVICE <e> { ?s <q> ?o } }", "SERVICE"),
    ],
)
def test_what_cannot_be_shared_says_why(text, reason):
    found = instance(parse(text))
    assert isinstance(found, str)
    assert reason in found
