"""INSERT DATA and DELETE DATA."""

from __future__ import annotations

import pytest

import weir
from weir.language.update import Update, parse_update
from weir.rdf.terms import IRI, RDF, XSD, BlankNode, Literal, TripleTerm

A, B, C = (IRI(f"http://e/{name}") for name in "abc")
REIFIES = IRI(RDF + "reifies")
PREFIX = "PREFIX : <http://e/> "


def test_data_in_graphs() -> None:
    updates = parse_update(PREFIX + "INSERT DATA { :a :b :c , 1 . GRAPH :c { :a :b [] } . :c :b :a } ; ")
    assert updates == (
        Update(
            (
                (A, B, C, None),
                (A, B, Literal("1", XSD + "integer"), None),
                (A, B, BlankNode(".1"), "http://e/c"),
                (C, B, A, None),
            )
        ),
    )


def test_operations_follow_one_another() -> None:
    updates = parse_update(PREFIX + "DELETE DATA { :a :b :c } ; INSERT DATA { :c :b :a }")
    assert updates == (Update(((A, B, C, None),), True), Update(((C, B, A, None),)))
    assert parse_update("") == ()
    assert parse_update("INSERT DATA {}") == (Update(()),)


def test_triple_terms_and_reifiers() -> None:
    stated = TripleTerm(A, B, TripleTerm(A, B, C))
    text = (
        "{0} DATA {{ :c :b <<( :a :b <<( :a :b :c )>> )>> }} ; INSERT DATA {{ :a :b :c ~ :c {{| :b :a |}} }}"
    )
    for word in ("INSERT", "DELETE"):
        assert parse_update(PREFIX + text.format(word)) == (
            Update(((C, B, stated, None),), word == "DELETE"),
            Update(((A, B, C, None), (C, REIFIES, TripleTerm(A, B, C), None), (C, B, A, None))),
        )


@pytest.mark.parametrize(
    ("text", "primary"),
    [
        ("INSERT DATA { :a :b ?x }", "data may hold no variables"),
        ("INSERT DATA { GRAPH ?g { :a :b :c } }", "expected the IRI of a graph"),
        ("DELETE DATA { :a :b _:c }", "DELETE DATA may hold no blank nodes"),
        ("INSERT DATA { 1 :b :c }", "a literal or a triple term cannot be a subject"),
        ("DELETE WHERE { :a :b :c }", "expected DATA"),
        ("INSERT DATA { :a :b :c } INSERT DATA {}", "expected ';'"),
        ("INSERT DATA { :a :b :c :d }", "expected '.' or '}'"),
        ("CLEAR ALL", "expected INSERT DATA or DELETE DATA"),
        ("INSERT DATA { :a :b :c", "expected"),
    ],
)
def test_what_is_refused(text: str, primary: str) -> None:
    with pytest.raises(weir.SyntaxError) as caught:
        parse_update(PREFIX + text)
    assert caught.value.primary.startswith(primary)
