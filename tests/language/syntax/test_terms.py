"""Terms, triples and paths, as a tree; relative IRIs."""

from __future__ import annotations

import pytest

from weir.errors import SyntaxError
from weir.language.algebra import patterns as a
from weir.language.syntax import tree
from weir.language.syntax.lexer import Source, Tokens
from weir.language.syntax.terms import FIRST, NIL, REST, TYPE, TermParser, resolve
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Variable

P, Q = a.Link(IRI("http://e/p")), a.Link(IRI("http://e/q"))


def parser(text: str) -> TermParser:
    found = TermParser(Tokens(Source(text)), None, None)
    found.prefixes[""] = "http://e/"
    return found


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("?x", Variable("x")),
        (":a\\,b", IRI("http://e/a,b")),
        ("'a\\n'", Literal("a\n")),
        ('"""a"b"""', Literal('a"b')),
        ("'a'@en", Literal.tagged("a", "en")),
        ("'5'^^:n", Literal("5", "http://e/n")),
        ("-1.5", Literal("-1.5", XSD + "decimal")),
        ("TRUE", Literal("true", XSD + "boolean")),
        ("_:b", BlankNode("b")),
    ],
)
def test_terms(text: str, term: object) -> None:
    assert parser(text).node([], True) == term


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (":p", P),
        ("a", a.Link(TYPE)),
        (":p/:q|:q", a.Alternative(a.Sequence(P, Q), Q)),
        ("^:p*", a.Inverse(a.ZeroOrMore(P))),
        ("(:p/:q)?", a.ZeroOrOne(a.Sequence(P, Q))),
        (":p+", a.OneOrMore(P)),
        ("!(:p|^:q)", a.NegatedSet((P.iri,), (Q.iri,))),
        ("!:p", a.NegatedSet((P.iri,), ())),
    ],
)
def test_paths(text: str, path: a.Path) -> None:
    assert parser(text).path() == path


def test_lists_are_spelled_out() -> None:
    out: list[tree.Triple] = []
    head = parser("(?x)").node(out, True)
    assert [(t.subject, t.predicate, t.object) for t in out] == [
        (head, FIRST, Variable("x")),
        (head, REST, NIL),
    ]


def test_one_subject_with_its_predicates_and_objects() -> None:
    out: list[tree.Triple] = []
    parser("?x :p 1, 2 ; :q [ :p 3 ]").same_subject(out, True)
    assert [t.predicate for t in out] == [P.iri, P.iri, P.iri, Q.iri]


def test_an_unknown_prefix_is_named() -> None:
    with pytest.raises(SyntaxError) as caught:
        parser("foaf:name").iri()
    assert caught.value.hint == "declare it: PREFIX foaf: <http://xmlns.com/foaf/0.1/>"


BASE = "http://a/b/c/d;p?q"


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("g:h", "g:h"),
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"),
        ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"),
        ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"),
        ("g;x=1/../y", "http://a/b/c/y"),
    ],
)
def test_rfc_3986(reference: str, target: str) -> None:
    assert resolve(reference, BASE) == target


def test_without_a_base_nothing_changes() -> None:
    assert resolve("w1", None) == "w1"
    assert resolve("w1", "http://host") == "http://host/w1"
    assert resolve("w1", "urn:a") == "urn:w1"
