"""Triples, triple terms, reifiers and annotations, as plain triples."""

from __future__ import annotations

import pytest

from weir.errors import SyntaxError
from weir.language.algebra.patterns import TripleTermPattern
from weir.language.syntax.lexer import Source, Tokens
from weir.language.syntax.triples import FIRST, NIL, REIFIES, REST, Triple, TripleParser
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, TripleTerm, Variable

X, Y, P, Q, R = Variable("x"), Variable("y"), IRI("http://e/p"), IRI("http://e/q"), IRI("http://e/r")
TERM = TripleTermPattern(X, P, Y)


def parser(text: str) -> TripleParser:
    found = TripleParser(Tokens(Source(text)), None, None)
    found.prefixes[""] = "http://e/"
    return found


def triples(text: str) -> list[tuple[object, object, object]]:
    out: list[Triple] = []
    reading = parser(text + " .")
    reading.same_subject(out, True)
    reading.expect(".")
    return [(each.subject, each.predicate, each.object) for each in out]


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("?x", X),
        (":a\\,b", IRI("http://e/a,b")),
        ("-1.5", Literal("-1.5", XSD + "decimal")),
        ("_:b", BlankNode("b")),
        ("<<( ?x :p ?y )>>", TERM),
        ("<<(?x :p <<(?x :p ?y)>>)>>", TripleTermPattern(X, P, TERM)),
    ],
)
def test_nodes(text: str, term: object) -> None:
    assert parser(text).node([], True) == term


def test_lists_are_spelled_out() -> None:
    out: list[Triple] = []
    head = parser("(?x)").node(out, True)
    assert [(t.subject, t.predicate, t.object) for t in out] == [(head, FIRST, X), (head, REST, NIL)]


def test_one_subject_with_its_predicates_and_objects() -> None:
    assert [p for _, p, _ in triples("?x :p 1, 2 ; :q [ :p 3 ]")] == [P, P, P, Q]


def test_a_reified_triple_is_its_reifier() -> None:
    assert triples("<< ?x :p ?y ~ :r >> :q 1") == [
        (R, REIFIES, TERM),
        (R, Q, Literal("1", XSD + "integer")),
    ]
    assert triples("<< ?x :p ?y >>") == [(BlankNode(".1"), REIFIES, TERM)]


def test_annotations_speak_of_the_reifier_before_them() -> None:
    one, two = BlankNode(".1"), BlankNode(".2")
    assert triples("?x :p ?y ~ :r {| :q 1 |} {| :q 2 |} ~") == [
        (X, P, Y),
        (R, REIFIES, TERM),
        (R, Q, Literal("1", XSD + "integer")),
        (one, REIFIES, TERM),
        (one, Q, Literal("2", XSD + "integer")),
        (two, REIFIES, TERM),
    ]


def test_data_has_no_variables() -> None:
    assert parser("<<( :p :q 'a' )>>").ground() == TripleTerm(P, Q, Literal("a"))
    with pytest.raises(SyntaxError):
        parser("<<( :p :q ?x )>>").ground()


@pytest.mark.parametrize(
    "text",
    [
        "<<( ?x :p ?y )>>",  # says nothing by itself
        "?x :p/:q ?y {| :q 1 |}",  # a path is no triple
        "<< ?x :p (1) >> :q 1",
        "<< ?x [] ?y >> :q 1",
        "<<( << ?x :p ?y >> :p ?y )>> :q 1",
        "?x :p ?y {| |}",
    ],
)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(SyntaxError):
        triples(text)
